"""The workshop behind Keras's names."""
