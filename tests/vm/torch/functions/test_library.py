"""Operators that scripts register, and the tools around `__torch_function__`, behave as in genuine PyTorch."""
import pytest
import torch

from dragon.vm import torch as dragon_torch

BOTH = pytest.mark.parametrize("t", [torch, dragon_torch], ids=["genuine", "dragon"])


def scaled_square(t, name):
    """Return `x * x * factor` as an operator with a gradient."""
    def compute(x, factor=2.0):
        return x * x * factor

    compute.__annotations__ = {"x": t.Tensor, "factor": float, "return": t.Tensor}
    operator = t.library.custom_op(name, compute, mutates_args=())

    def keep(ctx, inputs, output):
        x, ctx.factor = inputs
        ctx.save_for_backward(x)

    def backward(ctx, grad):
        return grad * 2 * ctx.saved_tensors[0] * ctx.factor, None
    t.library.register_autograd(name, backward, setup_context=keep)
    operator.register_fake(lambda x, factor=2.0: t.empty_like(x))
    return operator


@BOTH
def test_a_custom_operator(t):
    operator = scaled_square(t, "rooms::scaled_square")
    assert operator(t.ones(2)).tolist() == t.ops.rooms.scaled_square(t.ones(2)).tolist() == [2, 2]
    x = t.full((2,), 3.0, requires_grad=True)
    t.ops.rooms.scaled_square(x, factor=0.5).sum().backward()
    assert x.grad.tolist() == [3, 3]
    assert str(t.ops.rooms.scaled_square.default) == "rooms.scaled_square.default"
    assert operator(t.empty(3, device="meta")).shape == (3,)
    assert repr(operator) == "<CustomOpDef(rooms::scaled_square)>"


@BOTH
def test_a_library(t):
    library = t.library.Library("shelf", "DEF")
    library.define("plus(Tensor x, int n=1) -> Tensor")
    library.impl("plus", lambda x, n=1: x + n, "CPU")
    assert t.ops.shelf.plus(t.ones(2), n=3).tolist() == [4, 4]
    t.library.define("shelf2::thrice", "(Tensor x) -> Tensor")

    @t.library.impl("shelf2::thrice", "cpu")
    def thrice(x):
        return x * 3
    assert t.ops.shelf2.thrice(t.ones(2)).tolist() == [3, 3]
    with pytest.raises(AttributeError):
        t.ops.shelf2.nothing
    with pytest.raises(NotImplementedError):
        t.library.define("shelf2::hollow", "(Tensor x) -> Tensor")
        t.ops.shelf2.hollow(t.ones(2))


@BOTH
def test_schemas_come_from_annotations(t):
    def compute(x, n, scale=1.5, name="a", *, more=None):
        return x

    compute.__annotations__ = {"x": t.Tensor, "n": int, "scale": float, "name": str, "more": t.Tensor | None,
                               "return": tuple[t.Tensor, t.Tensor]}
    assert t.library.infer_schema(compute, mutates_args=("x",)) == (
        '(Tensor(a0!) x, SymInt n, float scale=1.5, str name="a", *, Tensor? more=None) -> (Tensor, Tensor)')


@BOTH
def test_names_of_aten(t):
    x = t.arange(6.0).reshape(2, 3)
    aten = t.ops.aten
    assert aten.add.Tensor(x, x).tolist() == (x + x).tolist()
    assert aten.slice.Tensor(x, 1, 0, 2).shape == (2, 2)
    assert aten._to_copy.default(x, dtype=t.int64).dtype == t.int64
    assert aten.sum.dim_IntList(x, [1]).tolist() == [3, 12]
    assert aten.view.default(x, [3, 2]).shape == (3, 2)
    assert aten._safe_softmax.default(t.full((2,), float("-inf")), 0).tolist() == [0, 0]
    assert repr(aten.add.Tensor) == "<OpOverload(op='aten.add', overload='Tensor')>"
    assert aten.add.Tensor.name() == "aten::add.Tensor" and str(aten.add) == "aten.add"
    assert aten.pad_sequence.default([x[0], x[0, :1]], True).tolist() == [[0, 1, 2], [0, 0, 0]]
    assert t._C._nn.pad_sequence([x[0], x[0, :1]]).tolist() == [[0, 0], [1, 0], [2, 0]]
    assert not hasattr(aten.add, "_overloadname") and aten._version.default(x) == x._version


@BOTH
def test_overrides(t):
    class Answering:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return "answered"

    overrides = t.overrides
    assert overrides.has_torch_function((Answering(),)) and not overrides.has_torch_function((t.ones(1),))
    assert overrides.has_torch_function_unary(Answering()) and overrides.is_tensor_like(Answering())
    assert overrides.is_tensor_like(t.ones(1)) and not overrides.is_tensor_like(1)
    wrapped = overrides.wrap_torch_function(lambda x: (x,))(lambda x: "plain")
    assert wrapped(Answering()) == "answered" and wrapped(1) == "plain"
    assert t.unique(Answering()) == t.add(Answering(), 1) == t.block_diag(Answering()) == "answered"
    assert overrides.resolve_name(t.add) == "torch.add"


@BOTH
def test_modes_see_calls(t):
    seen = []

    class Watch(t.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            return func(*args, **(kwargs or {}))
    with Watch():
        t.einsum("i,i->", t.ones(2), t.ones(2))
        t.ones(2).split(1)
    assert {"einsum", "split", "ones"} <= set(seen)


def test_second_names():
    assert dragon_torch.functional.einsum is dragon_torch.einsum
    assert dragon_torch._VF.norm is dragon_torch.norm
    assert isinstance(dragon_torch.ones(2).max(0), dragon_torch.return_types.max)
    for room in (dragon_torch.sparse, dragon_torch.nested):
        with pytest.raises(AttributeError, match="PyTorch has no such name either"):
            room.no_such_name
