"""What is called with something of the wrong kind refuses it by name, as the operators do."""
import numpy
import pytest

import dragon
from dragon.io.batching import stack_samples

CALLS = {
    "iterate": lambda: dragon.Tensor.__iter__(0),
    "array": lambda: dragon.Tensor.__array__(-1, False),
    "format": lambda: dragon.Tensor.__format__(2j, "x"),
    "cast": lambda: dragon.Tensor.astype([], "float64"),
    "assign": lambda: dragon.Tensor.requires_grad_({}),
    "assign to an array": lambda: dragon.Tensor.requires_grad_(numpy.zeros(2)),
}
OTHERS = {
    "a number among parameters": (lambda: dragon.optimizers.clip_grad_norm([dragon.ones((2,)), 3], 2.0), TypeError),
    "a number to differentiate": (lambda: dragon.GradientTape().gradient(numpy.float32(2), object), TypeError),
    "a dictionary of samples": (lambda: stack_samples({}), TypeError),
    "no groups": (lambda: dragon.nn.Conv2d(2, 2, 3, groups=0), ValueError),
    "an end without a start": (lambda: dragon.detect_anomaly().__exit__(), IndexError),
    "a key that is not there": (lambda: dragon.graph.symbol({}, "lr"), ValueError),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_what_is_no_tensor_is_named(call):
    with pytest.raises(TypeError, match="got '.*' for argument 'self', expected a tensor"):
        call()


@pytest.mark.parametrize("call, kind", OTHERS.values(), ids=OTHERS)
def test_the_class_of_a_refusal(call, kind):
    with pytest.raises(kind):
        call()


def test_anomaly_blocks_nest():
    block = dragon.detect_anomaly()
    with block:
        with block:
            pass
    assert not dragon._C.anomaly_mode()


@pytest.mark.parametrize("name", ["linalg_lu_factor_ex", "linalg_svdvals", "linalg_qr"])
def test_matrices_beyond_the_library_are_refused_in_the_operator_s_name(name):
    with pytest.raises(ValueError, match=f"^{name}: .*sides below 2"):
        getattr(dragon.ops, name)(dragon.zeros([0, 2 ** 40]))
