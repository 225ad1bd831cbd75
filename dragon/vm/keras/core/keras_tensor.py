"""`KerasTensor`: a shape and a dtype without numbers, out of which graphs of layers are drawn."""
from dragon.vm.keras.core import tree
from dragon.vm.keras.core.above import above
from dragon.vm.keras.core.dtypes import standardize_dtype
from dragon.vm.keras.core.naming import auto_name
from dragon.vm.keras.core.shapes import standardize_shape


class KerasTensor:
    """A symbolic tensor: what `keras.Input` returns, and layers called with it.

    Parameters
    ----------
    dtype : str, optional, default="float32"
        The dtype.
    sparse : bool, optional, default=False
        Whether it stands for sparse tensors.
    ragged : bool, optional, default=False
        Whether it stands for ragged tensors.
    record_history : bool, optional, default=True
        Whether calls with it become nodes of a graph.

    """

    def __init__(self, shape, dtype="float32", sparse=False, ragged=False, record_history=True, name=None, **kwargs):
        ragged_rank, row_splits_dtype = kwargs.pop("ragged_rank", None), kwargs.pop("row_splits_dtype", None)
        if kwargs:
            raise TypeError(f"Unexpected keyword arguments: {', '.join(kwargs)}")
        if sparse and ragged:
            raise ValueError("KerasTensor cannot have `sparse=True` and `ragged=True` at the same time. "
                             f"Received: shape={shape}")
        self._shape, self._dtype = standardize_shape(shape), standardize_dtype(dtype)
        self._sparse, self._ragged = bool(sparse), bool(ragged)
        self._ragged_rank = None if ragged_rank is None else int(ragged_rank)
        self._row_splits_dtype = None if row_splits_dtype is None else standardize_dtype(row_splits_dtype)
        self.name = name or auto_name(type(self).__name__)
        self.record_history = record_history

    ndim = property(lambda self: len(self._shape), doc="The number of axes.")

    def reshape(self, newshape):
        """Return the tensor in another shape."""
        return above("ops").reshape(self, newshape)

    def squeeze(self, axis=None):
        """Return the tensor without axes of size 1."""
        return above("ops").squeeze(self, axis=axis)

    def __array__(self, *args, **kwargs):
        raise ValueError("A KerasTensor is symbolic: it's a placeholder for a shape and a dtype. It doesn't have any "
                         f"actual numerical value and cannot be converted to a NumPy array. Received: {self}")

    def __tf_tensor__(self, dtype=None, name=None):
        raise ValueError("A KerasTensor cannot be used as input to a TensorFlow function. It is a symbolic placeholder "
                         "for a shape and a dtype; call the function within the `call()` of a layer. "
                         f"Received: {self}")

    def __int__(self):
        raise ValueError(f"A KerasTensor is symbolic: it can't be converted to an int. Received: {self}")

    def __float__(self):
        raise ValueError(f"A KerasTensor is symbolic: it can't be converted to a float. Received: {self}")

    def __bool__(self):
        raise TypeError(f"A symbolic KerasTensor cannot be used as a boolean. Received: {self}")

    def __iter__(self):
        raise NotImplementedError(f"Iterating over a symbolic KerasTensor is not supported. Received: {self}")

    def __repr__(self):
        more = "".join(f", {name}={value}" for name, value in (
            ("ragged_rank", self._ragged_rank), ("row_splits_dtype", self._row_splits_dtype)) if value is not None)
        return (f"<KerasTensor shape={self._shape}, dtype={self._dtype}, sparse={self._sparse}, "
                f"ragged={self._ragged}{more}, name={self.name}>")

    def __getitem__(self, key):
        return above("ops").get_item(self, key)

    def __round__(self, ndigits=None):
        return above("ops").round(self, decimals=ndigits or 0)


def _fixed(name):
    def read(self):
        return getattr(self, f"_{name}")

    def refuse(self, value):
        raise AttributeError(f"The `{name}` attribute of KerasTensor is immutable. One should create a new instance of "
                             f"KerasTensor for this. Received: {value}")
    return property(read, refuse, doc=f"The {name.replace('_', ' ')}.")


for _name in ("shape", "dtype", "sparse", "ragged", "ragged_rank", "row_splits_dtype"):
    setattr(KerasTensor, _name, _fixed(_name))


def _binary(function, is_reflected=False):
    def method(self, other):
        operation = getattr(above("ops"), function)
        return operation(other, self) if is_reflected else operation(self, other)
    method.__doc__ = f"Apply `keras.ops.{function}`."
    return method


for _sign, _function in (
        ("add", "add"), ("sub", "subtract"), ("mul", "multiply"), ("matmul", "matmul"), ("truediv", "true_divide"),
        ("floordiv", "floor_divide"), ("mod", "mod"), ("pow", "power"), ("and", "logical_and"),
        ("or", "logical_or"), ("xor", "logical_xor")):
    setattr(KerasTensor, f"__{_sign}__", _binary(_function))
    setattr(KerasTensor, f"__r{_sign}__", _binary(_function, True))
for _sign, _function in (("lt", "less"), ("le", "less_equal"), ("gt", "greater"), ("ge", "greater_equal"),
                         ("ne", "not_equal")):
    setattr(KerasTensor, f"__{_sign}__", _binary(_function))
KerasTensor.__hash__ = object.__hash__
KerasTensor.__neg__ = lambda self: above("ops").negative(self)
KerasTensor.__abs__ = lambda self: above("ops").absolute(self)
KerasTensor.__invert__ = lambda self: above("ops").logical_not(self)


def any_symbolic_tensors(args=None, kwargs=None):
    """Tell whether there is a symbolic tensor among arguments."""
    if args and len(args) == 1 and not kwargs and not isinstance(args[0], tree.PLAIN):
        return isinstance(args[0], KerasTensor)
    return _holds_symbolic(args or ()) or bool(kwargs) and _holds_symbolic(kwargs)


def _holds_symbolic(structure):
    for value in structure.values() if isinstance(structure, dict) else structure:
        if isinstance(value, KerasTensor) or isinstance(value, tree.PLAIN) and _holds_symbolic(value):
            return True
    return False
