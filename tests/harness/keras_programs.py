"""Runs a small program on Dragon's Keras and on the genuine one, and lays what it returns side by side."""
import numpy as np

from dragon.vm import keras as guest
from harness import answers, genuine


def weights_of(model):
    """Give a model's weights numbers that depend on their shapes alone; returns the model."""
    model.set_weights([np.cos(np.arange(np.prod(weight.shape)) * 0.7 + number).reshape(weight.shape).astype(
        str(weight.dtype).rpartition(".")[2].strip("'>")) for number, weight in enumerate(model.weights)])
    return model


def run(program, keras):
    """Return what a program returns with one of the two Kerases, in which nothing has a name yet; or its exception."""
    keras.utils.clear_session(free_memory=False)  # collecting garbage takes longer than most programs
    try:
        return plain(program(keras))
    except Exception as error:  # the kind and the message are compared
        return error


def plain(value):
    """Return tensors as arrays and shapes as tuples, within lists and dicts."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if hasattr(value, "as_list"):
        return tuple(value.as_list())
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if hasattr(value, "numpy"):
        return np.asarray(value.numpy())
    return value


def assert_same(ours, theirs, path="result"):
    """Compare what two programs returned."""
    if isinstance(theirs, Exception):
        assert isinstance(ours, Exception), f"{path}: got {ours!r}, expected {theirs!r}"
        assert theirs.name in [kind.__name__ for kind in type(ours).__mro__], (ours, theirs)
        return
    if isinstance(ours, Exception):
        raise ours
    if isinstance(theirs, dict):
        assert list(ours) == list(theirs), path
        for key in theirs:
            assert_same(ours[key], theirs[key], f"{path}[{key!r}]")
    elif isinstance(theirs, (list, tuple)):
        assert len(ours) == len(theirs), (path, ours, theirs)
        for number, (one, other) in enumerate(zip(ours, theirs)):
            assert_same(one, other, f"{path}[{number}]")
    elif isinstance(theirs, np.ndarray) and theirs.dtype != object:
        assert ours.dtype == theirs.dtype, (path, ours.dtype, theirs.dtype)
        np.testing.assert_allclose(ours.astype("float64"), theirs.astype("float64"), rtol=1e-4, atol=1e-5, err_msg=path)
    elif isinstance(theirs, float):
        assert abs(ours - theirs) <= 1e-5 + 1e-4 * abs(theirs), path
    else:
        assert ours == theirs, (path, ours, theirs)


def check(program):
    """Run a program on both, and compare."""
    ours, theirs = run(program, guest), answers.ask("keras", [program], lambda: run(program, genuine.keras))
    assert_same(ours, theirs)
    return ours
