"""One graph of a captured function, with what it takes for granted."""
import time

from dragon import _C
from dragon.core.capture.graph_breaks import OTHER_WAY


class Variant:
    """A graph with what it takes for granted; or, without a graph, a reason why the function itself is called."""

    def __init__(self, recording, reason=None):
        self.guards, self.seconds, self.reason = recording.guards, recording.seconds, reason
        self.check = recording.guards.check
        self.calls = 0
        self.captured = self.compiled = self.sized = self.parts = self.retrace = None
        self.axes = []
        self.shapes = [tuple(_C.Tensor.shape.__get__(tensor)) for tensor in recording.inputs]
        if reason is None:
            self._symbols = recording.symbols
            self._return(recording.template)

    def _return(self, template):
        """Note what results are made of."""
        self._template, self.signature, self.form = template, template.signature(), template.form()
        self._single = isinstance(template._root, int) and len(template.tensors) == 1
        del template.tensors[:]

    def compile(self, captured, **options):
        """Make the plans."""
        begin = time.perf_counter()
        self.captured = captured
        self.compiled = captured.compile(**options)
        self.seconds["compile"] = time.perf_counter() - begin

    def serve_sizes(self, sized):
        """Be a graph for all sizes at which the program does the same."""
        self.sized, self.axes = sized, sized.axes
        self._return(sized.template)
        self.guards.open_sizes(sized.axes)
        self.check = self._check_sizes

    def look(self, parts):
        """Be a graph in parts, of a program that looks at numbers."""
        self.parts, self.axes = parts, parts.axes
        self.guards.open_sizes(parts.axes)
        self._return(parts.template)

    def _check_sizes(self, args, kwargs):
        tensors = self.guards.check(args, kwargs)
        return tensors if tensors is None or self.sized.holds(self.guards.sizes_of(tensors), tensors) else None

    def sizes_of(self, axes):
        """Return the sizes of axes of arguments with which this was captured."""
        return tuple(self.shapes[number][axis] for number, axis in axes)

    def failure(self, args, kwargs):
        """Return why a call does not fit."""
        tensors = self.guards.check(args, kwargs)
        if tensors is not None and self.sized is not None:
            sizes = ", ".join(map(str, self.guards.sizes_of(tensors)))
            return f"arguments: the graph for all sizes does not hold for {sizes}: {self.sized.refusal_of(tensors)}"
        if tensors is not None and self.parts is not None:
            return f"what the program found in tensors: {self.parts.other_way}"
        return self.guards.failure(args, kwargs)

    def run(self, tensors):
        """Return what the function would have; or `OTHER_WAY`, where this is not its graph."""
        self.calls += 1
        symbols = [float(container[key]) for container, key in self._symbols]
        if self.parts is not None:
            outputs = self.parts.run(tensors, symbols)
            if outputs is OTHER_WAY:
                return outputs
        elif self.sized is not None:
            outputs = self.sized.run(self.guards.sizes_of(tensors), tensors, symbols)
        else:
            outputs = self.compiled.run(tensors, symbols)
        if outputs is None:  # an argument's strides, the engine's choice, are others now: guards look again
            return OTHER_WAY
        return outputs[0] if self._single else self._template.fill(outputs)

    @property
    def is_random(self):
        """bool: whether runs draw random numbers."""
        return any(_C.schema(call.op)["arguments"] and any(
            argument["type"] == "Generator?" for argument in _C.schema(call.op)["arguments"])
            for call in self.captured.graph.calls)

    graph = property(lambda self: self.captured.graph, doc="The graph as it was captured.")
