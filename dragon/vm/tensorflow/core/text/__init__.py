"""What `tf.strings` does with the strings of a tensor."""
