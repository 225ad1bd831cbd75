"""Initializers against genuine Keras: the same numbers of the same seed, configurations, errors."""
import numpy as np
import pytest
from harness import genuine
from harness.subresults import each

from dragon.vm.keras import initializers

ROWS = [
    ("Zeros", {}), ("Ones", {}), ("Constant", {"value": 2.5}), ("Constant", {"value": [1.0, 2.0, 3.0]}),
    ("Identity", {"gain": 2.0}), ("RandomNormal", {"mean": 1.0, "stddev": 2.0}), ("TruncatedNormal", {"stddev": 0.3}),
    ("RandomUniform", {"minval": -1.0, "maxval": 2.0}), ("VarianceScaling", {}),
    ("VarianceScaling", {"scale": 2.0, "mode": "fan_out", "distribution": "untruncated_normal"}),
    ("VarianceScaling", {"mode": "fan_avg", "distribution": "uniform"}),
    ("VarianceScaling", {"distribution": "normal", "input_axes": (0,), "output_axes": (1,)}),
    ("GlorotUniform", {}), ("GlorotNormal", {}), ("LecunNormal", {}), ("LecunUniform", {}), ("HeNormal", {}),
    ("HeUniform", {}), ("Orthogonal", {"gain": 1.5}),
]
RANDOM = ROWS[5:]
IDS = [f"{name}-{index}" for index, (name, _) in enumerate(ROWS)]


def both(name, arguments):
    """Return our initializer and the genuine one."""
    return getattr(initializers, name)(**arguments), getattr(genuine.keras.initializers, name)(**arguments)


def seeded(name, arguments):
    """Return arguments with a seed, where there is one."""
    return {**arguments, "seed": 7} if (name, arguments) in RANDOM else arguments


@each("name, arguments", ROWS, ids=IDS)
def test_numbers(name, arguments):
    """Values of several shapes and dtypes, the same at each call."""
    ours, theirs = both(name, seeded(name, arguments))
    shapes = [(4, 3)] if name == "Identity" else [(4, 3), (3, 5, 2, 3)] if name == "Orthogonal" else \
        [(4, 3), (3, 5, 2, 3), (3,)]
    for shape in shapes:
        if arguments.get("input_axes") and len(shape) < 2:
            continue
        for dtype in (None, "float64"):
            if name == "Orthogonal" and dtype:
                continue
            found, expected = ours(shape, dtype=dtype), theirs(shape, dtype=dtype)
            assert tuple(found.shape) == shape and found.dtype == expected.dtype.name
            np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)
            np.testing.assert_array_equal(found.numpy(), ours(shape, dtype=dtype).numpy())


@each("name, arguments", ROWS, ids=IDS)
def test_configurations(name, arguments):
    """What is saved, and what is made of it again."""
    ours, theirs = both(name, seeded(name, arguments))
    assert ours.get_config() == theirs.get_config()
    assert initializers.serialize(ours) == genuine.keras.initializers.serialize(theirs)
    again = initializers.deserialize(initializers.serialize(ours))
    assert type(again) is type(ours) and again.get_config() == ours.get_config()
    assert type(ours.clone()) is type(ours)


def test_global_seed():
    """Initializers without a seed follow `set_random_seed`."""
    from dragon.vm.keras import utils
    made = []
    for module, chance in ((initializers, utils), (genuine.keras.initializers, genuine.keras.utils)):
        chance.set_random_seed(3)
        made.append([getattr(module, name)()((4, 3)).numpy() for name in ("GlorotUniform", "HeNormal", "RandomNormal")])
    np.testing.assert_allclose(*made, rtol=1e-6)


def test_seed_generator():
    """A generator draws new numbers at each call."""
    from dragon.vm.keras import random
    ours = initializers.RandomUniform(seed=random.SeedGenerator(5))
    theirs = genuine.keras.initializers.RandomUniform(seed=genuine.keras.random.SeedGenerator(5))
    for _ in range(2):
        np.testing.assert_allclose(ours((3,)).numpy(), theirs((3,)).numpy(), rtol=1e-6)


@pytest.mark.parametrize("arguments", [{}, {"side": "imag", "window": "hamming", "scaling": "spectrum"},
                                       {"window": None}, {"window": np.ones(8, "float32"), "scaling": None}],
                         ids=range(4))
def test_stft(arguments):
    """Kernels of a Fourier transform."""
    pytest.importorskip("scipy")
    ours, theirs = both("STFT", arguments)
    np.testing.assert_allclose(ours((8, 1, 5)).numpy(), theirs((8, 1, 5)).numpy(), atol=1e-6)
    assert repr(ours.get_config()) == repr(theirs.get_config())


def test_names():
    """Every name that genuine Keras knows, in every spelling; arrays; all public names."""
    assert genuine.keras  # or the test is skipped
    from keras.src.initializers import ALL_OBJECTS_DICT
    for name, thing in ALL_OBJECTS_DICT.items():
        assert type(initializers.get(name)).__name__ == thing.__name__
    assert initializers.get(None) is None
    values = np.arange(6, dtype="float32").reshape(2, 3)
    made = initializers.get(values)
    np.testing.assert_array_equal(made((2, 3), dtype="float64").numpy(), values)
    with pytest.raises(ValueError, match=r"shape=\(3, 2\)$"):
        made((3, 2))
    missing = {name for name in dir(genuine.keras.initializers) if not name.startswith("_")} - set(dir(initializers))
    assert not missing


@pytest.mark.parametrize("call, told", [
    (lambda: initializers.VarianceScaling(scale=0), "scale=0"),
    (lambda: initializers.VarianceScaling(mode="fan"), "fan"),
    (lambda: initializers.VarianceScaling(distribution="even"), "even"),
    (lambda: initializers.RandomNormal(seed=0.5), "seed=0.5"),
    (lambda: initializers.Orthogonal()((3,)), "rank 1"),
    (lambda: initializers.Identity()((3,)), "rank 1"),
    (lambda: initializers.STFT(side="left"), "left"),
    (lambda: initializers.get(3), "3"),
], ids=range(8))
def test_wrong_arguments(call, told):
    """Errors end in what was received."""
    with pytest.raises(ValueError, match=rf"{told}\.?$"):
        call()
    with pytest.raises(NotImplementedError):
        initializers.Initializer()((2,))
