"""Logarithms of sums of exponentials of complex numbers: genuine PyTorch's answers and gradients, extremes too."""
import numpy
import pytest
import torch

from dragon.vm import torch as dt
from harness.subresults import each

INF, NAN = float("inf"), float("nan")
C = [1 + 2j, -3 + 0.5j, 2 - 1j]
D = [0.5 - 1j, 1j, -2 + 2j]
CODES = [
    "t.logsumexp(t.tensor(C), 0)", "t.tensor([C, D]).logsumexp(1, keepdim=True)",
    "t.logsumexp(t.tensor([C, D]), (0, 1))",
    "t.special.logsumexp(t.tensor([C, D], dtype=t.complex128), -2)", "t.logsumexp(t.tensor(1 + 2j), 0)",
    "t.logsumexp(t.tensor([complex(-INF, 0)] * 2), 0)", "t.logsumexp(t.tensor([complex(INF, 0), 1 + 0j]), 0)",
    "t.logsumexp(t.tensor([complex(1e3, 1), complex(1e3, 2)]), 0)", "t.logsumexp(t.zeros(0, dtype=t.complex64), 0)",
    "t.logsumexp(t.tensor(C), 0, out=t.empty((), dtype=t.complex64))",
    "t.logaddexp(t.tensor(C), t.tensor(D))", "t.tensor(C).logaddexp(t.tensor(D))",
    "t.logaddexp(t.tensor(C), t.ones(3))", "t.logaddexp(t.tensor(C, dtype=t.complex128), t.tensor(D))",
    "t.logaddexp(t.tensor([complex(1e3, 1)]), t.tensor([complex(1e3, 2)]))",
    "t.logaddexp(t.tensor([complex(-INF, 0)] * 2), t.tensor([complex(-INF, 0), 1 + 2j]))",
    "t.logaddexp(t.tensor([complex(1, 3.5)]), t.tensor([complex(0, 3.2)]))",
    "t.logaddexp(t.tensor([complex(NAN, 1)]), t.tensor([1j]))",
    "t.logcumsumexp(t.tensor(C), 0)", "t.tensor([C, D]).logcumsumexp(1)", "t.logcumsumexp(t.tensor([C, D]), 0)",
    "t.logcumsumexp(t.linspace(-3, 3, 17) * (1 + 1j), 0)", "t.logcumsumexp(t.tensor(1 + 2j), 0)",
    "t.logcumsumexp(t.tensor([complex(-INF, 0), complex(1e3, 1), complex(1e3, 2)]), 0)",
    "t.logcumsumexp(t.tensor([complex(-INF, 0), complex(NAN, 1), 1 + 2j]), 0)",
    "t.logcumsumexp(t.zeros(0, dtype=t.complex64), 0)",
]


def run(t, code):
    """Return what a line gives in a face."""
    return eval(code, {"t": t, "C": C, "D": D, "INF": INF, "NAN": NAN})


@each("code", CODES)
def test_answers(code):
    ours, theirs = (run(t, code) for t in (dt, torch))
    assert str(ours.dtype) == str(theirs.dtype)
    numpy.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("code", ["t.logsumexp(x, 0)", "t.logaddexp(x, t.tensor(D))", "t.logcumsumexp(x, 0)"])
def test_gradients(code):
    grads = []
    for t in (dt, torch):
        x = t.tensor(C, requires_grad=True)
        made = eval(code, {"t": t, "x": x, "D": D})
        (made.real.sum() + 2 * made.imag.sum()).backward()
        grads.append(x.grad.resolve_conj().numpy())
    numpy.testing.assert_allclose(*grads, rtol=1e-4, atol=1e-5)


def test_numbers_are_no_tensors():
    with pytest.raises(TypeError, match="got 'int' for argument 'other', expected Tensor"):
        dt.logaddexp(dt.tensor(C), 1)
    for numbers in ((dt.ones(3), 2), (2, dt.ones(3)), (2, 3)):
        with pytest.raises(TypeError, match="Tensor"):
            dt.logaddexp(*numbers)
    with pytest.raises(IndexError, match="5"):
        dt.logsumexp(dt.tensor(C), 5)


@pytest.mark.parametrize("t", [torch, dt])
def test_numpys_words(t):
    x = t.tensor([[0.5, 1.0], [2.0, -1.0]])
    assert t.equal(t.logsumexp(x, axis=1, keepdims=True), t.logsumexp(x, 1, True))
    assert t.equal(t.logcumsumexp(x, axis=0), x.logcumsumexp(0))
    for call in (t.logsumexp, t.logcumsumexp):
        for words in ({}, {"dim": None}, {"dim": 0, "foo": 1}):
            with pytest.raises(TypeError):
                call(x, **words)
    with pytest.raises(TypeError):
        t.logcumsumexp(x, axis=0, keepdims=True)
