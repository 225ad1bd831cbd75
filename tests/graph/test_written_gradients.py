"""Functions that write: what flows back through compiled calls is what flows back eagerly, or the same refusal."""
import importlib.util
import warnings

import pytest

from dragon.vm import torch
from harness.subresults import each

GENUINE = importlib.util.find_spec("torch")

pytestmark = pytest.mark.skipif(not GENUINE, reason="genuine PyTorch is the oracle")

# What these show of x, whose own history is untouched, has another one.
ALIASES = """
    return x.detach().add_(y)
    return x.data.add_(y)
    return x.data.copy_(y)
    return x.detach()[0].mul_(y[0])
    return x.detach().add_(y), x
    return x.detach().add_(y), x * 2
    return y.detach().mul_(x), y * x
    return x.detach(), x.detach().mul_(y)
    return x.detach().view(-1).add_(y)
    return x.detach().requires_grad_()
    return x.detach().requires_grad_() * y
    return torch.zeros(3, requires_grad=True), x * y
    return torch.zeros(3).requires_grad_() * 2
    return x[1:], x.view(-1), x.detach()
    return x.detach().index_put_((torch.tensor([0, 2]),), y[:2])
    return x.detach().unsqueeze(0)[0, 1:].copy_(y[1:]), y * 2
"""
# Eager PyTorch refuses most of their gradients: what they need was written since.
SPENT = """
    a = x * y; b = a.sin(); a.add_(1); return b
    return (x * y).exp().mul_(2)
    a = (x * y).exp(); a.detach().add_(1); return a
    a = x * y; b = a * a; a.detach().zero_(); return b, x * 3
    a = x * y; y.detach().add_(1); return a
    a = x * y; x.data.add_(1); return a, x * 3
    a = (x * y).sigmoid(); a.relu_(); return a
    b = x.exp(); c = b + 1; b.mul_(y); return c, b * 2
    b = x.exp(); b.mul_(2); return b, x * 3
    a = x.exp(); a[0] = 1; return a, y * 2
    a = x.exp(); a.view(-1)[1:].mul_(y[1:]); return a + y
    a = x * 1; b = a.tanh(); b.select(0, 1).zero_(); return b, a
    a = x.sqrt(); torch.add(y.detach(), 1, out=a.detach()); return a, x * y
    a = x.exp(); with torch.no_grad(): a.mul_(2); return a * y
"""
WRITES = """
    return torch.zeros(3).copy_(x) * y
    return torch.zeros(3).index_put_((torch.tensor([0, 2]),), (x * y)[:2])
    return torch.add(x.detach(), 1, out=torch.zeros(3)) * y
    a = x.clone(); a[0].mul_(y[1]); return a
    a = x * 1; a.view(-1).mul_(y); return a.exp(), a
    a = (x * y).relu_(); return a, a * 2
    with torch.no_grad(): x.mul_(2); return x * y
    a = x * y; b = a.sin(); return b, a.add_(1).detach()
    x.add_(1); return x
    x[0].add_(1); return x
    a = x.clone(); a.data = y.detach() * 2; return a * 2
    z.add_(x.detach()); return z * y
    z.copy_(y); return z * x
    a = torch.zeros(2, 3); a[0] = x; a[1] = y; a[:, 0] *= 2; return a.sum(0)
    a = torch.zeros(3); a[1:] = x[1:]; a.masked_fill_(a > 1, 0.5); return a * y
    a = x * y; return a.clamp_(max=1), x * 2, y * 2
    a = x.expand(2, 3).clone(); a[0] += y; return a[0], a[1]
    return F.relu(x * y, inplace=True), x * 3
    a = torch.empty(3); a.fill_(2); a.mul_(x); return a
    a = x.clone(); a.scatter_(0, torch.tensor([0, 1]), y[:2]); return a
    a = x.clone(); a.lerp_(y, 0.5); return a
"""
BODIES = [line.strip() for lines in (ALIASES, SPENT, WRITES) for line in lines.strip().split("\n")]


def slopes(results, leaves, module):
    """Return each result's gradients, asked for and accumulated, or that there are none."""
    found = []
    for result in results:
        if not result.requires_grad:
            continue
        loss = (result * module.arange(1., 4.)[:result.numel()].reshape(result.shape)).sum()
        asking = [lambda: module.autograd.grad(loss, [leaf], allow_unused=True, retain_graph=True) for leaf in leaves]
        for ask in (*asking, lambda: loss.backward(retain_graph=True)):
            try:
                grads = ask() or [leaf.grad for leaf in leaves]
                found.append([None if grad is None else [round(item, 3) for item in grad.tolist()] for grad in grads])
            except RuntimeError:
                found.append("refused")
            for leaf in leaves:
                leaf.grad = None
    return found


def calls(body, module, differentiated, compiled):
    """Return what three calls show."""
    names = {"torch": module, "F": module.nn.functional, "z": module.arange(3.)}
    lines = ["def function(x, y):"] + body.split("; ")
    exec("\n    ".join(lines), names)
    function, shown = names["function"], []
    if compiled:
        function = torch.compile(function)
    for call in range(3):
        x, y = module.tensor([1., 2., 3.]) * (1 + call) / 4, module.tensor([0.5, -1., 2.])
        leaves = [tensor for name, tensor in (("x", x), ("y", y)) if name in differentiated]
        for leaf in leaves:
            leaf.requires_grad_()
        arguments = [x * 1, y * 1] if "computed" in differentiated else [x, y]
        try:
            results = function(*arguments)
        except RuntimeError:
            shown.append("refused")
            continue
        results = results if isinstance(results, tuple) else (results,)
        shown.append([[(result.requires_grad, result.is_leaf, [round(item, 4) for item in result.tolist()])
                       if result.dim() else round(result.item(), 4)
                       for result in results], slopes(results, leaves, module),
                      x.tolist(), y.tolist(), [argument.tolist() for argument in arguments]])
    return shown


@each("differentiated", ["x", "y", "x y", "x y computed"])
@each("body", BODIES)
def test_gradients_of_functions_that_write(body, differentiated):
    import torch as genuine
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        eager = calls(body, torch, differentiated, compiled=False)
        assert calls(body, torch, differentiated, compiled=True) == eager
        assert calls(body, genuine, differentiated, compiled=False) == eager


def test_a_loss_whose_backward_pass_is_over_has_no_gradients():
    weight = torch.ones(3, requires_grad=True)

    def step(x):
        loss = (weight * x).exp().sum()
        loss.backward()
        return loss
    for function in (step, torch.compile(step)):
        for _ in range(3):
            loss = function(torch.ones(3))
            with pytest.raises(RuntimeError, match="freed"):
                torch.autograd.grad(loss, [weight])
            with pytest.raises(RuntimeError, match="freed"):
                loss.backward()


def test_what_no_gradient_flows_to_gets_none():
    """Zeros instead would let weight decay and momentum move what eager training leaves alone."""
    first, second = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    compiled = torch.compile(lambda x: (first(x), second(x)))
    for _ in range(3):
        for result, reached, other in ((0, first, second), (1, second, first)):
            compiled(torch.ones(4, 3))[result].sum().backward()
            assert other.weight.grad is None and reached.weight.grad is not None
            reached.zero_grad(), other.zero_grad()


def test_an_argument_computed_from_another_gets_its_gradient_once():
    compiled = torch.compile(lambda a, b: a * b)
    for _ in range(3):
        x = torch.tensor([3.0], requires_grad=True)
        compiled(x * 2, x).backward()
        assert x.grad.tolist() == [12.0]
