"""`torch.autograd` beside genuine PyTorch: each scenario on both shows the same numbers or error class."""
import warnings

import pytest
import torch

from dragon.vm import torch as dt
from harness.sides import outcome
from harness.subresults import each

SCENARIOS = []


def scenario(function):
    SCENARIOS.append(function)
    return function


def leaf(T, *numbers):
    return T.tensor(numbers, dtype=T.float64, requires_grad=True)


@scenario
def backward_accumulates(T):
    x = leaf(T, 1.0, 2.0)
    (x * x).sum().backward()
    (x * x).sum().backward()
    return x.grad


@scenario
def backward_with_gradient(T):
    x = leaf(T, 1.0, 2.0)
    (x * x).backward(T.tensor([1.0, 10.0], dtype=T.float64))
    return x.grad


@scenario
def backward_inputs(T):
    x, y = leaf(T, 1.0), leaf(T, 2.0)
    middle = x * y
    middle.retain_grad()
    (middle * y).sum().backward(inputs=[y])
    return x.grad, y.grad, middle.is_leaf


@scenario
def backward_several(T):
    x = leaf(T, 1.0, 2.0)
    T.autograd.backward([x.sum(), x * 2], [None, T.ones(2, dtype=T.float64)])
    return x.grad


@scenario
def retain_graph_twice(T):
    x = leaf(T, 1.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    return x.grad


@scenario
def freed_graph(T):
    x = leaf(T, 1.0)
    y = (x * x).sum()
    y.backward()
    y.backward()


@scenario
def grad_double(T):
    x = leaf(T, 2.0, 3.0)
    dx, = T.autograd.grad((x ** 3).sum(), x, create_graph=True)
    return T.autograd.grad(dx.sum(), x), dx.requires_grad


@scenario
def grad_unused(T):
    x, y = leaf(T, 2.0), leaf(T, 3.0)
    return T.autograd.grad(x.sum(), [x, y], allow_unused=True)


@scenario
def grad_unused_error(T):
    x, y = leaf(T, 2.0), leaf(T, 3.0)
    return T.autograd.grad(x.sum(), [x, y])


@scenario
def grad_materialized(T):
    x, y = leaf(T, 2.0), leaf(T, 3.0)
    return T.autograd.grad(x.sum(), [x, y], materialize_grads=True)


@scenario
def grad_contradiction(T):
    x = leaf(T, 2.0)
    return T.autograd.grad(x.sum(), x, allow_unused=False, materialize_grads=True)


@scenario
def grad_batched(T):
    x = leaf(T, 2.0, 3.0)
    return T.autograd.grad(x ** 2, x, T.eye(2, dtype=T.float64), is_grads_batched=True)


@scenario
def grad_dict(T):
    x, y = leaf(T, 2.0), leaf(T, 3.0)
    return T.autograd.grad((x * y).sum(), {"a": x, "b": y})


@scenario
def implicit_scalar(T):
    leaf(T, 1.0, 2.0).exp().backward()


@scenario
def no_history(T):
    T.ones(1).sum().backward()


@scenario
def wrong_gradient_shape(T):
    leaf(T, 1.0, 2.0).exp().backward(T.ones(3))


@scenario
def wrong_gradient_type(T):
    leaf(T, 1.0, 2.0).exp().backward(1.0)


@scenario
def empty_inputs(T):
    leaf(T, 1.0).sum().backward(inputs=[])


@scenario
def hooks(T):
    x, seen = leaf(T, 1.0, 2.0), []
    y = x * 2
    first = y.register_hook(lambda grad: grad * 10)
    x.register_hook(lambda grad: seen.append(grad.clone()))
    y.sum().backward(retain_graph=True)
    first.remove()
    y.sum().backward()
    return x.grad, seen


@scenario
def hook_on_constant(T):
    T.ones(1).register_hook(print)


@scenario
def hook_replaces_leaf_gradient(T):
    x = leaf(T, 1.0)
    handle = x.register_hook(lambda grad: grad + 5)
    with handle:
        (x * 1).sum().backward()
    (x * 1).sum().backward()
    return x.grad


@scenario
def post_accumulate(T):
    x, seen = leaf(T, 1.0), []
    handle = x.register_post_accumulate_grad_hook(lambda item: seen.append(item.grad.clone()))
    (x * 3).sum().backward()
    handle.remove()
    (x * 3).sum().backward()
    return seen, x.grad


@scenario
def post_accumulate_computed(T):
    (leaf(T, 1.0) * 2).register_post_accumulate_grad_hook(print)


@scenario
def retained(T):
    x = leaf(T, 1.0, 2.0)
    y = x * 2
    y.retain_grad()
    (y * y).sum().backward()
    return y.grad, y.retains_grad, x.retains_grad


@scenario
def multi_hook(T):
    x, y, seen, first = leaf(T, 1.0), leaf(T, 2.0), [], []
    T.autograd.graph.register_multi_grad_hook((x, y), lambda grads: seen.append(list(grads)))
    T.autograd.graph.register_multi_grad_hook((x, y), lambda grad: first.append(1), mode="any")
    (x * y).sum().backward()
    return seen, first


@scenario
def node_hooks(T):
    x, seen = leaf(T, 1.0), []
    y = x * 2
    y.grad_fn.register_hook(lambda found, given: seen.append((len(found), given[0])))
    y.grad_fn.register_prehook(lambda given: (given[0] * 4,))
    y.sum().backward()
    return x.grad, seen


@scenario
def flags(T):
    x = leaf(T, 1.0)
    y = x * 2
    return (x.is_leaf, y.is_leaf, y.requires_grad, y.detach().requires_grad, x.output_nr, y.requires_grad_() is y,
            x.grad_fn, y.grad_fn.name(), y.grad_fn.next_functions[0][0].variable is x, y.grad_fn is y.grad_fn)


@scenario
def unset_on_computed(T):
    (leaf(T, 1.0) * 2).requires_grad_(False)


@scenario
def integers(T):
    T.ones(1, dtype=T.int64).requires_grad_()


@scenario
def assign_wrong_grad(T):
    leaf(T, 1.0, 2.0).grad = T.ones(3, dtype=T.float64)


@scenario
def leaf_in_place(T):
    leaf(T, 1.0).add_(1)


@scenario
def saved_then_written(T):
    y = leaf(T, 1.0) * 1
    z = y * y
    y.add_(1)
    z.sum().backward()


@scenario
def anomaly(T):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with T.autograd.detect_anomaly():
            assert T.is_anomaly_enabled() and T.is_anomaly_check_nan_enabled()
            leaf(T, -1.0).sqrt().sum().backward()


@scenario
def anomaly_switch(T):
    with T.autograd.set_detect_anomaly(True, check_nan=False):
        inside = T.is_anomaly_enabled(), T.is_anomaly_check_nan_enabled()
    return inside, T.is_anomaly_enabled(), T.is_anomaly_check_nan_enabled()


@scenario
def variable(T):
    x = T.autograd.Variable(T.ones(2), requires_grad=True)
    return x.requires_grad, isinstance(x, T.autograd.Variable), isinstance(3, T.autograd.Variable)


@scenario
def edge(T):
    x = leaf(T, 1.0)
    y = x * 2
    place = T.autograd.graph.get_gradient_edge(y)
    return place.node is y.grad_fn, place.output_nr, type(T.autograd.graph.get_gradient_edge(x).node).__name__


@scenario
def versions(T):
    x = T.ones(2)
    before = x._version
    T.autograd.graph.increment_version(x)
    return x._version - before


@each("function", SCENARIOS, ids=lambda item: item.__name__)
def test_same_on_both(function):
    assert outcome(function, dt) == outcome(function, torch)


NAMES = {"sum": lambda x: x.sum(), "mean_axis": lambda x: x.mean(0), "exp": lambda x: x.exp(),
         "view": lambda x: x.view(-1), "pow": lambda x: x ** 2, "add": lambda x: x + 1, "neg": lambda x: -x,
         "permute": lambda x: x.permute(1, 0), "clone": lambda x: x.clone(), "div": lambda x: x / 2}


@each("name", NAMES)
def test_names_of_nodes(name):
    shown = [type(NAMES[name](T.ones(2, 3, requires_grad=True)).grad_fn).__name__ for T in (torch, dt)]
    assert shown[0] == shown[1]


def packed(T, x):
    seen = []

    def pack(tensor):
        seen.append("pack")
        return tensor.detach().clone(), len(seen)

    def unpack(kept):
        seen.append("unpack")
        return kept[0]
    with T.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = (x * x).exp().sum()
    y.backward()
    return x.grad, "pack" in seen and "unpack" in seen


def saved_on_cpu(T, x):
    with T.autograd.graph.save_on_cpu():
        y = (x * x).exp().sum()
    y.backward()
    return x.grad


def hooks_disabled(T, x):
    with T.autograd.graph.disable_saved_tensors_hooks("not here"):
        with T.autograd.graph.saved_tensors_hooks(lambda kept: kept, lambda kept: kept):
            pass


def outputs(T, x):
    return [item.output_nr for item in T.linalg.qr(x[:, None])], (x * 2).output_nr


@pytest.mark.parametrize("function", [packed, saved_on_cpu, hooks_disabled, outputs],
                         ids=lambda item: item.__name__)
def test_what_is_saved(function):
    found, expected = (outcome(lambda T: function(T, leaf(T, 0.5, 1.5)), T) for T in (dt, torch))
    assert found == expected
