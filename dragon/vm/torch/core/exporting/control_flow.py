"""Control flow in exported programs: `cond`, `map` and loops as calls of operators that take graphs."""
import ast
import operator

from dragon.core import modes, warnings
from dragon.core.capture.source_lines import call_under_way
from dragon.core.capture.settings import captures
from dragon.core.capture.sizes import Size as Number
from dragon.vm.torch.core.exporting.higher_order import HigherOrderOperator
from dragon.vm.torch.core.exporting.errors import ExportError
from dragon.vm.torch.core.exporting.tracer import ExportTracer
from dragon.vm.torch.core.exporting.unbacked_symbols import TRUE
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.fx.graph import Graph
from dragon.vm.torch.fx.graph_module import GraphModule
from dragon.vm.torch.utils import _pytree as pytree

NAMES = {operator.eq: "eq", operator.ne: "noteq", operator.lt: "lt", operator.le: "lte", operator.gt: "gt",
         operator.ge: "gte"}  # of the nodes of Python's own trees


def _asks_for_shapes():
    """Return whether only shapes are asked for: no numbers are there, and nobody captures both ways as a graph."""
    capturing = captures()
    return modes.is_phantom() and (not capturing or getattr(capturing[-1], "wants_shapes", False))


def _run_cond(pred, true_graph, false_graph, operands=()):
    from dragon.vm.torch.core.functions import control
    if _asks_for_shapes():
        return true_graph(*operands)
    return control.cond(pred, true_graph, false_graph, tuple(operands))


def _run_while(cond_graph, body_graph, carried, additional=()):
    from dragon.vm.torch.core.functions import control
    if _asks_for_shapes():
        return tuple(body_graph(*carried, *additional))
    return tuple(control.while_loop(lambda *state: cond_graph(*state)[0], body_graph, (*carried, *additional))[
        :len(carried)]) if not additional else _while_with(cond_graph, body_graph, tuple(carried), tuple(additional))


def _while_with(cond_graph, body_graph, carried, additional):
    from dragon.vm.torch.core.functions import control
    return tuple(control.while_loop(lambda *state: cond_graph(*state, *additional)[0],
                                    lambda *state: tuple(body_graph(*state, *additional)), carried))


def _run_scan(combine_graph, init, xs, additional=()):
    from dragon.vm.torch.core.functions import control
    count = len(init)

    def step(carried, slices):
        made = combine_graph(*carried, *slices, *additional)
        return list(made[:count]), list(made[count:])
    if _asks_for_shapes():
        carried, made = step(list(init), [x[0] for x in xs])
        return (*carried, *(item.unsqueeze(0).expand(xs[0].shape[0], *item.shape).clone() for item in made))
    carried, made = control.scan(step, list(init), list(xs))
    return (*carried, *made)


def _run_map(body_graph, xs, additional=()):
    from dragon.vm.torch.core.functions import control
    if _asks_for_shapes():
        made = body_graph(*(x[0] for x in xs), *additional)
        return tuple(item.unsqueeze(0).expand(xs[0].shape[0], *item.shape).clone() for item in made)
    return tuple(control.map(lambda slices: list(body_graph(*slices, *additional)), list(xs)))


def _firsts(xs):
    return [x[0] for x in xs]


COND = HigherOrderOperator("cond", _run_cond, lambda pred, true_graph, false_graph, operands=(): operands)
WHILE = HigherOrderOperator("while_loop", _run_while, lambda cond_graph, body_graph, carried, additional=(): (
    *carried, *additional))
SCAN = HigherOrderOperator("scan", _run_scan, lambda combine_graph, init, xs, additional=(): (
    *init, *_firsts(xs), *additional))
MAP = HigherOrderOperator("map_impl", _run_map, lambda body_graph, xs, additional=(): (*_firsts(xs), *additional))


class _Branch(ExportTracer):
    """Writes a function down as a graph of its own; what it finds outside becomes further inputs."""

    def __init__(self, outer, lifted):
        super().__init__(Graph(), outer.shape_env, self._outside, outer.rules)
        self.outer, self.shared, self.own = outer, lifted, {}
        self.lifted, self.modules, self.stack, self.flow = outer.lifted, {}, outer.stack, outer.flow

    def placeholder(self, name):
        """Return a further input."""
        last = next((node for node in reversed(list(self.graph.nodes)) if node.op == "placeholder"), None)
        before = self.graph.inserting_after(last) if last is not None else self.graph.inserting_before(
            next(iter(self.graph.nodes), None)) if len(self.graph.nodes) else self.graph.inserting_before()
        with before:
            return self.graph.placeholder(name)

    def _outside(self, tensor):
        node = self.outer.node_of(tensor)
        self.shared.setdefault(node, tensor)
        if node not in self.own:
            self.own[node] = self.placeholder(node.name)
        return self.own[node]

    def _number(self, number):
        origin = self.shape_env.origins.get(number)
        if number not in self._numbers and origin is not None and origin.how == "size":
            node, axis = origin.parts
            if node.graph is not self.graph:
                outer = self.outer._number(number)
                self.shared.setdefault(outer, None)
                self.own.setdefault(outer, None)
                if self.own[outer] is None:
                    self.own[outer] = self.placeholder(outer.name)
                self._numbers[number] = self.own[outer]
        return super()._number(number)


def _traced(outer, function, operands, lifted, names):
    """Return (branch, results, out_spec) of a function of tensors."""
    branch = _Branch(outer, lifted)
    for number, operand in enumerate(operands):
        node = branch.graph.placeholder(names[number])
        if isinstance(operand, Tensor):
            branch.track(operand, node)
    with branch:
        results, spec = pytree.tree_flatten(function(*operands))
        branch.results = [branch.argument(result) for result in results]
    return branch, results, spec


def _finished(outer, branches, lifted, name):
    """Return the graph modules of branches that take the same further inputs."""
    made = []
    for branch, label in branches:
        nodes = []
        for node in lifted:
            own = branch.own.get(node)
            if own is None:
                own = branch.placeholder(node.name)
            nodes.append(own)
        places = [node for node in branch.graph.nodes if node.op == "placeholder"]
        anchor = next(node for node in reversed(places) if node not in nodes) if len(places) > len(nodes) else None
        for own in reversed(nodes):  # in the order in which they are handed over
            if anchor is not None:
                anchor.append(own)
            else:
                own.graph._root.append(own)
        branch.graph.output(tuple(branch.results))
        _check_pure(branch.graph, name)
        module = GraphModule(branch.modules, branch.graph)
        made.append(outer.hold(module, label))
    return made


def _check_pure(graph, name):
    for node in graph.nodes:
        if getattr(getattr(node.target, "_schema", None), "is_mutable", False) and node.args and getattr(
                node.args[0], "op", "") == "placeholder":
            raise ExportError(f"torch.{name}: a function writes into its operand {node.args[0].name}; expected it to "
                              "return another tensor")


def _copied(operands):
    """Return tensors that are others than the operands, as phantoms, so that each has its own place in a branch."""
    return [operand.view(operand.shape) if isinstance(operand, Tensor) else operand for operand in operands]


def _same_kind(name, one, another):
    for left, right in zip(one, another):
        if isinstance(left, Tensor) != isinstance(right, Tensor) or isinstance(left, Tensor) and (
                left.dtype != right.dtype or left.ndim != right.ndim):
            raise ExportError(f"torch.{name}: the functions return {left} and {right}, expected the same dtype and "
                              "number of axes")


def written_predicate(outer, pred):
    """Return the comparison of sizes that a branch goes by, as a node; None where it is no such comparison.

    Parameters
    ----------
    outer : ExportTracer
        Who listens.
    pred : bool
        What the comparison gave for the example's sizes.

    Returns
    -------
    Optional[Node]
        The comparison, which decides nothing any more.

    """
    shape_env, found = outer.shape_env, call_under_way()
    if found is None or not found[0].args or not isinstance(found[0].args[0], ast.Compare):
        return None
    _, file, lines = found
    places = tuple(f"{file}:{line}: " for line in lines)
    (*others, last) = [one for one in shape_env.recent if one.place.startswith(places)] or [None]
    if others or last is None or len(found[0].args[0].ops) != 1:
        return None
    plain, turned = TRUE[last.relation, last.held == pred]
    if type(found[0].args[0].ops[0]).__name__.lower() not in (NAMES[plain], NAMES[turned]):
        return None
    operation, sides = plain, (last.a, last.b)
    if shape_env.origins[last.a].how == "constant":  # Python asks the size, which is then on the left
        operation, sides = turned, (last.b, last.a)
    node = outer.graph.create_node("call_function", operation, tuple(map(outer._number, sides)), {}, operation.__name__)
    node.meta["example"] = pred
    outer._describe(node)
    shape_env.recent = [one for one in shape_env.recent if one is not last]
    shape_env.decisions = [one for one in shape_env.decisions if one[:4] != last[:4]]
    return node


def _predicate(outer, pred):
    """Return a node for what a branch goes by, or a bool where that is a number of Python's."""
    if type(pred) is Number:  # of a tensor of truth values
        return outer.number_of(pred)
    node = written_predicate(outer, bool(pred))
    if node is None:
        warnings.warn("Pred is a Python constant: torch.cond goes one way, and the program holds that way alone; "
                      "expected a tensor or a comparison of sizes, written where torch.cond is called")
    return bool(pred) if node is None else node


def export_cond(outer, pred, true_fn, false_fn, operands):
    """Write down a branch."""
    if not isinstance(pred, Tensor):
        pred = _predicate(outer, pred)
        if isinstance(pred, bool):
            return (true_fn if pred else false_fn)(*operands)
    leaves, spec = pytree.tree_flatten(tuple(operands))
    lifted, branches, specs, results = {}, [], [], []
    names = [f"arg{number}_1" for number in range(len(leaves))]
    for function, label in ((true_fn, "true_graph"), (false_fn, "false_graph")):
        given = outer.quietly(_copied, (leaves,), {})
        branch, made, out_spec = _traced(outer, lambda *values, f=function: f(
            *pytree.tree_unflatten(list(values), spec)), given, lifted, names)
        branches.append((branch, label))
        specs.append(out_spec)
        results.append(made)
    if specs[0] != specs[1]:
        raise ExportError(f"torch.cond: the functions return results nested as {specs[0]} and {specs[1]}, expected the "
                          "same")
    _same_kind("cond", *results)
    modules = _finished(outer, branches, lifted, "cond")
    made = outer.emit_higher(COND, (pred, *modules, (*leaves, *lifted)), lifted)
    return pytree.tree_unflatten(list(made), specs[0])


def export_while(outer, cond_fn, body_fn, carried, additional):
    """Write down a loop."""
    leaves, spec = pytree.tree_flatten(tuple(carried))
    more, more_spec = pytree.tree_flatten(tuple(additional or ()))
    lifted, branches = {}, []
    names = [f"arg{number}_1" for number in range(len(leaves) + len(more))]
    for function, label in ((cond_fn, "while_loop_cond_graph"), (body_fn, "while_loop_body_graph")):
        given = outer.quietly(_copied, ([*leaves, *more],), {})
        branch, made, out_spec = _traced(outer, lambda *values, f=function: f(
            *pytree.tree_unflatten(list(values[:len(leaves)]), spec),
            *pytree.tree_unflatten(list(values[len(leaves):]), more_spec)), given, lifted, names)
        branches.append((branch, label))
    _same_kind("while_loop", leaves, made)
    modules = _finished(outer, branches, lifted, "while_loop")
    made = outer.emit_higher(WHILE, (*modules, tuple(leaves), (*more, *lifted)), lifted)
    return pytree.tree_unflatten(list(made), spec)


def export_scan(outer, combine_fn, init, xs, dim=0, reverse=False):
    """Write down a scan."""
    if dim:
        xs = pytree.tree_map(lambda x: x.movedim(dim, 0), xs)
    if reverse:
        xs = pytree.tree_map(lambda x: x.flip(0), xs)
    first, init_spec = pytree.tree_flatten(init)
    leaves, spec = pytree.tree_flatten(xs)
    lifted, parts = {}, {}
    names = [f"arg{number}_1" for number in range(len(first) + len(leaves))]

    def step(*values):
        carried, made = combine_fn(pytree.tree_unflatten(list(values[:len(first)]), init_spec),
                                   pytree.tree_unflatten(list(values[len(first):]), spec))
        flat, parts["spec"] = pytree.tree_flatten(made)
        return [*pytree.tree_leaves(carried), *flat]
    given = outer.quietly(lambda: [*_copied(first), *(leaf[0] for leaf in leaves)], (), {})
    branch, _, _ = _traced(outer, step, given, lifted, names)
    (module,) = _finished(outer, [(branch, "scan_combine_graph")], lifted, "scan")
    made = list(outer.emit_higher(SCAN, (module, list(first), list(leaves), tuple(lifted)), lifted))
    results = made[len(first):]
    if reverse:
        results = [result.flip(0) for result in results]
    return (pytree.tree_unflatten(made[:len(first)], init_spec), pytree.tree_unflatten(results, parts["spec"]))


def export_map(outer, function, xs, args):
    """Write down a map along the first axis."""
    leaves, spec = pytree.tree_flatten(xs)
    lifted, parts = {}, {}

    def step(*values):
        flat, parts["spec"] = pytree.tree_flatten(function(pytree.tree_unflatten(list(values), spec), *args))
        return flat
    given = outer.quietly(lambda: [leaf[0] for leaf in leaves], (), {})
    branch, _, _ = _traced(outer, step, given, lifted, [f"arg{number}_1" for number in range(len(leaves))])
    (module,) = _finished(outer, [(branch, "body_graph")], lifted, "map")
    made = outer.emit_higher(MAP, (module, list(leaves), tuple(lifted)), lifted)
    return pytree.tree_unflatten(list(made), parts["spec"])
