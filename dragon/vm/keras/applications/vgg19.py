"""VGG19."""
from dragon.vm.keras.applications.frame import helpers
from dragon.vm.keras.applications.vgg import make

VGG19 = make("VGG19", (2, 2, 4, 4, 4))
preprocess_input, decode_predictions = helpers("caffe")
