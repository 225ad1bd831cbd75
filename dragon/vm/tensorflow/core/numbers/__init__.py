"""Functions of numbers behind `tf.math`, `tf.linalg` and `tf.signal`."""
