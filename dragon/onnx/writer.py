"""Writes nodes of an ONNX graph: names, constants, sizes known at run time, and dtypes that runtimes can compute in."""
import collections
import functools
import operator

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

from dragon.core.dtypes import SHORT_FLOATS
from dragon.onnx.errors import HardCodedError, load_package
from dragon.onnx.explain import Explainer
from dragon.onnx.results import results_of
from dragon.onnx.size import Repeated, Size
from dragon.onnx.source import FLOATING, Value, array_of
from dragon.onnx.table import Inexpressible, callee_of

ELEMENTS = {"bool": TensorProto.BOOL, "uint8": TensorProto.UINT8, "int8": TensorProto.INT8,
            "int16": TensorProto.INT16, "int32": TensorProto.INT32, "int64": TensorProto.INT64,
            "float16": TensorProto.FLOAT16, "bfloat16": TensorProto.BFLOAT16, "float32": TensorProto.FLOAT,
            "float64": TensorProto.DOUBLE, "uint16": TensorProto.UINT16, "uint32": TensorProto.UINT32,
            "uint64": TensorProto.UINT64, "float8_e4m3fn": TensorProto.FLOAT8E4M3FN,
            "float8_e4m3fnuz": TensorProto.FLOAT8E4M3FNUZ, "float8_e5m2": TensorProto.FLOAT8E5M2,
            "float8_e5m2fnuz": TensorProto.FLOAT8E5M2FNUZ}
DOMAIN = "dragon.notes"  # of nodes that other formats have, and no runtime of ONNX
OTHERS = ("Note", "StatelessUniform", "StatelessNormal", "StatelessTruncatedNormal", "StatelessIntegers",
          "StatelessCategorical")
# Operators that only move elements: runtimes have them in every dtype.
MOVING = {"Reshape", "Transpose", "Concat", "Slice", "Gather", "GatherElements", "GatherND", "ScatterND", "Cast",
          "ScatterElements", "Identity", "Squeeze", "Unsqueeze", "Shape", "Size", "Split", "ConstantOfShape",
          "RandomUniformLike", "RandomNormalLike", "BitwiseAnd", "BitwiseOr", "BitwiseXor",
          "BitwiseNot", "Range", "If", "Loop", "Scan", "NonZero", *OTHERS}
# ONNX Runtime computes in few dtypes: narrow integers wrap the same way in int32, and bfloat16 is the rounding of
# float32 after each operator, as the engine does it.
WIDER = {"int8": "int32", "int16": "int32", "uint8": "int32", "uint16": "int32", "uint32": "int64",
         **dict.fromkeys(SHORT_FLOATS, "float32")}
WIDER_OF = {"Where": {"bool": "uint8"}, "IsInf": {"float16": "float32"},
            **dict.fromkeys(("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Max", "Min", "ReduceMax",
                             "ReduceMin", "ArgMax", "ArgMin"), {"bool": "int32"}),
            "Unique": dict.fromkeys(("int32", "int16", "int8", "uint8"), "int64")}
# Scattering with a reduction computes.
WIDER_SUM = {**WIDER, "float16": "float32", "bool": "int32"}
LARGEST, SMALLEST = 2 ** 63 - 1, -2 ** 63
# The nodes that Python's operators are in rows, and what these do to numbers.
INFIX = {"Add": ("Add", operator.add), "Sub": ("Sub", operator.sub), "Mult": ("Mul", operator.mul),
         "Div": ("Div", operator.truediv), "Pow": ("Pow", operator.pow), "Mod": ("Mod", operator.mod),
         "USub": ("Neg", operator.neg), "Invert": ("Not", operator.invert), "BitAnd": ("And", operator.and_),
         "BitOr": ("Or", operator.or_), "BitXor": ("Xor", operator.xor), "Eq": ("Equal", operator.eq),
         "Lt": ("Less", operator.lt), "LtE": ("LessOrEqual", operator.le), "Gt": ("Greater", operator.gt),
         "GtE": ("GreaterOrEqual", operator.ge)}


def numpy_dtype(name):
    """Return the NumPy dtype of a name, those that NumPy lacks too."""
    return numpy.dtype(getattr(load_package("ml_dtypes"), name) if name in SHORT_FLOATS else name)


def wider(op, dtype, reduction=None):
    """Return the dtype that an operator is computed in."""
    if op.startswith("Scatter") and reduction not in (None, "none"):
        return WIDER_SUM.get(dtype, dtype)
    if op in MOVING:
        return dtype
    return WIDER_OF.get(op, {}).get(dtype) or WIDER.get(dtype, dtype)


class Writer:
    """One ONNX graph in the making. `w.Add(x, 1)` writes a node and returns its result.

    Parameters
    ----------
    opset : int
        The version of ONNX's operators.
    symbols : dict, optional
        {name: its value in each capture}.

    """

    def __init__(self, opset, symbols=None):
        self.opset, self.symbols = opset, symbols or {}
        self.nodes, self.initializers, self.infos = [], {}, []
        self.sources = {}  # symbol -> (input value, axis) that tells it
        self.told = {}  # samples of a size -> (value, axis) that has it when the model runs
        self.call = None
        self.scope = ""
        self._count, self.taken, self._cached = collections.Counter(), set(), {}
        self._values = {}  # id of a captured value -> what it became
        self._held = []

    # --- names and values

    def fresh(self, hint):
        """Return a name nobody has."""
        while True:
            name = f"{hint}_{self._count[hint]}" if self._count[hint] else hint
            self._count[hint] += 1
            if name not in self.taken:
                self.taken.add(name)
                return name

    def bind(self, captured, made):
        """Let a captured value be what was made for it."""
        self._held.append(captured)
        self._values[id(captured)] = value = Value(made.name, made.dtype, captured.shape)
        for axis, size in enumerate(captured.shape or ()):
            if isinstance(size, Size):
                self.told.setdefault(size.samples, (value, axis))

    def resolve(self, value):
        """Return what a captured value became; others as they are."""
        return self._values.get(id(value), value)

    out = property(lambda self: self.call.outputs[0], doc="The first captured result of the call being written.")

    def wants(self, index):
        """Return whether somebody reads a result of the call being written."""
        output = self.call.outputs[index] if index < len(self.call.outputs) else None
        return output is not None and id(output) in self.read

    read = frozenset()  # ids of the captured values that somebody reads
    producers = {}  # id of a captured value -> the call that makes it

    # --- nodes

    def __getattr__(self, op):
        """Return what writes a node, by ONNX's name, or the nodes that an operator of the engine is."""
        write = functools.partial(self.add, op) if op[0].isupper() else callee_of(op)
        if write is None:
            raise AttributeError(op)
        return write if op[0].isupper() else functools.partial(write, self)

    def infix(self, name, *operands):
        """Return what one of Python's operators gives: a node's result, or that of numbers."""
        if name == "NotEq":
            return self.infix("Invert", self.infix("Eq", *operands))
        node, compute = INFIX[name]
        is_written = any(isinstance(item, Value) for item in operands)
        return self.add(node, *operands) if is_written else compute(*operands)

    def add(self, op, *inputs, outputs=1, dtype=None, **attributes):
        """Write a node.

        Parameters
        ----------
        op : str
            ONNX's operator.
        *inputs : Value, number, list of int, numpy.ndarray or None
            Numbers become constants of the dtype of the tensors beside them, lists int64 vectors.
        outputs : int, optional, default=1
            How many results it has.
        dtype : str, optional
            The first result's dtype, where it is not the inputs'.
        **attributes : object
            Those that are None are left out.

        Returns
        -------
        Value or list of Value
            The result, or all of them.

        """
        inputs = [self.resolve(item) for item in inputs]
        telling, known = results_of(op)
        tensors = [item for item in inputs[telling:] if isinstance(item, Value)]
        own = tensors[0].dtype if tensors else dtype
        computed = wider(op, own, attributes.get("reduction"))
        if computed != own:
            inputs[telling:] = [self.cast(item, computed) if isinstance(item, Value) and item.dtype == own else item
                                for item in inputs[telling:]]
        names = [self._input(item, computed) for item in inputs]
        while names and not names[-1]:
            names.pop()
        for name, attribute in attributes.items():
            for item in attribute if isinstance(attribute, (list, tuple)) else (attribute,):
                if isinstance(item, (Size, Repeated)):
                    raise HardCodedError(f"attribute '{name}' of {op} would follow a dynamic size")
        made = [self.fresh(op.lower() if index == 0 else f"{op.lower()}_{index}") for index in range(outputs)]
        attributes = {name: attribute for name, attribute in attributes.items() if attribute is not None}
        node = helper.make_node(op, names, made, name=f"{self.scope}/{made[0]}".lstrip("/"), **attributes)
        self.nodes.append(node)
        known = (dtype or (known[0] if known else None), *known[1:])
        kinds = [known[min(place, len(known) - 1)] or computed for place in range(outputs)]
        values = [Value(name, kind) for name, kind in zip(made, kinds)]
        if computed != own:
            values = [self.cast(value, own) if value.dtype == computed else value for value in values]
        return values[0] if outputs == 1 else values

    def _input(self, item, dtype):
        if item is None:
            return ""
        if isinstance(item, Value):
            return item.name
        if isinstance(item, (list, tuple)):
            return self.sizes(item).name
        if isinstance(item, Size):
            return self.cast(self.number(item), dtype).name
        if isinstance(item, numpy.ndarray):
            return self.constant(item).name
        return self.constant(item, dtype).name

    def constant(self, array, dtype=None):
        """Return a constant; equal ones are written once."""
        array, dtype = numpy.asarray(array), getattr(dtype, "name", dtype)
        if dtype is not None:
            with numpy.errstate(all="ignore"):
                array = array.astype(numpy_dtype(dtype))
        key = (array.dtype.str, array.dtype.name, array.shape, array.tobytes())
        if key not in self._cached:
            name = self.fresh("constant")
            self.initializers[name] = numpy_helper.from_array(numpy.ascontiguousarray(array).reshape(array.shape), name)
            self._cached[key] = Value(name, array.dtype.name, array.shape)
        return self._cached[key]

    def tensor(self, value):
        """Write a captured constant or parameter under its own name."""
        if isinstance(value.tensor, Size):
            return self.cast(self.number(value.tensor), value.dtype)
        name = self.fresh(value.name or "tensor")
        self.initializers[name] = numpy_helper.from_array(array_of(value.tensor), name)
        return Value(name, value.dtype, value.shape)

    # --- dtypes

    def cast(self, x, dtype):
        """Return a value in another dtype, given by name or as one of the engine's."""
        x, dtype = self.resolve(x), getattr(dtype, "name", dtype)
        if x.dtype == dtype:
            return x
        made = self.add("Cast", x, dtype=dtype, to=ELEMENTS[dtype])
        made.shape = x.shape
        return made

    def promoted(self, *values):
        """Return values in the dtype that the call computes in: its result's, or the common one if that is bool."""
        dtype = self.out.dtype
        if dtype == "bool":
            dtype = common_dtype(values)
        return [self.cast(value, dtype) for value in values]

    def truth(self, x):
        """Return whether elements differ from 0."""
        return self.cast(x, "bool")

    # --- sizes

    def size(self, size):
        """Return a size as an int64 vector of one element."""
        if not isinstance(size, Size):
            return self.constant([int(size)], "int64")
        if size not in self._cached:
            self._cached[size] = self.computed(*self.explained(size.samples))
        return self._cached[size]

    def number(self, size):
        """Return a size as a 0-d int64."""
        return self.Squeeze(self.size(size), [0])

    def sizes(self, shape):
        """Return a list of sizes as an int64 vector."""
        if not any(isinstance(size, (Size, Value)) for size in shape):
            return self.constant(numpy.array([int(size) for size in shape], "int64"))
        parts = [size if isinstance(size, Value) else self.size(size) for size in shape]
        return parts[0] if len(parts) == 1 else self.Concat(*parts, axis=0)

    def explained(self, samples):
        """Return an expression of `dragon.onnx.explain` for a size, and the values and axes of its terms.

        Parameters
        ----------
        samples : sequence of int
            What it is in each capture.

        Returns
        -------
        tuple
            The expression, and {term: (value, axis)}. A HardCodedError where there is none.

        """
        told = {}
        for value in self.call.inputs if self.call else ():
            for axis, other in enumerate(value.shape or ()):
                if isinstance(other, Size):
                    told.setdefault((self.resolve(value).name, axis), (other.samples, self.resolve(value)))
        for known, (value, axis) in self.told.items():
            told.setdefault((value.name, axis), (known, value))
        found = Explainer(self.symbols, {key: known for key, (known, _) in told.items()}).explain(samples)
        if found is None:
            raise HardCodedError(f"a size that is {Size(samples)!r} where the dynamic sizes are "
                                 f"{ {name: Size(samples) for name, samples in self.symbols.items()} }")
        return found, {key: (value, key[1]) for key, (_, value) in told.items()}

    def computed(self, expression, places):
        """Return the value of an expression of `dragon.onnx.explain`; places are the values and axes of its terms."""
        kind, *parts = expression
        if kind == "number":
            return self.constant([parts[0]], "int64")
        if kind == "term":
            return self.size_of(*(self.sources[parts[0]] if parts[0] in self.sources else places[parts[0]]))
        one, other = (self.computed(part, places) for part in parts)
        if kind == "div":  # ONNX rounds towards zero
            return self.Div(self.Sub(one, self.Mod(one, other)), other)
        return self.add(kind.title(), one, other)

    def size_of(self, x, axis):
        """Return the size of an axis at run time, as a vector of one element."""
        x = self.resolve(x)
        key = (x.name, "size", axis)
        if key not in self._cached:
            self._cached[key] = self.add("Shape", x, start=axis, end=axis + 1)
        return self._cached[key]

    def _can_tell(self, size):
        try:
            self.size(size)
        except HardCodedError:
            return False
        return True

    # --- shapes

    def reshape(self, x, shape):
        """Return x in another shape, of which one size may be left to the runtime."""
        shape = list(shape)
        if all(isinstance(size, int) for size in shape) and 0 in shape:
            return self.full(shape, 0, x.dtype)
        unknown = [place for place, size in enumerate(shape) if isinstance(size, Size)]
        if len(unknown) > 1:
            unknown = [place for place in unknown if not self._can_tell(shape[place])] or unknown
        if len(unknown) == 1 and not any(size == 0 for size in shape if not isinstance(size, Size)):
            shape[unknown[0]] = -1
        # A size that turns out as 0 is 0; without the attribute it would be the operand's.
        zero = -1 not in shape and any(isinstance(size, Size) or size == 0 for size in shape)
        return self.add("Reshape", x, shape, allowzero=1 if zero else None)

    def flatten(self, x):
        """Return the elements of x as a vector."""
        return self.Reshape(x, [-1])

    def transpose(self, x, axes):
        """Return x with its axes in another order."""
        return x if list(axes) == list(range(len(axes))) else self.Transpose(x, perm=list(axes))

    def expand(self, x, shape):
        """Return x repeated to a shape; where it has that size already nothing need be known."""
        lead = len(shape) - x.ndim
        target = [1 if axis >= lead and x.shape[axis - lead] == size else size for axis, size in enumerate(shape)]
        while target and target[0] == 1 and len(target) <= x.ndim:
            target.pop(0)
        return self.Expand(x, target) if target else x

    def full(self, shape, number, dtype):
        """Return one number everywhere."""
        if not any(isinstance(size, Size) for size in shape):
            array = numpy.asarray(number).astype(numpy_dtype(dtype))
            if array.itemsize * int(numpy.prod(shape, dtype="int64")) <= 64:
                return self.constant(numpy.full(shape, array))
        value = numpy_helper.from_array(numpy.full(1, number).astype(numpy_dtype(dtype)), "value")
        return self.add("ConstantOfShape", list(shape), dtype=dtype, value=value)

    def refuse(self, why):
        """Say that ONNX cannot express this call."""
        raise Inexpressible(why)


def rank_of(value):
    """Return 0 for bool, 1 for integers, 2 for floats."""
    return 0 if value.dtype == "bool" else 2 if value.dtype in FLOATING else 1


def common_dtype(values):
    """Return the dtype that operands are compared in: tensors with axes speak before those without."""
    values = [value for value in values if value is not None]
    highest = max(map(rank_of, values))
    speaking = [value for value in values if value.shape != ()] or values
    if max(map(rank_of, speaking)) < highest:
        speaking = [value for value in values if rank_of(value) == highest]
    dtype = speaking[0].dtype
    for value in speaking[1:]:
        dtype = numpy.promote_types(numpy_dtype(dtype), numpy_dtype(value.dtype)).name if value.dtype != dtype \
            else dtype
    return dtype


def make_value_info(value, name, axes=None):
    """Return the declaration of an input or output, dynamic axes by name."""
    shape = [axes.get(axis, size) if axes else size for axis, size in enumerate(value.shape)]
    shape = [None if isinstance(size, Size) else size for size in shape]
    return helper.make_tensor_value_info(name, ELEMENTS[value.dtype], shape)


def names_read(graph):
    """Yield the names that a graph within a node reads, and those within its nodes."""
    for node in graph.node:
        yield from node.input
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from names_read(attribute.g)


def acts(node):
    """Return whether a node, or one of a graph within it, is a note."""
    return node.domain == DOMAIN and node.op_type == "Note" or any(
        acts(inner) for one in node.attribute if one.type == onnx.AttributeProto.GRAPH for inner in one.g.node)


def prune(nodes, outputs, initializers):
    """Return the nodes that lead to outputs, or do something, and the initializers they read."""
    needed, kept = set(outputs), []
    for node in reversed(nodes):
        if acts(node) or not needed.isdisjoint(node.output):
            kept.append(node)
            needed.update(node.input)
            for attribute in node.attribute:
                if attribute.type == onnx.AttributeProto.GRAPH:
                    needed.update(names_read(attribute.g))
    return kept[::-1], [tensor for name, tensor in initializers.items() if name in needed]
