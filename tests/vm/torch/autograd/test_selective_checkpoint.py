"""Selective checkpoints beside genuine PyTorch: what is asked, kept, computed again and in which order; gradients."""
import functools
import importlib

import pytest
import torch

from dragon.vm import torch as dt
from harness.subresults import each

MM = ["mm"]


def tool(T):
    return importlib.import_module(f"{T.__name__}.utils.checkpoint")


def leaves(T):
    values = [[0.5, -1.0, 2.0], [1.0, 0.25, -0.5], [0.1, 0.2, 0.3]]
    return T.tensor(values, requires_grad=True), T.tensor(values, requires_grad=True)


def waves(T, x, w):
    return T.sin(T.mm(x, w)).exp() @ w


def parts(T, x, w):
    return T.nn.functional.relu(x @ w).split(2)[0].max(1)[0]


def written(T, x, w):
    y = T.mm(x, w)
    y.add_(1)
    return y.sin() @ w


def listener(T):
    mode = importlib.import_module(f"{T.__name__}.utils._python_dispatch").TorchDispatchMode

    class Hear(mode):
        names = ()

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.names += (str(func),)
            return func(*args, **(kwargs or {}))
    return Hear()


def run(T, function, policy, passes=1, **options):
    """Return the policy's questions, what the backward pass computes, and the gradients, or the last pass's error."""
    asked, policies = [], tool(T).CheckpointPolicy
    if isinstance(policy, list):
        chosen = [getattr(T.ops.aten, name).default for name in policy]
    else:
        def chosen(context, op, *args, **kwargs):
            asked.append((str(op), context.is_recompute, isinstance(context.op_output, T.Tensor)))
            answer = policy(str(op))
            return answer if isinstance(answer, bool) else policies[answer]
    x, w = leaves(T)
    contexts = functools.partial(tool(T).create_selective_checkpoint_contexts, chosen, **options)
    y = tool(T).checkpoint(functools.partial(function, T), x, w, use_reentrant=False, context_fn=contexts)
    with listener(T) as heard:
        y.sum().backward(retain_graph=passes > 1)
    for _ in range(passes - 1):
        y.sum().backward()
    counted = [name for name in heard.names if name.split(".")[1] in ("mm", "sin", "exp", "relu")]
    return asked, counted, x.grad.tolist(), w.grad.tolist()


@each("function", [waves, parts])
@each("policy", [
    MM, ["mm", "exp", "relu"], lambda op: "MUST_SAVE" if op == "aten.mm.default" else "PREFER_RECOMPUTE",
    lambda op: "PREFER_SAVE", lambda op: op == "aten.mm.default", lambda op: "MUST_CPU_OFFLOAD"])
def test_same_on_both(function, policy):
    ours, theirs = (run(T, function, policy) for T in (dt, torch))
    assert ours[:2] == theirs[:2] and ours[1]
    for one, other in zip(ours[2:], theirs[2:]):
        assert dt.allclose(dt.tensor(one), dt.tensor(other), atol=1e-6)


def test_without_any_kept():
    """A pass that keeps nothing computes all anew, and may be repeated."""
    ours, theirs = (run(T, waves, lambda op: "MUST_RECOMPUTE", passes=2) for T in (dt, torch))
    assert ours[0] == theirs[0] and ours[1].count("aten.sin.default") == theirs[1].count("aten.sin.default") == 1
    assert dt.allclose(dt.tensor(ours[2]), dt.tensor(theirs[2]), rtol=1e-4)


@pytest.mark.parametrize("T", [dt, torch])
def test_refusals(T):
    with pytest.raises(RuntimeError, match="Trying to backward an extra time"):
        run(T, waves, MM, passes=2)
    with pytest.raises(RuntimeError, match="selective activation checkpoint has been mutated"):
        run(T, written, MM)
    run(T, written, MM, allow_cache_entry_mutation=True)
    make = tool(T).create_selective_checkpoint_contexts
    with pytest.raises(ValueError, match="got: aten.mm of type .*Please update the OpOverloadPacket"):
        make([T.ops.aten.mm])
    with pytest.raises(ValueError, match="Expected op in `op_list` to be an OpOverload but got: a"):
        make(["a"])
    with pytest.raises(TypeError, match="must be either a function or a list of ops"):
        make(3)
    assert T.ops.aten.detach.default in tool(T).SAC_IGNORED_OPS
    calls = []

    def other_each_time(T, x, w):
        calls.append(1)
        y = x.exp() if len(calls) == 1 else x.cos()
        return (y @ w).sin()
    with pytest.raises(RuntimeError, match="encountered during backward but not found in storage"):
        run(T, other_each_time, MM)


@pytest.mark.parametrize("function", [waves, written])
def test_hooks_beneath_modes_pack_what_gradients_read(function):
    """Modes or not: hooks get the same tensors, and gradients read what hooks give back."""
    shapes = []
    for T in (dt, torch):
        packed = []

        def pack(tensor):
            packed.append(tuple(tensor.shape))
            return tensor * 2

        x, w = leaves(T)
        with T.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor / 2), listener(T):
            y = function(T, x, w)
        y.sum().backward()
        shapes.append((packed, x.grad))
    assert shapes[0][0] == shapes[1][0]
    assert dt.allclose(shapes[0][1], dt.tensor(shapes[1][1].tolist()), rtol=1e-4)
