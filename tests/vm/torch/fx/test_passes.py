"""Passes over graphs do as those of genuine PyTorch, and `replace_pattern` as its."""
import importlib
import operator

import pytest

torch = pytest.importorskip("torch")
import torch.fx  # noqa: E402
from dragon.dialects.aten import table  # noqa: E402
from dragon.vm import torch as dt  # noqa: E402

BOTH = ((torch, "torch."), (dt, "dragon.vm.torch."))


def both(program):
    """Return what a program gives with genuine PyTorch and with Dragon."""
    return [program(lib, lambda name, place=place: importlib.import_module(place + name)) for lib, place in BOTH]


PATTERNS = {  # a program, what is looked for, and what takes its place
    "one": ("neg(x) + relu(x)", "neg(a)", "relu(a)"),
    "twice": ("neg(neg(x)) * 2", "neg(a)", "exp(a)"),
    "two inputs": ("(relu(x) + neg(x)) * relu(x)", "relu(a) + neg(b)", "sub(relu(a), b)"),
    "used within": ("relu(neg(x)) + neg(x)", "relu(neg(a))", "exp(a)"),
    "none": ("exp(x)", "sin(a)", "cos(a)"),
    "all": ("exp(x) + 1", "exp(a) + 1", "a"),
    "numbers": ("add(x, 1) + add(x, 2)", "add(a, 1)", "mul(a, 5)"),
}


def function(lib, words, names):
    """Return a function of an expression."""
    space = {name: getattr(lib, name) for name in "neg relu sub exp sin cos add mul".split()}
    return eval(f"lambda {names}: {words}", space)


@pytest.mark.parametrize("name", PATTERNS)
def test_patterns_are_replaced_alike(name):
    def program(lib, _):
        words, pattern, replacement = PATTERNS[name]
        names = "a, b" if "b" in pattern.replace("sub", "") else "a"
        module = lib.fx.symbolic_trace(function(lib, words, "x"))
        found = lib.fx.replace_pattern(module, function(lib, pattern, names), function(lib, replacement, names))
        module.graph.lint()
        return module.code, str(module.graph), str(found), module(lib.tensor([0.5])).tolist()
    theirs, mine = both(program)
    assert mine[:3] == theirs[:3] and mine[3] == pytest.approx(theirs[3])


def test_filters_say_where():
    def program(lib, at):
        rewriter = at("fx.subgraph_rewriter")
        module = lib.fx.symbolic_trace(lambda x: lib.add(x, 1) + lib.add(x, 2))
        found = rewriter.replace_pattern_with_filters(
            module, lambda a: lib.add(a, 3), lambda a: lib.mul(a, 5), ignore_literals=True,
            match_filters=[lambda match, graph, small: next(iter(match.nodes_map.values())).args[1] == 2])
        made = rewriter.replace_pattern_with_filters(
            module, lambda a: lib.add(a, 1),
            replacement_callback=lambda match, graph, small: lib.fx.symbolic_trace(lambda a: lib.sub(a, 7)).graph)
        return module.code, str(found), str(made)
    theirs, mine = both(program)
    assert mine == theirs


def test_layers_are_replaced():
    def program(lib, _):
        def model(second):
            class Model(lib.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.first, self.second = lib.nn.Sigmoid(), second()

                def forward(self, x):
                    return self.second(self.first(x))
            return Model()
        module = lib.fx.symbolic_trace(model(lib.nn.ReLU))
        lib.fx.replace_pattern(module, model(lib.nn.ReLU), model(lib.nn.Tanh))
        return module.code, str(module)
    theirs, mine = both(program)
    assert mine == theirs


def model(lib):
    """Return a module with layers, a parameter and a buffer."""
    class Model(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = lib.nn.Parameter(lib.ones(4, 5))
            self.layer = lib.nn.Linear(4, 5)
            self.register_buffer("shift", lib.ones(5))

        def forward(self, x, y, z=2):
            a = self.layer(x + self.weight[:, :4]).clamp(min=0.0, max=1.0)
            b = a + y
            return b * self.shift - z + a, b, self.weight
    return Model()


@pytest.mark.parametrize("options", [{}, {"keep_original_order": True}, {"keep_original_node_name": True},
                                     {"partition_affix": "part"}, {"keep_original_input_name": False}], ids=str)
def test_modules_are_split_alike(options):
    def program(lib, at):
        source, count, names = model(lib), [], {}
        module = lib.fx.symbolic_trace(source)
        made = at("fx.passes.split_module").split_module(
            module, source, lambda node: count.append(0) or (len(count) - 1) // 4, names, **options)
        parts = [(name, part.code) for name, part in made.named_children()]
        x = lib.ones(4, 4), lib.ones(4, 5)
        same = [bool((a == b).all()) for a, b in zip(made(*x), module(*x))]
        return made.code, parts, names, same
    theirs, mine = both(program)
    assert mine == theirs and mine[3] == [True] * 3


def test_a_circle_of_parts_is_refused():
    def program(lib, at):
        source, places = model(lib), {}
        module = lib.fx.symbolic_trace(source)
        for node in module.graph.nodes:
            places[node.name] = len(places) % 3
        with pytest.raises(RuntimeError, match="cycle exists between partitions") as error:
            at("fx.passes.split_module").split_module(module, source, lambda node: places[node.name])
        return str(error.value)
    assert len(set(both(program))) == 1


def test_parts_are_grouped_and_fused_alike():
    def program(lib, at):
        support = at("fx.passes.operator_support")
        answers = support.create_op_support(lambda modules, node: node.target is operator.add)
        module = lib.fx.symbolic_trace(lambda a, b: ((a + b) + a) * b + a + b)
        grouper = at("fx.passes.infra.partitioner").CapabilityBasedPartitioner(module, answers)
        groups = grouper.propose_partitions()
        fused = grouper.fuse_partitions(groups)
        return [list(map(str, group.nodes)) for group in groups], fused.code, [
            (name, part.code) for name, part in fused.named_children()]
    theirs, mine = both(program)
    assert mine == theirs


def test_managers_run_passes_alike():
    def program(lib, at):
        base, manager = at("fx.passes.infra.pass_base"), at("fx.passes.infra.pass_manager")
        heard = []

        class Noted(base.PassBase):
            def requires(self, graph_module):
                heard.append("requires")

            def call(self, graph_module):
                return base.PassResult(graph_module, False)

            def ensures(self, graph_module):
                heard.append("ensures")

        def multiply(graph_module):
            for node in graph_module.graph.find_nodes(op="call_function", target=operator.add):
                node.target = operator.mul
            graph_module.recompile()

        def fails(graph_module):
            raise ValueError("no")
        made = manager.PassManager([Noted(), manager.pass_result_wrapper(multiply)], steps=2)
        result = made(lib.fx.symbolic_trace(lambda x: x + 3))
        letters = []
        for wrong in (fails, lambda graph_module: 3):
            with pytest.raises(Exception, match="An error occurred when running") as error:
                manager.PassManager([wrong])(result.graph_module)
            letters.append(str(error.value))
        order = manager.PassManager([multiply, fails], [manager.this_before_that_pass_constraint(fails, multiply)])
        order.solve_constraints()
        return heard, result.modified, result.graph_module.code, letters, [one.__name__ for one in order.passes]
    theirs, mine = both(program)
    assert mine == theirs


def test_what_is_computed_twice_is_computed_once():
    def program(lib, at):
        module = lib.fx.symbolic_trace(lambda x: (x.cos() + x.cos()) * (lib.relu(x) + lib.relu(x)) + lib.rand(2)[:1]
                                       + lib.bernoulli(x) + lib.bernoulli(x))
        made = at("fx.passes.dialect.common.cse_pass").CSEPass()(module)
        return made.modified, sum(node.op == "call_method" for node in made.graph_module.graph.nodes)
    theirs, mine = both(program)
    assert mine == theirs == (True, 1)


def test_normalizations_are_taken_in():
    class Model(dt.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = dt.nn.Sequential(
                dt.nn.Conv2d(3, 4, 3), dt.nn.BatchNorm2d(4), dt.nn.Dropout(), dt.nn.Flatten(), dt.nn.Linear(16, 5),
                dt.nn.BatchNorm1d(5))

        def forward(self, x):
            return self.layers(x)
    optimization = importlib.import_module("dragon.vm.torch.fx.experimental.optimization")
    model, image = Model(), dt.randn(2, 3, 4, 4)
    for _ in range(3):
        model(image)
    with pytest.raises(AssertionError, match="eval"):
        optimization.fuse(model)
    wanted = model.eval()(image)
    for fused in (optimization.fuse(model), optimization.optimize_for_inference(model)):
        assert dt.allclose(fused(image), wanted, atol=1e-5)
        assert not any("BatchNorm" in type(layer).__name__ for layer in fused.modules())
    assert not any(isinstance(layer, dt.nn.Dropout) for layer in optimization.remove_dropout(model).modules())


def test_constants_are_computed_once():
    class Model(dt.nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = dt.nn.Parameter(dt.ones(2)), dt.nn.Parameter(dt.full((2,), 2.0))

        def forward(self, x):
            total = self.a + self.b
            return x - total, x * (self.b * 2), x + self.a
    folded = importlib.import_module("dragon.vm.torch.fx.experimental.const_fold").split_const_subgraphs(Model())
    x = dt.tensor([1.0, 2.0])
    assert [value.tolist() for value in folded(x)] == [value.tolist() for value in Model()(x)]
    assert "self.b" not in folded.code and "_FX_CONST_FOLDED_ATTRS" in folded.code


def test_what_is_missing_says_so():
    splitter = importlib.import_module("dragon.vm.torch.fx.passes.splitter_base")
    with pytest.raises(NotImplementedError, match="fx.passes.splitter_base._SplitterBase: Dragon does not have it"):
        splitter._SplitterBase()
    shape_prop = importlib.import_module("dragon.vm.torch.fx.passes.shape_prop")
    with pytest.raises(NotImplementedError, match="fake_mode"):
        shape_prop.ShapeProp(dt.fx.symbolic_trace(lambda x: x), object())


def test_names_of_nodes_in_exported_patterns():
    def pattern(lib, x, weight):
        line = lib.nn.functional.linear(x, weight)
        made = lib.nn.functional.relu(line)
        return made, {"line": line, "made": made}

    def at(lib, place):
        matcher = importlib.import_module(place + "fx.passes.utils.matcher_with_name_node_map_utils")

        def exported(function):
            class Does(lib.nn.Module):
                def forward(self, x, weight):
                    return function(lib, x, weight)
            return lib.export.export(Does(), (lib.ones(2, 3), lib.ones(4, 3))).module()
        small = matcher.SubgraphMatcherWithNameNodeMap(exported(pattern))
        large = exported(lambda lib, x, weight: pattern(lib, x + 1, weight)[0] * 2)
        return [{name: node.name for name, node in match.name_node_map.items()} for match in small.match(large.graph)]
    mine, theirs = (at(lib, place) for lib, place in BOTH)
    assert mine == theirs == [{"line": "linear", "made": "relu"}]


def test_operators_that_stay_twice():
    def at(lib, place):
        make_fx = importlib.import_module(place + "fx.experimental.proxy_tensor").make_fx
        merge = importlib.import_module(place + "fx.passes.dialect.common.cse_pass").CSEPass
        counts = []
        for banned in ([], [lib.ops.aten.add], [lib.ops.aten.mul]):
            made = make_fx(lambda x: (x + 1) * (x + 1))(lib.ones(2))
            counts.append(len(merge(banned_ops=banned)(made).graph_module.graph.nodes))
        return counts
    mine, theirs = (at(lib, place) for lib, place in BOTH)
    assert mine == theirs


def test_what_draws_numbers_stays():
    """Functions and operators by their names: what nobody uses is removed unless it draws numbers."""
    names = sorted({*table.random_operators(), "relu", "add", "add_", "zeros", "fmod"})

    def at(lib, place):
        graph, found = lib.fx.Graph(), {}
        for name in names:
            packet = getattr(lib.ops.aten, name, None)
            overloads = packet.overloads() if packet is not None else ()
            for target in (getattr(lib, name, None), getattr(lib.nn.functional, name, None), *(
                    getattr(packet, overload) for overload in overloads if "out" not in overload)):
                if callable(target):
                    node = graph.call_function(target, ())
                    found[name, str(target) if hasattr(target, "overloadpacket") else ""] = [
                        node.is_impure(), node.is_impure(impure_random=False)]
        return found
    mine, theirs = (at(lib, place) for lib, place in BOTH)
    shared = mine.keys() & theirs.keys()
    assert len(shared) > 60 and {key: mine[key] for key in shared} == {key: theirs[key] for key in shared}
