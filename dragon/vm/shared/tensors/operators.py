"""Arithmetic of tensors and variables, with TensorFlow's rules: both sides have one dtype, Python's numbers take it."""
from dragon import _C
from dragon.core.python_operators import ARITHMETIC, BITWISE
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.tensors.bounds import greater_of, lesser_of
from dragon.vm.shared.tensors.dtypes import OBJECTS, wrapped
from dragon.vm.shared.tensors.tensor import Base, Tensor, ops

# As messages call the dtypes.
SPOKEN = {"float32": "float", "float64": "double", "float16": "half"}
FLOATS = frozenset(OBJECTS[name] for name in ("float16", "bfloat16", "float32", "float64"))
COMPLEX = frozenset(OBJECTS[name] for name in ("complex64", "complex128"))
UNSIGNED = frozenset(OBJECTS[name] for name in ("uint8", "uint16", "uint32", "uint64"))
INTEGERS = UNSIGNED | {OBJECTS[name] for name in ("int8", "int16", "int32", "int64")}
BOOL = OBJECTS["bool"]
promotion = []  # the function that makes operands agree, where a guest promotes dtypes
# The dtypes that a Python number can take on.
FITS = {int: INTEGERS | FLOATS | COMPLEX, float: FLOATS | COMPLEX, complex: COMPLEX,
        bool: INTEGERS | FLOATS | COMPLEX | {BOOL}}
NATURAL = {int: "int32", float: "float", complex: "complex128", bool: "bool", str: "string", bytes: "string"}
QUOTIENT = {OBJECTS[name]: OBJECTS["float32"] for name in ("uint8", "uint16", "int8", "int16")}
QUOTIENT.update((OBJECTS[name], OBJECTS["float64"]) for name in ("uint32", "uint64", "int32", "int64"))


def spoken(dtype):
    """Return a dtype's name as TensorFlow's messages have it."""
    return SPOKEN.get(dtype.name, dtype.name)


def mismatch(node, x, other, place=1):
    """Return the error for operands of two dtypes."""
    wanted, got = spoken(x.dtype), other if isinstance(other, str) else spoken(other)
    return invalid_argument(f"cannot compute {node} as input #{place}(zero-based) was expected to be a {wanted} tensor "
                            f"but is a {got} tensor [Op:{node}] name: ")


def refuse_dtype(node, dtype, argument="T"):
    """Return the error for a dtype that an operator does not know."""
    return invalid_argument(f"Value for attr '{argument}' of {spoken(dtype)} is not in the list of allowed values of "
                            f"{node} [Op:{node}] name: ")


def operand(x, other, node):
    """Return the other side of an operator as the engine takes it, in the dtype of `x`.

    Parameters
    ----------
    x : Tensor
        The side that is a tensor.
    other : Any
        A tensor, number, array or nested lists of numbers.
    node : str
        What TensorFlow calls the operator; it speaks in errors.

    Returns
    -------
    Union[Tensor, number]
        NotImplemented where the other side is of a class that may answer for itself.

    """
    kind = type(other)
    fits = FITS.get(kind)
    dtype = x.dtype
    if fits is not None:
        if dtype in fits:
            return wrapped(other, dtype) if kind is int and dtype in INTEGERS else other
        if dtype is BOOL:
            if node in ("Equal", "NotEqual", "LogicalAnd", "LogicalOr", "LogicalXor"):
                raise TypeError(f"Cannot convert {other} to EagerTensor of dtype bool")
            raise refuse_dtype(node, dtype)
        raise mismatch(node, x, NATURAL[kind])
    if isinstance(other, _C.Tensor):
        if type(other) is not Tensor and hasattr(other, "_read"):  # a variable, which may be read in another dtype
            other = other._read()
        if other.dtype is dtype or other.dtype == dtype:
            return other
        raise mismatch(node, x, other.dtype)
    return _convert_operand(x, other, node)


def _convert_operand(x, other, node):
    """Return arrays and lists as tensors of the dtype of `x`."""
    from dragon.vm.shared.tensors.convert import convert_to_tensor, told_array
    if other is None:
        raise ValueError("Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor.")
    if isinstance(other, (str, bytes)):
        raise mismatch(node, x, "string")
    if hasattr(type(other), "_keras_history") or type(other).__name__ == "KerasTensor":
        return NotImplemented  # a symbolic tensor answers for both
    name = type(other).__module__
    if isinstance(other, (list, tuple)):
        return convert_to_tensor(other, x.dtype)
    if name == "numpy" or hasattr(other, "__array__"):
        array = other if name == "numpy" else told_array(other)
        made = convert_to_tensor(array)
        if made.dtype == x.dtype:
            return made
        if made.dtype.is_complex and not x.dtype.is_complex or x.dtype.is_bool:
            raise mismatch(node, x, made.dtype)
        return ops.cast(made, x.dtype)
    if isinstance(other, (int, float, complex)):
        return operand(x, next(kind(other) for kind in (bool, int, float, complex) if isinstance(other, kind)), node)
    return NotImplemented


def apply(operator, node, x, other, reverse=False, allowed=None):
    """Return what an engine's operator makes of a tensor and the other side; see `operand`."""
    if promotion:
        x, other = promotion[0](x, other)
    other = operand(x, other, node)
    if other is NotImplemented:
        return NotImplemented
    if x.dtype is BOOL and allowed is None or allowed is not None and x.dtype not in allowed:
        raise refuse_dtype(node, x.dtype)
    return operator(other, x) if reverse else operator(x, other)


def _floor_divide(x, y):
    """Return quotients rounded down; of floats the floor of the quotient, infinite where that is."""
    dtype = y.dtype if isinstance(x, (int, float)) else x.dtype
    return ops.floor(ops.div(x, y)) if dtype in FLOATS else ops.floor_divide(x, y)


def _shift(run):
    """Return a shift by as many places as a number has bits but one, at most, and by none at least."""
    def shift(x, y):
        bits = 8 * x.dtype.size
        return run(x, ops.clamp(y, ops.zeros_like(y), ops.full_like(y, bits - 1)))
    return shift


# What the engine computes in another way.
RUNS = {"floor_divide": _floor_divide, "bitwise_left_shift": _shift(ops.bitwise_left_shift),
        "bitwise_right_shift": _shift(ops.bitwise_right_shift), "maximum": greater_of, "minimum": lesser_of}


def _arithmetic(name, operator, node):
    """Give Base the two methods of an arithmetic operator."""
    run = RUNS.get(operator) or getattr(ops, operator)

    def forward(self, other):
        if type(other) is Tensor and other.dtype is self.dtype and self.dtype is not BOOL:
            return run(self, other)
        return apply(run, node, self, other)

    def backward(self, other):
        return apply(run, node, self, other, True)
    setattr(Base, f"__{name}__", forward)
    setattr(Base, f"__r{name}__", backward)


for _entry in ("add add AddV2", "sub sub Sub", "mul mul Mul", "floordiv floor_divide FloorDiv",
               "mod remainder FloorMod"):
    _arithmetic(*_entry.split())


def _ordering(name, operator, node):
    """Give Base a comparison that orders."""
    run = getattr(ops, operator)

    def compare(self, other):
        return apply(run, node, self, other, False, INTEGERS | FLOATS)
    setattr(Base, f"__{name}__", compare)


for _entry in ("lt lt Less", "le le LessEqual", "gt gt Greater", "ge ge GreaterEqual"):
    _ordering(*_entry.split())


def _bitwise(name, truth, truth_node, bits, bits_node):
    """Give Base the two methods of an operator that is logical for bools and bitwise for integers."""
    logical, bitwise = getattr(ops, truth), getattr(ops, bits)

    def run(self, other, reverse=False):
        if self.dtype is BOOL:
            return apply(logical, truth_node, self, other, reverse, {BOOL})
        return apply(bitwise, bits_node, self, other, reverse, INTEGERS)

    def backward(self, other):
        return run(self, other, True)
    setattr(Base, f"__{name}__", lambda self, other: run(self, other))
    setattr(Base, f"__r{name}__", backward)


_bitwise("and", "logical_and", "LogicalAnd", "bitwise_and", "BitwiseAnd")
_bitwise("or", "logical_or", "LogicalOr", "bitwise_or", "BitwiseOr")
_bitwise("xor", "logical_xor", "LogicalXor", "bitwise_xor", "BitwiseXor")


def _divide(self, other, reverse=False):
    if isinstance(other, _C.Tensor) and type(other) is not Tensor and hasattr(other, "_read"):
        other = other._read()
    if isinstance(other, _C.Tensor) and other.dtype != self.dtype:
        raise TypeError(f"`x` and `y` must have the same dtype, got {self.dtype!r} != {other.dtype!r}.")
    other = operand(self, other, "RealDiv")
    if other is NotImplemented:
        return other
    wider = QUOTIENT.get(self.dtype)
    if self.dtype is BOOL:
        raise TypeError(f"`x` and `y` must be numbers to be divided, got dtype: {self.dtype!r}")
    if wider is not None:
        self = ops.cast(self, wider)
        other = ops.cast(other, wider) if isinstance(other, _C.Tensor) else other
    return ops.div(other, self) if reverse else ops.div(self, other)


def _power(self, other, reverse=False):
    other = operand(self, other, "Pow")
    if other is NotImplemented:
        return other
    if self.dtype is BOOL:
        raise refuse_dtype("Pow", BOOL)
    if self.dtype in INTEGERS:
        exponent = self if reverse else other
        if isinstance(exponent, int) and exponent < 0:
            raise invalid_argument("Integers to negative integer powers are not allowed [Op:Pow] name: ")
    return ops.pow(other, self) if reverse else ops.pow(self, other)


def _product(self, other, reverse=False):
    other = operand(self, other, "MatMul")
    if other is NotImplemented:
        return other
    for place, side in enumerate((other, self) if reverse else (self, other)):
        if not isinstance(side, _C.Tensor) or side.ndim < 2:
            raise invalid_argument(f"In[{place}] ndims must be >= 2: "
                                   f"{getattr(side, 'ndim', 0)} [Op:MatMul] name: ")
    return ops.matmul(other, self) if reverse else ops.matmul(self, other)


for _name, _method in (("truediv", _divide), ("pow", _power), ("matmul", _product)):
    setattr(Base, f"__{_name}__", lambda self, other, _method=_method: _method(self, other))
    setattr(Base, f"__r{_name}__", lambda self, other, _method=_method: _method(self, other, True))


def _equal(self, other, node="Equal", run=ops.eq, unequal=False):
    if other is None:
        return unequal
    if isinstance(other, (str, bytes)):
        raise mismatch(node, self, "string")
    other = operand(self, other, node)
    if other is NotImplemented:
        return NotImplemented
    try:
        return run(self, other)
    except _C.InvalidValue:  # shapes that do not broadcast: different things
        return ops.full((), unequal, dtype="bool")


def _invert(self):
    if self.dtype is BOOL:
        return ops.logical_not(self)
    if self.dtype not in INTEGERS:
        raise refuse_dtype("Invert", self.dtype)
    return ops.bitwise_not(self)


def _negative(self):
    if self.dtype is BOOL:
        raise refuse_dtype("Neg", self.dtype)
    return ops.neg(self)


Base.__eq__ = _equal
Base.__ne__ = lambda self, other: _equal(self, other, "NotEqual", ops.ne, True)
Base.__invert__ = _invert
Base.__neg__ = _negative
Base.__abs__ = lambda self: ops.abs(self)
Base.__pos__ = lambda self: self


def _refuse(symbol):
    def method(self, other):
        return NotImplemented
    return method


# TensorFlow has no such operators; the engine's own would promote and write in place.
for _name in ("lshift", "rshift"):
    setattr(Base, f"__{_name}__", _refuse(_name))
    setattr(Base, f"__r{_name}__", _refuse(_name))
for _name in (*ARITHMETIC, *BITWISE):
    setattr(Base, f"__i{_name}__", _refuse(_name))
