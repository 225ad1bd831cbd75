"""Functions of `tf.strings` on the strings of a tensor."""
