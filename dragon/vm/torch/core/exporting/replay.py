"""A program's graph, done again over tensors without numbers: which sizes everything has when inputs have others."""
from dragon import _C
from dragon.core import modes
from dragon.core.scopes import ExitStack
from dragon.vm.torch.core.exporting.errors import Differs
from dragon.vm.torch.core.exporting.symbols import RELATIONS, compute
from dragon.vm.torch.core.exporting.unbacked_symbols import value_of, written_by
from dragon.vm.torch.core.exporting.higher_order import HigherOrderOperator
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.fx.graph_module import GraphModule
from dragon.vm.torch.fx.node import map_arg


def plain_shape(value):
    """Return a shape as plain numbers."""
    return tuple(int(size) for size in value.shape)


def is_graph(value):
    """Return whether an argument of an operator is a graph."""
    return isinstance(value, GraphModule)


def values_within(module, operands):
    """Return what the nodes of a graph give for these operands, those of graphs within it among them."""
    operands, values = iter(operands), {}
    for node in module.graph.nodes:
        if node.op == "placeholder":
            values[node] = next(operands)
        elif node.op == "get_attr":
            values[node] = getattr(module, node.target)
        elif node.op == "call_function":
            args, kwargs = map_arg(node.args, values.__getitem__), map_arg(node.kwargs, values.__getitem__)
            values[node] = node.target(*args, **kwargs)
            if isinstance(node.target, HigherOrderOperator):
                for graph in filter(is_graph, args):
                    values.update(values_within(graph, node.target.operands(*args)))
    return values


class Replay:
    """Runs a graph at other sizes.

    Parameters
    ----------
    traced : Traced
        The graph.

    """

    def __init__(self, traced):
        self.traced = traced

    def run(self, sizes, numbers):
        """Return what every node gives at these sizes.

        Parameters
        ----------
        sizes : Dict[tuple, int]
            {(user input, axis): size}; others are as in the example.
        numbers : Dict[str, int]
            By symbol: what depends on what lies in tensors.

        Returns
        -------
        Dict[Node, Any]
            Tensors without numbers, and numbers.

        Raises
        ------
        Exception
            An operator refuses its operands, or the program would have gone another way (Differs).

        """
        values, place = {}, 0
        with ExitStack() as exits:
            exits.switch(modes.set_phantom, True)
            exits.switch(modes.set_recording, False)
            for one in self.traced.inputs:
                value = one.value
                if isinstance(value, Tensor):
                    shape = plain_shape(value)
                    if one.kind == "user":
                        shape = tuple(sizes.get((place, axis), size) for axis, size in enumerate(shape))
                    value = _C.phantom_like(value.detach(), shape)
                values[one.node] = value
                place += one.kind == "user"
            for node in self.traced.graph.nodes:
                if node.op == "call_function":
                    args, kwargs = map_arg(node.args, values.__getitem__), map_arg(node.kwargs, values.__getitem__)
                    if node in self.traced.unknowns.made:
                        number = numbers[self.traced.unknowns.made[node][0]]
                        values[node] = value_of(node, number, args, kwargs)
                    else:
                        values[node] = (written_by(node.target, args) or node.target)(*args, **kwargs)
                elif node.op == "get_attr":
                    values[node] = self.traced.owner[node.target]
                if isinstance(node.target, HigherOrderOperator):
                    for graph in filter(is_graph, args):
                        values.update(values_within(graph, node.target.operands(*args)))
            self._check(values)
            return values

    def _check(self, values):
        origins = self.traced.shape_env.origins
        for decision in self.traced.shape_env.decisions:
            if decision.relation == "eq" and not decision.held and "constant" not in (
                    origins[decision.a].how, origins[decision.b].how):
                continue  # two sizes that happened to differ
            a, b = self.number(decision.a, values), self.number(decision.b, values)
            if RELATIONS[decision.relation](a, b) != decision.held:
                raise Differs(f"{decision.place}: {decision.relation} of {a} and {b} is not {decision.held}")

    def number(self, number, values):
        """Return a number of the program for these values of nodes."""
        origin = self.traced.shape_env.origins[number]
        if origin.how == "constant":
            return origin.value
        if origin.how == "size":
            node, axis = origin.parts
            return int(values[node].shape[axis])
        if origin.how == "numel":
            return int(values[origin.parts[0]].numel())
        if origin.how == "item":
            return values[origin.parts[0]]
        parts = [self.number(part, values) for part in origin.parts]
        if origin.how in ("add", "sub", "mul"):
            return compute(origin.how, *parts)
        made = compute(origin.how, *parts)
        return made if isinstance(made, (int, float)) else made.constant
