"""Keras's API on Dragon's engine: the guest `keras`, upon the guest `tensorflow`."""
