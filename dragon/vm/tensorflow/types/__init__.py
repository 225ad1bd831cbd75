"""`tf.types`: names for annotations."""
