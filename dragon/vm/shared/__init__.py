"""The floor under TensorFlow's guest and Keras's: tensors that do not change, and functions of them."""
