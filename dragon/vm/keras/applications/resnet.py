"""Residual networks of the first version."""
from dragon.vm.keras.applications.frame import helpers
from dragon.vm.keras.applications.residual import make

ResNet50, ResNet101, ResNet152 = (make(depth, 1) for depth in (50, 101, 152))
preprocess_input, decode_predictions = helpers("caffe")
