"""`keras.src` answers with the objects of the public modules, under every name that Keras has."""
import importlib

import pytest

from dragon.vm import keras
from dragon.vm.keras.core.source_places import PLACES
from dragon.vm.keras.core.source_tree import read_places
from harness import interpreter
from harness.subresults import each

# What libraries import from Keras's source tree: where, and what that is here.
USED = {
    "keras.src": ("Sequential", "keras.Sequential"),
    "keras.src.layers": ("Dense", "keras.layers.Dense"),
    "keras.src.layers.core.dense": ("Dense", "keras.layers.Dense"),
    "keras.src.layers.layer": ("Layer", "keras.layers.Layer"),
    "keras.src.layers.pooling.max_pooling2d": ("MaxPooling2D", "keras.layers.MaxPooling2D"),
    "keras.src.models.functional": ("Functional", "keras.models.functional.Functional"),
    "keras.src.ops": ("relu", "keras.ops.relu"),
    "keras.src.ops.node": ("Node", "keras.core.node.Node"),
    "keras.src.ops.operation": ("Operation", "keras.Operation"),
    "keras.src.optimizers.adam": ("Adam", "keras.optimizers.Adam"),
    "keras.src.losses.losses": ("LossFunctionWrapper", "keras.losses.wrapper.LossFunctionWrapper"),
    "keras.src.backend": ("standardize_dtype", "keras.backend.standardize_dtype"),
    "keras.src.backend.common.variables": ("KerasVariable", "keras.Variable"),
    "keras.src.backend.common.keras_tensor": ("KerasTensor", "keras.KerasTensor"),
    "keras.src.saving.saving_api": ("load_model", "keras.models.load_model"),
    "keras.src.saving.serialization_lib": ("deserialize_keras_object", "keras.saving.deserialize_keras_object"),
    "keras.src.saving.object_registration": ("CustomObjectScope", "keras.saving.CustomObjectScope"),
    "keras.src.utils.sequence_utils": ("pad_sequences", "keras.utils.pad_sequences"),
    "keras.src.utils.naming": ("auto_name", "keras.core.naming.auto_name"),
    "keras.src.callbacks": ("EarlyStopping", "keras.callbacks.EarlyStopping"),
    "keras.src.legacy.preprocessing.image": ("ImageDataGenerator", "keras.preprocessing.image.ImageDataGenerator"),
    "keras.src.legacy.preprocessing.text": ("Tokenizer", "keras.preprocessing.text.Tokenizer"),
    "keras.src.random.seed_generator": ("SeedGenerator", "keras.random.SeedGenerator"),
    "keras.src.trainers.data_adapters.py_dataset_adapter": ("PyDataset", "keras.utils.PyDataset"),
    "keras.src.regularizers.regularizers": ("validate_float_arg", "keras.regularizers.regularizer.validate_float_arg"),
    "keras.src.trainers.data_adapters.array_data_adapter": (
        "ArrayDataAdapter", "keras.trainers.data_adapters.arrays.ArrayAdapter"),
    "keras.src.backend.tensorflow.trainer": ("TensorFlowTrainer", "keras.trainers.trainer.Trainer"),
    "keras.src.utils.file_utils": ("extract_archive", "keras.utils.archives.extract_archive"),
    "keras.src.utils.io_utils": ("ask_to_proceed_with_overwrite", "keras.core.messages.ask_to_proceed_with_overwrite"),
    "keras.src.utils.dtype_utils": ("cast_to_common_dtype", "keras.core.promotion.cast_to_common_dtype"),
    "keras.src.version": ("__version__", "keras.__version__"),
}


def find(path):
    """Return what a dotted path below keras leads to."""
    found = keras
    for name in path.split(".")[1:]:
        found = getattr(found, name)
    return found


@pytest.mark.parametrize("module", USED)
def test_what_libraries_import(module):
    name, public = USED[module]
    room = importlib.import_module("dragon.vm." + module)
    assert getattr(room, name) is find(public)


@each("path", sorted(read_places()))
def test_every_place_exists_and_is_one_of_genuine_keras(path):
    # What genuine Keras has as attributes of its backend are modules of the backend's own.
    inner = path if path.startswith(("backend.common", "backend.tensorflow", "backend.config")) else path.replace(
        "backend.", "backend.tensorflow.")
    importlib.import_module(f"keras.src.{inner}")
    room = importlib.import_module(f"dragon.vm.keras.src.{path}")
    assert dir(room), path


def test_lines_of_the_table_are_told_once():
    told = [name for line in PLACES.strip().split("\n") for name in [line.partition(" < ")[0]]]
    assert len(told) == len(set(told))


def test_what_is_not_there_says_so():
    with pytest.raises(ModuleNotFoundError, match="keras.src.layers.core.nonsense"):
        importlib.import_module("dragon.vm.keras.src.layers.core.nonsense")
    with pytest.raises(AttributeError, match="module 'keras.src.layers.core.dense' has no attribute 'Dance'"):
        importlib.import_module("dragon.vm.keras.src.layers.core.dense").Dance


def test_names_that_programs_write(tmp_path):
    """Under `dragon run`, with stars, through `tf.keras`, and by the roads that editors take."""
    program = """
import dragon.vm
dragon.vm.install()
from keras.src.ops import *
from keras.api.layers import Dense
from keras._tf_keras.keras.preprocessing.image import ImageDataGenerator
from tensorflow.keras.src.layers import LSTM
import keras.src.utils.backend_utils, keras, tensorflow as tf
assert Dense is keras.layers.Dense and LSTM is tf.keras.layers.LSTM is keras.src.layers.rnn.lstm.LSTM
assert relu is keras.ops.relu and ImageDataGenerator is tf.keras.preprocessing.image.ImageDataGenerator
assert keras.src.layers.core.dense.__name__ == "keras.src.layers.core.dense"
"""
    done = interpreter.run(["-c", program], tmp_path, timeout=120, preload="import numpy, dragon.vm")
    assert done.returncode == 0, done.stderr


def test_operations_have_their_classes():
    rooms = importlib.import_module("dragon.vm.keras.src.ops.numpy")
    assert rooms.Absolute is importlib.import_module("dragon.vm.keras.src.ops").Absolute
    assert rooms.Abs.__name__ == "Absolute"
    assert rooms.Add()(keras.KerasTensor((2, 1)), keras.KerasTensor((3,))).shape == (2, 3)
    assert rooms.All(1).get_config()["axis"] == 1
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        rooms.Nonsense


def test_packages_that_need_not_be_there():
    packages = importlib.import_module("dragon.vm.keras.src.utils.module_utils")
    absent = packages.LazyModule("no_such_package", pip_name="no-such")
    assert not absent.available and "no_such_package" in repr(absent)
    with pytest.raises(ImportError, match="pip install no-such"):
        absent.anything
    assert packages.LazyModule("json").dumps([1]) == "[1]"


def test_tensors_meet_in_the_widest_float():
    cast = importlib.import_module("dragon.vm.keras.src.utils.dtype_utils").cast_to_common_dtype
    zeros = {name: keras.ops.zeros((1,), name) for name in ("float16", "bfloat16", "float32", "int32")}
    for names, expected in ((["float16", "bfloat16"], "float32"), (["float16", "int32"], "float16"),
                            (["bfloat16", "float32", "int32"], "float32"), (["int32"], "int32")):
        assert {x.dtype.name for x in cast([zeros[name] for name in names])} == {expected}


def test_functions_as_data():
    helpers = importlib.import_module("dragon.vm.keras.src.utils.python_utils")
    shift = 5
    for function in (lambda x, y=(1, 2): x + y[0], lambda x: x + shift):
        assert helpers.func_load(helpers.func_dump(function))(2) == function(2)
