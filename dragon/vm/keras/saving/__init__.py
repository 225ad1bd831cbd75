"""Files of models, and objects as plain data."""
from dragon.vm.keras.saving.api import load_model, load_weights, save_model, save_weights
from dragon.vm.keras.saving.file_editor import KerasFileEditor
from dragon.vm.keras.saving.registration import (
    CustomObjectScope, custom_object_scope, get_custom_objects, get_registered_name, get_registered_object,
    register_keras_serializable)
from dragon.vm.keras.saving.serialization import deserialize_keras_object, serialize_keras_object
