"""Functions as TensorFlow's nodes: what `tf.saved_model.save` writes."""
