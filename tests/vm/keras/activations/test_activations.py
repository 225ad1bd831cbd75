"""Activations against genuine Keras: values, gradients, symbolic tensors, names, errors."""
import numpy as np
import pytest
from harness import genuine
from harness.subresults import each

from dragon import _C
from dragon.vm.keras import activations
from dragon.vm.keras.core.convert import convert_to_tensor

X = np.random.default_rng(0).normal(size=(4, 6)).astype("float32") * 2
ROWS = [(name, {}) for name in (
    "celu", "elu", "exponential", "gelu", "glu", "hard_shrink", "hard_sigmoid", "hard_silu", "hard_swish", "hard_tanh",
    "leaky_relu", "linear", "log_sigmoid", "log_softmax", "mish", "relu", "relu6", "selu", "sigmoid", "silu",
    "soft_shrink", "softmax", "softplus", "softsign", "sparse_plus", "sparse_sigmoid", "sparsemax", "squareplus",
    "swish", "tanh", "tanh_shrink")] + [
    ("relu", {"negative_slope": 0.1}), ("relu", {"max_value": 1.5}), ("relu", {"threshold": 0.5}),
    ("relu", {"negative_slope": 0.1, "max_value": 1.5, "threshold": 0.5}), ("relu", {"max_value": 6}),
    ("celu", {"alpha": 0.5}), ("elu", {"alpha": 0.5}), ("gelu", {"approximate": True}), ("glu", {"axis": 0}),
    ("leaky_relu", {"negative_slope": 0.4}), ("softmax", {"axis": 0}), ("log_softmax", {"axis": 0}),
    ("hard_shrink", {"threshold": 1.0}), ("soft_shrink", {"threshold": 1.0}), ("squareplus", {"b": 2}),
    ("threshold", {"threshold": 0.3, "default_value": -1.0})]
IDS = [f"{name}-{index}" for index, (name, _) in enumerate(ROWS)]


@each("name, arguments", ROWS, ids=IDS)
def test_values(name, arguments):
    """Values, gradients, and the shape of a symbolic result."""
    keras, tf = genuine.keras, genuine.tf
    ours, theirs = (getattr(module, name) for module in (activations, keras.activations))
    x, weight = tf.constant(X), np.random.default_rng(1).random(X.shape).astype("float32")
    with tf.GradientTape() as tape:
        tape.watch(x)
        expected = theirs(x, **arguments)
        total = tf.reduce_sum(expected * weight[:expected.shape[0], :expected.shape[1]])
    before = _C.set_grad_enabled(True)
    try:
        y = convert_to_tensor(X.copy())
        y.requires_grad = True
        found = ours(y, **arguments)
        own, = _C.grad([(found * weight[:found.shape[0], :found.shape[1]])], [y],
                       [convert_to_tensor(np.ones(tuple(found.shape), "float32"))])
    finally:
        _C.set_grad_enabled(before)
    np.testing.assert_allclose(found.detach().numpy(), expected.numpy(), rtol=2e-5, atol=2e-6)
    np.testing.assert_allclose(own.numpy(), tape.gradient(total, x).numpy(), rtol=1e-4, atol=1e-5)
    from dragon.vm.keras.core.keras_tensor import KerasTensor
    symbolic = ours(KerasTensor((None, 6)) if arguments.get("axis") != 0 else KerasTensor((4, 6)), **arguments)
    assert symbolic.shape[1] == found.shape[1]


def test_names():
    """Every name that genuine Keras knows; what is saved; all public names."""
    assert genuine.keras  # or the test is skipped
    from keras.src.activations import ALL_OBJECTS_DICT
    for name, thing in ALL_OBJECTS_DICT.items():
        if isinstance(thing, type):
            continue
        ours = activations.get(name)
        assert ours.__name__ == thing.__name__
        assert activations.serialize(ours) == genuine.keras.activations.serialize(thing)
        assert activations.deserialize(activations.serialize(ours)) is ours
    assert activations.get(None) is activations.linear
    assert activations.get(len) is len
    missing = {name for name in dir(genuine.keras.activations) if not name.startswith("_")} - set(dir(activations))
    assert not missing
    with pytest.raises(ValueError, match="nothing$"):
        activations.get("nothing")


def test_errors_name_the_activation():
    with pytest.raises(TypeError, match=r"^exponential\(\) missing 1 required positional argument: 'x'"):
        activations.exponential()
