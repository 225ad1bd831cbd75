"""Random models within models go through every format, both ways with genuine Keras, and keep every number."""
import numpy
import pytest

from dragon.vm import keras
from harness import genuine
from harness.keras_trees import Trees, numbers

FORMATS = ("model.keras", "folder", "model.weights.h5", "model.h5")
SIDES = {"here": lambda: keras, "there": lambda: genuine.keras}


def write(model, path):
    """Write a model in the format that a name tells."""
    if path.name == "folder":
        model.save(path, zipped=False)
    elif path.name.endswith(".weights.h5"):
        model.save_weights(path)
    else:
        model.save(path)


def read(side, path, trees, **options):
    """Return the model of a file; one of weights fills a fresh model of the same shape."""
    if path.name.endswith(".weights.h5"):
        fresh = trees().model(**options)
        fresh.set_weights([numpy.zeros_like(weight) for weight in fresh.get_weights()])
        fresh.load_weights(path)
        return fresh
    return side.saving.load_model(path, custom_objects=trees().classes)


def check(source, target, name, seed, folder, dtype="float32", **options):
    """Write a model on one side, read it on the other, and compare all weights and the results."""
    model = Trees(source, seed, dtype).model(**options)
    write(model, folder / name)
    found = read(target, folder / name, lambda: Trees(target, seed, dtype), **options)
    assert len(found.weights) == len(model.weights)
    close = {"rtol": 2e-2, "atol": 2e-2} if dtype == "bfloat16" else {"rtol": 1e-4, "atol": 1e-5}
    numpy.testing.assert_allclose(numbers(target, found, dtype), numbers(source, model, dtype), **close)
    if options.get("kinds", 2) == 2:
        for ours, theirs in zip(model.get_weights(), found.get_weights()):
            numpy.testing.assert_array_equal(numpy.asarray(ours, "float32"), numpy.asarray(theirs, "float32"))


@pytest.mark.filterwarnings("ignore:.*HDF5 file via", "ignore:No training configuration")
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", FORMATS)
def test_written_and_read_here(name, seed, tmp_path):
    check(keras, keras, name, seed, tmp_path)


@pytest.mark.parametrize("seed", range(20, 24))
@pytest.mark.parametrize("name", [name for name in FORMATS if name != "model.h5"])
def test_subclassed_models(name, seed, tmp_path):
    check(keras, keras, name, seed, tmp_path, kinds=3)


@pytest.mark.filterwarnings("ignore:.*HDF5 file via", "ignore:No training configuration")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", [name for name in FORMATS if name != "folder"])
@pytest.mark.parametrize("source, target", [("here", "there"), ("there", "here")])
def test_genuine_keras(source, target, name, seed, tmp_path):
    check(SIDES[source](), SIDES[target](), name, 40 + seed, tmp_path, depth=2, kinds=2 if name == "model.h5" else 3)


@pytest.mark.filterwarnings("ignore:.*HDF5 file via", "ignore:No training configuration")
@pytest.mark.parametrize("name", [name for name in FORMATS if name != "folder"])
@pytest.mark.parametrize("source, target", [("here", "here"), ("here", "there"), ("there", "here")])
def test_bfloat16(source, target, name, tmp_path):
    check(SIDES[source](), SIDES[target](), name, 3, tmp_path, "bfloat16", depth=1)


@pytest.mark.parametrize("name", FORMATS)
def test_many_nested_sequentials(name, tmp_path):
    """Three lists of layers of the same address: what a file forgot were the layers of the later ones."""
    def nest(depth):
        inner = keras.layers.Dense(3)
        for _ in range(depth):
            inner = keras.Sequential([inner, keras.layers.Dense(3)])
        return inner
    model = keras.Sequential([keras.Input((3,)), *(nest(2) for _ in range(6)), nest(5)])
    write(model, tmp_path / name)
    if name.endswith("weights.h5"):
        found = keras.models.clone_model(model)
        found.load_weights(tmp_path / name)
    else:
        with pytest.warns(UserWarning) if name == "model.h5" else numpy.errstate():
            found = keras.models.load_model(tmp_path / name)
    numpy.testing.assert_array_equal(numbers(keras, found), numbers(keras, model))
