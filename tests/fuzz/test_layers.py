"""Keras's layers with random arguments beside genuine Keras: a short form of `make hunt-layers`."""
import itertools
import pathlib
import pickle
import sys

import numpy
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import hostile  # noqa: E402  (stands beside this file)

pytest.importorskip("keras", reason="genuine Keras, the oracle, is not installed")

import layer_calls  # noqa: E402  (asks the genuine classes)
import layer_numbers  # noqa: E402
from harness import genuine, keras_layer  # noqa: E402

# One of each family, of those that are quick on the genuine side.
NAMES = ("Average", "BatchNormalization", "CenterCrop", "Cropping2D", "Dense", "Dot", "GlobalAveragePooling1D",
         "GroupNormalization", "Masking", "MaxPooling1D", "PReLU", "RMSNormalization", "ReLU", "Softmax",
         "UpSampling2D")
CALLS = 3  # of each


@pytest.fixture(autouse=True)
def described():
    layer_calls.describe(genuine.keras.layers)


def test_a_call_can_be_made_again():
    """The same seed makes the same call; others are other ones."""
    calls = [pickle.dumps(layer_calls.layer_call(hostile.generator(0, index, "Dense"), "Dense"))
             for index in (*range(20), *range(20))]
    assert calls[:20] == calls[20:] and len(set(calls)) == 20


def test_every_layer_can_be_drawn():
    for name, index in itertools.product(layer_numbers.layer_names(), range(5)):
        assert set(layer_calls.layer_call(hostile.generator(0, index, name), name)) == {
            "config", "inputs", "mask", "call", "spread"}


def leaf(*numbers, dtype="float32"):
    array = numpy.array(numbers, "float32")
    return dtype, array.shape, array


@pytest.mark.parametrize("mine, theirs, kind", [
    (("error", "ValueError", "bad"), ("results", [leaf(1)]), "refused"),
    (("results", [leaf(1)]), ("error", "ValueError", "bad"), "taken"),
    (("error", "TypeError", "bad"), ("error", "ValueError", "bad"), None),
    (("results", [leaf(1, 2)]), ("results", [leaf(1, 2.1)]), "differs"),
    (("results", [leaf(1, 2)]), ("results", [leaf(1, 2.001)]), None),
    (("results", [leaf(1, 1e-9)]), ("results", [leaf(1, 2e-9)]), None),
    (("results", [leaf(1)]), ("results", [leaf(1, dtype="float64")]), "differs"),
    (("results", [leaf(1)]), ("results", [leaf(1), leaf(1)]), "differs"),
    (("results", [leaf(numpy.nan)]), ("results", [leaf(numpy.nan)]), None),
    (("results", [leaf(numpy.nan)]), ("results", [leaf(1)]), "differs")])
def test_how_answers_part(mine, theirs, kind):
    found = list(layer_numbers.judge({"call": mine}, {"call": theirs}, 1e-3))
    assert [part[1] for part in found] == ([kind] if kind else [])


@pytest.mark.filterwarnings("ignore")
def test_a_wrong_layer_is_found(monkeypatch):
    """A layer whose numbers are a little off does not go by."""
    layers = keras_layer.guest("keras").layers
    call = layers.Softmax.call
    monkeypatch.setattr(layers.Softmax, "call", lambda self, *args, **kwargs: call(self, *args, **kwargs) * 1.01)
    found = [part for _, _, parts, _ in layer_numbers.hunt(["Softmax"], 0, range(6, 12)) for part in parts]
    assert {part[:2] for part in found} >= {("call", "differs")}


@pytest.mark.filterwarnings("ignore")
def test_layers_are_genuine_ones():
    found, taken = [], 0
    for name, index, parts, took in layer_numbers.hunt(NAMES, 0, range(CALLS)):
        found += [(name, index, *part) for part in parts]
        taken += took
    assert not found
    assert taken > CALLS * len(NAMES) // 2
