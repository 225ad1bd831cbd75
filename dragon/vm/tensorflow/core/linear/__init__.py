"""`tf.linalg.LinearOperator` and its classes: matrices that are known by less than all of their numbers."""
