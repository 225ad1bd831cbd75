"""Functions of a file: nodes in an order, which are called one by one as a program of TensorFlow's would call them."""
import threading

from dragon.vm.shared.errors import DataLossError, invalid_argument, InvalidArgumentError, UnimplementedError
from dragon.vm.tensorflow.core.saved_model import messages
from dragon.vm.tensorflow.core.saved_model.node import Node
from dragon.vm.tensorflow.core.saved_model.table import find, results_of
from dragon.vm.tensorflow.core.saved_model.values import Undefined

DEEPEST = 100  # functions that call functions
# Operators that take values which were never computed: all others pass them on, as graphs without functions want it.
TAKES_NOTHING = frozenset("Merge If StatelessIf Case StatelessCase While StatelessWhile PartitionedCall "
                          "StatefulPartitionedCall IdentityN".split())
_depth = threading.local()


class Library:
    """The functions of a file by name, each read when it is first asked for.

    Parameters
    ----------
    functions : Sequence[bytes]
        What `FunctionDefLibrary` holds.

    """

    def __init__(self, functions):
        self._bytes, self._made = {}, {}
        for data in functions:
            self._bytes[messages.read(messages.FunctionName, data, "a function").signature.name] = data

    def names(self):
        """Return the names of all functions."""
        return list(self._bytes)

    def find(self, name, who):
        """Return a function by its name; `who` asks."""
        found = self._made.get(name)
        if found is None:
            data = self._bytes.get(name)
            if data is None:
                raise invalid_argument(f"{who}: got function '{name}', expected one that the file has")
            found = self._made[name] = Body(messages.read(messages.FunctionDef, data, f"function {name}"), self)
        return found


class Step:
    """A node in its place: where its operands come from and which values nobody needs after it."""

    __slots__ = ("node", "run", "results", "sources", "dead")

    def __init__(self, node):
        self.node, self.sources, self.dead = node, [], ()
        known = find(node.op)
        self.run, self.results = (known.run, results_of(node.op)) if known is not None else (None, ())


class Body:
    """A function, called with operands and returning a list of results.

    Parameters
    ----------
    definition : FunctionDef
        As it is in the file.
    library : Library
        The functions that it may call.

    """

    def __init__(self, definition, library):
        signature = definition.signature
        self.name, self._definition, self._library = signature.name, definition, library
        self.inputs = [argument.name for argument in signature.input_arg]
        self.input_types = [argument.type for argument in signature.input_arg]
        self.outputs = [argument.name for argument in signature.output_arg]
        self._steps = None

    def _nodes(self):
        return [Node(node, self._library, self.name) for node in self._definition.node_def]

    def unknown(self):
        """Return (operator, node, function) of what is not known here, in this function and those that it calls."""
        found, seen, waiting = [], {self.name}, [self]
        for body in waiting:
            for step in body._prepare():
                if step.run is None:
                    found.append((step.node.op, step.node.name, body.name))
                for called in step.node.called():
                    if called.name not in seen:
                        seen.add(called.name)
                        waiting.append(called)
        return found

    def _prepare(self):
        """Return the steps in an order in which each finds its operands."""
        if self._steps is not None:
            return self._steps
        nodes = {node.name: node for node in self._nodes()}
        arguments = set(self.inputs)
        ends = {pair.key: pair.value for pair in self._definition.ret}
        missing = [name for name in self.outputs if name not in ends]
        if missing:
            raise DataLossError(None, None, f"{self.name}: got no end for {missing[0]!r}, expected one")
        self._ends = [ends[name] for name in self.outputs]
        roots = [end.split(":")[0] for end in self._ends] + [pair.value for pair in self._definition.control_ret]
        order = _order(nodes, arguments, roots, self.name)
        steps = [Step(node) for node in order]
        last = {}
        for place, step in enumerate(steps):
            step.sources = [self._source(name, nodes, arguments) for name in step.node.inputs]
            last.update((key, place) for key, *_ in step.sources)
        self._results = [self._source(end, nodes, arguments) for end in self._ends]
        kept = {key for key, *_ in self._results}
        dead = {}
        for key, place in last.items():
            if key not in kept:
                dead.setdefault(place, []).append(key)
        for place, step in enumerate(steps):
            step.dead = dead.get(place, ())
        self._steps = steps
        return steps

    def _source(self, text, nodes, arguments):
        """Return (name, name of the result or None, its number) of an end such as "node:result:0"."""
        name, *rest = text.split(":")
        if name in arguments and name not in nodes:
            return name, None, 0
        try:
            number = int(rest[-1]) if rest else 0
        except ValueError:
            raise DataLossError(None, None, f"{self.name}: got end '{text}', expected node:result:number") from None
        known = find(nodes[name].op)
        results = results_of(nodes[name].op) if known is not None else ()
        if not results or len(rest) < 2:
            return name, None, number
        if rest[0] not in results:
            raise DataLossError(None, None, f"{self.name}: got end '{text}', expected a result among {results}")
        return name, results.index(rest[0]), number

    def __call__(self, *operands):
        """Return the list of results for operands, one for each input."""
        steps = self._prepare()
        if len(operands) != len(self.inputs):
            raise invalid_argument(f"{self.name}: got {len(operands)} operands, expected {len(self.inputs)}")
        depth = getattr(_depth, "value", 0)
        if depth >= DEEPEST:
            raise invalid_argument(f"{self.name}: functions call each other more than {DEEPEST} deep")
        _depth.value = depth + 1
        try:
            values = dict(zip(self.inputs, operands))
            for step in steps:
                values[step.node.name] = self._run(step, [_pick(values, *source) for source in step.sources])
                for key in step.dead:
                    del values[key]
            return [_pick(values, *source) for source in self._results]
        finally:
            _depth.value = depth

    def _run(self, step, operands):
        node = step.node
        if step.run is None:
            raise UnimplementedError(
                None, None, f"saved_model: operator {node.op} is not supported (node '{node.name}' of function "
                f"'{self.name}'); write the model without it, or export it to ONNX")
        if node.op not in TAKES_NOTHING and any(type(one) is Undefined for one in operands):
            return Undefined()
        try:
            return step.run(node, *operands)
        except (TypeError, AttributeError, IndexError, KeyError) as error:
            if isinstance(error, TypeError) and getattr(error, "__notes__", None):
                raise
            raise InvalidArgumentError(
                None, None, f"{node.op}: cannot be called with {_describe(operands)} (node '{node.name}' of function "
                f"'{self.name}'): {error}") from error


def _describe(operands):
    shown = [f"{getattr(getattr(operand, 'dtype', None), 'name', type(operand).__name__)}"
             f"{tuple(getattr(operand, 'shape', ()))}" for operand in operands[:8]]
    return f"({', '.join(shown)})"


def _pick(values, name, result, number):
    """Return the value at an end."""
    value = values[name]
    if type(value) is Undefined:
        return value
    if result is not None:
        value = value[result]
    if type(value) is list or type(value) is tuple:
        if number >= len(value):
            raise invalid_argument(f"{name}: got result {number}, expected one of {len(value)}")
        return value[number]
    return value


def _order(nodes, arguments, roots, who):
    """Return the nodes that roots need, each after those that it needs."""
    order, state, stack = [], {}, []
    for root in roots:
        stack.append((root, False))
        while stack:
            name, is_done = stack.pop()
            if is_done:
                state[name] = 2
                order.append(nodes[name])
                continue
            if state.get(name) == 2 or name in arguments and name not in nodes:
                continue
            if state.get(name) == 1:
                raise DataLossError(None, None, f"{who}: node '{name}' needs itself")
            if name not in nodes:
                raise DataLossError(None, None, f"{who}: got no node '{name}', expected one")
            state[name] = 1
            stack.append((name, True))
            node = nodes[name]
            # What comes first is called first: random numbers are drawn, and texts printed, in that order.
            for need in [*reversed([text.split(":")[0] for text in node.inputs]), *reversed(node.controls)]:
                if state.get(need) != 2:
                    if state.get(need) == 1:
                        raise DataLossError(None, None, f"{who}: node '{need}' needs itself")
                    stack.append((need, False))
    return order
