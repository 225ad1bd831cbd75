"""What TensorFlow's guest and Keras's both stand on: tensors that do not change, and what is done with them."""
