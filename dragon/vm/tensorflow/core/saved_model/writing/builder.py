"""A function of TensorFlow's nodes in the making."""
import functools
import operator

from dragon.dialects.tensorflow.signatures import lines, parts_of, results_of
from dragon.vm.shared.files.tensor_proto import make_proto
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.tensorflow.core.saved_model import messages

# Those that do more than compute: their order is kept, and functions of them are called even if nobody reads a result.
EFFECTS = frozenset("AssignVariableOp RandomStandardNormal RandomUniform RandomUniformInt TruncatedNormal Multinomial "
                    "If While PrintV2 Assert LookupTableFindV2".split())

WORDS = {}  # functions of a builder that rows call by name
# The nodes that Python's operators are in rows, and what these do to numbers.
INFIX = {"Add": ("AddV2", operator.add), "Sub": ("Sub", operator.sub), "Mult": ("Mul", operator.mul),
         "Div": ("RealDiv", operator.truediv), "Mod": ("FloorMod", operator.mod), "Eq": ("Equal", operator.eq),
         "Gt": ("Greater", operator.gt), "USub": ("Neg", operator.neg)}
_follows = object()  # a rank that is that of the inputs


@functools.cache
def _inputs_of(op):
    return [part for part in parts_of(lines()[op]) if part.is_input], {
        part.name: part.attribute for part in parts_of(lines()[op]) if not part.is_input}


class Called:
    """A function as an attribute.

    Parameters
    ----------
    name : str
        Its name.

    """

    def __init__(self, name):
        self.name = name


def attribute(value):
    """Return a Python value as an attribute."""
    kinds = {bool: "b", int: "i", float: "f", str: "s"}
    if type(value) in kinds:
        kind = kinds[type(value)]
        return messages.AttrValue(**{kind: value.encode() if kind == "s" else value})
    if isinstance(value, list):
        made = messages.AttrValue()
        made.list.SetInParent()
        if value and hasattr(value[0], "as_datatype_enum"):
            made.list.type.extend([one.as_datatype_enum for one in value])
        elif value and isinstance(value[0], str):
            made.list.s.extend([one.encode() for one in value])
        else:
            made.list.i.extend(value)
        return made
    if isinstance(value, Called):
        return messages.AttrValue(func=messages.NameAttrList(name=value.name))
    if hasattr(value, "as_datatype_enum"):
        return messages.AttrValue(type=value.as_datatype_enum)
    return messages.AttrValue(tensor=value)


class End:
    """A value of a function.

    Parameters
    ----------
    text : str
        Where it comes from, as nodes say it.
    dtype : DType
        Its dtype.
    rank : Optional[int]
        How many axes it has.

    """

    __slots__ = ("text", "dtype", "rank", "turned", "number")

    def __init__(self, text, dtype, rank=None):
        self.text, self.dtype, self.rank = text, dtype, rank
        self.turned, self.number = None, None  # (what it is a transposition of, the axes); the array that it is


class Builder:
    """Adds nodes one after the other.

    Parameters
    ----------
    name : str
        The function's.
    library : List[FunctionDef], optional
        Where functions go that its nodes call; a list of its own without one.
    notes : Sequence[Note], optional
        What the function does or computes besides, by number.

    """

    def __init__(self, name, library=None, notes=()):
        self.definition = messages.FunctionDef()
        self.definition.signature.name = name
        self.library, self.notes = [] if library is None else library, notes
        self.last = None  # the node that did something last
        self.tables = {}  # {a table: the argument that it is}
        self.free = {}  # {number of a size that numbers decide: (what has it, along which axis)}
        self.reads = {}  # {name of a variable's argument: the node that reads it}
        self._count = 0
        self._constants = {}

    name = property(lambda self: self.definition.signature.name, doc="str: the function's.")
    has_effects = property(lambda self: self.definition.signature.is_stateful, doc="bool: whether order matters.")

    def inner(self, hint):
        """Return the builder of a function that nodes of this one call, and that is written before it."""
        made = Builder(f"{self.name}_{hint}_{len(self.library)}", self.library, self.notes)
        self.library.append(made.definition)
        return made

    def argument(self, name, dtype, rank=None):
        """Add a parameter; returns its value."""
        self.definition.signature.input_arg.add(name=name, type=as_dtype(dtype).as_datatype_enum)
        return End(name, as_dtype(dtype), rank)

    def result(self, name, end):
        """Add a result."""
        self.definition.signature.output_arg.add(name=name, type=end.dtype.as_datatype_enum)
        self.definition.ret.add(key=name, value=end.text)

    def node(self, op, inputs, dtype, rank=None, /, result=None, **attributes):
        """Add a node; returns its first result.

        Parameters
        ----------
        op : str
            TensorFlow's operator.
        inputs : Sequence[End]
            What it takes.
        dtype : DType
            Of the result.
        rank : int, optional
            Of the result.
        result : str, optional
            The result's name, where it is not the operator's first.
        **attributes : Any
            Its attributes.

        """
        name = self._add(op, [end.text for end in inputs], attributes)
        return End(f"{name}:{result or next(iter(results_of(op)), 'output')}:0", as_dtype(dtype), rank)

    def __getattr__(self, name):
        """Return what writes a node by TensorFlow's name, or a function of rows."""
        if not name[0].isupper() and name not in WORDS:
            raise AttributeError(name)
        return functools.partial(self.call, name) if name[0].isupper() else functools.partial(WORDS[name], self)

    def infix(self, name, *operands):
        """Return what one of Python's operators gives: a node's result, or that of numbers."""
        op, compute = INFIX[name]
        return self.call(op, *operands) if any(isinstance(one, End) for one in operands) else compute(*operands)

    def call(self, op, *operands, dtype=None, rank=_follows, **attributes):
        """Add a node as its operator's line tells it; returns its first result.

        Parameters
        ----------
        op : str
            TensorFlow's operator.
        *operands : End, number, list of number or sequence of End
            Its inputs: numbers become constants.
        dtype : DType, optional
            Of the result, where it is not that of the first input whose dtype an attribute tells.
        rank : int, optional
            Of the result, where it is not the greatest of the inputs of that dtype.
        **attributes : Any
            Its attributes but for those that inputs tell.

        """
        parts, names = _inputs_of(op)
        given, told, ends, like = {}, {}, [], []
        for part, operand in zip(parts, operands):
            for one in operand if part.kind == "*" else [operand]:
                if isinstance(one, End):
                    told.setdefault(part.dtype, one.dtype)
        for part, operand in zip(parts, operands):
            kinds = part.bound.split(",")
            kind = told.setdefault(part.dtype, "int32" if "int32" in kinds else kinds[0]) if part.dtype else kinds[0]
            made = [one if isinstance(one, End) else self.constant(one, kind)
                    for one in (operand if part.kind == "*" else [operand])]
            if part.dtype:
                given[part.dtype] = made[0].dtype
            if part.count:
                given[part.count] = len(made)
            ends += made
            like += made if part.dtype == next((one.dtype for one in parts if one.dtype), None) else []
        ranks = [end.rank for end in like or ends]
        rank = rank if rank is not _follows else None if None in ranks else max(ranks)
        given.update((names[name], value) for name, value in attributes.items())
        return self.node(op, ends, dtype or (like or ends)[0].dtype, rank, **given)

    def _add(self, op, inputs, attributes):
        """Add a node; returns its name."""
        name = f"{op.lower()}_{self._count}"
        self._count += 1
        made = self.definition.node_def.add(name=name, op=op, input=inputs)
        for key, value in attributes.items():
            made.attr.append(messages.NamedAttr(key=key, value=attribute(value)))
        if op in EFFECTS:
            self.definition.signature.is_stateful = True
        return name

    def named(self, op, inputs, results, **attributes):
        """Add a node whose results have names; returns them.

        Parameters
        ----------
        op : str
            TensorFlow's operator.
        inputs : Sequence[End]
            What it takes.
        results : Sequence[Tuple[str, DType, Optional[int]]]
            Name, dtype and rank of each result.
        **attributes : Any
            Its attributes.

        """
        made = self._add(op, [end.text for end in inputs], attributes)
        return [End(f"{made}:{name}:0", as_dtype(dtype), rank) for name, dtype, rank in results]

    def nodes(self, op, inputs, kinds, /, result="output", **attributes):
        """Add a node of several results of one name; returns them.

        Parameters
        ----------
        op : str
            TensorFlow's operator.
        inputs : Sequence[End]
            What it takes.
        kinds : Sequence[Tuple[DType, Optional[int]]]
            Dtype and rank of each result.
        result : str, optional, default="output"
            The name of the results.
        **attributes : Any
            Its attributes.

        """
        acts = op in ("If", "While")
        name = self._add(op, [end.text for end in inputs] + (self._order() if acts else []), attributes)
        if acts:
            self._finish_after(name)
        return [End(f"{name}:{result}:{place}", as_dtype(dtype), rank) for place, (dtype, rank) in enumerate(kinds)]

    def text(self, words):
        """Return a text as a value."""
        dtype = as_dtype("string")
        return self.node("Const", [], dtype, 0, value=make_proto(convert_to_tensor(words)), dtype=dtype)

    def effect(self, op, inputs, after=None, **attributes):
        """Add a node for what it does, after those before it; the function is not over before. Returns its name."""
        made = self._add(op, [end if isinstance(end, str) else end.text for end in inputs]
                         + self._order(after), attributes)
        self._finish_after(made)
        return made

    def _order(self, *names):
        """Return the inputs of a node that is to run after others, and after what did something last."""
        return [f"^{name}" for name in dict.fromkeys([*names, self.last]) if name]

    def _finish_after(self, name):
        """Have the function not be over before a node has run, and what does something later run after it."""
        self.last = name
        self.definition.signature.control_output.append(name)
        self.definition.control_ret.append(messages.Ends(key=name, value=name))

    def read(self, name, dtype, rank):
        """Add an argument that is a variable; returns its numbers."""
        handle = self.argument(name, "resource")
        found = self.node("ReadVariableOp", [handle], dtype, rank, result="value", dtype=as_dtype(dtype))
        self.reads[name] = found.text.partition(":")[0]
        return found

    def write(self, name, end):
        """Set a variable that is an argument, when all that reads it has read; the function is not over before.

        Parameters
        ----------
        name : str
            The argument.
        end : End
            What the variable is set to.

        Returns
        -------
        End
            The variable, read anew: its gradient is the variable's, whatever it was set to.

        """
        made = self.effect("AssignVariableOp", [name, end], self.reads[name], dtype=end.dtype)
        read = self._add("ReadVariableOp", [name, f"^{made}"], {"dtype": end.dtype})
        return End(f"{read}:value:0", end.dtype, end.rank)

    def constant(self, value, dtype):
        """Return numbers as a value."""
        import numpy as np
        array = np.asarray(value, as_dtype(dtype).as_numpy_dtype)
        key = (array.tobytes(), array.shape, str(array.dtype)) if array.size < 64 else None
        if key is not None and key in self._constants:
            return self._constants[key]
        proto = make_proto(convert_to_tensor(array))
        made = self.node("Const", [], dtype, array.ndim, value=proto, dtype=as_dtype(dtype))
        made.number = array
        if key is not None:
            self._constants[key] = made
        return made

    def unary(self, op, x, **attributes):
        """Add a node of one operand and its dtype."""
        return self.node(op, [x], x.dtype, x.rank, T=x.dtype, **attributes)

    def binary(self, op, x, y, dtype=None):
        """Add a node of two operands that are broadcast."""
        rank = None if x.rank is None or y.rank is None else max(x.rank, y.rank)
        return self.node(op, [x, y], dtype or x.dtype, rank, T=x.dtype)

    def transpose(self, x, axes):
        """Add a transposition, but for those that undo another."""
        axes = list(axes)
        if x.turned is not None:
            source, before = x.turned
            axes, x = [before[axis] for axis in axes], source
        if axes == sorted(axes):
            return x
        made = self.node("Transpose", [x, self.constant(axes, "int32")], x.dtype, x.rank, T=x.dtype,
                         Tperm=as_dtype("int32"))
        made.turned = (x, axes)
        return made

    def shape(self, x, dtype="int64"):
        """Add the sizes of a value, as a vector."""
        return self.Shape(x, dtype=dtype, rank=1, out_type=as_dtype(dtype))

    def reshape(self, x, shape):
        """Add a new shape, of numbers or a value."""
        end = shape if isinstance(shape, End) else self.constant(shape, "int32")
        rank = len(shape) if not isinstance(shape, End) else None if end.number is None else end.number.size
        return self.node("Reshape", [x, end], x.dtype, rank, T=x.dtype, Tshape=end.dtype)
