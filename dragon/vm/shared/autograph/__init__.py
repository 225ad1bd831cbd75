"""AutoGraph: Python's branches and loops over tensors as parts of graphs, while a `tf.function` is traced."""
