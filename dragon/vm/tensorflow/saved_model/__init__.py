"""`tf.saved_model`: programs in folders, as TensorFlow writes them."""
from dragon.vm.guest import lookup as _lookup

__getattr__, __dir__ = _lookup(globals(), {
    "core.saved_model.loading": "LoadOptions contains_saved_model load",
    "core.saved_model.objects": "Asset",
    "core.saved_model.saving": "SaveOptions save"})

ASSETS_DIRECTORY, ASSETS_KEY = "assets", "saved_model_assets"
CLASSIFY_INPUTS, CLASSIFY_METHOD_NAME = "inputs", "tensorflow/serving/classify"
CLASSIFY_OUTPUT_CLASSES, CLASSIFY_OUTPUT_SCORES = "classes", "scores"
DEBUG_DIRECTORY, DEBUG_INFO_FILENAME_PB = "debug", "saved_model_debug_info.pb"
DEFAULT_SERVING_SIGNATURE_DEF_KEY = "serving_default"
GPU, SERVING, TPU, TRAINING = "gpu", "serve", "tpu", "train"
PREDICT_INPUTS, PREDICT_METHOD_NAME, PREDICT_OUTPUTS = "inputs", "tensorflow/serving/predict", "outputs"
REGRESS_INPUTS, REGRESS_METHOD_NAME, REGRESS_OUTPUTS = "inputs", "tensorflow/serving/regress", "outputs"
SAVED_MODEL_FILENAME_PB, SAVED_MODEL_FILENAME_PBTXT = "saved_model.pb", "saved_model.pbtxt"
SAVED_MODEL_SCHEMA_VERSION = 1
VARIABLES_DIRECTORY, VARIABLES_FILENAME = "variables", "variables"
