"""The residual network of 50 layers, under the name of a module that it had before."""
from dragon.vm.keras.applications.resnet import ResNet50, decode_predictions, preprocess_input  # noqa: F401
