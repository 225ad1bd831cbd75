"""Histories whose tensors took other memory or another history since: an error or the right gradient, never a crash."""
import pytest

from dragon.vm import torch

F = torch.nn.functional


def leaf(*shape):
    return torch.rand(shape, requires_grad=True)


def give_data(x):
    x.data = torch.rand(1)


def give_storage(x):
    with torch.no_grad():
        x.set_(torch.rand(1))


GIFTS = {"data": give_data, "set_": give_storage}


@pytest.mark.parametrize("give", GIFTS.values(), ids=GIFTS)
def test_a_saved_leaf_of_another_shape_is_an_error(give):
    x, w = leaf(1, 1, 64, 64), leaf(1, 1, 3, 3)
    y = F.conv2d(x, w)
    give(x)
    with pytest.raises(RuntimeError, match="saved tensor"):
        y.sum().backward()


def test_a_saved_leaf_of_another_dtype_is_an_error():
    x = leaf(300)
    y = x.exp() * x
    x.data = torch.zeros(300, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="saved tensor"):
        y.sum().backward()


def test_a_result_of_another_shape_gets_no_gradient():
    x, w = leaf(1, 1, 64, 64), leaf(1, 1, 3, 3)
    y = F.conv2d(x, w)
    y.data = torch.rand(1)
    with pytest.raises(RuntimeError, match="gradient of shape"):
        y.sum().backward()


def test_a_hook_must_keep_the_shape():
    x, w = leaf(1, 1, 64, 64), leaf(1, 1, 3, 3)
    y = F.conv2d(x, w)
    y.register_hook(lambda grad: torch.ones(2))
    with pytest.raises(RuntimeError, match="gradient of shape"):
        y.sum().backward()


def test_what_is_unpacked_must_have_the_shape():
    x, w = leaf(1, 1, 64, 64), leaf(1, 1, 3, 3)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: torch.ones(1)):
        y = F.conv2d(x, w)
    with pytest.raises(RuntimeError, match="saved tensor"):
        y.sum().backward()


def test_a_retained_gradient_is_of_the_latest_history():
    x = leaf(3)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    (y * 5).sum().backward()
    assert y.grad.tolist() == [5] * 3 and x.grad.tolist() == [30] * 3


@pytest.mark.parametrize("end", [lambda y: y.add_(1), lambda y: y.detach_(), lambda y: y.unsqueeze_(0)],
                         ids=["add_", "detach_", "unsqueeze_"])
def test_a_retained_gradient_of_what_is_gone(end):
    x = leaf(3)
    y = x * 2
    y.retain_grad()
    w = y * 1
    end(y)
    loss = w.sum() + y.sum()
    del y, w
    others = [torch.ones(3) for _ in range(50)]
    loss.backward()
    assert x.grad.shape == (3,) and len(others) == 50


def test_hooks_may_take_themselves_away():
    x, seen = leaf(3), []
    handles = []
    for number in range(3):
        def hook(grad, number=number):
            seen.append(number)
            for handle in handles:
                handle.remove()
        handles.append(x.register_hook(hook))
    (x * 2).sum().backward()
    assert seen[0] == 0
    seen.clear()
    (x * 2).sum().backward()
    assert not seen


def test_a_tensor_is_not_its_own_gradient():
    x = leaf(3)
    with pytest.raises(RuntimeError):
        x.grad = x
    x.backward(x.detach())
    x.grad = None
    x.backward(x, create_graph=True)
    assert x.grad is not x and x.grad.tolist() == x.tolist()
