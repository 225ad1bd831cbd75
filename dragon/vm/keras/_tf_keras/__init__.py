"""keras._tf_keras: where Keras keeps what `tf.keras` is, as editors write imports; `_tf_keras.keras` is Keras."""
