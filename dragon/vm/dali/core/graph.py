"""Graphs of operators: nodes, and the handles of their results with Python's operators on them."""
import itertools
import os
import threading
import traceback

import numpy as np

from dragon.core.python_operators import ARITHMETIC, COMPARISONS
from dragon.vm.dali.core.devices import tell
from dragon.vm.dali.core.refusals import got
from dragon.vm.dali.core.schema import HINTS, OPERATORS, Laid, Operator
from dragon.vm.dali.core.kinds import ScalarConstant, to_dali_type, to_numpy_type

ROOM = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")  # whose own lines are nobody's place
_numbers = itertools.count()
_current = threading.local()


def pipelines():
    """Return the stack of pipelines that are being defined in this thread."""
    if not hasattr(_current, "stack"):
        _current.stack = []
    return _current.stack


class Node:
    """A call of an operator in a graph.

    Parameters
    ----------
    operator : Operator
        What is called.
    inputs : Sequence[DataNode]
        What it is called with.
    arguments : Dict[str, Any]
        By name; a DataNode where each sample has its own.
    name : str, optional
        The user's name for it.
    seed : int, optional
        The user's seed for it.

    """

    def __init__(self, operator, inputs, arguments, name=None, seed=None):
        self.operator, self.inputs, self.seed = operator, list(inputs), seed
        self.number = next(_numbers)
        self.name = name or f"__{operator.class_name}_{self.number}"
        self.constants = {key: value for key, value in arguments.items() if not isinstance(value, DataNode)}
        self.varying = {key: value for key, value in arguments.items() if isinstance(value, DataNode)}
        self.count = operator.count_outputs(arguments, len(self.inputs))
        self.place = next((f"{frame.filename}:{frame.lineno}" for frame in reversed(traceback.extract_stack(limit=16))
                           if not frame.filename.startswith(ROOM)), "")

    def sources(self):
        """Return the nodes that this one needs."""
        return [handle.node for handle in (*self.inputs, *self.varying.values())]


class DataNode:
    """A result of an operator in a pipeline that is being defined; arithmetic with it makes further ones.

    Parameters
    ----------
    node : Node
        Whose result it is.
    index : int, optional, default=0
        Which of its results.
    device : str, optional, default="cpu"
        Where the program wants it.

    """

    __array_ufunc__ = None  # NumPy's arrays leave arithmetic to this class

    def __init__(self, node, index=0, device="cpu"):
        self.node, self.index, self.device = node, index, device

    @property
    def name(self):
        """Return the name of the result."""
        return f"{self.node.name}[{self.index}]"

    @property
    def source(self):
        """Return the operator's call."""
        return self.node

    def gpu(self):
        """Return the same on the device; there is none, so it stays where it is."""
        return DataNode(self.node, self.index, "gpu")

    def cpu(self):
        """Return the same on the host."""
        return DataNode(self.node, self.index, "cpu")

    def shape(self, *, dtype=None, device="cpu"):
        """Return the shapes of the samples."""
        return call("shapes", (self,), {"dtype": dtype})

    def property(self, key, *, device="cpu"):
        """Return a property of the samples: "layout" or "source_info"."""
        return call("get_property", (self,), {"key": key})

    def source_info(self, *, device="cpu"):
        """Return where the samples came from."""
        return self.property("source_info")

    def __getitem__(self, key):
        return call("_subscript", *subscript(key, self))

    def __len__(self):
        raise TypeError(got("DataNode", "a question for its length", "none: it is known once the pipeline runs"))

    def __iter__(self):
        raise TypeError(got("DataNode", "a loop over it", "one over what operators return: a DataNode has no length "
                            "while the pipeline is defined"))

    def __contains__(self, item):
        raise TypeError(got("DataNode", "`in`", "a comparison of single numbers"))

    def __bool__(self):
        raise TypeError('"DataNode" was used in conditional context - it might have been used in truth evaluation for '
                        '`if` statement, logical expression or cast to a boolean. To use conditional execution via '
                        '`if` statements you need to specify `enable_conditionals=True` in `@pipeline_def` decorator.')

    def __str__(self):
        return f'DataNode(name="{self.name}", device="{self.device}")'

    __repr__ = __str__


def subscript(key, data):
    """Return the inputs and arguments with which a subscript is taken."""
    kinds, parts = [], {}

    def enter(place, name, value):
        if value is not None:
            parts[f"{name}_{place}"] = value
    keys = key if isinstance(key, tuple) else (key,)
    for place, one in enumerate(keys):
        if isinstance(one, slice):
            kinds.append("slice")
            for name in ("start", "stop", "step"):
                enter(place, name, getattr(one, name))
        elif one is Ellipsis:
            kinds.append("rest")
        elif one is None:
            kinds.append("new")
        elif getattr(one, "is_new_axis", False):
            kinds.append("new" + one.name)
        elif isinstance(one, (int, np.integer, DataNode)):
            kinds.append("at")
            enter(place, "at", one)
        else:
            raise TypeError(got("DataNode[...]", one, "whole numbers, slices, `...` or dali.newaxis"))
    if kinds.count("rest") > 1:
        raise ValueError(got("DataNode[...]", f"{kinds.count('rest')} times '...'", "one at the most"))
    handles = [value for value in parts.values() if isinstance(value, DataNode)]
    form = [(name, None if isinstance(value, DataNode) else int(value)) for name, value in parts.items()]
    return (data, *handles), {"kinds": tuple(kinds), "parts": tuple(form)}


def _binary(name, swapped=False):
    def method(self, other):
        if not isinstance(other, (DataNode, ScalarConstant, bool, int, float, np.ndarray, np.generic, list, tuple)):
            return NotImplemented
        left, right = (other, self) if swapped else (self, other)
        return arithmetic(name, left, right)
    return method


for _name in (*(name for name in ARITHMETIC if name != "mod"), "and", "or", "xor"):
    setattr(DataNode, f"__{_name}__", _binary(_name))
    setattr(DataNode, f"__r{_name}__", _binary(_name, swapped=True))
for _name in COMPARISONS:
    setattr(DataNode, f"__{_name}__", _binary(_name))
DataNode.__hash__ = object.__hash__
DataNode.__neg__ = lambda self: arithmetic("minus", self)
DataNode.__pos__ = lambda self: arithmetic("plus", self)
DataNode.__invert__ = lambda self: arithmetic("invert", self)


def arithmetic(name, *operands):
    """Return the node of an operation by elements; numbers of Python are constants of it."""
    handles, form = [], []
    for operand in operands:
        if isinstance(operand, (bool, int, float)):
            operand = ScalarConstant(operand)
        if isinstance(operand, ScalarConstant):
            kind = to_numpy_type(operand.dtype)
            if isinstance(operand.value, int) and not -2 ** 31 <= operand.value < 2 ** 31 and kind is np.int32:
                raise OverflowError(f"Integer constant {operand.value} out of range for int32.")
            form.append(np.asarray(operand.value, kind))
        else:
            handles.append(operand if isinstance(operand, DataNode) else constant_node(operand))
            form.append(None)
    if not handles:
        raise TypeError(got(f"math.{name}", "numbers only", "a DataNode among them"))
    return call("_arithmetic", handles, {"operation": name, "operands": tuple(form)})


class Constant:
    """The kind of operator that gives the same array for each sample."""

    def __init__(self, array, layout):
        self.array, self.layout = array, layout

    def __call__(self, context=None):
        """Return the array."""
        return Laid(self.array, self.layout)


NARROWED = {"int64": "int32", "uint64": "uint32", "float64": "float32"}


def constant_node(value, dtype=None, shape=None, layout=None):
    """Return the handle of an array that is the same for each sample."""
    if isinstance(value, ScalarConstant):
        value, dtype = value.value, value.dtype if dtype is None else dtype
    array = np.asarray(value)
    if array.dtype == object or array.dtype.kind in "SU":
        raise TypeError(got("Constant", value, "numbers"))
    if dtype is not None:
        array = array.astype(to_numpy_type(dtype))
    else:  # what has 64 bits, as NumPy's numbers have unless told otherwise, is a constant of 32
        array = array.astype(NARROWED.get(array.dtype.name, array.dtype))
    to_dali_type(array.dtype)
    if shape is not None:
        size = int(np.prod(shape))
        array = array.reshape(shape) if array.size == size else np.broadcast_to(array, shape)
    if layout and len(layout) != array.ndim:
        raise ValueError(got("Constant", f"layout {layout!r} for {array.ndim} axes", "a letter for each axis"))
    return DataNode(Node(Operator("constant", Constant(array, layout or ""), "sample", 1), (), {}))


def as_handle(value):
    """Return an input of an operator as a handle: arrays become constants."""
    return value if isinstance(value, DataNode) else constant_node(value)


def call(name, inputs, arguments):
    """Return the results of an operator in the graph: one handle, or a list of several.

    Parameters
    ----------
    name : str
        The operator's name.
    inputs : Sequence
        Handles, or arrays, which become constants.
    arguments : Dict[str, Any]
        By name.

    """
    operator = OPERATORS[name]
    inputs = [one for one in inputs if one is not None] if operator.least == 0 else list(inputs)
    if any(isinstance(one, (list, tuple)) and any(isinstance(part, DataNode) for part in one) for one in inputs):
        return _several(name, inputs, arguments)
    device = arguments.get("device") or "cpu"
    arguments = {key: value for key, value in arguments.items() if value is not None}
    operator.check(len(inputs), arguments)
    if operator.instead is not None:
        operator = OPERATORS[operator.instead(arguments) or name]
    if device != "cpu":
        tell(device)
    seed = arguments.get("seed")
    node = Node(operator, [as_handle(one) for one in inputs],
                {key: value for key, value in arguments.items() if key in operator.arguments and key not in HINTS},
                arguments.get("name"), None if seed is None or seed == -1 else int(seed))
    if pipelines():
        pipelines()[-1]._add(node)
    handles = [DataNode(node, index, device) for index in range(node.count)]
    return handles[0] if node.count == 1 else handles


def _several(name, inputs, arguments):
    """Return a list of results, one for each of several sets of inputs."""
    sizes = {len(one) for one in inputs if isinstance(one, (list, tuple))}
    if len(sizes) != 1:
        raise ValueError(got(f"fn.{name}", f"lists of {sorted(sizes)} inputs", "lists of one length"))
    rows = zip(*(one if isinstance(one, (list, tuple)) else [one] * max(sizes) for one in inputs))
    results = [call(name, row, arguments) for row in rows]
    return [list(column) for column in zip(*results)] if isinstance(results[0], list) else results
