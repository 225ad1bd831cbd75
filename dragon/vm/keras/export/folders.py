"""Models in folders that TensorFlow loads: who writes them stands upon Keras, and is looked up when it is asked for."""
from dragon.vm.guest import lookup

__getattr__, __dir__ = lookup(globals(), {
    "dragon.vm.tensorflow.core.saved_model.keras_model": "default_signature export_saved_model write_endpoints"})
