"""VGG16."""
from dragon.vm.keras.applications.frame import helpers
from dragon.vm.keras.applications.vgg import make

VGG16 = make("VGG16", (2, 2, 3, 3, 3))
preprocess_input, decode_predictions = helpers("caffe")
