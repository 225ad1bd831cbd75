"""The public names of Keras's own modules: those of the genuine one, but for a list of what is missing."""
import importlib
import types

import pytest
from harness import genuine
from harness.subresults import each

MISSING = {
    "keras": {"distillation", "distribution", "legacy", "preprocessing", "visualization", "wrappers", "datasets"},
    "keras.export": {"ExportArchive"},
    "keras.saving": {"KerasFileEditor"},
}
MODULES = ("keras", "keras.backend", "keras.config", "keras.dtype_policies", "keras.mixed_precision", "keras.models",
           "keras.tree", "keras.saving", "keras.applications", "keras.export", "keras.applications.vgg16",
           "keras.applications.resnet", "keras.applications.mobilenet_v2", "keras.applications.efficientnet")


@each("name", MODULES)
def test_names(name):
    theirs = genuine.keras
    for part in name.split(".")[1:]:
        theirs = getattr(theirs, part)
    ours = importlib.import_module(f"dragon.vm.{name}")
    wanted = {word for word in dir(theirs) if not word.startswith("_") and word != "src"}
    absent = {word for word in wanted if not has(ours, word)}
    assert absent <= MISSING.get(name, set())


def has(module, name):
    """Whether a module has a name, which may be made when it is asked for."""
    try:
        return getattr(module, name) is not None
    except AttributeError as error:
        assert name in str(error)
        return False


def test_what_is_missing_is_said_by_name():
    from dragon.vm import keras
    with pytest.raises(AttributeError, match="nonsense"):
        keras.nonsense
    with pytest.raises(AttributeError, match="nonsense"):
        keras.applications.nonsense
    assert isinstance(keras.layers, types.ModuleType) and keras.__version__ == keras.version() == "3.15.1"
