"""What functions of texts and tables are in a model of TensorFlow's: the engine has no strings, so numbers stand for them."""
