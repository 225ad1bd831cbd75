"""TensorFlow's API on Dragon's engine: the guest `tensorflow`."""
