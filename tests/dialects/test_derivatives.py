"""Rows of derivatives: gradients and the operators that backward passes call, beside genuine PyTorch's."""
import numpy
import pytest
import torch as gt

import dragon.vm.torch as dt
from dragon.dialects.aten import table
from dragon.dialects.rows import compile_assignments, read_rows
from dragon.vm.torch.core.dispatching.derivatives import derivatives_of
from harness.subresults import each

# Every row at least once; of the names, those of `tensors_of`.
CALLS = """
a.add.Tensor(p, q, alpha=2) | a.add.Tensor(p, v, alpha=-0.5) | a.add.Scalar(p, 2, 3) | a.add.Tensor(p, z, alpha=2)
a.add_.Tensor(p.clone(), q) | a.add.Tensor(x, q) | a.add.Tensor(p, e)
a.sub.Tensor(p, q, alpha=2) | a.sub.Scalar(p, 2) | a.sub_.Tensor(p.clone(), v, alpha=3) | a.sub.Tensor(v, p)
a.rsub.Tensor(p, q, alpha=2) | a.rsub.Scalar(p, 2, 3) | a.mul.Scalar(p, 3) | a.mul.Scalar(z, 2j)
a.mul.Tensor(p, q) | a.mul.Tensor(v, p) | a.mul.Tensor(z, p) | a.mul.Tensor(x, x) | a.mul.Tensor(p, p)
a.div.Tensor(p, q) | a.div.Tensor(v, p) | a.div.Scalar(p, 4) | a.div.Tensor(z, p) | a.div.Tensor(x, p)
a.div.Tensor_mode(p, q, rounding_mode="floor") | a.div.Tensor_mode(p, q, rounding_mode=None)
a.pow.Tensor_Scalar(p, 3) | a.pow.Tensor_Scalar(p, 0) | a.pow.Tensor_Scalar(z, 2) | a.pow.Tensor_Scalar(x, -1)
a.neg.default(p) | a.exp.default(p) | a.exp.default(z) | a.log.default(p.abs()) | a.log.default(z) | a.log.default(x)
a.exp_.default(p.clone()) | a.relu_.default(p.clone()) | a.sin_.default(p.clone()) | a.neg_.default(p.clone())
a.sqrt.default(p.abs()) | a.sqrt.default(z) | a.rsqrt.default(p.abs()) | a.rsqrt.default(z) | a.sqrt.default(x)
a.sin.default(p) | a.sin.default(z) | a.cos.default(p) | a.cos.default(z) | a.reciprocal.default(p)
a.reciprocal.default(z) | a.abs.default(p) | a.abs.default(z) | a.abs.default(x) | a.reciprocal.default(x)
a.tanh.default(p) | a.tanh.default(z) | a.sigmoid.default(p) | a.sigmoid.default(z) | a.tanh.default(x)
a.relu.default(p) | a.relu.default(x) | a.silu.default(p) | a.gelu.default(p) | a.gelu.default(p, approximate="tanh")
a.floor.default(p) | a.ceil.default(p) | a.round.default(p) | a.trunc.default(p) | a.sign.default(p)
a.bernoulli.default(p.sigmoid())
a.where.self(b, p, q) | a.where.self(b, v, p) | a.where.self(b, x, p) | a.masked_fill.Scalar(p, b, 2)
a.mm.default(p, q.t()) | a.mm.default(p.t(), q) | a.mm.default(z.t(), z) | a.mm.default(e, e.t())
a.addmm.default(v[:3], p, q.t(), beta=2, alpha=3) | a.addmm.default(v[:3], q, p.t())
a.bmm.default(c, c.transpose(1, 2)) | a.bmm.default(c * (1 + 2j), c.transpose(1, 2) * 1j)
a.mv.default(p, v) | a.mv.default(z, z[0]) | a.dot.default(v, p[0]) | a.dot.default(z[0], z[1])
a.t.default(p) | a.t.default(v) | a.transpose.int(c, 0, -1)
a.permute.default(c, [2, 0, -2]) | a.view.default(p, [4, 3])
a._unsafe_view.default(p, [2, 6]) | a.squeeze.default(d) | a.squeeze.dim(d, 0) | a.squeeze.dims(d, [0, -1])
a.unsqueeze.default(p, -1) | a.expand.default(d, [3, 2, -1, 5]) | a.clone.default(p) | a.alias.default(p)
a.lift_fresh.default(p) | a._to_copy.default(p, dtype=t.float64) | a.select.int(c, 1, -1)
a.slice.Tensor(c, 1, 1) | a.slice.Tensor(c, -1, None, -1, 2) | a.slice.Tensor(p, 0, 0, 99) | a.slice.Tensor(p, 1, 2, 1)
a.split.Tensor(p, 2, 1) | a.split_with_sizes.default(p, [1, 2]) | a.unbind.int(p, 1) | a.unbind.int(p)
a.cat.default([p, q, p], 1) | a.cat.default([p, t.zeros(0), q]) | a.stack.default([p, q], -1)
a.sum.default(p) | a.sum.dim_IntList(p, [0]) | a.sum.dim_IntList(c, [-1, 0], True) | a.sum.dim_IntList(p, None)
a.mean.default(p) | a.mean.dim(p, [1]) | a.mean.dim(c, [-1, 0], True) | a.mean.dim(e, [0])
a._softmax.default(p, 1, False) | a._log_softmax.default(p, 0, False) | a._softmax.default(x, 1, False)
a._softmax_backward_data.default(p, q.softmax(1), 1, t.float32)
a._log_softmax_backward_data.default(p, q.log_softmax(1), 1, t.float32)
a.nll_loss_forward.default(p, i, None, 1, -100)[0] | a.nll_loss_forward.default(p, i, v.detach().abs(), 0, 1)[0]
a.native_layer_norm.default(p, [4], v, v, 1e-5)[0] | a.native_layer_norm.default(p, [4], None, None, 1e-5)[0]
a.native_batch_norm.default(p, v, None, None, None, True, 0.1, 1e-5)[0]
a.native_batch_norm.default(p, v, v, v.detach() * 0, v.detach().abs(), False, 0.1, 1e-5)[0]
a.convolution.default(c[None], k, None, [1, 1], [0, 1], [1, 1], False, [0, 0], 1)
a.convolution.default(c[None], k, v[:3], [2, 1], [1, 0], [1, 1], True, [0, 0], 1)
a.max_pool2d_with_indices.default(c, [2, 2], [1, 2])[0] | a.embedding.default(p, i, 1) | a.embedding.default(p, n)
a.index_select.default(p, 1, i) | a.gather.default(p, 0, n) | a.index.Tensor(p, [i, None]) | a.index.Tensor(p, [i, i])
"""
CASES = [call.strip() for line in CALLS.strip().split("\n") for call in line.split(" | ")]
# Backward passes that call other operators than PyTorch's, or in another order, and why.
OTHERWISE = {
    "a.sin_.default(p.clone())": "what was there is copied by an operator",
    "a._softmax_backward_data.default(p, q.softmax(1), 1, t.float32)": "C++ computes the last of three terms first",
}


def tensors_of(t):
    """Return {name: tensor} for the calls, those of floats as leaves that want gradients."""
    rng = numpy.random.RandomState(0)

    def floats(*shape):
        return t.tensor(rng.randn(*shape).astype("float32").tolist())
    leaves = {"p": floats(3, 4), "q": floats(3, 4), "v": floats(4), "c": floats(3, 4, 5), "k": floats(3, 3, 2, 2),
              "d": floats(1, 2, 1, 5)[:, :, :, :1], "e": t.zeros(0, 4)}
    leaves["x"] = t.tensor([[float("nan"), float("inf"), -float("inf"), -1e30], [1e30, 0.0, -0.0, 1e-40],
                            [1.0, -1, 3, 7]])
    leaves["z"] = t.complex(leaves["p"], leaves["q"])
    made = {name: leaf.detach().clone().requires_grad_() for name, leaf in leaves.items()}
    return {**made, "b": leaves["p"] > 0, "i": t.tensor([0, 2, 1]), "n": t.tensor([[1, 0, 2, 2], [0, 1, 1, 0]])}


def answer(t, call):
    """Return the gradients of a call that a mode listens to, and the operators that it heard of while it ran back."""
    heard = []

    class Listener(t.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            heard.append(str(func).removeprefix("aten."))
            return func(*args, **(kwargs or {}))
    names = tensors_of(t)
    leaves = [leaf for leaf in names.values() if leaf.requires_grad]
    t.manual_seed(0)
    try:
        with Listener():
            found = eval(call, {**names, "t": t, "a": t.ops.aten})
            found = list(found) if isinstance(found, (list, tuple)) else [found]
            del heard[:]
            grads = t.autograd.grad(found, leaves, [t.ones_like(one) * (place + 2) for place, one in enumerate(found)],
                                    allow_unused=True)
    except Exception as error:
        return type(error).__mro__, []
    heard = heard[2 * len(found):]
    return [None if grad is None else grad.resolve_conj().numpy() for grad in grads], [
        # Sums of gradients are no matter of rows; `detach` is how PyTorch keeps results.
        name for name in heard if not name.startswith(("detach.", "alias.", "add."))]


@each("call", CASES, ids=CASES)
def test_gradients(call):
    (mine, heard), (theirs, told) = answer(dt, call), answer(gt, call)
    if isinstance(theirs, tuple):
        assert isinstance(mine, tuple), f"gives {mine}, expected {theirs[0].__name__}"
        return
    assert isinstance(mine, list), f"raises {mine[0].__name__}: expected {theirs}"
    for one, other in zip(mine, theirs):
        assert (one is None) == (other is None)
        if other is not None:
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            numpy.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-6)
    # PyTorch's complex conjugates are marks, which it makes numbers of where an operator cannot read them.
    is_complex = "_conj.default" in told or "view_as_real.default" in told
    assert is_complex or call in OTHERWISE or heard == told, (heard, told)


def test_every_row_is_called():
    rows = {(name, overload or "default") for (relation, name), known in table.rows().items()
            if relation == table.DERIVATIVE for overload in known}
    called = {tuple(call.removeprefix("a.").partition("(")[0].split(".")) for call in CASES}
    assert not rows - called
    for name, overload in rows:
        target = getattr(getattr(dt.ops.aten, name), overload)
        assigned = {part.names for part in derivatives_of(target).parts}
        assert set().union(*assigned) <= {argument.name for argument in target._schema.arguments}


def test_an_operator_that_writes_in_place_has_the_row_of_the_one_that_does_not():
    aten = dt.ops.aten
    assert derivatives_of(aten.exp_.default) is not None and derivatives_of(aten.relu_.default) is not None
    assert derivatives_of(aten.sin_.default) is None  # what it reads has been written over
    assert derivatives_of(aten.squeeze_.dim) is None and derivatives_of(aten.sinh.default) is None


@pytest.mark.parametrize("text", ["exp <- grad", "exp <- self = other = grad", "exp <- self = (grad",
                                  "exp <- self += 1"])
def test_lines_that_say_nothing(text):
    with pytest.raises(ValueError, match="expected"):
        for row in read_rows(text, "here.txt"):
            compile_assignments(row, str, ("grad",))
