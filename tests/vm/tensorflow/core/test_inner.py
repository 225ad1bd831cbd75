"""Paths below `tensorflow.python` that libraries import from."""
import importlib

import numpy as np
import pytest

from dragon.vm import tensorflow as tf
from harness import genuine
from harness.subresults import each

ROOT = tf.__name__ + ".python."
# What libraries import most, and an expression of it that gives the same in both.
USES = {
    "framework.ops": "m.convert_to_tensor([1, 2], dtype='float32')",
    "framework.tensor_util": "m.constant_value(tf.constant([1, 2]))",
    "framework.smart_cond": "m.smart_cond(tf.constant(False), lambda: 1, lambda: 2)",
    "framework.constant_op": "m.constant([1.5])",
    "ops.array_ops": "m.expand_dims_v2([1, 2], 0)",
    "ops.math_ops": "m.reduce_sum([[1, 2]], axis=1, keepdims=True)",
    "ops.gen_math_ops": "m.add_v2(tf.constant(1), 2)",
    "ops.gen_array_ops": "m.matrix_band_part(tf.ones([2, 2]), 0, -1)",
    "ops.nn_ops": "m.softmax_v2([1.0, 2.0])",
    "ops.clip_ops": "m.clip_by_value([1.0, 5.0], 0.0, 2.0)",
    "util.nest": "[leaf for _, leaf in m.flatten_with_tuple_paths({'b': [1, 2], 'a': 3})]",
    "util.tf_inspect": "len(m.getfullargspec(lambda a, b: 0).args)",
    "tf2": "m.enabled()",
    "ops.control_flow_util": "[m.ENABLE_CONTROL_FLOW_V2]",
}


@each("path", USES)
def test_as_genuine(path):
    mine, theirs = (eval(USES[path], {"m": importlib.import_module(root + path), "tf": guest})
                    for root, guest in ((ROOT, tf), ("tensorflow.python.", genuine.tf)))
    assert np.allclose(np.asarray(mine), np.asarray(theirs))


def test_classes_are_the_public_ones():
    def find(path, name):
        return getattr(importlib.import_module(ROOT + path), name)
    assert find("ops.ragged.ragged_tensor", "RaggedTensor") is tf.RaggedTensor
    assert find("eager.backprop", "GradientTape") is tf.GradientTape
    assert find("framework.tensor_shape", "TensorShape") is tf.TensorShape
    assert isinstance(tf.constant(1), find("framework.ops", "EagerTensor"))
    assert find("platform.tf_logging", "info") is tf.compat.v1.logging.info


def test_every_name_of_the_table_is_there():
    names = importlib.import_module(ROOT[:-1]).__path__[0] + "/names.txt"
    with open(names, encoding="utf-8") as file:
        text = file.read()
    module, missing = None, []
    for line in text.splitlines():
        if not line.startswith(" "):
            module = importlib.import_module(ROOT + line.partition(":")[0])
            continue
        words = line.partition(": ")[2].split()
        missing += [f"{module.__name__}.{word}" for word in words if not hasattr(module, word.partition("=")[0])]
    assert not missing


def test_helpers():
    identity = importlib.import_module(ROOT + "util.object_identity")
    kept = identity.ObjectIdentitySet([one := tf.constant(1)])
    assert one in kept and tf.constant(1) not in kept and len(kept) == 1
    nest = importlib.import_module(ROOT + "util.nest")
    assert nest.map_structure_up_to([0, 0], sum, [[1, 2], [3]]) == [3, 3]
    with pytest.raises(ValueError, match="same sequence length"):
        nest.flatten_up_to([0, 0], [1])
    mean = tf.Variable([1.0])
    averages = importlib.import_module(ROOT + "training.moving_averages")
    assert np.isclose(averages.assign_moving_average(mean, [2.0], 0.9).numpy(), 1.1)
    with pytest.raises(RuntimeError, match="graph_mode"):
        importlib.import_module(ROOT + "eager.context").graph_mode()
    with pytest.raises(AttributeError, match="no_such_name"):
        importlib.import_module(ROOT + "ops.array_ops").no_such_name
