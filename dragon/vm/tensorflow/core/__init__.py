"""The workshop behind TensorFlow's names."""
