"""torch.autograd.forward_ad: dual numbers, beside genuine PyTorch's."""
import pytest
import torch as gt
from torch.autograd import forward_ad  # noqa: F401: which is imported when it is wanted

from dragon.vm import torch as dt

FUNCTIONS = {
    "product": lambda torch, x, y: (x * y).sin().sum(), "matmul": lambda torch, x, y: x @ y.T,
    "views": lambda torch, x, y: torch.cat([x[0], y[:, 1]]).exp(),
    "softmax": lambda torch, x, y: torch.softmax(x - y, 1),
    "one": lambda torch, x, y: x.tanh(), "sign": lambda torch, x, y: x.sign(),
    "norm": lambda torch, x, y: torch.linalg.norm(x) * y.log1p().mean()}


def numbers(torch):
    """Return two tensors and their tangents."""
    x = torch.arange(6, dtype=torch.float64).reshape(2, 3) / 4 + 0.1
    return x, x.flip(1) + 0.3, x.cos(), (x * 2).sin()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_tangents(name):
    found = []
    for torch in (dt, gt):
        x, y, dx, dy = numbers(torch)
        forward = torch.autograd.forward_ad
        with forward.dual_level():
            result = FUNCTIONS[name](torch, forward.make_dual(x, dx), forward.make_dual(y, dy))
            primal, tangent = forward.unpack_dual(result)
        assert not primal.requires_grad and not tangent.requires_grad
        found.append([primal.flatten().tolist(), tangent.flatten().tolist()])
    for ours, theirs in zip(*found):
        assert ours == pytest.approx(theirs)


def test_gradients_of_tangents():
    found = []
    for torch in (dt, gt):
        x, _, dx, _ = numbers(torch)
        x.requires_grad_()
        forward = torch.autograd.forward_ad
        with forward.dual_level():
            primal, tangent = forward.unpack_dual(forward.make_dual(x, dx).sin())
            assert primal.requires_grad and tangent.requires_grad
            found.append(torch.autograd.grad((tangent + primal).sum(), x)[0].flatten().tolist())
    assert found[0] == pytest.approx(found[1])


def test_layers_with_dual_weights():
    found = []
    for torch in (dt, gt):
        layer, forward = torch.nn.Linear(3, 2, dtype=torch.float64), torch.autograd.forward_ad
        x, weight = numbers(torch)[:2]
        with forward.dual_level():
            del layer.weight
            layer.weight = forward.make_dual(weight, weight * 2)
            layer.bias = None
            found.append(forward.unpack_dual(layer(x)).tangent.flatten().tolist())
    assert found[0] == pytest.approx(found[1])


def test_what_has_no_tangent():
    forward = dt.autograd.forward_ad
    x = dt.ones(2)
    assert forward.unpack_dual(x) == (x, None)
    with forward.dual_level():
        assert forward.unpack_dual(x * 2).tangent is None
        dual = forward.make_dual(x, x)
        assert forward.unpack_dual(dual).tangent is x
    assert forward.unpack_dual(dual).tangent is None


def test_letters():
    forward, x = dt.autograd.forward_ad, dt.ones(2)
    with pytest.raises(RuntimeError, match="no level exists"):
        forward.make_dual(x, x)
    with pytest.raises(RuntimeError, match="exit_dual_level"):
        forward.exit_dual_level()
    with forward.dual_level():
        for values, kind in (((x.int(), x), ValueError), ((x, x.int()), ValueError), ((x, dt.ones(3)), RuntimeError),
                             ((x, 1), TypeError)):
            with pytest.raises(kind):
                forward.make_dual(*values)
        with pytest.raises(RuntimeError, match="Nested"):
            forward.enter_dual_level()
        with pytest.raises(RuntimeError, match="level=3"):
            forward.unpack_dual(x, level=3)
        with pytest.raises(NotImplementedError, match="no_grad"), dt.no_grad():
            forward.make_dual(x, x)
