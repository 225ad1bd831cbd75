"""Jacobians, Hessians, their products, and gradcheck, beside genuine PyTorch."""
import warnings

import pytest
import torch

from dragon.vm import torch as dt
from harness.subresults import each


def plain(value):
    if isinstance(value, (torch.Tensor, dt.Tensor)):
        return torch.tensor(value.detach().tolist(), dtype=torch.float64).reshape(tuple(value.shape))
    return [plain(item) for item in value]


def close(one, other):
    if isinstance(one, list):
        return len(one) == len(other) and all(map(close, one, other))
    return one.shape == other.shape and torch.allclose(one, other, atol=1e-6)


def several(T):
    return lambda a, b: ((a ** 2 * b).sum(), a.sin() * b)


def single(T):
    return lambda a, b: (a ** 3 * b * b).sum()


def numbers(T):
    return (T.tensor([0.5, -1.0, 2.0], dtype=T.float64), T.tensor([1.5, 0.25, -0.75], dtype=T.float64))


F = {
    "jacobian": lambda T: T.autograd.functional.jacobian(several(T), numbers(T)),
    "jacobian_vectorized": lambda T: T.autograd.functional.jacobian(several(T), numbers(T), vectorize=True),
    "jacobian_forward": lambda T: T.autograd.functional.jacobian(several(T), numbers(T), vectorize=True,
                                                                 strategy="forward-mode"),
    "jacobian_one": lambda T: T.autograd.functional.jacobian(lambda a: a.outer(a), numbers(T)[0]),
    "jacobian_constant": lambda T: T.autograd.functional.jacobian(lambda a: T.ones(2, dtype=T.float64), numbers(T)[0]),
    "hessian": lambda T: T.autograd.functional.hessian(single(T), numbers(T)),
    "hessian_one": lambda T: T.autograd.functional.hessian(lambda a: (a ** 3).sum(), numbers(T)[0]),
    "hessian_linear": lambda T: T.autograd.functional.hessian(lambda a: a.sum(), numbers(T)[0]),
    "hvp": lambda T: T.autograd.functional.hvp(single(T), numbers(T), numbers(T)[::-1]),
    "vhp": lambda T: T.autograd.functional.vhp(single(T), numbers(T), numbers(T)[::-1]),
    "vjp": lambda T: T.autograd.functional.vjp(single(T), numbers(T)),
    "vjp_several": lambda T: T.autograd.functional.vjp(several(T), numbers(T), (numbers(T)[0][0], numbers(T)[1])),
    "jvp": lambda T: T.autograd.functional.jvp(several(T), numbers(T), numbers(T)[::-1]),
}


@each("name", F)
def test_values(name):
    assert close(plain(F[name](dt)), plain(F[name](torch)))


ERRORS = {
    "v_missing": lambda T: T.autograd.functional.vjp(several(T), numbers(T)),
    "v_shape": lambda T: T.autograd.functional.jvp(single(T), numbers(T), numbers(T)[0][:2]),
    "not_scalar": lambda T: T.autograd.functional.hessian(lambda a: a * 2, numbers(T)[0]),
    "strict": lambda T: T.autograd.functional.jacobian(lambda a: T.ones(2), numbers(T)[0], strict=True),
    "strict_hessian": lambda T: T.autograd.functional.hvp(lambda a: a.sum(), numbers(T)[0], numbers(T)[1], strict=True),
    "not_tensor": lambda T: T.autograd.functional.jacobian(lambda a: 3.0, numbers(T)[0]),
    "not_tensor_input": lambda T: T.autograd.functional.jacobian(lambda a: a, 3.0),
    "forward_not_vectorized": lambda T: T.autograd.functional.jacobian(lambda a: a, numbers(T)[0],
                                                                       strategy="forward-mode"),
    "gradcheck_wrong": lambda T: T.autograd.gradcheck(wrong(T), numbers(T)[0].requires_grad_()),
    "gradcheck_wrong_fast": lambda T: T.autograd.gradcheck(wrong(T), numbers(T)[0].requires_grad_(), fast_mode=True),
    "gradcheck_nothing": lambda T: T.autograd.gradcheck(lambda a: a, numbers(T)[0]),
}


def wrong(T):
    class Square(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * x

        @staticmethod
        def backward(ctx, dy):
            return dy * 3
    return Square.apply


@each("name", ERRORS)
def test_errors(name):
    raised = []
    for T in (torch, dt):
        with pytest.raises(Exception) as caught:
            ERRORS[name](T)
        raised.append({kind.__name__ for kind in type(caught.value).__mro__} & {
            "RuntimeError", "TypeError", "ValueError", "NotImplementedError", "GradcheckError"})
    assert raised[0] <= raised[1]


def test_differentiable():
    for T in (torch, dt):
        a = numbers(T)[0].requires_grad_()
        T.autograd.functional.jacobian(lambda x: x ** 3, a, create_graph=True).sum().backward()
        assert plain(a.grad).tolist() == pytest.approx([3.0, -6.0, 12.0])


CHECKED = {
    "product": (lambda a, b: a @ b, [(2, 3), (3, 2)]),
    "sine": (lambda a: a.sin() * a, [(3,)]),
    "several": (lambda a: (a.exp(), a.sum(0)), [(2, 2)]),
}


@each("is_complex", [False, True])
@each("fast", [False, True])
@each("name", CHECKED)
def test_gradcheck(name, fast, is_complex):
    function, shapes = CHECKED[name]
    dt.manual_seed(0)
    inputs = tuple(dt.randn(*shape, dtype=dt.float64) for shape in shapes)
    inputs = tuple((item * 1j if is_complex else item).requires_grad_() for item in inputs)
    assert dt.autograd.gradcheck(function, inputs, fast_mode=fast)
    assert dt.autograd.gradgradcheck(function, inputs, fast_mode=fast)


def test_gradcheck_answers():
    a = numbers(dt)[0].requires_grad_()
    assert not dt.autograd.gradcheck(wrong(dt), a, raise_exception=False)
    with pytest.raises(NotImplementedError, match="check_forward_ad"):
        dt.autograd.gradcheck(wrong(dt), a, check_forward_ad=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dt.autograd.gradcheck(lambda x: x * 2, a.detach().float().requires_grad_(), raise_exception=False)
    assert caught
