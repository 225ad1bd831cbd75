"""Inputs and attributes of operators that are called by name, as `tf.raw_ops` lists them, and what they may be."""
import inspect
import numbers
import re

from dragon.dialects.tensorflow.signatures import REQUIRED
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.tensors.dtypes import OBJECTS, as_dtype
from dragon.vm.shared.tensors.shape import TensorShape

EMPTY = inspect.Parameter.empty


class Argument:
    """An input or attribute of an operator.

    Parameters
    ----------
    part : Part
        As a line of signatures has it.

    """

    __slots__ = ("name", "attribute", "default", "is_input", "is_list", "dtype", "count", "kind", "type", "values",
                 "least", "dtypes", "fixed")

    def __init__(self, part):
        default = EMPTY if part.default is REQUIRED else part.default
        self.default = OBJECTS[default] if part.kind == "@" and default is not EMPTY else default
        self.kind, self.name, self.attribute, self.is_input = part.kind, part.name, part.attribute, part.is_input
        self.is_list = self.kind == "*"
        self.dtype, self.count = part.dtype, part.count
        self.type = part.type or type(self.default).__name__.replace("list", "[int]")
        self.least = int(part.bound[:-2]) if part.bound.endswith("..") else None
        self.values = part.bound.split(",") if part.bound and self.least is None else None
        names_dtypes = self.values and (self.is_input or self.kind == "@")
        self.dtypes = [as_dtype(name) for name in self.values] if names_dtypes else None
        self.fixed = self.dtypes[0] if self.dtypes and self.is_input and not self.dtype else None  # always this one

    def read(self, value, op):
        """Return an attribute's value as operators take it."""
        if value is None and self.default is not EMPTY:
            value = self.default
        if self.kind == "@":
            return self._dtype(value)
        if self.kind == "^":
            return self._sizes(value)
        if self.type.startswith("["):
            if value is None:
                value = []
            if not isinstance(value, (list, tuple, range)):
                raise TypeError(f"Expected list for '{self.name}' argument to '{_snake(op)}' Op, not {value!r}.")
            value = [READ[self.type[1:-1]](self, one) for one in value]
            self._check_least(len(value), "Length")
        elif self.type in READ:
            value = READ[self.type](self, value)
            self._check_least(value, "Value")
        if self.values and value not in self.values:
            allowed = ", ".join(f'"{one}"' for one in self.values)
            raise invalid_argument(f"Value for attr '{self.name}' of \"{value}\" is not in the list of allowed values: "
                                   f"{allowed}\n\t; Op<name={op}> [Op:{op}]")
        return value

    def _check_least(self, value, what):
        if self.least is not None and value < self.least:
            raise invalid_argument(f"{what} for attr '{self.name}' of {value} must be at least minimum {self.least}")

    def _dtype(self, value):
        """Return a dtype, or those of a list of them."""
        if self.type.startswith("[") and isinstance(value, (list, tuple)):
            return [as_dtype(one) for one in value]
        if value is None or isinstance(value, (list, tuple)):
            raise self.wrong("DataType", value)
        try:
            value = as_dtype(value)
        except TypeError:
            raise self.wrong("DataType", value) from None
        self.check_dtype(value)
        return value

    def _sizes(self, value):
        """Return sizes as a list, None for those that nobody knows, or such lists where several shapes are told."""
        if isinstance(value, (list, tuple)) and value and not isinstance(value[0], (numbers.Integral, type(None))):
            return [_sizes_of(one) for one in value]
        return _sizes_of(value)

    def check_input(self, dtype, known, op, place):
        """Refuse an input of another dtype than the operator, or the inputs before, have it.

        Parameters
        ----------
        dtype : DType
            The input's.
        known : Dict[str, DType]
            What the inputs before have said of the operator's attributes.
        op : str
            The operator.
        place : int
            Which of its inputs it is.

        """
        expected = self.fixed or known.get(self.dtype)
        if expected is not None and dtype != expected:
            raise invalid_argument(f"cannot compute {op} as input #{place}(zero-based) was expected to be a "
                                   f"{_called(expected)} tensor but is a {_called(dtype)} tensor [Op:{op}]")
        if self.dtype:
            self.check_dtype(dtype)

    def check_dtype(self, dtype):
        """Refuse a dtype that the operator does not compute."""
        if self.dtypes and dtype not in self.dtypes:
            raise invalid_argument(f"Value for attr '{self.dtype or self.name}' of {_called(dtype)} is not in the list "
                                   f"of allowed values: {', '.join(self.values)}")

    def wrong(self, kind, value):
        """Return the error for a value of another kind."""
        return TypeError(f"Expected {kind} for argument '{self.name}' not {value!r}.")


def _snake(op):
    """Return an operator's name as TensorFlow's functions have it: conv2d_backprop_input of Conv2DBackpropInput."""
    words = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", op)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", words).lower()


def _called(dtype):
    """Return a dtype's name in TensorFlow's errors, which is that of C++."""
    return {"float16": "half", "float32": "float", "float64": "double"}.get(dtype.name, dtype.name)


def _sizes_of(shape):
    shape = TensorShape(shape)
    return None if shape.rank is None else [-1 if size is None else size for size in shape]


def _integer(argument, value):
    """Return what `int` makes of a number; text is none."""
    if isinstance(value, str):
        raise argument.wrong("int", value)
    try:
        value = int(value)
    except (TypeError, ValueError):
        raise argument.wrong("int", value) from None
    if not -1 << 63 <= value < 1 << 63:
        raise OverflowError("int too big to convert")
    return value


def _real(argument, value):
    if not isinstance(value, numbers.Real):
        raise argument.wrong("float", value)
    return float(value)


def _truth(argument, value):
    if not isinstance(value, bool):
        raise argument.wrong("bool", value)
    return value


def _text(argument, value):
    if not isinstance(value, (str, bytes)):
        raise argument.wrong("string", value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    value.encode()  # half a pair of surrogates is no text
    return str(value)


READ = {"int": _integer, "float": _real, "bool": _truth, "str": _text}
