"""`tf.Variable`: a leaf of the tape with a name; its numbers are replaced, not changed under anyone's hands."""
import threading

from dragon import _C
from dragon.core import modes
from dragon.core.capture.settings import is_capturing
from dragon.core.scopes import ExitStack, contextmanager
from dragon.core.thread_state import ThreadFlag
from dragon.vm.shared import strategies
from dragon.vm.shared.naming import known_as
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype, fits_into, string
from dragon.vm.shared.tensors.placing import beside
from dragon.vm.shared.tensors.shape import TensorShape, UNKNOWN
from dragon.vm.shared.tensors.tensor import Base, IdentityDictionary, as_tensor, ops
from dragon.vm.shared.tensors.variable_parts import VariableParts

_local = threading.local()
living = IdentityDictionary()  # all variables, for tapes that are asked what they saw


inferring = ThreadFlag()  # whether this thread runs functions for shapes alone, so that nothing may be written
pending = []  # restorations that wait for variables that are not made yet


@contextmanager
def variable_creator_scope(variable_creator):
    """Have a function make the variables of a `with` block.

    Parameters
    ----------
    variable_creator : Callable
        Is given the next function that makes variables, that of the block around this one or the plain one, and the
        arguments by their names; returns the variable.

    """
    before = getattr(_local, "creators", ())
    _local.creators = (*before, variable_creator)
    try:
        yield
    finally:
        _local.creators = before


@contextmanager
def no_creators():
    """Have the variables of a `with` block be plain ones, whatever blocks are around it."""
    before, _local.creators = getattr(_local, "creators", ()), ()
    try:
        yield
    finally:
        _local.creators = before


def _create(creators, given):
    """Return the variable that the creators of blocks make, the innermost first."""
    before, _local.creators = _local.creators, creators[:-1]
    try:
        return creators[-1](lambda **kwargs: Variable(**kwargs), **given)
    finally:
        _local.creators = before


def settle():
    """Give saved values to variables that were made since a checkpoint was restored."""
    if pending and not is_capturing():
        for restoration in list(pending):
            restoration.match()


def write(variable, value):
    """Replace a variable's numbers; whoever looks at the old ones keeps them.

    Parameters
    ----------
    variable : Base
        The variable, of TensorFlow or Keras; `_C.keep_saved` was told of it.
    value : Tensor
        Numbers of its dtype and shape.

    """
    if inferring.on:
        return
    strategies.note_written(variable)
    with ExitStack() as exits:
        exits.switch(modes.set_recording, False)
        if _C.storage_owners(variable) > 1 and not is_capturing():
            with beside(variable):
                variable.data = ops.clone(value)
        else:
            ops.copy(value, out=variable)


def write_with(variable, operator, value):
    """Apply an in-place operator (`ops.add_`) to a variable; whoever looks at the old numbers keeps them."""
    if inferring.on:
        return
    strategies.note_written(variable)
    with ExitStack() as exits:
        exits.switch(modes.set_recording, False)
        if _C.storage_owners(variable) > 1 and not is_capturing():
            with beside(variable):
                variable.data = ops.clone(variable.data)
        operator(variable, value)


def read(variable):
    """Return a variable's numbers as a Tensor that later writes do not reach; gradients flow through it."""
    return ops.clone(variable) if is_capturing() else as_tensor(ops.view(variable, tuple(variable.shape)))


def unique_name(name):
    """Return a name below the name scopes that are open."""
    prefix = "/".join(getattr(_local, "scopes", ()))
    return f"{prefix}/{name}" if prefix else name


@contextmanager
def open_scope(name):
    """Put a name before those of variables made meanwhile."""
    if not hasattr(_local, "scopes"):
        _local.scopes = []
    before = _local.scopes
    if name is None or name == "":
        _local.scopes = []
    elif name.endswith("/"):
        _local.scopes = [part for part in name.split("/") if part]
    else:
        _local.scopes = [*before, name]
    try:
        yield "/".join(_local.scopes) + "/" if _local.scopes else ""
    finally:
        _local.scopes = before


class _Kind(type(Base)):
    """The class of `tf.Variable`: variables of strings, which the engine does not have, are such too."""

    def __instancecheck__(cls, value):
        return super().__instancecheck__(value) or cls is Variable and hasattr(type(value), "is_string_variable")


@known_as("tensorflow")
class Variable(VariableParts, Base, metaclass=_Kind):
    """Numbers that a program keeps and replaces.

    Parameters
    ----------
    initial_value : Union[Tensor, Callable]
        What it holds first; a function of no arguments is called for it.
    trainable : bool, optional, default=True
        Whether tapes watch it by themselves.
    validate_shape : bool, optional, default=True
        Whether values of other shapes are refused.
    caching_device : Any, optional
        Must be None.
    name : str, optional
        "Variable" by default.
    variable_def : Any, optional
        Must be None.
    dtype : DType, optional
        By default what the value has.
    import_scope : str, optional
        Must be None.
    constraint : Callable, optional
        What optimizers apply after each step.
    synchronization, aggregation : Any, optional
        When values of several replicas meet, and what becomes of them.
    shape : TensorShape, optional
        Which shapes it may take on; by default that of the value.
    experimental_enable_variable_lifting : bool, optional
        Accepted.

    Examples
    --------
    >>> v = tf.Variable([1.0, 2.0])
    >>> _ = v.assign_add([10.0, 10.0])
    >>> v.numpy()
    array([11., 12.], dtype=float32)

    """

    _dragon_is_variable = True

    def __new__(cls, initial_value=None, trainable=None, validate_shape=True, caching_device=None, name=None,
                variable_def=None, dtype=None, import_scope=None, constraint=None, synchronization=None,
                aggregation=None, shape=None, experimental_enable_variable_lifting=True):
        creators = getattr(_local, "creators", ()) if cls is Variable else ()
        if creators:
            return _create(creators, {
                "initial_value": initial_value, "trainable": trainable, "validate_shape": validate_shape,
                "caching_device": caching_device, "name": name, "variable_def": variable_def, "dtype": dtype,
                "import_scope": import_scope, "constraint": constraint, "synchronization": synchronization,
                "aggregation": aggregation, "shape": shape,
                "experimental_enable_variable_lifting": experimental_enable_variable_lifting})
        for argument, given in (("caching_device", caching_device), ("variable_def", variable_def),
                                ("import_scope", import_scope)):
            if given is not None:
                raise NotImplementedError(f"tf.Variable: {argument} is not supported. Received: {argument}={given!r}")
        if initial_value is None:
            raise ValueError("The `initial_value` arg to `tf.Variable` must be specified except when you are not "
                             "providing a `variable_def`. You provided neither.")
        initial_value = initial_value() if callable(initial_value) else initial_value
        if cls is Variable and _is_text(initial_value, dtype):
            from dragon.vm.shared.tensors.string_variable import StringVariable
            declared = TensorShape(shape) if shape is not None else None if validate_shape else UNKNOWN
            return StringVariable(convert_to_tensor(initial_value, dtype), trainable is None or bool(trainable),
                                  unique_name(name or "Variable"), declared, synchronization, aggregation)
        with modes.no_grad():
            self = _hold(cls, initial_value, dtype)
        self._trainable = trainable is None or bool(trainable)
        if self._trainable and (self.dtype.is_floating or self.dtype.is_complex):
            self.requires_grad = True
            _C.keep_saved(self)
        self._name = unique_name(name or "Variable")
        self._constraint, self.synchronization, self.aggregation = constraint, synchronization, aggregation
        self._declared = TensorShape(shape) if shape is not None else None if validate_shape else UNKNOWN
        if self._declared is not None and not self._declared.is_compatible_with(self.shape):
            raise ValueError(f"In this `tf.Variable` creation, the initial value's shape ({self.shape}) is not "
                             f"compatible with the explicitly supplied `shape` argument ({self._declared}).")
        return self

    def __init__(self, *args, **kwargs):
        living.set(self, None)
        strategies.note_made(self)

    def __repr__(self):
        from dragon.vm.shared.tensors.host import describe
        shape = self.shape if self._declared is None else self._declared
        return f"<tf.Variable '{self.name}' shape={shape} dtype={self.dtype.name}, {describe(self)}>"

    __str__ = __repr__

    def __hash__(self):
        raise TypeError("Variable is unhashable. Instead, use variable.ref() as the key. (Variable: "
                        f"{self!r})")

    def __deepcopy__(self, memo):
        copied = type(self)(ops.clone(self.data), trainable=self.trainable, name=self._name,
                            constraint=self._constraint, shape=self._declared)
        memo[id(self)] = copied
        return copied

    def __reduce__(self):
        return rebuild, (as_tensor(self.data), self._trainable, self._name)

    name = property(lambda self: f"{self._name}:0", doc='str: the name, followed by ":0".')

    @property
    def _shared_name(self):
        return self._name

    trainable = property(lambda self: self._trainable, doc="bool: whether tapes watch the variable by themselves.")
    constraint = property(lambda self: self._constraint,
                          doc="Optional[Callable]: what optimizers apply after each step.")
    handle = property(lambda self: self, doc="Variable: the variable itself, which stands for its memory.")

    @property
    def initial_value(self):
        """Refuse: the first value is not kept."""
        raise RuntimeError("This property is not supported when eager execution is enabled.")

    def _read(self):
        return read(self)

    def value(self):
        """Return the numbers as a tensor."""
        return read(self)

    read_value = value

    def initialized_value(self):
        """Return the numbers as a tensor."""
        return read(self)

    def is_initialized(self, name=None):
        """Return True: a variable holds a value from the beginning."""
        return convert_to_tensor(True)

    def set_shape(self, shape):
        """Narrow what shapes the variable may take on."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(f"Shapes {self.shape} and {TensorShape(shape)} are incompatible")
        self._declared = TensorShape(shape)

    def _of_own_dtype(self, value, verb):
        """Return a value as a tensor of the variable's dtype; one of another, where a guest promotes dtypes."""
        if fits_into and isinstance(value, _C.Tensor) and value.dtype != self.dtype:
            if not fits_into[0](self.dtype, value):
                raise TypeError(f"Variable dtype is immutable. Calling {verb} of Variable (with dtype {self.dtype!r}) "
                                f"on {value.numpy()} requires converting {value.numpy()} to {self.dtype!r}. This is "
                                "disabled in the current promotion semantics.")
            return ops.cast(value, self.dtype)
        return convert_to_tensor(value, self.dtype)

    def _incoming(self, value, verb="assign"):
        """Return a value as a tensor of the variable's dtype and of a shape that it can take on."""
        value = self._of_own_dtype(value, verb)
        if value.shape != self.shape and not (self._declared is not None
                                              and self._declared.is_compatible_with(value.shape)):
            raise ValueError(f"Cannot {verb} value to variable '{self.name}': Shape mismatch.The variable shape "
                             f"{self._declared or self.shape}, and the assigned value shape {value.shape} are "
                             "incompatible.")
        return value

    def assign(self, value, use_locking=False, name=None, read_value=True):
        """Replace the value; returns the variable."""
        value = self._incoming(value)
        strategies.note_assigned(self)
        if strategies.joins(self):
            strategies.local.replica.memory.write_together(self, "assign", value)
        elif value.shape == self.shape:
            write(self, value)
        elif not inferring.on:
            with beside(self):
                self.data = ops.clone(as_tensor(value.detach()))
        return self if read_value else None

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        """Add to the value; returns the variable."""
        delta = self._broadcast(delta, "assign_add")
        if strategies.joins(self):
            strategies.local.replica.memory.write_together(self, "assign_add", delta)
        else:
            write_with(self, ops.add_, delta)
        return self if read_value else None

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        """Subtract from the value; returns the variable."""
        delta = self._broadcast(delta, "assign_sub")
        if strategies.joins(self):
            strategies.local.replica.memory.write_together(self, "assign_sub", delta)
        else:
            write_with(self, ops.sub_, delta)
        return self if read_value else None

    def _broadcast(self, delta, verb):
        delta = self._of_own_dtype(delta, verb)
        if tuple(delta.shape) != tuple(self.shape):
            raise ValueError(f"Cannot {verb} value to variable '{self.name}': Shape mismatch.The variable shape "
                             f"{self.shape}, and the assigned value shape {delta.shape} are incompatible.")
        return delta

    def experimental_ref(self):
        """Return something hashable that stands for this object."""
        return self.ref()

    def to_proto(self, export_scope=None):
        """Refuse: there are no graphs of TensorFlow 1."""
        raise RuntimeError("to_proto() is not supported in EAGER mode.")


def _is_text(value, dtype):
    """Return whether a variable of this value, and of this dtype if one is named, holds strings."""
    if dtype is not None:
        return as_dtype(dtype) is string
    if isinstance(value, _C.Tensor):
        return False
    return convert_to_tensor(value).dtype is string


def _hold(cls, value, dtype):
    """Return a fresh object of a variable's class over its own copy of a value."""
    value = convert_to_tensor(value, dtype if not isinstance(value, _C.Tensor) else None)
    if dtype is not None and value.dtype is not as_dtype(dtype):
        raise ValueError(f"Tensor conversion requested dtype {as_dtype(dtype).name} for Tensor with dtype "
                         f"{value.dtype.name}: {value!r}")
    if not isinstance(value, _C.Tensor):
        raise NotImplementedError("tf.Variable: variables of strings are not supported; keep a tensor or a Python "
                                  f"value instead. Received: initial_value={value!r}")
    return _C.Tensor.__new__(cls, ops.clone(value.detach()))


def rebuild(value, trainable, name):
    """Return a pickled variable."""
    again = Variable(value, trainable=trainable)
    again._name = name
    return again


def living_variables():
    """Return all variables that somebody holds."""
    return living.keys()
