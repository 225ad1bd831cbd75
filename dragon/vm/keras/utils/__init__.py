"""Helpers around models: data sets, sequences, labels, progress bars, pictures of models."""
from dragon.vm.guest import lookup
from dragon.vm.keras.core.messages import (
    disable_interactive_logging, enable_interactive_logging, is_interactive_logging_enabled)
from dragon.vm.keras.core.traceback import (
    disable_traceback_filtering, enable_traceback_filtering, is_traceback_filtering_enabled)
from dragon.vm.keras.trainers.data_adapters.data import pack_x_y_sample_weight, unpack_x_y_sample_weight
from dragon.vm.keras.trainers.data_adapters.py_dataset import PyDataset
from dragon.vm.keras.trainers.data_adapters.py_dataset import PyDataset as Sequence
from dragon.vm.keras.utils.numerical import normalize, to_categorical
from dragon.vm.keras.utils.audio_dataset import audio_dataset_from_directory
from dragon.vm.keras.utils.config import Config
from dragon.vm.keras.utils.downloads import get_file
from dragon.vm.keras.utils.image import array_to_img, img_to_array, load_img, save_img
from dragon.vm.keras.utils.image_dataset import image_dataset_from_directory
from dragon.vm.keras.utils.plotting import model_to_dot, plot_model
from dragon.vm.keras.utils.progbar import Progbar
from dragon.vm.keras.utils.rng import set_random_seed
from dragon.vm.keras.utils.splitting import split_dataset
from dragon.vm.keras.utils.text_dataset import text_dataset_from_directory
from dragon.vm.keras.utils.sequence import pad_sequences, timeseries_dataset_from_array

# Names that have their home elsewhere.
__getattr__, __dir__ = lookup(globals(), {
    "core.global_state": "clear_session",
    "core.convert": "is_keras_tensor",
    "core.dtypes": "standardize_dtype",
    "core.graph_files": "get_source_inputs",
    ".feature_space": "FeatureSpace",
    "saving": "CustomObjectScope custom_object_scope deserialize_keras_object get_custom_objects get_registered_name "
              "get_registered_object register_keras_serializable serialize_keras_object",
})
