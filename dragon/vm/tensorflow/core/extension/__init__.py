"""`tf.experimental.ExtensionType`: classes of the user's whose objects are made of tensors, and go through graphs."""
