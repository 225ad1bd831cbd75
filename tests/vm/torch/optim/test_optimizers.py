"""Every optimizer with its options beside genuine PyTorch: parameters and states, step by step."""
import copy
import importlib
import io
import pickle

import numpy as np
import pytest
import torch

from dragon.vm import torch as dt
from harness.subresults import each

CASES = [
    ("SGD", {}), ("SGD", {"lr": 0.1, "momentum": 0.9}), ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.2}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}), ("SGD", {"maximize": True}),
    ("SGD", {"lr": 0.1, "weight_decay": 0.1, "foreach": True}), ("SGD", {"fused": True}),
    ("Adam", {}), ("Adam", {"lr": 0.1, "betas": (0.8, 0.99), "eps": 1e-6}), ("Adam", {"weight_decay": 0.1}),
    ("Adam", {"amsgrad": True, "lr": 0.1}), ("Adam", {"maximize": True}), ("Adam", {"fused": True, "lr": 0.1}),
    ("Adam", {"decoupled_weight_decay": True, "weight_decay": 0.1}), ("Adam", {"foreach": True, "amsgrad": True}),
    ("AdamW", {}), ("AdamW", {"lr": 0.1, "weight_decay": 0.3, "amsgrad": True}), ("AdamW", {"maximize": True}),
    ("NAdam", {}), ("NAdam", {"lr": 0.1, "momentum_decay": 0.01, "weight_decay": 0.1}),
    ("NAdam", {"decoupled_weight_decay": True, "weight_decay": 0.1}), ("NAdam", {"maximize": True}),
    ("RAdam", {"lr": 0.1}), ("RAdam", {"weight_decay": 0.1, "betas": (0.9, 0.9)}),
    ("RAdam", {"decoupled_weight_decay": True, "weight_decay": 0.1}), ("RAdam", {"maximize": True}),
    ("Adamax", {}), ("Adamax", {"lr": 0.1, "weight_decay": 0.1}), ("Adamax", {"maximize": True}),
    ("Adagrad", {}), ("Adagrad", {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.5}),
    ("Adagrad", {"maximize": True}), ("Adadelta", {}), ("Adadelta", {"lr": 0.5, "rho": 0.8, "weight_decay": 0.1}),
    ("Adadelta", {"maximize": True}), ("RMSprop", {}), ("RMSprop", {"momentum": 0.9, "centered": True}),
    ("RMSprop", {"lr": 0.1, "alpha": 0.9, "weight_decay": 0.1}), ("RMSprop", {"centered": True, "maximize": True}),
    ("RMSprop", {"momentum": 0.5}), ("Rprop", {}), ("Rprop", {"etas": (0.4, 1.3), "step_sizes": (1e-4, 0.05)}),
    ("Rprop", {"maximize": True}), ("ASGD", {}), ("ASGD", {"lr": 0.1, "lambd": 0.1, "alpha": 0.5, "t0": 3}),
    ("ASGD", {"weight_decay": 0.1, "maximize": True}), ("Adafactor", {}), ("Adafactor", {"maximize": True}),
    ("Adafactor", {"lr": 0.1, "weight_decay": 0.1, "d": 2.0, "eps": (1e-6, 1e-2)}),
]
MATRICES = [("Muon", {}), ("Muon", {"nesterov": False, "adjust_lr_fn": "match_rms_adamw", "weight_decay": 0.0}),
            ("Muon", {"ns_steps": 3, "lr": 0.1})]
CLOSURES = [("LBFGS", {}), ("LBFGS", {"lr": 0.5, "max_iter": 7, "history_size": 3}),
            ("LBFGS", {"line_search_fn": "strong_wolfe"}), ("LBFGS", {"line_search_fn": "strong_wolfe", "max_iter": 4})]


def make(T, shapes, dtype="float32"):
    torch.manual_seed(3)
    return [T.tensor(torch.randn(shape).tolist(), dtype=getattr(T, dtype), requires_grad=True) for shape in shapes]


def loss_of(params):
    return sum(((param - 0.3) ** 2).sum() * (index + 1) for index, param in enumerate(params)) \
        + (params[0] ** 4).sum()


def values(state):
    """Return an optimizer's state dict with lists in place of tensors."""
    if isinstance(state, dict):
        return {key: values(item) for key, item in state.items()}
    if isinstance(state, (list, tuple)):
        return [values(item) for item in state]
    return (str(state.dtype), state.tolist()) if isinstance(state, (torch.Tensor, dt.Tensor)) else state


def flat(value):
    """Return all numbers, and everything else, in order."""
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in [str(key), *flat(item)]]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in flat(item)]
    return [value]


def close(one, other, tolerance=2e-5):
    one, other = flat(one), flat(other)
    assert len(one) == len(other)
    for left, right in zip(one, other):
        if isinstance(left, float) or isinstance(right, float):
            assert left == pytest.approx(right, rel=tolerance, abs=tolerance)
        else:
            assert left == right


def run(T, name, options, shapes, steps=10, dtype="float32"):
    params = make(T, shapes, dtype)
    optimizer = getattr(T.optim, name)(params, **options)
    seen = []

    def closure():
        optimizer.zero_grad()
        loss = loss_of(params)
        loss.backward()
        return loss
    for index in range(steps):
        if index == 4:
            params[-1].requires_grad_(False)
            optimizer.zero_grad()
        loss = optimizer.step(closure)
        seen.append(([param.tolist() for param in params], loss.item()))
        params[-1].requires_grad_()
    return seen, values(optimizer.state_dict()), repr(optimizer)


@each("name, options", CASES, ids=str)
def test_trajectory(name, options):
    shapes = [(3, 4), (5,), (), (2, 3, 2)] if name != "Adafactor" else [(3, 4), (5,), (2, 3, 2)]
    close(run(dt, name, options, shapes), run(torch, name, options, shapes))


@pytest.mark.parametrize("name, options", CLOSURES, ids=str)
def test_trajectory_of_closures(name, options):
    """In double precision, since rounding decides when the line search is content."""
    found, expected = (run(T, name, options, [(3, 4), (5,)], 2, "float64") for T in (dt, torch))
    close(found, expected)


@pytest.mark.parametrize("name, options", MATRICES, ids=str)
def test_trajectory_of_matrices(name, options):
    close(run(dt, name, options, [(3, 4), (4, 2)]), run(torch, name, options, [(3, 4), (4, 2)]), 2e-2)


@each("dtype", ["float64", "complex64", "bfloat16"])
@each("name", ["SGD", "Adam", "RMSprop", "Adagrad", "ASGD", "Rprop"])
def test_dtypes(name, dtype):
    found = []
    for T in (torch, dt):
        params = make(T, [(3,), (2, 2)], dtype)
        optimizer = getattr(T.optim, name)(params, lr=0.1)
        for _ in range(4):
            optimizer.zero_grad()
            sum((param * param.conj()).real.sum() for param in params).backward()
            optimizer.step()
        found.append([T.view_as_real(param).tolist() if dtype == "complex64" else param.float().tolist()
                      for param in params])
    close(*found, 2e-2 if dtype == "bfloat16" else 1e-5)


def test_scattered_parameters():
    found = []
    for T in (torch, dt):
        base = T.arange(12.0).reshape(3, 4)
        param = base.permute(1, 0).detach().requires_grad_()
        optimizer = T.optim.AdamW([param], lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            (param ** 2).sum().backward()
            optimizer.step()
        found.append((param.tolist(), base.tolist()))
    close(*found)


def train(T, optimizer, params, steps=3):
    for _ in range(steps):
        optimizer.zero_grad()
        loss_of(params).backward()
        optimizer.step()


@each("name, options", [case for case in CASES if case[0] != "Adafactor"][::2], ids=str)
def test_checkpoints_go_over(name, options):
    """A state dict of PyTorch goes on in Dragon, as it would there."""
    theirs = make(torch, [(3, 4), (5,)])
    first = getattr(torch.optim, name)(theirs, **options)
    train(torch, first, theirs)
    mine = [dt.tensor(param.tolist(), requires_grad=True) for param in theirs]
    second = getattr(dt.optim, name)(mine, **options)

    def convert(item):
        if isinstance(item, torch.Tensor):
            return dt.tensor(item.tolist(), dtype=getattr(dt, str(item.dtype)[6:]))
        if isinstance(item, dict):
            return {key: convert(value) for key, value in item.items()}
        return [convert(value) for value in item] if isinstance(item, list) else item
    second.load_state_dict(convert(first.state_dict()))
    train(torch, first, theirs)
    train(dt, second, mine)
    close([param.tolist() for param in mine], [param.tolist() for param in theirs])
    close(values(second.state_dict()), values(first.state_dict()))


def groups(T):
    params = make(T, [(2,), (3,), (2, 2)])
    optimizer = T.optim.SGD([{"params": params[0]}, {"params": [params[1]], "lr": 0.5, "extra": "kept"}], lr=0.1)
    optimizer.add_param_group({"params": [params[2]], "momentum": 0.9})
    train(T, optimizer, params)
    return [param.tolist() for param in params], values(optimizer.state_dict()), repr(optimizer)


def test_groups():
    close(groups(dt), groups(torch))


def named(T):
    params = make(T, [(2,), (3,)])
    optimizer = T.optim.Adam(zip("ab", params))
    return values(optimizer.state_dict()), T.optim.SGD([{"params": [("w", params[0])]}]).param_groups[0]["param_names"]


def test_names():
    assert named(dt) == named(torch)


def hooks(T):
    params, seen = make(T, [(2,)]), []
    optimizer = T.optim.SGD(params, lr=0.1)
    register = importlib.import_module(T.__name__ + ".optim.optimizer").register_optimizer_step_pre_hook
    every = register(lambda *got: seen.append(("every", len(got))))
    handle = optimizer.register_step_pre_hook(lambda opt, args, kwargs: seen.append(("before", len(args), kwargs)))
    optimizer.register_step_post_hook(lambda opt, args, kwargs: seen.append(("after", len(args))))
    optimizer.register_state_dict_pre_hook(lambda opt: seen.append("saving"))
    optimizer.register_state_dict_post_hook(lambda opt, state: {**state, "more": 1})
    optimizer.register_load_state_dict_pre_hook(lambda opt, state: seen.append(state.pop("more")))
    optimizer.register_load_state_dict_post_hook(lambda opt: seen.append("loaded"))
    train(T, optimizer, params, 1)
    handle.remove()
    every.remove()
    optimizer.step(closure=lambda: 3)
    optimizer.load_state_dict(optimizer.state_dict())
    return seen


def test_hooks():
    assert hooks(dt) == hooks(torch)


def own_optimizer(T):
    class Slow(T.optim.Optimizer):
        def __init__(self, params, lr=0.1):
            super().__init__(params, dict(lr=lr))

        @T.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for param in group["params"]:
                    if param.grad is None:
                        continue
                    state = self.state[param]
                    if len(state) == 0:
                        state["count"] = 0
                        state["mean"] = T.zeros_like(param)
                    state["count"] += 1
                    state["mean"].mul_(0.5).add_(param.grad, alpha=0.5)
                    param.add_(state["mean"], alpha=-group["lr"])
    params = make(T, [(2,), (3,)])
    optimizer = Slow(params)
    train(T, optimizer, params)
    return [param.tolist() for param in params], values(optimizer.state_dict()), repr(optimizer)


def test_own_optimizer():
    close(own_optimizer(dt), own_optimizer(torch))


def test_zero_grad():
    for T in (torch, dt):
        params = make(T, [(2,)])
        optimizer = T.optim.SGD(params)
        loss_of(params).backward()
        optimizer.zero_grad(set_to_none=False)
        assert params[0].grad.tolist() == [0, 0]
        optimizer.zero_grad()
        assert params[0].grad is None


def test_tensor_rate():
    found = []
    for T in (torch, dt):
        params = make(T, [(3,)])
        optimizer = T.optim.Adam(params, lr=T.tensor(0.1))
        scheduler = T.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
        for _ in range(3):
            train(T, optimizer, params, 1)
            scheduler.step()
        found.append((params[0].tolist(), optimizer.param_groups[0]["lr"].item()))
    close(*found)


ERRORS = [
    (lambda T: T.optim.SGD([]), ValueError), (lambda T: T.optim.SGD(T.ones(2)), TypeError),
    (lambda T: T.optim.SGD([3]), TypeError), (lambda T: T.optim.SGD({T.ones(1)}), None),
    (lambda T: T.optim.SGD([{"params": {T.ones(1)}}]), TypeError),
    (lambda T: T.optim.SGD([make(T, [(2,)])[0] * 2]), ValueError),
    (lambda T: T.optim.SGD(make(T, [(2,)]), lr=-1), ValueError),
    (lambda T: T.optim.SGD(make(T, [(2,)]), nesterov=True), ValueError),
    (lambda T: T.optim.SGD(make(T, [(2,)]), momentum=-1), ValueError),
    (lambda T: T.optim.Adam(make(T, [(2,)]), betas=(1.0, 0.9)), ValueError),
    (lambda T: T.optim.Adam(make(T, [(2,)]), eps=-1), ValueError),
    (lambda T: T.optim.Adam(make(T, [(2,)]), fused=True, foreach=True), RuntimeError),
    (lambda T: T.optim.Adadelta(make(T, [(2,)]), rho=2), ValueError),
    (lambda T: T.optim.Rprop(make(T, [(2,)]), etas=(1.1, 1.2)), ValueError),
    (lambda T: T.optim.Muon(make(T, [(2,)])), ValueError), (lambda T: T.optim.Adafactor(make(T, [(2,)]), d=0.5),
                                                            ValueError),
    (lambda T: T.optim.LBFGS([{"params": make(T, [(2,)])}, {"params": make(T, [(2,)])}]), ValueError),
    (lambda T: T.optim.SGD(make(T, [(2,)]) * 1).add_param_group([1]), TypeError),
    (lambda T: T.optim.SGD([{"params": make(T, [(2,)])}]).load_state_dict({"state": {}, "param_groups": []}),
     ValueError),
    (lambda T: T.optim.Optimizer(make(T, [(2,)]), {}).step(), NotImplementedError),
    (lambda T: T.optim.SGD([{"params": [("a", make(T, [(2,)])[0]), make(T, [(2,)])[0]]}]), ValueError),
    (lambda T: sparse_adam(T), RuntimeError),
]


def sparse_adam(T):
    params = make(T, [(2,)])
    loss_of(params).backward()
    T.optim.SparseAdam(params).step()


@each("T", [torch, dt], ids=["torch", "dragon"])
@each("index", range(len(ERRORS)))
def test_errors(index, T):
    call, kind = ERRORS[index]
    if kind is None:
        call(T)
    else:
        with pytest.raises(kind):
            call(T)


def test_repeated_parameters():
    for T in (torch, dt):
        param = make(T, [(2,)])[0]
        with pytest.raises(ValueError):
            T.optim.SGD([{"params": [param]}, {"params": [param]}])
        with pytest.warns(UserWarning):
            T.optim.SGD([param, param])


def test_pickle_and_copy():
    params = [dt.nn.Parameter(param.detach()) for param in make(dt, [(2,), (3,)])]
    optimizer = dt.optim.AdamW(params, lr=0.1)
    train(dt, optimizer, params)
    expected = values(optimizer.state_dict())
    for other in (copy.deepcopy(optimizer), pickle.load(io.BytesIO(pickle.dumps(optimizer)))):
        assert values(other.state_dict()) == expected
        train(dt, other, other.param_groups[0]["params"])
        assert values(other.state_dict()) != expected


@each("dtype", ["float32", "float64"])
@each("options", [{}, {"nesterov": False}, {"lr": 0.5, "weight_decay": 1.0}, {"momentum": 0.0}])
@each("shape", [(3, 4), (4, 3), (8, 8), (16, 4)])
def test_muon_keeps_every_bit(shape, options, dtype):
    """An update of 16 bits lets no other rounding pass unseen: one more turns into a step of its own."""
    ends = []
    for T in (torch, dt):
        param, = make(T, [shape], dtype)
        optimizer = T.optim.Muon([param], **options)
        for _ in range(12):
            optimizer.zero_grad()
            loss_of([param]).backward()
            optimizer.step()
        ends.append(param.tolist())
    assert ends[0] == ends[1]


@pytest.mark.parametrize("start", [3.0, 1e10, 1e12])
@pytest.mark.parametrize("lr", [1.0, 1e3])
def test_lbfgs_searches_past_overflow(start, lr):
    """Where the cubic through two points is not a number, the line search halves the way."""
    ends = []
    for T in (torch, dt):
        param = T.full((3,), start, requires_grad=True)
        optimizer = T.optim.LBFGS([param], lr=lr, line_search_fn="strong_wolfe", max_iter=6)

        def closure():
            optimizer.zero_grad()
            loss = ((param - 1) ** 4).sum() + (param ** 2).sum()
            loss.backward()
            return loss
        for _ in range(3):
            optimizer.step(closure)
        ends.append(param.tolist())
    np.testing.assert_allclose(ends[1], ends[0], 1e-4)
