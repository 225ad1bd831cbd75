"""Functions of texts and tables in files of TensorFlow's: the engine has no strings, so numbers stand for them."""
