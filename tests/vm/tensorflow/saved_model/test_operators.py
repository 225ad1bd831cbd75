"""Operators of saved programs: functions that genuine TensorFlow writes and runs, run here."""
import pathlib
import tempfile

import numpy as np
import pytest

from dragon.vm import tensorflow as ours
from harness import answers, genuine
from harness.answers import values
from harness.answers.values import Content
from vm.tensorflow.saved_model import cases


def save(family):
    """Return ({name: inputs}, {name: results or the error}, {path: content}) of a family in genuine TensorFlow."""
    tf = genuine.tf
    module, given, expected = tf.Module(), {}, {}
    for name, (function, inputs) in family(tf).items():
        # Only the rows of this family hold statements; to read an expression's source takes a tenth of a second.
        made, given[name] = tf.function(function, autograph=family is cases.flow), inputs
        try:
            expected[name] = flatten(made(*map(tf.constant, inputs)))
        except Exception as error:  # not a fault of ours: the row is wrong
            expected[name] = error
            continue
        setattr(module, f"f_{name}", made)
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(module, folder)
        return given, expected, {str(path.relative_to(folder)): Content(path.read_bytes())
                                 for path in sorted(pathlib.Path(folder).rglob("*")) if path.is_file()}


def difference(mine, theirs):
    """Return what of two answers to the same inputs differs; families draw theirs in the order they are asked in."""
    return None if values.difference(mine[0], theirs[0]) else values.difference(mine, theirs)


class Saved:
    """The functions of a family as genuine TensorFlow writes them, with what it makes of their inputs."""

    def __init__(self, family, folder):
        self.inputs, self.expected, files = answers.ask("tensorflow", [family], lambda: save(family),
                                                        difference=difference)
        for name, content in files.items():
            place = pathlib.Path(folder, name)
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(content)
        self.loaded = ours.saved_model.load(folder)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Return a function from a family to its saved functions."""
    made = {}

    def find(family):
        if family.__name__ not in made:
            made[family.__name__] = Saved(family, str(tmp_path_factory.mktemp(family.__name__)))
        return made[family.__name__]
    return find


def flatten(value):
    """Return the arrays of a result."""
    if isinstance(value, (list, tuple)):
        return [one for item in value for one in flatten(item)]
    if hasattr(value, "nested_row_splits"):
        return [np.asarray(value.flat_values), *(np.asarray(one) for one in value.nested_row_splits)]
    if hasattr(value, "dense_shape"):
        return [np.asarray(value.indices), np.asarray(value.values), np.asarray(value.dense_shape)]
    return [np.asarray(value)]


class Names:
    """Stands for TensorFlow where only the names of rows are wanted."""

    def __getattr__(self, name):
        return self

    def __call__(self, *args, **kwargs):
        return self


ROWS = [(family, name) for family in cases.FAMILIES for name in family(Names())]


@pytest.mark.parametrize("family, name", ROWS, ids=[name for _, name in ROWS])
def test_equals_genuine(saved, family, name):
    found = saved(family)
    expected = found.expected[name]
    assert not isinstance(expected, Exception), expected
    results = flatten(getattr(found.loaded, f"f_{name}")(*map(ours.constant, found.inputs[name])))
    assert len(results) == len(expected)
    for result, wanted in zip(results, expected):
        assert result.dtype == wanted.dtype and result.shape == wanted.shape
        if wanted.dtype.kind in "fc":
            np.testing.assert_allclose(result, wanted, rtol=2e-4, atol=2e-5)
        else:
            np.testing.assert_array_equal(result, wanted)
