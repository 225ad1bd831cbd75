"""Residual networks of the second version."""
from dragon.vm.keras.applications.frame import helpers
from dragon.vm.keras.applications.residual import make

ResNet50V2, ResNet101V2, ResNet152V2 = (make(depth, 2) for depth in (50, 101, 152))
preprocess_input, decode_predictions = helpers("tf")
