"""Steps with `differentiable=True`: the same updates and the same gradients through them as in genuine PyTorch."""
import pytest
import torch as gt

from dragon.vm import torch as dt
from harness.subresults import each

CASES = [
    ("SGD", {"lr": 0.1}), ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.5, "maximize": True}), ("Adam", {"lr": 0.1}),
    ("Adam", {"lr": 0.1, "amsgrad": True, "weight_decay": 0.1}), ("AdamW", {"lr": 0.1, "weight_decay": 0.1}),
    ("Adamax", {"lr": 0.1, "weight_decay": 0.1}), ("NAdam", {"lr": 0.1, "weight_decay": 0.1}),
    ("NAdam", {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}), ("RAdam", {"lr": 0.1}),
    ("RAdam", {"lr": 0.1, "betas": (0.5, 0.6), "weight_decay": 0.1}), ("Adagrad", {"lr": 0.1, "lr_decay": 0.1}),
    ("Adadelta", {"lr": 0.1, "weight_decay": 0.1}), ("RMSprop", {"lr": 0.1}),
    ("RMSprop", {"lr": 0.1, "centered": True, "momentum": 0.9, "weight_decay": 0.1}), ("Rprop", {"lr": 0.1}),
    ("ASGD", {"lr": 0.1, "t0": 1, "weight_decay": 0.1})]


def step(torch, name, options, steps, start, slope):
    """Return a parameter after some steps with gradients that depend on two tensors."""
    param = start.clone()
    optimizer = getattr(torch.optim, name)([param], differentiable=True, **options)
    for place in range(steps):
        param.grad = slope * (place + 1) + 0.3 * start.sin()
        optimizer.step()
    return param


def run(torch, name, options, steps):
    """Return the parameter after some steps, and the gradients of its sum of squares by both tensors."""
    leaves = [torch.tensor(numbers, dtype=torch.float64, requires_grad=True)
              for numbers in ([0.5, -1.0, 2.0], [1.0, 0.5, -0.3])]
    param = step(torch, name, options, steps, *leaves)
    return param, torch.autograd.grad((param ** 2).sum(), leaves, allow_unused=True)


@each("name, options", CASES, ids=str)
@each("steps", [1, 6])
def test_gradients_flow_through_steps(name, options, steps):
    ours = run(dt, name, options, steps)
    try:
        theirs = run(gt, name, options, steps)
    except RuntimeError as error:  # it writes into states that it needs for gradients
        assert "modified by an inplace operation" in str(error)
        leaves = [dt.tensor(numbers, dtype=dt.float64, requires_grad=True)
                  for numbers in ([0.5, -1.0, 2.0], [1.0, 0.5, -0.3])]
        assert dt.autograd.gradcheck(lambda *both: step(dt, name, options, steps, *both), leaves, rtol=1e-3, atol=1e-4)
        return
    assert ours[0].tolist() == pytest.approx(theirs[0].tolist(), rel=1e-3)
    for mine, other in zip(ours[1], theirs[1]):
        if other is None:
            assert mine is None
        else:
            assert mine.tolist() == pytest.approx(other.tolist(), rel=1e-3, abs=1e-5)


def test_gradients_flow_to_a_learning_rate():
    found = []
    for torch in (dt, gt):
        lr = torch.tensor(0.1, requires_grad=True)
        param = torch.ones(2).clone()
        optimizer = torch.optim.SGD([param], lr=lr, differentiable=True)
        param.grad = torch.tensor([1.0, 2.0])
        optimizer.step()
        param.sum().backward()
        found.append(lr.grad.item())
    assert found[0] == found[1] == -3


def test_leaves_are_not_written_in_recorded_steps():
    for torch in (dt, gt):
        leaf = torch.ones(2, requires_grad=True)
        leaf.grad = torch.ones(2)
        with pytest.raises(RuntimeError, match="leaf"):
            torch.optim.SGD([leaf], lr=0.1, differentiable=True).step()
        with pytest.raises(ValueError, match="non-leaf"):
            torch.optim.SGD([leaf * 1], lr=0.1)
