"""Programs that ask for gradients, or map over slices: they are recorded at the level of the engine's operators.

A backward pass and a mapping are one call each of the API, which the tracer records. So such a program runs
untraced, while the engine records what reaches its operators; these calls are then written in PyTorch's.
"""
from dragon import _C
from dragon.core import modes as switches
from dragon.core.capture.source_lines import user_line
from dragon.core.capture.sizes import is_followed
from dragon.core.graph import Graph
from dragon.core.scopes import ExitStack
from dragon.vm.torch.core.exporting.engine_level_sizes import Sizes
from dragon.vm.torch.core.exporting.shape_env import Decision
from dragon.vm.torch.core.exporting.errors import ExportError
from dragon.vm.torch.core.exporting.tracing_state import set_tracer
from dragon.vm.torch.core.exporting.tracer import aten
from dragon.vm.torch.core.exporting.engine_to_aten.translator import Translator
from dragon.vm.torch.core.overrides import count_modes
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.utils import _pytree as pytree


class EngineLevelTrace:
    """One call of a program, traced in the engine's operators and lowered to PyTorch's.

    Parameters
    ----------
    tracer : ExportTracer
        Who hears the calls that it comes to.
    trace : _C.Trace
        What writes down the engine's calls.
    given : Sequence[Tensor]
        What the trace was told of, in order.
    axes : Sequence[Tuple[int, int]]
        Which of their axes may have other sizes: (place among them, axis).
    call : Callable[[Sequence[Tensor]], Any]
        The program, of tensors in their places.

    """

    def __init__(self, tracer, trace, given, axes, call):
        self.tracer, self.trace, self.given, self.axes, self.call = tracer, trace, given, axes, call

    def result(self):
        """Return what the program gives, of tensors that the tracer knows."""
        with self.tracer.shape_env.told_by_program():
            result, copies = self._called(self.given)
        self.trace.stop()
        if self.trace.failure:
            raise ExportError(f"torch.export: {self.trace.failure}")
        captured, numbers = self.trace.finish(copies), {}
        self.trace.restore_gradients()
        graph = Graph(captured.graph)
        if self.axes:
            graph, numbers = self._for_sizes(captured)
        found = iter(self._lower(captured, graph, numbers, len(copies)))
        leaves, spec = pytree.tree_flatten(result)
        return pytree.tree_unflatten([next(found) if isinstance(leaf, Tensor) else leaf for leaf in leaves], spec)

    def _called(self, tensors):
        """Return what the program gives, and copies of the tensors in it: each a value of its own in the graph."""
        with ExitStack() as exits:
            exits.callback(count_modes)
            exits.switch(set_tracer, None)
            switches.set_override_modes(0)
            result = self.call(tensors)
            return result, [ops.clone(leaf) for leaf in pytree.tree_leaves(result) if isinstance(leaf, Tensor)]

    def _for_sizes(self, captured):
        """Return the graph that says which sizes its numbers follow, and {symbol: size}."""
        graph, groups = self.tracer.quietly(lambda: Sizes(
            captured, self.given, self.axes, lambda tensors: self._called(tensors)[1]).graph(), (), {})
        self._note_what_holds(groups.values())
        return graph, {name: self._size(group[0]) for name, group in groups.items()}

    def _size(self, place):
        number, axis = place
        return self.given[number].shape[axis]

    def _note_what_holds(self, groups):
        """Note that sizes of one group are the same, and that those of none are what they are."""
        shape_env = self.tracer.shape_env
        pairs = [(self._size(first), self._size(other).number) for first, *rest in groups for other in rest]
        free = {place for group in groups for place in group}
        pairs += [(self._size(place), shape_env.constant(self._size(place).value)) for place in self.axes
                  if place not in free and is_followed(self._size(place))]
        shape_env.decisions += [Decision("eq", size.number, other, True, user_line()) for size, other in pairs]

    def _lower(self, captured, graph, numbers, count):
        """Return so many results as calls of PyTorch's operators give them."""
        tracer, inputs = self.tracer, self.tracer.quietly(self._inputs, (captured,), {})
        copies = {call.outputs[0]: call.inputs[0] for call in graph.calls[len(graph.calls) - count:]}
        results = [copies[value] for value in list(graph.outputs)[:count]]
        with ExitStack() as exits:
            exits.set(tracer, "records", False)
            exits.switch(switches.set_recording, False)
            exits.enter(tracer)
            wanted = [*results, *(value for _, value in graph.updates)]
            values = Translator(graph, tracer, zip(graph.inputs, inputs), wanted, numbers).run()
            for place, value in graph.updates:
                if values[value] is not inputs[place]:
                    aten().copy_.default(inputs[place], values[value])
        return [values[value] for value in results]

    def _inputs(self, captured):
        """Return the tensors that are the graph's inputs, as the tracer knows them."""
        given, outside = iter(self.given), dict(self.trace.outside_inputs)
        known = {_lies(tensor): tensor for tensor, _ in self.tracer.nodes.values()}
        made = []
        for place, (source, tensor) in enumerate(captured.inputs):
            if source == "argument":
                made.append(next(given))
                continue
            tensor = _C.as_class(tensor, Tensor).grad if source == "gradient" else outside.get(place, tensor)
            if id(tensor) not in self.tracer.nodes:
                tensor = _C.as_class(tensor, Tensor)
                tensor = known.get(_lies(tensor), tensor)
            made.append(tensor)
        return made


def _lies(tensor):
    """Return what two tensors of the same numbers have in common: memory, and how they lie in it."""
    return _C.memory_key(tensor), tuple(map(int, tensor.shape)), tuple(map(int, tensor.stride()))
