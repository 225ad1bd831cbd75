"""Every schedule beside genuine PyTorch: rates, momenta and states over 50 steps."""
import importlib
import re
import warnings

import pytest
import torch

from dragon.vm import torch as dt
from harness.subresults import each

SIMPLE = [
    ("LambdaLR", {"lr_lambda": lambda step: 0.95 ** step}),
    ("LambdaLR", {"lr_lambda": [lambda step: 0.95 ** step, lambda step: 1 / (step + 1)]}),
    ("MultiplicativeLR", {"lr_lambda": lambda step: 0.95}), ("StepLR", {"step_size": 7}),
    ("StepLR", {"step_size": 3, "gamma": 0.5}), ("MultiStepLR", {"milestones": [3, 9, 9, 30], "gamma": 0.3}),
    ("ConstantLR", {}), ("ConstantLR", {"factor": 0.25, "total_iters": 12}), ("LinearLR", {}),
    ("LinearLR", {"start_factor": 0.1, "end_factor": 0.7, "total_iters": 20}), ("ExponentialLR", {"gamma": 0.9}),
    ("PolynomialLR", {}), ("PolynomialLR", {"total_iters": 30, "power": 0.9}), ("CosineAnnealingLR", {"T_max": 10}),
    ("CosineAnnealingLR", {"T_max": 60, "eta_min": 0.001}), ("CosineAnnealingWarmRestarts", {"T_0": 4}),
    ("CosineAnnealingWarmRestarts", {"T_0": 5, "T_mult": 2, "eta_min": 0.01}),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 60}),
    ("OneCycleLR", {"max_lr": [0.5, 0.2], "epochs": 6, "steps_per_epoch": 10, "anneal_strategy": "linear"}),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 60, "three_phase": True, "pct_start": 0.2, "div_factor": 10.0}),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 51, "cycle_momentum": False}),
    ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.1, "step_size_up": 7}),
    ("CyclicLR", {"base_lr": [0.01, 0.02], "max_lr": 0.1, "step_size_up": 5, "step_size_down": 9,
                  "mode": "triangular2"}),
    ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.1, "step_size_up": 7, "mode": "exp_range", "gamma": 0.97}),
    ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.1, "step_size_up": 6, "scale_fn": lambda x: 0.5 ** x,
                  "cycle_momentum": False}),
    ("SWALR", {"swa_lr": 0.05}), ("SWALR", {"swa_lr": [0.05, 0.5], "anneal_epochs": 20, "anneal_strategy": "linear"}),
    ("SWALR", {"swa_lr": 0.3, "anneal_epochs": 0}),
]
BUILT = {
    "sequential": lambda S, opt: S.SequentialLR(opt, [S.ConstantLR(opt, 0.1, 5), S.ExponentialLR(opt, 0.9),
                                                      S.CosineAnnealingLR(opt, 20)], [8, 20]),
    "sequential_nested": lambda S, opt: S.SequentialLR(
        opt, [S.SequentialLR(opt, [S.StepLR(opt, 3), S.ExponentialLR(opt, 0.8)], [4]), S.LinearLR(opt, 0.1)], [9]),
    "chained": lambda S, opt: S.ChainedScheduler([S.ConstantLR(opt, 0.5, 4), S.ExponentialLR(opt, 0.9)]),
    "chained_with": lambda S, opt: S.ChainedScheduler([S.StepLR(opt, 5, 0.5), S.LinearLR(opt, 0.2)], optimizer=opt),
}


def modules(T):
    return [importlib.import_module(f"{T.__name__}.optim.{name}") for name in ("lr_scheduler", "swa_utils")]


def make(T, kind="SGD"):
    params = [T.ones(2, requires_grad=True), T.ones(3, requires_grad=True)]
    more = {"momentum": 0.9} if kind == "SGD" else {}
    return getattr(T.optim, kind)([{"params": params[:1]}, {"params": params[1:], "lr": 0.3}], lr=0.1, **more)


def build(T, optimizer, name, options):
    schedules, averages = modules(T)
    return getattr(averages if name == "SWALR" else schedules, name)(optimizer, **options)


def snapshot(optimizer, scheduler):
    groups = [{key: value for key, value in group.items() if key != "params"} for group in optimizer.param_groups]
    return scheduler.get_last_lr(), groups


def clean(state):
    """Return a state without what cannot be compared: functions."""
    if isinstance(state, dict):
        return {key: clean(value) for key, value in state.items()}
    if isinstance(state, list):
        return [clean(item) for item in state]
    return state


def follow(T, make_scheduler, kind="SGD", steps=50):
    optimizer = make(T, kind)
    scheduler = make_scheduler(T, optimizer)
    seen = [snapshot(optimizer, scheduler)]
    for _ in range(steps):
        optimizer.step()
        scheduler.step()
        seen.append(snapshot(optimizer, scheduler))
    return seen, clean(scheduler.state_dict())


def describe(item):
    """Return a test's name for a case, the same in every process: functions have addresses."""
    return re.sub(r" at 0x\w+", "", str(item))[:60]


@each("kind", ["SGD", "Adam"])
@each("name, options", SIMPLE, ids=describe)
def test_rates(name, options, kind):
    def start(T, optimizer):
        return build(T, optimizer, name, options)
    assert follow(dt, start, kind) == follow(torch, start, kind)


@pytest.mark.parametrize("name", BUILT)
def test_composites(name):
    def start(T, optimizer):
        return BUILT[name](modules(T)[0], optimizer)
    assert follow(dt, start) == follow(torch, start)


@each("name, options", SIMPLE, ids=describe)
def test_going_on_from_pytorch(name, options):
    """A schedule's state of PyTorch goes on in Dragon."""
    first = make(torch)
    theirs = build(torch, first, name, options)
    second = make(dt)
    mine = build(dt, second, name, options)
    for _ in range(13):
        first.step()
        theirs.step()
    mine.load_state_dict(theirs.state_dict())
    for group, other in zip(second.param_groups, first.param_groups):
        group.update({key: value for key, value in other.items() if key != "params"})
    for _ in range(10):
        first.step(), second.step()
        theirs.step(), mine.step()
        assert snapshot(second, mine) == snapshot(first, theirs)


@each("name, options", [case for case in SIMPLE if case[0] in (
    "StepLR", "MultiStepLR", "ConstantLR", "LinearLR", "ExponentialLR", "PolynomialLR", "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts", "LambdaLR")], ids=describe)
def test_named_steps(name, options):
    found = []
    for T in (torch, dt):
        optimizer = make(T)
        scheduler = build(T, optimizer, name, options)
        seen = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for step in (3, 9, 4, 30, *range(32)):  # back and forth, and at every bound
                scheduler.step(step)
                seen.append(snapshot(optimizer, scheduler))
        found.append(seen)
    assert found[0] == found[1]


PLATEAUS = [{}, {"mode": "max", "patience": 2}, {"factor": 0.5, "patience": 1, "threshold": 0.1, "cooldown": 2},
            {"threshold_mode": "abs", "patience": 0, "min_lr": 0.01}, {"patience": 0, "min_lr": [0.02, 0.05]},
            {"mode": "max", "threshold_mode": "abs", "threshold": 0.5, "patience": 3}]


@pytest.mark.parametrize("options", PLATEAUS, ids=str)
def test_plateau(options):
    metrics = [3.0, 2.5, 2.4, 2.4, 2.39, 2.4, 2.5, 2.0, 2.0, 2.1, 1.9, 2.0, 2.0, 2.0, 1.0, 1.5, 1.5, 1.5, 1.5] * 2
    found = []
    for T in (torch, dt):
        optimizer = make(T)
        scheduler = modules(T)[0].ReduceLROnPlateau(optimizer, **options)
        seen = []
        for metric in metrics:
            optimizer.step()
            scheduler.step(T.tensor(metric))
            seen.append(snapshot(optimizer, scheduler))
        again = modules(T)[0].ReduceLROnPlateau(make(T))
        again.load_state_dict(scheduler.state_dict())
        found.append((seen, again.state_dict()))
    assert found[0] == found[1]


ERRORS = [
    lambda S, opt: S.StepLR(3, 1), lambda S, opt: S.LambdaLR(opt, [lambda step: 1]),
    lambda S, opt: S.MultiplicativeLR(opt, 3), lambda S, opt: S.ConstantLR(opt, 2.0),
    lambda S, opt: S.LinearLR(opt, 0.0), lambda S, opt: S.LinearLR(opt, 1.0, 2.0),
    lambda S, opt: S.OneCycleLR(opt, 0.1), lambda S, opt: S.OneCycleLR(opt, 0.1, total_steps=-1),
    lambda S, opt: S.OneCycleLR(opt, 0.1, total_steps=10, pct_start=2.0),
    lambda S, opt: S.OneCycleLR(opt, 0.1, total_steps=10, anneal_strategy="x"),
    lambda S, opt: S.CyclicLR(opt, 0.1, [0.2]), lambda S, opt: S.CyclicLR(opt, 0.1, 0.2, mode="x"),
    lambda S, opt: S.CosineAnnealingWarmRestarts(opt, 0), lambda S, opt: S.SequentialLR(opt, [], []),
    lambda S, opt: S.SequentialLR(opt, [S.StepLR(opt, 1)], [3]), lambda S, opt: S.ChainedScheduler([]),
    lambda S, opt: S.ChainedScheduler([S.ReduceLROnPlateau(opt)]), lambda S, opt: S.ReduceLROnPlateau(opt, "x"),
    lambda S, opt: S.ReduceLROnPlateau(opt, factor=1.0), lambda S, opt: S.StepLR(opt, 1, last_epoch=3),
    lambda S, opt: S.LRScheduler(opt),
]


@each("index", range(len(ERRORS)))
def test_errors(index):
    kinds = []
    for T in (torch, dt):
        with pytest.raises(Exception) as caught:
            ERRORS[index](modules(T)[0], make(T))
        kinds.append(type(caught.value))
    assert kinds[0] is kinds[1]


def test_warnings():
    for T in (torch, dt):
        optimizer = make(T)
        scheduler = modules(T)[0].StepLR(optimizer, 3)
        with pytest.warns(UserWarning, match="before"):
            scheduler.step()
        with pytest.warns(UserWarning, match="get_last_lr"):
            scheduler.get_lr()


def test_own_schedule():
    found = []
    for T in (torch, dt):
        class Halving(modules(T)[0]._LRScheduler):
            def get_lr(self):
                return [base / 2 ** self.last_epoch for base in self.base_lrs]
        found.append(follow(T, lambda T, optimizer: Halving(optimizer)))
    assert found[0] == found[1]
