"""Tensors that refer to themselves, by attributes, hooks and histories, are found by Python's garbage collector."""
import gc
import threading
import weakref

import pytest

from dragon.vm import torch
from harness.subresults import each

pytestmark = pytest.mark.usefixtures("only_new_garbage")


class Probe:
    """Lives as long as what refers to it."""


def leaf():
    return torch.ones(3, requires_grad=True)


def by_attribute(probe):
    x = torch.ones(3)
    x.probe, x.me = probe, x


def by_parameter(probe):
    model = torch.nn.Linear(2, 2)
    model.weight.owner, model.probe = model, probe


def by_hook(probe):
    x = leaf()
    x.register_hook(lambda grad: (x, probe) and None)


def by_hook_with_handle(probe):
    x = leaf()
    x.handle = x.register_hook(lambda grad: (x, probe) and None)


def by_hook_of_result(probe):
    y = leaf() * 2
    y.register_hook(lambda grad: (y, probe) and None)


def by_hook_deep_in_history(probe):
    y = leaf() * 2
    z = y.exp().sum()
    y.register_hook(lambda grad: (z, probe) and None)
    del y
    z.backward()


def by_accumulated_hook(probe):
    x = leaf()
    x.register_post_accumulate_grad_hook(lambda x_: (x, probe) and None)
    (x * 2).sum().backward()


def by_gradient(probe):
    x, grad = leaf(), leaf()
    x.grad = grad
    grad.register_hook(lambda grad: (x, probe) and None)
    del grad


def by_attribute_of_gradient(probe):
    x, grad = leaf(), torch.ones(3)
    x.grad, grad.probe, grad.owner = grad, probe, x


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, kept):
        ctx.kept = kept
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2, None


def by_context(probe):
    kept = [probe]
    y = Double.apply(leaf(), kept)
    kept.append(y)


def by_context_deep_in_history(probe):
    kept = [probe]
    kept.append(Double.apply(leaf(), kept).exp().sum())


def by_hook_of_node(probe):
    node = (leaf() * 2).grad_fn
    node.register_hook(lambda *grads: (node, probe) and None)


def by_view(probe):
    x = leaf().detach()[1:]
    x.probe, x.me = probe, x


CYCLES = [by_attribute, by_parameter, by_hook, by_hook_with_handle, by_hook_of_result, by_hook_deep_in_history,
          by_accumulated_hook, by_gradient, by_attribute_of_gradient, by_context, by_context_deep_in_history,
          by_hook_of_node, by_view]


@pytest.mark.long("the garbage collector looks through all that the tests before have made")
@each("make", CYCLES, ids=lambda make: make.__name__)
def test_a_cycle_is_collected(make):
    probe = Probe()
    watch = weakref.ref(probe)
    make(probe)
    del probe
    gc.collect()
    assert watch() is None


def test_what_is_reachable_stays():
    x, calls = leaf(), []
    x.register_hook(lambda grad: calls.append(grad.shape))
    y = Double.apply(x * 3, [x])
    y.register_hook(lambda grad: calls.append(grad.shape))
    loss = y.sum()
    y = x = None
    for _ in range(3):
        gc.collect()
    loss.backward()
    assert calls == [(3,), (3,)]


def test_another_tensors_history_keeps_a_hook_alive():
    calls = []

    def make():
        y = leaf() * 2
        y.register_hook(lambda grad: calls.append(y.sum().item()))
        return y.exp()
    z = make()
    gc.collect()
    z.sum().backward()
    assert calls == [6.0]


def test_collecting_while_other_threads_compute():
    stop, trouble = threading.Event(), []

    def work():
        x = torch.ones(200_000, requires_grad=True)
        while not stop.is_set():
            y = x * 2
            y.register_hook(lambda grad: None)
            y.mul_(1.5)
            y.sum().backward()
            if x.grad[0].item() != 3:
                trouble.append(x.grad[0].item())
            x.grad = None
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(8):
        by_hook(None)
        by_context(None)
        gc.collect()
    stop.set()
    for thread in threads:
        thread.join()
    assert not trouble
