"""`dragon.Graph`: a program of operators' calls that people may read, ask, draw and change without breaking it."""
import os

from dragon import _C
from dragon.core import files
from dragon.core.drawing import draw_graph
from dragon.core.scopes import contextmanager

_DRAWN_UNASKED = 1000  # calls; larger graphs become drawings when they are asked to


def _numbers(values):
    """Return the numbers of values given as numbers or snapshots."""
    return [value if isinstance(value, int) else value.index for value in values]


def _settable(name, read, doc):
    """Return a property of the engine's graph that is verified when it is set."""
    return property(getattr(_C.Graph, name).__get__, lambda graph, value: graph._set(name, read(value)), doc=doc)


class Graph(_C.Graph):
    """Hold calls of operators over values that are each written once.

    A value is spoken of by its number, and a call by its position. What `calls`, `values`, `inputs` and the like
    return are snapshots: they stay as they were when the graph is changed, and changing them changes no graph. Every
    change is verified; one that fails leaves the graph as it was.

    Parameters
    ----------
    name : Union[str, dragon.Graph], optional, default="graph"
        How it is printed, or a graph to copy.

    Examples
    --------
    >>> graph = dragon.Graph("double")
    >>> x = graph.add_input((2, 3), "float32", "x")
    >>> graph.outputs = graph.add_call("add", [x, x])
    >>> print(graph)
    graph double(%0:x float32[2, 3]) {
      %1 float32[2, 3] = add(%0:x, %0:x)
      return %1
    }

    """

    _editing = False

    def __init__(self, name="graph"):
        super().__init__(name)

    def __iter__(self):
        return iter(self.calls)

    def __repr__(self):
        return (f"<dragon.Graph {self.name!r}: {len(self.inputs)} inputs, {len(self.constants)} constants, "
                f"{len(self)} calls, {len(self.outputs)} outputs>")

    def __reduce__(self):
        return Graph.from_bytes, (self.to_bytes(),)

    def _repr_html_(self):
        return self.explore()._repr_html_()

    def _repr_svg_(self):
        return self.svg() if len(self) <= _DRAWN_UNASKED else None

    def explore(self):
        """Return a drawing to look around in: modules fold and unfold at a click, pointing at a box tells of its call.

        Returns
        -------
        dragon.core.pictures.explorer.GraphPicture
            Its `show()`, `save(path)`, `html()`, `svg()` and `text`.

        """
        from dragon.core.pictures.explorer import GraphPicture
        return GraphPicture(self)

    def show(self):
        """Show the drawing to look around in: in the notebook, in a browser, or as text where there is no screen."""
        self.explore().show()

    def memory(self, level=3, skip=()):
        """Return a picture of the memory of the graph's plan: when each piece is needed, and who holds the peak.

        Parameters
        ----------
        level : int, optional, default=3
            How much the graph is optimised.
        skip : Sequence[str], optional
            Names of passes to leave out.

        Returns
        -------
        dragon.core.pictures.memory.MemoryPicture
            Its `show()`, `save(path)`, `html()` and `text`.

        """
        from dragon.core.pictures.memory import MemoryPicture
        return MemoryPicture(self.name, [("graph", self.compile(level, skip))])

    def svg(self):
        """Return a drawing of the graph as an SVG document.

        Returns
        -------
        str
            The document, complete by itself.

        """
        return draw_graph(self)

    def copy(self):
        """Return a graph of its own; the constants share their memory.

        Returns
        -------
        dragon.Graph
            The copy.

        """
        return Graph(self)

    def to_bytes(self):
        """Return the graph as the bytes of a GraphDef (`dragon.proto`), its constants among them.

        Returns
        -------
        bytes
            The bytes.

        """
        return _C.encode_graph(self)

    @staticmethod
    def from_bytes(data):
        """Return the graph of the bytes of a GraphDef, verified.

        Parameters
        ----------
        data : bytes
            What `to_bytes` returned.

        Returns
        -------
        dragon.Graph
            The graph.

        """
        return Graph(_C.decode_graph(data))

    def save(self, path):
        """Write one file with the graph and its weights.

        Parameters
        ----------
        path : Union[str, os.PathLike]
            The file; one that is there is replaced.

        """
        try:
            with files.replacing(path) as place:
                _C.save_graph(self, place)
        except OSError as error:
            raise RuntimeError(f"graph file: cannot open '{os.fspath(path)}': {error.strerror}") from error

    @staticmethod
    def load(path, map=True):
        """Read a file that `save` wrote.

        Parameters
        ----------
        path : Union[str, os.PathLike]
            The file.
        map : bool, optional, default=True
            Use the weights where the system maps the file, so that they are read when they are first needed. The file
            must not be changed then while the graph lives; saving over it is fine.

        Returns
        -------
        dragon.Graph
            The graph, verified.

        """
        return Graph(_C.load_graph(os.fspath(path), map))

    def at(self, **sizes):
        """Return the graph with numbers in the places of symbols.

        Parameters
        ----------
        **sizes : int
            A size for each symbol, within its `bounds`: `graph.at(batch=16)`.

        Returns
        -------
        dragon.Graph
            A graph of its own, verified.

        """
        if set(sizes) != set(self.symbols):
            raise ValueError(f"at: got sizes for {sorted(sizes)}, expected them for {sorted(self.symbols)}")
        return Graph(_C.specialise_graph(self, [sizes[symbol] for symbol in self.symbols]))

    def compile(self, level=3, skip=()):
        """Make the graph, as it is now, ready to run.

        Parameters
        ----------
        level : int, optional, default=3
            From 0, which runs it as it is, to 3, which does all that is known to help.
        skip : Sequence[str], optional
            Names of passes to leave out.

        Returns
        -------
        dragon._C.Plan
            Its `run(tensors)` returns the outputs; `profile`, `memory` and `graph` tell about it.

        """
        return _C.Plan(self, level, set(skip))

    @contextmanager
    def edit(self):
        """Verify once, after several changes: the `with` block succeeds as a whole or leaves the graph as it was."""
        if self._editing:
            yield self
            return
        before = Graph(self)
        self._editing = True
        try:
            yield self
            self.verify()
        except BaseException:
            self.assign(before)
            raise
        finally:
            self._editing = False

    inputs = _settable("inputs", _numbers, "List[int]: the numbers of the values that the graph is fed.")
    outputs = _settable("outputs", _numbers, "List[int]: the numbers of the values that the graph gives.")
    updates = _settable("updates", lambda pairs: [(position, int(value)) for position, value in pairs],
                        "List[Tuple[int, int]]: positions among the inputs, and values in their memory in the end.")

    def _set(self, name, value):
        with self.edit():
            getattr(_C.Graph, name).__set__(self, value)

    def add_call(self, op, /, inputs=(), position=-1, scope="", **attrs):
        """Call an operator.

        Parameters
        ----------
        op : str
            The operator's name.
        inputs : Sequence[Union[int, None, Sequence[int]]], optional
            Numbers of values in the order of the tensor arguments; tensor arguments may also be given by name.
        position : int, optional, default=-1
            Before which call, or -1 for the end.
        scope : str, optional, default=""
            Where it comes from, for people.
        **attrs
            The other arguments; those left out have their defaults.

        Returns
        -------
        List[int]
            The numbers of the results, and of what written arguments become.

        """
        with self.edit():
            return super().add_call(op, inputs, position, scope, **attrs)

    def replace(self, old, new, first_call=0):
        """Let the readers of one value read another.

        Parameters
        ----------
        old, new : int
            Numbers of values.
        first_call : int, optional, default=0
            Leave the calls before this position as they are.

        """
        with self.edit():
            super().replace(old, new, first_call)

    def remove(self, positions):
        """Take out calls; nobody may read what they make.

        Parameters
        ----------
        positions : Union[int, Sequence[int]]
            Positions of calls.

        """
        with self.edit():
            super().remove([positions] if isinstance(positions, int) else list(positions))

    def replace_call(self, position, op, /, inputs=(), scope="", **attrs):
        """Put another call in the place of one; its outputs take over from the old ones, in order.

        Parameters
        ----------
        position : int
            The old call.
        op, inputs, scope, **attrs
            The new one, as in `add_call`.

        Returns
        -------
        List[int]
            The numbers of the new call's outputs.

        """
        old = self.call(position)
        with self.edit():
            outputs = super().add_call(op, inputs, position, scope or old.scope, **attrs)
            if len(outputs) != len(old.outputs):
                raise ValueError(f"replace_call: got {op} with {len(outputs)} outputs, expected {len(old.outputs)}, "
                                 f"as {old.op} has")
            for before, after in zip(old.outputs, outputs):
                if before is None:
                    continue
                super().replace(before, after, position + 1)
                self.set_name(after, self.value(before).name)
                self.set_name(before, "")
            super().remove([position + 1])
        return outputs

    def calls_of(self, *ops):
        """Find calls by operator.

        Parameters
        ----------
        *ops : str
            Names of operators.

        Returns
        -------
        List[dragon._C.GraphCall]
            The calls, in order.

        """
        return [call for call in self.calls if call.op in ops]

    def producer(self, value):
        """Return the call that makes a value, or None for an input or constant.

        Parameters
        ----------
        value : int
            The number of a value.

        Returns
        -------
        Optional[dragon._C.GraphCall]
            The call.

        """
        position = self.producers()[self.value(value).index]
        return None if position < 0 else self.call(position)

    def readers(self, value):
        """Return the calls that read a value.

        Parameters
        ----------
        value : int
            The number of a value.

        Returns
        -------
        List[dragon._C.GraphCall]
            The calls, in order.

        """
        return [self.call(position) for position in self.consumers()[self.value(value).index]]

    def calls_between(self, sources, targets):
        """Find the calls that lie on the way from some values to others.

        Parameters
        ----------
        sources, targets : Sequence[int]
            Numbers of values.

        Returns
        -------
        List[dragon._C.GraphCall]
            The calls that depend on a source and that a target depends on, in order.

        """
        calls = self.calls
        reached, wanted = set(_numbers(sources)), set(_numbers(targets))
        below = []
        for call in calls:
            if reached.intersection(call.inputs):
                reached.update(call.outputs)
                below.append(call)
        found = []
        for call in reversed(below):
            if wanted.intersection(call.outputs):
                wanted.update(call.inputs)
                found.append(call)
        return found[::-1]

    def extract(self, sources, targets, name=""):
        """Cut out what computes some values from others.

        Parameters
        ----------
        sources, targets : Sequence[int]
            Numbers of values: the inputs and outputs of the part.
        name : str, optional, default=""
            The name of the part; that of the whole by default.

        Returns
        -------
        dragon.Graph
            A graph of its own in which values have the numbers they have here.

        """
        part, fed = self.copy(), _numbers(sources)
        wanted, kept = set(_numbers(targets)), set()
        for call in reversed(self.calls):
            if any(value in wanted and value not in fed for value in call.outputs):
                kept.add(call.position)
                wanted.update(value for value in call.inputs if value not in fed)
        missing = [value for value in self.inputs if value in wanted and value not in fed]
        if missing:
            raise ValueError(f"extract: got targets that depend on the inputs {missing}, expected these among the "
                             f"sources")
        with part.edit():
            part.name = name or self.name
            part.updates, part.inputs, part.outputs = [], fed, _numbers(targets)
            _C.Graph.remove(part, [call.position for call in self.calls if call.position not in kept])
        return part
