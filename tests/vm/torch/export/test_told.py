"""What exported programs say of themselves: names, places, modules, and what may be changed."""
import pytest

from dragon.vm import torch
from dragon.vm.torch.export import Dim, default_decompositions, export

X = torch.linspace(-1, 1, 12).reshape(3, 4)


class Named(torch.nn.Module):
    """Arguments whose names are those of its state."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(4))
        self.buffer = torch.nn.Buffer(torch.ones(4))

    def forward(self, x, x_a, p_weight, b):
        return x["a"][0] + x_a[0] + p_weight * self.weight + b["buffer"] * self.buffer


def test_names_of_arguments_come_first():
    program = export(Named(), ({"a": [X]}, (X,), X, {"buffer": X}))
    names = {spec.arg.name: spec.target for spec in program.graph_signature.input_specs}
    assert list(names) == ["p_weight_1", "b_buffer_1", "x_a_0", "x_a_0_1", "p_weight", "b_buffer"]
    assert torch.allclose(program.module()({"a": [X]}, (X,), X, {"buffer": X}), 4 * X)


class Asks(torch.nn.Module):
    """Asks who runs it."""

    def forward(self, x):
        asked = torch.compiler.is_compiling(), torch._utils.is_compiling(), torch._dynamo.is_compiling()
        return x * 2 if all(asked) else x * 3


def test_who_asks_is_told_that_it_is_compiled():
    assert export(Asks(), (X,)).module()(X).tolist() == (X * 2).tolist()


def test_places_and_modules_stay_after_decomposition():
    layers = torch.nn.Sequential(torch.nn.Linear(4, 4), Asks())
    for program in (export(layers, (X,)), export(layers, (X,)).run_decompositions()):
        product = next(node for node in program.graph.nodes if node.name.startswith("mul"))
        assert product.meta["stack_trace"].splitlines()[-2].endswith("in forward")
        assert product.meta["stack_trace"].splitlines()[-1].strip().startswith("return x * 2")
        assert list(product.meta["nn_module_stack"].values())[-1] == ("1", f"{Asks.__module__}.Asks")


def test_sizes_are_of_the_class_that_users_ask_for():
    program = export(Asks(), (X,), dynamic_shapes={"x": {0: Dim("n")}})
    assert isinstance(next(iter(program.graph.nodes)).meta["val"].shape[0], torch.SymInt)


def test_examples_by_name_in_any_order():
    class Kept(torch.nn.Module):
        def forward(self, a, *, x, y):
            return a + x - y
    program = export(Kept(), (X,), {"y": X, "x": X})
    program.example_inputs = (X,), {"x": X, "y": X + 1}
    assert list(program.example_inputs[1]) == ["y", "x"]
    with pytest.raises(ValueError, match="kwarg keyword mismatch"):
        program.example_inputs = (X,), {}


def test_operators_that_shall_stay():
    table = default_decompositions()
    del table[torch.ops.aten.linear.default]
    del table[torch.ops.aten.relu.default]  # which is made of nothing else
    assert table.pop(torch.ops.aten.linear.default) is torch.ops.aten.linear.default
    program = export(torch.nn.Linear(4, 4), (X,)).run_decompositions(table)
    assert torch.ops.aten.linear.default in [node.target for node in program.graph.nodes]
    with pytest.raises(KeyError):
        del table["linear"]


def test_decompositions_in_words_of_the_api():
    table = {torch.ops.aten.linear.default: lambda x, weight, bias: torch.matmul(x, weight.T) + 2 * bias}
    layer = torch.nn.Linear(4, 2)
    program = export(layer, (X,)).run_decompositions(table)
    wanted = X @ layer.weight.T + 2 * layer.bias
    assert torch.allclose(program.module()(X), wanted)


def test_one_name_of_two_sizes():
    with pytest.raises(torch._dynamo.exc.UserError, match="Found different definitions") as caught:
        export(Asks(), (X,), dynamic_shapes={"x": {0: Dim("n", min=2), 1: Dim("n", max=9)}})
    assert caught.value.msg == str(caught.value)


def test_constants_have_no_gradient():
    class Held(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.held = torch.ones(4, requires_grad=True)

        def forward(self, x):
            return x + self.held
    assert not export(Held(), (X,)).module().held.requires_grad


def test_checks_of_arguments_are_no_dead_code():
    module = export(Asks(), (X,)).module()
    assert not module.graph.eliminate_dead_code()
    with pytest.raises(AssertionError, match="Guard failed"):
        module(torch.ones(2, 4))
