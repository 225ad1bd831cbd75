"""Functions that go through ragged tensors value by value: those that genuine TensorFlow has registered as such."""
import tempfile

import pytest

from dragon.vm import tensorflow as tf
from dragon.vm.tensorflow.core import dispatch
from dragon.vm.tensorflow.nn import activations
from harness import genuine, interpreter

# Genuine TensorFlow spreads softmax over the flat values, whose last axis is that of rows.
OTHERS = {"nn.log_softmax"}


def known(tables):
    """Return the names in TensorFlow's API of the functions of tables."""
    names = {"dragon.vm.tensorflow.math": "math.", activations.__name__: "nn."}
    return {names.get(module.__name__, "") + name for module, words in tables.items() for name in words.split()}


@pytest.mark.parametrize("kind, tables", [("unary", dispatch.UNARY), ("binary", dispatch.BINARY)])
def test_what_tensorflow_has_registered_is_known(kind, tables):
    genuine.tf  # noqa: B018: it is imported, or the test is skipped
    from tensorflow.python.util import dispatch as registered
    from tensorflow.python.util.tf_export import get_canonical_name_for_symbol
    names = map(get_canonical_name_for_symbol, getattr(registered, f"{kind}_elementwise_apis")())
    wanted = {name for name in names if name and name.startswith(("math.", "nn.")) and name.count(".") == 1}
    here = known(dispatch.UNARY) | known(dispatch.BINARY)
    missing = {name for name in wanted - here - OTHERS if hasattr(getattr(tf, name.split(".")[0]), name.split(".")[1])}
    assert missing <= {"nn.sigmoid_cross_entropy_with_logits"} and len(wanted & known(tables)) > 20


@pytest.mark.parametrize("name", ["xdivy", "truncatediv", "nextafter", "igamma", "xlogy"])
def test_functions_of_two(name):
    rows = tf.ragged.constant([[1.0, 5.0], [2.5]])
    found = getattr(tf.math, name)(rows, 2.0 * tf.ones_like(rows))
    flat = getattr(tf.math, name)(rows.flat_values, 2.0 * tf.ones_like(rows.flat_values))
    assert found.to_list() == [flat.numpy().tolist()[:2], flat.numpy().tolist()[2:]]


def test_functions_of_nets_that_were_called_before_the_first_ragged_tensor():
    script = ("from dragon.vm import tensorflow as tf\n"
              "tf.nn.relu([1.0])\n"
              "rows = tf.ragged.constant([[1.0, -2.0], [3.0]])\n"
              "print(tf.nn.relu(rows).to_list(), tf.nn.dropout(rows, 0.0).to_list())")
    done = interpreter.run(["-c", script], tempfile.gettempdir(), timeout=300, preload="import numpy, dragon.vm")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[[1.0, 0.0], [3.0]] [[1.0, -2.0], [3.0]]"
