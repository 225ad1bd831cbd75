"""Functions as graphs of operators, beside genuine PyTorch's `make_fx`."""
import numpy
import pytest

from dragon.vm import torch
from dragon.vm.torch._decomp import core_aten_decompositions, get_decompositions, register_decomposition
from dragon.vm.torch._decomp import remove_decompositions
from dragon.vm.torch.fx.experimental.proxy_tensor import make_fx
from harness.subresults import each

genuine = pytest.importorskip("torch")
make_theirs = pytest.importorskip("torch.fx.experimental.proxy_tensor").make_fx


def write(x):
    y = x.clone()
    y.add_(1)
    return y.mul_(2) + x


def blocks(t):
    layer = t.nn.Linear(4, 3)
    kept = t.ones(4)
    with t.no_grad():
        layer.weight.copy_(t.linspace(-1, 1, 12).reshape(3, 4))
        layer.bias.zero_()
    return {
        "chain": lambda x: x.sin().cos(),
        "names": lambda first, second: first + second.T[:3, :1],
        "linear": lambda x: t.nn.functional.linear(x, x),
        "module": layer,
        "attributes": lambda x: layer(x) + t.ones(3),
        "outside": lambda x: x + kept,
        "numbers": lambda x: x + t.tensor([1.0, 2.0, 3.0, 4.0]),
        "several": lambda x: (x, 1, None),
        "dictionary": lambda x: {"a": x + 1, "b": [x * 2]},
        "writes": write,
        "parts": lambda x: t.split(x, 2, 1)[0] + t.chunk(x, 2, 1)[1],
        "indices": lambda x: x[0] + x[:, 1:3].sum() + x[:, None].max(dim=-1)[0].sum(),
        "softmax": lambda x: t.nn.functional.softmax(x, -1),
        "aliases": lambda x: t.clip(x, 0, 1) + t.negative(x).absolute() + t.multiply(x, 2) - t.true_divide(x, 3),
        "compared": lambda x: t.greater(x, 0).sum() + t.less_equal(x, x).sum() + t.max(x, x * 2).sum(),
        "loss": lambda x: t.nn.functional.cross_entropy(x, t.tensor([0, 1, 2])),
        "many": lambda *xs: xs[0] * 2,
    }


def tensors(t, name):
    x = t.linspace(-1.5, 2, 12).reshape(3, 4)
    return (x, t.linspace(0, 1, 16).reshape(4, 4)) if name == "names" else (x,)


def told(graph_module):
    return graph_module.code.strip()


def flat(value):
    if isinstance(value, dict):
        value = list(value.values())
    return [leaf for item in value for leaf in flat(item)] if isinstance(value, (list, tuple)) else [value]


def same_numbers(mine, theirs):
    for one, another in zip(flat(mine), flat(theirs), strict=True):
        if isinstance(another, genuine.Tensor):
            numpy.testing.assert_allclose(one.detach().numpy(), another.detach().numpy(), rtol=2e-6, atol=1e-6)
        else:
            assert one == another


@each("mode", ["real", "fake"])
@each("name", blocks(genuine))
def test_code_and_numbers(name, mode):
    mine = make_fx(blocks(torch)[name], tracing_mode=mode)(*tensors(torch, name))
    function = blocks(genuine)[name]
    theirs = make_theirs(function)(*tensors(genuine, name))
    assert told(mine) == told(theirs)
    assert mine._get_name() == theirs._get_name()
    same_numbers(mine(*tensors(torch, name)), function(*tensors(genuine, name)))


def test_composite_operators_stay_before_dispatch():
    mine = make_fx(blocks(torch)["linear"], pre_dispatch=True)(*tensors(torch, "linear"))
    assert told(mine) == told(make_theirs(blocks(genuine)["linear"], pre_dispatch=True)(*tensors(genuine, "linear")))


def test_sizes_are_symbols():
    def function(x):
        return x.reshape(x.shape[0] * x.shape[1]).sum() + x.shape[0]
    mine = make_fx(function, tracing_mode="symbolic")(torch.ones(3, 4))
    assert told(mine) == told(make_theirs(function, tracing_mode="symbolic")(genuine.ones(3, 4)))
    assert float(mine(torch.ones(5, 7))) == 40
    assert [type(size).__name__ for size in next(iter(mine.graph.nodes)).meta["val"].shape] == ["SymInt", "SymInt"]


def test_nested_arguments():
    def function(d, x):
        return {"sum": d["a"] + d["b"][0] * 2, "x": x}

    def arguments(t):
        return {"a": t.ones(2), "b": [t.ones(2) * 3]}, t.zeros(1)
    mine, theirs = make_fx(function)(*arguments(torch)), make_theirs(function)(*arguments(genuine))
    assert told(mine) == told(theirs)
    same_numbers(mine(*arguments(torch)), theirs(*arguments(genuine)))


def test_tables():
    def function(t):
        return lambda x: t.nn.functional.silu(x) + t.nn.functional.hardswish(x)
    from torch._decomp import core_aten_decompositions as core, get_decompositions as get
    x, y = torch.linspace(-4, 4, 7), genuine.linspace(-4, 4, 7)
    for mine, theirs in ((get_decompositions([torch.ops.aten.silu]), get([genuine.ops.aten.silu])),
                         (core_aten_decompositions(), core())):
        one = make_fx(function(torch), decomposition_table=mine)(x)
        other = make_theirs(function(genuine), decomposition_table=theirs)(y)
        assert [node.target.__name__ for node in one.graph.nodes if node.op == "call_function"] == [
            node.target.__name__ for node in other.graph.nodes if node.op == "call_function"]
        same_numbers(one(x), other(y))


def test_tables_of_users():
    table = {}

    @register_decomposition(torch.ops.aten.silu.default, table)
    def silu(x):
        return x * torch.sigmoid(x)
    assert list(table) == [torch.ops.aten.silu.default]
    made = make_fx(lambda x: torch.nn.functional.silu(x), decomposition_table=table)(torch.ones(2))
    assert [str(node.target) for node in made.graph.nodes if node.op == "call_function"] == [
        "aten.sigmoid.default", "aten.mul.Tensor"]
    with pytest.raises(RuntimeError, match="duplicate"):
        register_decomposition(torch.ops.aten.silu.default, table)(silu)
    remove_decompositions(table, [torch.ops.aten.silu])
    assert not table
    assert not get_decompositions([torch.ops.aten.sin])


def test_writes_are_taken_out():
    def into(x, y):
        x.add_(y)
        x[0] = 5
        return x * 2

    def arguments(t):
        return t.ones(3), t.arange(3.0)
    mine = make_fx(torch.func.functionalize(into))(*arguments(torch))
    targets = [str(node.target) for node in mine.graph.nodes if node.op == "call_function"]
    assert [target for target in targets if "_." in target] == ["aten.copy_.default"]  # at the end, into the argument
    theirs = make_theirs(genuine.func.functionalize(into))(*arguments(genuine))
    one, other = arguments(torch), arguments(genuine)
    same_numbers(mine(*one), theirs(*other))
    same_numbers(one, other)
    one = arguments(torch)
    assert torch.func.functionalize(into)(*one).tolist() == [10, 4, 6]
    assert one[0].tolist() == [5, 2, 3]


def test_rows_one_by_one():
    made = make_fx(torch.func.vmap(lambda row: row.sin().sum()))(torch.ones(3, 2))
    x = torch.linspace(0, 1, 6).reshape(3, 2)
    numpy.testing.assert_allclose(made(x).numpy(), x.sin().sum(1).numpy(), rtol=1e-6)


def test_letters():
    with pytest.raises(AssertionError, match="tracing_mode"):
        make_fx(lambda x: x, tracing_mode="dreamt")
    with pytest.raises(RuntimeError, match="Tracing expected 1 arguments but got 2"):
        make_fx(lambda x: x)(torch.ones(1), torch.ones(1))
    with pytest.raises(NotImplementedError, match="mutations_and_views"):
        make_fx(torch.func.functionalize(write, remove="mutations_and_views"))(torch.ones(1))
