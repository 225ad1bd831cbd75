"""`experimental_enable_numpy_behavior`: tensors with NumPy's methods, subscripts and dtypes of results."""
from dragon import _C
from dragon.core.python_operators import COMPARISONS
from dragon.dialects.numpy.table import names
from dragon.vm.guest import named
from dragon.vm.shared.tensors import operators
from dragon.vm.shared.tensors.dtypes import fits_into
from dragon.vm.shared.tensors.indexing import get_item
from dragon.vm.shared.tensors.tensor import Base, Tensor, ops
from dragon.vm.tensorflow.core.numpy_like import arrays, elementwise, reductions
from dragon.vm.tensorflow.core.numpy_like.promotion import Settings, result_type, to_tensor, together

MODES = ("off", "legacy", "safe", "all")
OPERATORS = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide", "floordiv": "floor_divide",
             "mod": "mod", "pow": "power", "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or",
             "xor": "bitwise_xor"}
LOGICAL = {"bitwise_and": "logical_and", "bitwise_or": "logical_or", "bitwise_xor": "logical_xor"}


def experimental_enable_numpy_behavior(prefer_float32=False, dtype_conversion_mode="legacy"):
    """Give tensors NumPy's methods and subscripts, and their operators dtypes that operands have in common.

    Parameters
    ----------
    prefer_float32 : bool, optional, default=False
        Whether floating numbers without a dtype are float32 rather than float64.
    dtype_conversion_mode : str, optional, default="legacy"
        "legacy": NumPy's dtypes. "all": for each pair of dtypes one, to which Python's numbers give way; functions of
        TensorFlow follow as well. "safe": the same, where no bit is lost; others are a TypeError. "off": TensorFlow's.

    """
    mode = str(dtype_conversion_mode).lower()
    if mode not in MODES:
        raise ValueError(f"experimental_enable_numpy_behavior: got dtype_conversion_mode={dtype_conversion_mode!r}, "
                         f"expected one of {', '.join(MODES)}")
    Settings.prefers_float32, Settings.mode = bool(prefer_float32), mode
    operators.promotion[:], fits_into[:] = ([_agree], [_fits]) if mode in ("all", "safe") else ([], [])
    for name, method in METHODS.items():
        setattr(Base, name, method)
    if mode == "off":
        for name, method in _plain.items():
            setattr(Base, name, method)
        return
    for name, method in {**_operator_methods(), "__getitem__": _subscript}.items():
        _plain.setdefault(name, Base.__dict__[name])
        setattr(Base, name, method)


_plain = {}  # the operators of TensorFlow


def _agree(x, other):
    """Return both sides of one of TensorFlow's operators in the dtype that they have in common."""
    return together(x, other)


def _fits(dtype, value):
    """Return whether a dtype is the one that it and a tensor have in common."""
    return result_type(dtype, value) == dtype


def _answers(other):
    """Return whether the other side of an operator is of a class that answers for itself."""
    if isinstance(other, _C.Tensor) or isinstance(other, (bool, int, float, complex, list, tuple)):
        return False
    return type(other).__module__ != "numpy" and not hasattr(other, "__array__")


def _operator_methods():
    made = {}
    for name, word in OPERATORS.items():
        run = getattr(elementwise, word)
        logical = getattr(elementwise, LOGICAL.get(word, word))

        def forward(self, other, run=run, logical=logical):
            if _answers(other):
                return NotImplemented
            return (logical if _are_bools(self, other) else run)(self, other)

        def backward(self, other, run=run, logical=logical):
            if _answers(other):
                return NotImplemented
            return (logical if _are_bools(self, other) else run)(other, self)
        made[f"__{name}__"], made[f"__r{name}__"] = forward, backward
    for name in COMPARISONS:
        run = getattr(elementwise, names()[name])

        def compare(self, other, run=run, name=name):
            if other is None or isinstance(other, (str, bytes)) or _answers(other):
                return _plain[f"__{name}__"](self, other)
            return run(self, other)
        made[f"__{name}__"] = compare
    return made


def _are_bools(self, other):
    return self.dtype.is_bool and (isinstance(other, bool) or getattr(other, "dtype", None) == self.dtype)


def _subscript(self, key):
    """Return a part by NumPy's subscripts: numbers, slices, and lists or tensors of numbers and of bools."""
    keys = key if isinstance(key, tuple) else (key,)
    if not any(isinstance(one, (list, tuple)) or getattr(one, "ndim", 0) for one in keys):
        return get_item(self, key)
    if any(isinstance(one, slice) and (one.step or 1) < 0 for one in keys):
        raise NotImplementedError(f"x[...]: steps backwards beside lists of places. Received: {key!r}")
    made = tuple(to_tensor(one) if isinstance(one, (list, tuple)) or type(one).__module__ == "numpy" else one
                 for one in keys)
    found = _C.Tensor.__getitem__(self, made)
    return found if type(found) is Tensor else ops.view(found, tuple(found.shape))


def _astype(self, dtype):
    """Return the numbers in another dtype."""
    return arrays.asarray(self, dtype)


def _reshape(self, *shape, order="C"):
    """Return the same numbers in another shape."""
    return arrays.reshape(self, shape[0] if len(shape) == 1 else shape, order)


def _transpose(self, *axes):
    """Return the tensor with its axes in another order."""
    axes = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
    return arrays.transpose(self, axes or None)


METHODS = {
    "T": property(lambda self: arrays.transpose(self), doc="Tensor: the axes in reverse order."),
    "astype": _astype, "reshape": _reshape, "transpose": _transpose,
    "ravel": named(lambda self: arrays.ravel(self), "ravel", "Return the numbers in one row."),
    "flatten": named(lambda self, order="C": arrays.flatten(self, order), "flatten",
                     "Return a copy of the numbers in one row."),
    "clip": named(lambda self, a_min, a_max: elementwise.clip(self, a_min, a_max), "clip",
                  "Return the numbers, none below or above the bounds."),
    "tolist": named(lambda self: self.numpy().tolist(), "tolist", "Return the numbers as nested lists."),
    "max": named(lambda self, axis=None, keepdims=None: reductions.max(self, axis, keepdims), "max",
                 "Return the largest numbers along axes."),
    "min": named(lambda self, axis=None, keepdims=None: reductions.min(self, axis, keepdims), "min",
                 "Return the smallest numbers along axes."),
    "mean": named(lambda self, axis=None, dtype=None, out=None, keepdims=None: reductions.mean(
        self, axis, dtype, out, keepdims), "mean", "Return the means along axes."),
}
