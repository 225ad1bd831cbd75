"""Graphs are built, changed and checked, and modules of them copied, pickled, written and compiled."""
import copy
import operator
import pickle
import typing

import pytest

import dragon
from dragon.vm import torch
from harness import interpreter

fx = torch.fx


def function(*steps):
    """Return a graph of one input through functions, and its nodes."""
    graph = fx.Graph()
    nodes = [graph.placeholder("x")]
    for step in steps:
        nodes.append(graph.call_function(step, (nodes[-1],)))
    nodes.append(graph.output(nodes[-1]))
    return graph, nodes


class Net(torch.nn.Module):
    """Layers, a parameter and a buffer."""

    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU())
        self.scale = torch.nn.Parameter(torch.full((4,), 2.0))
        self.register_buffer("shift", torch.ones(4))

    def forward(self, x, more=1.0):
        return self.inner(x) * self.scale + self.shift * more


def test_nodes_know_who_uses_them():
    graph, (x, first, second, output) = function(torch.relu, torch.neg)
    assert first.all_input_nodes == [x] and list(first.users) == [second] and first.next is second
    assert second.prev is first and x < first < second < output
    second.replace_input_with(first, x)
    assert not first.users and list(x.users) == [first, second]
    assert output.replace_all_uses_with(second) == [] and second.replace_all_uses_with(x, lambda user: False) == []
    graph.erase_node(first)
    assert len(graph.nodes) == 3 and first not in x.users
    second.insert_arg(1, 3)
    second.update_arg(0, x)
    second.update_kwarg("k", [x, {"a": x}])
    assert second.args == (x, 3) and second.kwargs == {"k": [x, {"a": x}]}
    with pytest.raises(TypeError, match="does not support mutation"):
        second.kwargs["k"].append(1)


def test_nodes_go_where_they_are_told():
    graph, (x, first, second, _) = function(torch.relu, torch.neg)
    with graph.inserting_before(second):
        third = graph.call_method("sum", (first,))
        fourth = graph.call_function(torch.abs, (third,))
    with graph.inserting_after(x):
        graph.get_attr("weight")
    assert [node.name for node in graph.nodes] == ["x", "weight", "relu", "sum_1", "abs_1", "neg", "output"]
    assert sorted(graph.nodes) == list(graph.nodes) and [*reversed(graph.nodes)][0].op == "output"
    third.append(second)
    assert [node.name for node in graph.nodes][3:6] == ["sum_1", "neg", "abs_1"]
    assert graph.find_nodes(op="call_function", target=torch.abs) == [fourth]
    fourth.target = torch.sin
    assert graph.find_nodes(op="call_function", target=torch.sin) == [fourth]
    assert graph.output_node() is [*graph.nodes][-1]


def test_ill_made_graphs_are_refused():
    graph, (x, first, second, _) = function(torch.relu, torch.neg)
    with pytest.raises(RuntimeError, match="still had 1 users"):
        graph.erase_node(first)
    with pytest.raises(AssertionError, match="different Graph"):
        first.prepend(fx.Graph().placeholder("x"))
    first.args = (second,)
    with pytest.raises(RuntimeError, match="used before it has been defined"):
        graph.lint()
    first.args = (fx.Graph().placeholder("y"),)
    with pytest.raises(RuntimeError, match="does not belong to this Graph"):
        graph.lint()
    with pytest.raises(ValueError, match="Callable is expected"):
        graph.call_function("relu", (x,))
    with pytest.raises(AssertionError, match="expected a tuple"):
        graph.call_function(torch.relu, [x])
    with pytest.raises(RuntimeError, match="not provided in"):
        fx.GraphModule({}, fx.symbolic_trace(Net()).graph)


def test_dead_code_goes_and_what_does_something_stays():
    def program(x):
        torch.relu(x)
        torch._assert(x.shape[0] > 0, "empty")
        torch.rand(2)
        return x
    graph = fx.symbolic_trace(program).graph
    assert graph.eliminate_dead_code() and not graph.eliminate_dead_code()
    assert torch._assert in [node.target for node in graph.nodes]
    assert torch.relu not in [node.target for node in graph.nodes]


@pytest.mark.parametrize("again", [copy.deepcopy, copy.copy, lambda module: pickle.loads(pickle.dumps(module)),
                                   lambda module: fx.Transformer(module).transform(), fx.symbolic_trace],
                         ids=["deepcopy", "copy", "pickle", "transform", "trace"])
def test_modules_are_made_again(again):
    module = fx.symbolic_trace(Net())
    made, x = again(module), torch.randn(2, 3)
    assert torch.equal(made(x), module(x)) and made.code == module.code
    assert list(made.state_dict()) == list(module.state_dict()) and made.graph.owning_module is not None


def test_a_folder_is_a_package(tmp_path):
    module = fx.symbolic_trace(Net())
    module.to_folder(tmp_path / "written", "Written")
    code = "import torch, written; print(written.Written()(torch.ones(1, 3)).tolist())"
    wanted = str(module(torch.ones(1, 3)).tolist())
    (tmp_path / "use.py").write_text(code)
    done = interpreter.run(["-m", "dragon", "run", "use.py"], tmp_path, timeout=120,
                           preload=f"{interpreter.GUESTS}; import torch")
    assert done.stdout.strip() == wanted, done.stderr


def test_graphs_of_the_engine_are_made_of_graphs_of_python():
    module, x = fx.symbolic_trace(Net()), torch.randn(2, 3)
    report = torch._dynamo.explain(module)(x)
    assert (report.graph_count, report.graph_break_count) == (1, 0)
    assert torch.allclose(torch.compile(module, fullgraph=True)(x), module(x))
    assert torch.allclose(dragon.function(module)(x), module(x))
    module(x).sum().backward()
    assert module.scale.grad is not None


def test_the_line_that_fails_is_shown(capsys):
    module = fx.symbolic_trace(lambda x: torch.relu(x).no_such_thing)
    with pytest.raises(AttributeError, match="no_such_thing"):
        module(torch.ones(1))
    shown = capsys.readouterr().err
    assert "line 6 of the traced Module's generated forward function" in shown
    assert "getattr_1 = relu.no_such_thing" in shown.split("~~~ <--- HERE")[0].strip().split("\n")[-1]


def test_modules_within_come_and_go():
    module = fx.symbolic_trace(Net())
    assert module.add_submodule("one.two.three", torch.nn.ReLU()) and not module.add_submodule("scale.x", Net())
    assert module.delete_submodule("one.two.three") and not module.delete_submodule("no.such")
    module.delete_all_unused_submodules()
    assert [name for name, _ in module.named_modules()] == ["", "inner", "inner.0", "inner.1"]


class Listed(fx.CodeGen):
    """All arguments come in one list."""

    def gen_fn_def(self, free_vars, maybe_return_annotation):
        return f"def forward(self, args_list: List[torch.Tensor]){maybe_return_annotation}:\n" \
               f"    {', '.join(free_vars)} = args_list"

    def additional_globals(self):
        return [("List", typing.List)]

    def process_inputs(self, *inputs):
        return inputs[0]


def test_others_may_write_the_code():
    module = fx.symbolic_trace(lambda a, b: a - b)
    module.graph.set_codegen(Listed())
    module.recompile()
    given = [torch.ones(2), torch.zeros(2)]
    for made in (module, copy.deepcopy(module), fx.Transformer(module).transform()):
        assert torch.equal(made(given), torch.ones(2)) and torch.equal(fx.Interpreter(made).run(given), torch.ones(2))

    def twice(current):
        return lambda lines: [line.replace("a - b", "(a - b) * 2") for line in (current(lines) if current else lines)]
    with module.graph.on_generate_code(twice):
        module.recompile()
        assert torch.equal(module(given), torch.full((2,), 2.0))
    module.recompile()
    assert torch.equal(module(given), torch.ones(2))


def test_hooks_hear_of_changes():
    module, heard = fx.symbolic_trace(lambda x: torch.relu(x)), []
    module._register_create_node_hook(lambda node: heard.append(("made", node.name)))
    module._register_erase_node_hook(lambda node: heard.append(("erased", node.name)))
    relu = module.graph.find_nodes(op="call_function")[0]
    with module._set_replace_hook(lambda old, new, user: heard.append((old.name, new, user.name))):
        with module.graph.inserting_after(relu):
            made = module.graph.call_function(torch.neg, (relu.args[0],))
        relu.replace_all_uses_with(made)
        module.graph.erase_node(relu)
    assert heard == [("made", "neg"), ("relu", "neg", "output"), ("erased", "relu")]


def test_stand_ins_may_be_made_by_hand():
    graph, (x, *_) = function(torch.relu)
    with graph.inserting_before(graph.output_node()):
        made = torch.cat([fx.Proxy(x), fx.Proxy(x).neg()]) * 2
    graph.output_node().args = (made.node,)
    graph.eliminate_dead_code()
    assert fx.GraphModule({}, graph)(torch.ones(1)).tolist() == [2.0, -2.0]
    assert operator.mul in [node.target for node in graph.nodes] and repr(made) == "Proxy(mul)"


@fx.wrap
def kept(x):
    """Return a number more."""
    return x + 1


class Checked(torch.nn.Module):
    """A module that asserts, and says the type of a local name."""

    def forward(self, x, y: int, z: int):
        """Return twice what comes, and a number more."""
        assert y == z, "they differ"
        total: float = x * 2
        return kept(total)


def test_assertions_are_calls_to_a_rewriting_tracer():
    from dragon.vm.torch.fx.experimental.rewriter import RewritingTracer
    tracer = RewritingTracer()
    graph = tracer.trace(Checked())
    module = fx.GraphModule(tracer.root, graph)
    assert module(torch.ones(1), 2, 2).item() == 3.0 and "kept" in module.code
    assert [node.type for node in graph.find_nodes(op="call_function", target=operator.mul)] == [float]
    with pytest.raises(AssertionError, match="they differ"):
        module(torch.ones(1), 2, 3)


def test_what_fails_within_a_layer_is_told_by_the_layer(capsys):
    module = fx.symbolic_trace(Net())
    with pytest.raises(RuntimeError, match="linear"):
        module(torch.ones(2, 2))
    assert "Call using" not in capsys.readouterr().err
    with pytest.raises(RuntimeError, match="While executing %inner_0"):
        fx.Interpreter(module).run(torch.ones(2, 2))
