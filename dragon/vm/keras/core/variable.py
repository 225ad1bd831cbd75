"""`keras.Variable`: numbers with a name that training changes; a tensor of the engine, and a leaf of its tape."""
from dragon import _C
from dragon.core import modes
from dragon.core.capture.settings import is_capturing
from dragon.core.python_operators import COMPARISONS
from dragon.core.scopes import ExitStack
from dragon.vm.keras.core.above import above
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.dtypes import is_float_dtype, result_type, standardize_dtype
from dragon.vm.keras.core.naming import auto_name
from dragon.vm.keras.core.scopes import (
    Concrete, current_path, get_autocast_scope, get_stateless_scope, in_symbolic_scope)
from dragon.vm.keras.core.shapes import shape_equal, standardize_shape
from dragon.vm.shared import strategies
from dragon.vm.shared.tensors.convert import placed
from dragon.vm.shared.tensors.tensor import Base, Tensor, ops
from dragon.vm.shared.tensors.variable import living, write

AGGREGATIONS = (None, "none", "mean", "sum", "only_first_replica")
SYNCHRONIZATIONS = (None, "none", "on_read", "on_write", "auto")


class Variable(Base):
    """Numbers that can be assigned to, with a name, a path and a place in a layer.

    Parameters
    ----------
    initializer : Union[Callable, str, Tensor, numpy.ndarray, float]
        The first value, or what makes it of a shape and a dtype.
    shape : Sequence[int], optional
        The shape; needed by an initializer that is called.
    dtype : str, optional
        The dtype; without it the value's, or the default float.
    trainable : bool, optional, default=True
        Whether optimizers shall change it.
    autocast : bool, optional, default=True
        Whether layers of mixed precision read it in their compute dtype.
    aggregation : str, optional, default="none"
        What becomes of values from several devices.
    synchronization : str, optional, default="auto"
        When values from several devices meet.
    name : str, optional
        The name, without slashes.
    layout : TensorLayout, optional
        How it lies over devices; it is cut only between processes, under `keras.distribution.set_distribution`.

    Examples
    --------
    >>> step = keras.Variable(3.0, name="step")
    >>> _ = step.assign_add(1.0)
    >>> float(step.value), step.shape, step.dtype
    (4.0, TensorShape([]), 'float32')

    """

    def __new__(cls, initializer, shape=None, dtype=None, trainable=True, autocast=True, aggregation="none",
                synchronization="auto", name=None, layout=None):
        name = name or auto_name(cls.__name__)
        _check_words(name, aggregation, synchronization)
        if isinstance(initializer, str):
            initializer = above("initializers").get(initializer)
        path = f"{parent}/{name}" if (parent := current_path()) else name
        is_made = callable(initializer) and not isinstance(initializer, _C.Tensor)
        if is_made and shape is None:
            raise ValueError("When creating a Variable from an initializer, the `shape` argument should be specified. "
                             f"Received: initializer={initializer} and shape={shape}")
        if not is_made and get_stateless_scope() is not None:
            raise ValueError("You are attempting to create a variable while in a stateless scope. This is disallowed. "
                             "Make all variables before layers are used: in `build()`, by `self.add_weight()`, with a "
                             f"`shape` and an `initializer`. Received: initializer={initializer}")
        with ExitStack() as exits:
            exits.switch(modes.set_recording, False)
            with Concrete():
                value = _first_value(initializer, is_made, shape, dtype, path)
        layout, cut = strategies.layout_of(path, tuple(value.shape), layout)
        self = _C.Tensor.__new__(cls, value) if cut is None else strategies.chosen[0].hold(cls, cut, value)
        self._name, self._path, self._dtype = name, path, standardize_dtype(value.dtype)
        self._trainable, self._autocast = bool(trainable), bool(autocast)
        self._aggregation, self._synchronization = aggregation or "none", synchronization or "none"
        self._regularizer = self._constraint = None
        self._layout = layout
        self._overwrite_with_gradient = False
        self._note_trainable()
        living.set(self, None)
        strategies.note_made(self)
        return self

    def __init__(self, *args, **kwargs):
        pass

    def _note_trainable(self):
        self.requires_grad = self._trainable and is_float_dtype(self._dtype)
        if self.requires_grad:
            _C.keep_saved(self)  # pending gradients shall see the numbers of now, whatever is assigned

    # --- the numbers

    @property
    def value(self):
        """The tensor that is read: the variable itself, or what a scope has in its place."""
        value = self
        scope = get_stateless_scope()
        if scope is not None:
            value = scope.get_current_value(self)
            value = self if value is None else value
        return autocasted(self, value)

    def snapshot(self):
        """Return the numbers of now: later assignments do not change them."""
        value = self.value
        return ops.clone(value) if is_capturing() else ops.view(value, tuple(value.shape))

    def _read(self):
        """Return a Tensor for functions of `tf`, which take variables too."""
        return _as_tensor(self.value)

    def assign(self, value):
        """Give the variable other numbers of its shape; returns them as a tensor."""
        value = convert_to_tensor(value, dtype=self._dtype)
        if not shape_equal(tuple(value.shape), tuple(self.shape)):
            raise ValueError("The shape of the target variable and the shape of the target value in "
                             "`variable.assign(value)` must match. "
                             f"variable.shape={tuple(self.shape)}, Received: value.shape={tuple(value.shape)}. "
                             f"Target variable: {self}")
        scope = get_stateless_scope()
        if scope is not None:
            scope.add_update((self, value))
        elif strategies.joins(self):
            return strategies.local.replica.memory.write_together(self, "assign", value)
        elif not in_symbolic_scope():
            write(self, value)
        return value

    def assign_add(self, value):
        """Add to the numbers; returns the sum."""
        if strategies.joins(self):  # what is added is joined, not the sums
            return strategies.local.replica.memory.write_together(self, "assign_add", convert_to_tensor(value))
        return self.assign(self + value)

    def assign_sub(self, value):
        """Subtract from the numbers; returns the difference."""
        if strategies.joins(self):
            return strategies.local.replica.memory.write_together(self, "assign_sub", convert_to_tensor(value))
        return self.assign(self - value)

    def numpy(self):
        """Return the numbers as an array of its own."""
        return numpy_of(self.value)

    def __array__(self, dtype=None, copy=None):
        array = self.numpy()
        return array if dtype is None else array.astype(dtype)

    # --- what is told of it

    @property
    def dtype(self):
        """The name of the dtype that the variable is read in."""
        scope = get_autocast_scope()
        if scope is not None and scope.dtype is not None and self._autocast and is_float_dtype(self._dtype):
            return scope.dtype
        return self._dtype

    name = property(lambda self: self._name, doc="The name, without the layers'.")
    path = property(lambda self: self._path, doc="The name behind those of the layers it is in.")
    aggregation = property(lambda self: self._aggregation, doc="What becomes of values from several devices.")
    synchronization = property(lambda self: self._synchronization, doc="When values from several devices meet.")

    @property
    def trainable(self):
        """Whether optimizers shall change it."""
        return self._trainable

    @trainable.setter
    def trainable(self, value):
        self._trainable = bool(value)
        self._note_trainable()

    @property
    def overwrite_with_gradient(self):
        """Whether a gradient takes the place of the numbers, instead of changing them."""
        return self._overwrite_with_gradient

    @overwrite_with_gradient.setter
    def overwrite_with_gradient(self, value):
        if not isinstance(value, bool):
            raise TypeError(f"`overwrite_with_gradient` must be a boolean. Received: {value}")
        self._overwrite_with_gradient = value

    @property
    def regularizer(self):
        """What makes a loss of the numbers, or None."""
        return self._regularizer

    @regularizer.setter
    def regularizer(self, value):
        self._regularizer = _check_callable("regularizer", value)

    @property
    def constraint(self):
        """What the numbers are passed through after a step, or None."""
        return self._constraint

    @constraint.setter
    def constraint(self, value):
        self._constraint = _check_callable("constraint", value)

    def __repr__(self):
        value = "" if in_symbolic_scope() else f", value={numpy_of(self)}"
        return f"<Variable path={self._path}, shape={tuple(self.shape)}, dtype={self.dtype}{value}>"

    __str__ = __repr__

    def _repr_html_(self):
        from dragon.core.pictures.card import draw_card, tensor_card
        notes = [("path", self._path), ("trainable", self.trainable)]
        if in_symbolic_scope() or not isinstance(self.value, _C.Tensor):
            return draw_card("keras.Variable", [("shape", tuple(self.shape)), ("dtype", self.dtype), *notes])
        return tensor_card(self.value, "keras.Variable", notes)

    def __format__(self, spec):
        return format(repr(self), spec)

    def __reduce__(self):
        fields = {key: value for key, value in self.__dict__.items() if key not in ("_keras_mask",)}
        return _revive, (type(self), numpy_of(self), fields)

    def __deepcopy__(self, memo):
        made = _C.Tensor.__new__(type(self), ops.clone(self.detach()))
        made.__dict__.update(self.__dict__)
        made._note_trainable()
        memo[id(self)] = made
        return made

    def __bool__(self):
        raise TypeError("A Keras Variable cannot be used as a boolean.")

    def __int__(self):
        return int(self._number())

    def __float__(self):
        return float(self._number())

    def _number(self):
        if self.ndim > 0:
            raise TypeError("Only scalar arrays can be converted to Python scalars. "
                            f"Got: shape={tuple(self.shape)}")
        return _as_tensor(self.value).item()

    def __getitem__(self, index):
        return _as_tensor(self.value)[index]

    def __iter__(self):
        return iter(_as_tensor(self.value))

    def __len__(self):
        return len(_as_tensor(self.value))

    def __hash__(self):
        return id(self)

    def __round__(self, ndigits=None):
        return ops.round(self.value, decimals=ndigits or 0)


def autocasted(variable, value):
    """Return what a variable is read as, in the dtype that layers of mixed precision compute in."""
    scope = get_autocast_scope()
    if scope is None or not variable._autocast or scope.dtype is None or not is_float_dtype(variable._dtype):
        return value
    return value if variable._dtype == scope.dtype else ops.cast(value, scope.dtype)


def _as_tensor(value):
    return _C.as_class(value, Tensor) if isinstance(value, Variable) else value


def numpy_of(value):
    """Return a value's numbers as an array of its own."""
    import numpy as np

    from dragon.vm.shared.tensors.host import host_array
    return np.array(host_array(_as_tensor(value)))


def _first_value(initializer, is_made, shape, dtype, path):
    """Return fresh numbers for a variable."""
    if is_made:
        shape = standardize_shape(shape)
        if None in shape:
            raise ValueError("Shapes used to initialize variables must be fully-defined (no `None` dimensions). "
                             f"Received: shape={shape} for variable path='{path}'")
        dtype = standardize_dtype(dtype)
        value = convert_to_tensor(initializer(shape, dtype=dtype), dtype=dtype)
    else:
        value = convert_to_tensor(initializer, dtype=dtype)
    value = placed(value)
    # What others hold, or what has strides of its own, is copied.
    if value is initializer or _C.storage_owners(value) > 1 or isinstance(value, Variable):
        value = ops.clone(value)
    return value.detach()


def _check_words(name, aggregation, synchronization):
    if not isinstance(name, str) or "/" in name:
        raise ValueError(f"Argument `name` must be a string and cannot contain character `/`. Received: name={name}")
    for argument, value, accepted in (("aggregation", aggregation, AGGREGATIONS),
                                      ("synchronization", synchronization, SYNCHRONIZATIONS)):
        if value not in accepted:
            raise ValueError(f"Invalid value for argument `{argument}`. Expected one of {accepted}. "
                             f"Received: {argument}={value}")


def _check_callable(name, value):
    if value is not None and not callable(value):
        raise ValueError(f"Invalid value for attribute `{name}`. Expected a callable (such as an instance of "
                         f"`keras.{name}s.{name.capitalize()}`) or `None`. Received: {name}={value}")
    return value


def _revive(cls, array, fields):
    self = _C.Tensor.__new__(cls, convert_to_tensor(array))
    self.__dict__.update(fields)
    self._note_trainable()
    return self


def _binary(name, is_reflected=False):
    """Return an operator's method: as the engine has it, on what the variable is read as, in the dtype both meet in."""
    operator = getattr(ops, name)

    def method(self, other):
        if isinstance(other, (int, float, bool)):
            first, second = self.value, other
        else:
            if hasattr(other, "_keras_history") or type(other).__name__ == "KerasTensor":
                return NotImplemented
            try:
                first, second = self.value, convert_to_tensor(other)
            except (TypeError, ValueError):
                return NotImplemented
            dtype = result_type(standardize_dtype(first.dtype), standardize_dtype(second.dtype))
            first, second = (x if standardize_dtype(x.dtype) == dtype else ops.cast(x, dtype) for x in (first, second))
        return operator(second, first) if is_reflected else operator(first, second)
    method.__doc__ = f"Apply `{name}`."
    return method


for _sign, _name in (("add", "add"), ("sub", "sub"), ("mul", "mul"), ("truediv", "div"), ("floordiv", "floor_divide"),
                     ("mod", "remainder"), ("pow", "pow"), ("matmul", "matmul"), ("and", "logical_and"),
                     ("or", "logical_or"), ("xor", "logical_xor")):
    setattr(Variable, f"__{_sign}__", _binary(_name))
    setattr(Variable, f"__r{_sign}__", _binary(_name, True))
for _sign in COMPARISONS:
    setattr(Variable, f"__{_sign}__", _binary(_sign))
Variable.__neg__ = lambda self: ops.neg(self.value)
Variable.__abs__ = lambda self: ops.abs(self.value)
Variable.__pos__ = lambda self: self.value
Variable.__invert__ = lambda self: ops.bitwise_not(self.value)
