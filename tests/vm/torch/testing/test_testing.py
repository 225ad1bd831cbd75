"""torch.testing beside PyTorch: what is close, what is said where it is not, and the same random inputs."""
import itertools
import math

import numpy as np
import pytest
import torch
import torch.testing  # noqa: F401 the oracle

from dragon.vm import torch as dt
from harness.subresults import each

BOTH = (dt, torch)
PAIRS = [
    lambda t: (1, 1), lambda t: (1, 2), lambda t: (1.0, 1.0 + 1e-9), lambda t: (1.0, 1.1), lambda t: (1, 1.0),
    lambda t: (1j, 1j + 1), lambda t: (True, True),
    lambda t: (True, False), lambda t: (None, None), lambda t: (None, 1), lambda t: ("a", "a"), lambda t: (0.0, 1.0),
    lambda t: (1.0, 0.0), lambda t: (math.nan, math.nan), lambda t: (math.inf, math.inf),
    lambda t: (math.inf, -math.inf), lambda t: (np.float32(1), np.float32(2)), lambda t: (np.arange(3), np.arange(3)),
    lambda t: (np.arange(3), np.arange(3) + 1), lambda t: ([1, [2, 3]], [1, [2, 4]]), lambda t: ([1], [1, 2]),
    lambda t: ({"a": 1, "b": [2]}, {"a": 1, "b": [3]}), lambda t: ({"a": 1}, {"b": 1}), lambda t: ([1], {"a": 1}),
    lambda t: (t.tensor([1.0, 2.0]), t.tensor([1.0, 2.0])), lambda t: (t.tensor([1.0, 2.0]), t.tensor([1.0, 2.1])),
    lambda t: (t.tensor([[1, 2], [3, 4]]), t.tensor([[1, 5], [3, 4]])), lambda t: (t.tensor([1.0]), t.tensor([1])),
    lambda t: (t.tensor([1.0]), t.tensor(1.0)), lambda t: (t.tensor([True, False]), t.tensor([True, True])),
    lambda t: (t.tensor(1.0), 1.0), lambda t: (t.tensor([1.0], dtype=t.float64), t.tensor([1.0])),
    lambda t: (t.ones(2, 3).t(), t.ones(3, 2)), lambda t: (t.tensor([math.nan]), t.tensor([math.nan])),
    lambda t: (t.zeros(2), t.tensor([0.0, 1e-3])), lambda t: (t.tensor([1 + 1j]), t.tensor([1 + 2j])),
    lambda t: ([t.ones(2)], [t.zeros(2)]), lambda t: (t.zeros(0), t.zeros(0)), lambda t: (object, object),
]
OPTIONS = [dict(), dict(rtol=0, atol=0), dict(rtol=0.2, atol=0.2), dict(rtol=1), dict(equal_nan=True),
           dict(check_dtype=False), dict(check_stride=True), dict(msg="own words"),
           dict(msg=lambda text: "so: " + text), dict(allow_subclasses=False)]


def outcome(library, pair, options):
    """Return the class and text of what a comparison raises, None if nothing."""
    try:
        library.testing.assert_close(*pair(library), **options)
    except Exception as error:
        return type(error), str(error).replace("dragon.vm.", "")
    return None


@each("options", OPTIONS, ids=lambda options: "-".join(options))
def test_assert_close_says_the_same(options):
    for pair in PAIRS:
        assert outcome(dt, pair, options) == outcome(torch, pair, options)


def test_assert_allclose():
    with pytest.warns(FutureWarning):
        dt.testing.assert_allclose(dt.ones(2), [1.0, 1.00001])
    with pytest.warns(FutureWarning), pytest.raises(AssertionError):
        dt.testing.assert_allclose(dt.ones(2), [1.0, 1.1])


DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "int8", "uint8", "bool", "complex64")
MAKES = [dict(), dict(low=0.5, high=3), dict(noncontiguous=True), dict(exclude_zero=True), dict(low=0, high=2),
         dict(high=3, low=-3)]


@each("dtype, options", list(itertools.product(DTYPES, MAKES)), ids=str)
def test_make_tensor_gives_the_same_numbers(dtype, options):
    made = []
    for library in BOTH:
        library.manual_seed(1)
        try:
            tensor = library.testing.make_tensor(3, 4, dtype=getattr(library, dtype), device="cpu", **options)
            made.append((tensor.tolist(), tensor.stride(), str(tensor.dtype)))
        except Exception as error:
            made.append((type(error), str(error)))
    assert made[0] == made[1]


@pytest.mark.parametrize("options", [dict(low=3, high=1), dict(low=math.nan), dict(requires_grad=True),
                                     dict(noncontiguous=True, memory_format=1), dict(low=400, high=500)], ids=str)
def test_make_tensor_refuses_the_same(options):
    raised = []
    for library in BOTH:
        with pytest.raises(Exception) as caught:
            library.testing.make_tensor((2,), dtype=library.uint8, device="cpu", **options)
        raised.append((caught.type, str(caught.value)))
    assert raised[0] == raised[1]
