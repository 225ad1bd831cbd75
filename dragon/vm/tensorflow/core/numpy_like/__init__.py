"""NumPy's functions on tensors: `tf.experimental.numpy`."""
