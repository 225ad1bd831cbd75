"""What TensorFlow 2 keeps of TensorFlow 1 under `tf.compat.v1`: old names, old arguments, old optimizers."""
