"""A captured graph as the exporter reads it, and several captures of one function laid over each other."""
import numpy

from dragon import _C
from dragon.core.device import Device
from dragon.core.dtypes import NATIVE, SHORT_FLOATS
from dragon.onnx.errors import HardCodedError, load_package
from dragon.onnx.size import Repeated, Size, make_size
from dragon.onnx.wiring import difference_of, take_in


class Plain(_C.Tensor):
    """A tensor of no frontend."""


ops = _C.Ops(Plain, NATIVE, Device)


FLOATING = ("float16", "float32", "float64", *SHORT_FLOATS)


class Value:
    """A tensor of the model: its ONNX name, dtype name, and shape and strides (None where nobody needs them)."""

    __slots__ = ("name", "dtype", "shape", "tensor", "strides")

    def __init__(self, name, dtype, shape=None, tensor=None, strides=None):
        self.name, self.dtype, self.shape, self.tensor, self.strides = name, dtype, shape, tensor, strides

    ndim = property(lambda self: len(self.shape), doc="How many axes it has.")
    is_float = property(lambda self: self.dtype in FLOATING, doc="Whether it holds floating-point numbers.")

    def __repr__(self):
        return f"{self.name} {self.dtype}{list(self.shape or ())}"


def row_major(shape):
    """Return the strides of a row-major tensor."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step = step * size
    return tuple(reversed(strides))


class Call:
    """One operator's call: arguments by name (values, lists of them, plain Python), and what it makes."""

    def __init__(self, op, arguments, outputs, scope=""):
        self.op, self.arguments, self.outputs, self.scope = op, arguments, outputs, scope

    @property
    def inputs(self):
        """The tensors among the arguments."""
        for argument in self.arguments.values():
            for item in argument if isinstance(argument, (list, tuple)) else (argument,):
                if isinstance(item, Value):
                    yield item


class Program:
    """Calls in order, with the inputs, outputs and constants around them."""

    def __init__(self, name, inputs, outputs, constants, calls, updates=(), symbols=None):
        self.name, self.inputs, self.outputs = name, inputs, outputs
        self.constants, self.calls, self.updates = constants, calls, updates
        self.symbols = symbols or {}  # {name: what it is in each capture}
        self.following = {}  # the same of sizes that follow them
        self.nearer = None  # given why it is none for all sizes, yields programs for fewer of them
        self.bounds, self.joint = {}, []  # {name: the sizes at which it holds}, and what says which go together
        self.conditions, self.unsaid = [], []  # what it decided by sizes, and what of it no model can say
        self.unheard = ""  # why it may have decided more


def array_of(tensor):
    """Return a tensor's numbers as a NumPy array, whatever its dtype."""
    tensor = ops.to_device(tensor.detach(), "cpu")
    if (name := tensor.dtype.name) in SHORT_FLOATS:
        return numpy.asarray(ops.cast(tensor, NATIVE["float32"])).astype(getattr(load_package("ml_dtypes"), name))
    return numpy.array(tensor)


def address_of(tensor):
    """Return what tells the memory of a tensor from others'."""
    detached = _C.as_class(tensor, Plain).detach()
    return detached.data_ptr(), tuple(detached.shape), tuple(detached.strides), tensor.dtype.name


def read_graph(graph):
    """Read an engine graph of primitive calls whose sizes are all known.

    Parameters
    ----------
    graph : dragon._C.Graph
        What was captured.

    Returns
    -------
    Program
        The same for the exporter.

    """
    values = [Value(face.name, face.dtype, tuple(face.shape), strides=tuple(face.strides)) for face in graph.values]
    for number, tensor in graph.constants.items():
        values[number].tensor = tensor

    def find(argument):
        if isinstance(argument, (list, tuple)):
            return [find(item) for item in argument]
        return None if argument is None else values[argument]

    calls = []
    for face in graph.calls:
        arguments = {name: find(argument) for name, argument in face.tensors.items()}
        arguments.update((name, list(value) if isinstance(value, (tuple, list)) else
                          read_graph(value.graph) if isinstance(value, _C.GraphBody) else value)
                         for name, value in face.attrs.items())
        calls.append(Call(face.op, arguments, find(face.outputs), face.scope))
    return Program(graph.name, find(graph.inputs), find(graph.outputs), [values[n] for n in graph.constants], calls,
                   [(place, values[number]) for place, number in graph.updates])


class Overlay:
    """Several captures of one function at other sizes, laid over each other."""

    def __init__(self, programs):
        self.programs = programs
        self.merged = {}

    def value(self, values):
        """Return one value for what corresponds in each capture."""
        if values[0] is None:
            return None
        if id(values[0]) not in self.merged:
            first = values[0]
            if any(len(other.shape) != len(first.shape) or other.dtype != first.dtype for other in values):
                raise HardCodedError(f"a tensor was {first} in one capture and otherwise in another")
            shape = tuple(map(make_size, zip(*(value.shape for value in values))))
            strides = None
            if all(value.strides is not None for value in values):
                strides = tuple(map(make_size, zip(*(value.strides for value in values))))
            self.merged[id(first)] = Value(first.name, first.dtype, shape, self.tensor(values), strides)
        return self.merged[id(values[0])]

    def tensor(self, values):
        """Return the numbers of a constant: an array if they follow a size."""
        tensors = [value.tensor for value in values]
        if tensors[0] is None or all(tensor is tensors[0] for tensor in tensors):
            return tensors[0]
        if len(set(map(address_of, tensors))) == 1:  # parameters, which may be large
            return tensors[0]
        arrays = [array_of(tensor) for tensor in tensors]
        if all(numpy.array_equal(array, arrays[0], equal_nan=array.dtype.kind == "f") for array in arrays):
            return tensors[0]
        if arrays[0].ndim == 0 and all(array == int(array) for array in arrays):
            return make_size(int(array) for array in arrays)
        raise HardCodedError(f"a constant of shape {list(arrays[0].shape)} was computed from a dynamic size outside of "
                             "the captured calls")

    def argument(self, call, name, found):
        """Return one argument for what corresponds in each capture."""
        if isinstance(found[0], Value):
            return self.value(found)
        if isinstance(found[0], Program):  # a graph within the call
            return overlay(found, {})
        if isinstance(found[0], list):
            lengths = [len(items) for items in found]
            if len(set(lengths)) == 1:
                return [self.argument(call, name, items) for items in zip(*found)]
            if all(len(set(items)) == 1 for items in found):
                return Repeated(make_size(items[0] for items in found), make_size(lengths))
        elif all(item == found[0] or item is found[0] for item in found) or name == "generator":
            return found[0]
        elif all(isinstance(item, int) or isinstance(item, float) and item == int(item) for item in found):
            return make_size(map(int, found))
        raise HardCodedError(f"argument '{name}' of {call.op} ({call.scope or 'no scope'}) is {found[0]} at one size "
                             f"and {found[-1]} at another, which the model cannot express")

    def call(self, calls):
        """Return one call for the corresponding ones."""
        first = calls[0]
        arguments = {name: self.argument(first, name, [call.arguments[name] for call in calls])
                     for name in first.arguments}
        return Call(first.op, arguments, [self.value(found) for found in zip(*(call.outputs for call in calls))],
                    first.scope)


def overlay(programs, symbols):
    """Return one program whose sizes follow symbols.

    Parameters
    ----------
    programs : list of Program
        One function captured at several sizes of its inputs.
    symbols : dict
        {name: its value in each capture}.

    Returns
    -------
    Program
        Its differing numbers are Sizes. A HardCodedError tells where the captures differ in anything else.

    """
    first = programs[0]
    wired = {0: first}
    for place, other in enumerate(programs[1:], 1):
        difference = difference_of(first, other)
        found = None if difference else take_in(wired, other)
        if found is None:
            raise HardCodedError(difference or "other tensors are read at other sizes")
        wired = {**found[0], place: found[1]}
    programs = list(wired.values())
    whole = Overlay(programs)

    def all_of(name):
        return [whole.value(values) for values in zip(*(getattr(program, name) for program in programs))]

    inputs, constants = all_of("inputs"), all_of("constants")
    calls = [whole.call(found) for found in zip(*(program.calls for program in programs))]
    updates = [(found[0][0], whole.value([value for _, value in found]))
               for found in zip(*(program.updates for program in programs))]
    return Program(first.name, inputs, all_of("outputs"), constants, calls, updates, symbols)


def is_dynamic(shape):
    """Return whether a shape has a size known only at run time."""
    return any(isinstance(size, Size) for size in shape)
