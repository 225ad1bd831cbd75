"""`tf.compat.v1.get_variable` and its scopes, collections, and functions that write into variables."""
import threading

from dragon.core.scopes import contextmanager
from dragon.vm.shared.tensors import variable as _variables
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype, float32
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.slices import IndexedSlices
from dragon.vm.shared.tensors.variable import Variable

_local = threading.local()
AUTO_REUSE = "AUTO_REUSE"
_collections = {}


class GraphKeys:
    """The names of collections."""

    VARIABLES = "variables"  # the older name of the next one


for _name in ("ACTIVATIONS ASSET_FILEPATHS BIASES CONCATENATED_VARIABLES COND_CONTEXT EVAL_STEP GLOBAL_STEP INIT_OP "
              "LOCAL_INIT_OP LOCAL_RESOURCES LOCAL_VARIABLES LOSSES METRIC_VARIABLES MODEL_VARIABLES "
              "MOVING_AVERAGE_VARIABLES QUEUE_RUNNERS READY_FOR_LOCAL_INIT_OP READY_OP REGULARIZATION_LOSSES RESOURCES "
              "SAVEABLE_OBJECTS SAVERS SUMMARIES SUMMARY_OP TRAINABLE_RESOURCE_VARIABLES TRAINABLE_VARIABLES TRAIN_OP "
              "UPDATE_OPS WEIGHTS WHILE_CONTEXT").split():
    setattr(GraphKeys, _name, _name.lower())
GraphKeys.GLOBAL_VARIABLES, GraphKeys.TABLE_INITIALIZERS = "variables", "table_initializer"


# --- collections

def add_to_collection(name, value):
    """Put a value into a collection."""
    _collections.setdefault(name, []).append(value)


def add_to_collections(names, value):
    """Put a value into several collections."""
    for name in {names} if isinstance(names, str) else set(names):
        add_to_collection(name, value)


def get_collection_ref(key):
    """Return the list of a collection itself."""
    return _collections.setdefault(key, [])


def get_collection(key, scope=None):
    """Return a list of a collection's values; with a scope, of those whose names a pattern begins."""
    import re
    found = list(_collections.get(key, ()))
    if scope is None:
        return found
    return [value for value in found if hasattr(value, "name") and re.match(scope, value.name)]


def _collected(name, key):
    def function(scope=None):
        return get_collection(key, scope)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Return the collection {key!r}, which variables of TensorFlow 2 do not enter by themselves."
    return function


global_variables = _collected("global_variables", GraphKeys.GLOBAL_VARIABLES)
local_variables = _collected("local_variables", GraphKeys.LOCAL_VARIABLES)
model_variables = _collected("model_variables", GraphKeys.MODEL_VARIABLES)
moving_average_variables = _collected("moving_average_variables", GraphKeys.MOVING_AVERAGE_VARIABLES)
trainable_variables = _collected("trainable_variables", GraphKeys.TRAINABLE_VARIABLES)
all_variables = global_variables


# --- scopes

class VariableScope:
    """A prefix of variables' names, and what they have in common.

    Parameters
    ----------
    reuse : Any
        Kept: at once computed variables are always new.
    name : str, optional
        The prefix.
    initializer, regularizer, caching_device, partitioner, custom_getter, dtype, use_resource, constraint : optional
        What `get_variable` takes where it is not told.
    name_scope : str, optional
        The prefix of operators.

    """

    def __init__(self, reuse, name="", initializer=None, regularizer=None, caching_device=None, partitioner=None,
                 custom_getter=None, name_scope="", dtype=float32, use_resource=None, constraint=None):
        for word, given in (("caching_device", caching_device), ("partitioner", partitioner)):
            if given is not None:
                raise NotImplementedError(f"VariableScope: variables are whole and on one device. Received: {word}="
                                          f"{given!r}")
        self.reuse, self.name, self.original_name_scope = reuse, name, name_scope
        self.initializer, self.regularizer, self.custom_getter = initializer, regularizer, custom_getter
        self.dtype, self.constraint, self.use_resource = dtype, constraint, True

    def reuse_variables(self):
        """Note that variables are to be used again."""
        self.reuse = True

    def set_initializer(self, initializer):
        """Take an initializer for variables that name none."""
        self.initializer = initializer

    def set_regularizer(self, regularizer):
        """Take a regularizer for variables that name none."""
        self.regularizer = regularizer

    def set_dtype(self, dtype):
        """Take a dtype for variables that name none."""
        self.dtype = dtype


def _scopes():
    if not hasattr(_local, "scopes"):
        _local.scopes = [VariableScope(False)]
    return _local.scopes


def get_variable_scope():
    """Return the scope that is open."""
    return _scopes()[-1]


@contextmanager
def variable_scope(name_or_scope, default_name=None, values=None, initializer=None, regularizer=None,
                   caching_device=None, partitioner=None, custom_getter=None, reuse=None, dtype=None,
                   use_resource=None, constraint=None, auxiliary_name_scope=True):
    """Put a name before those of variables and operators made meanwhile.

    Parameters
    ----------
    name_or_scope : Union[str, VariableScope]
        The name, below the scope that is open; or a scope, from the outermost.
    default_name : str, optional
        The name where `name_or_scope` is None.
    values, use_resource, auxiliary_name_scope : Any, optional
        Belong to graphs; accepted.
    initializer, regularizer, caching_device, partitioner, custom_getter, reuse, dtype, constraint : Any, optional
        What the scope has; by default what the outer one has.

    """
    if name_or_scope is None and default_name is None:
        raise TypeError("If default_name is None then name_or_scope is required")
    outer = get_variable_scope()
    if isinstance(name_or_scope, VariableScope):
        name, source = name_or_scope.name, name_or_scope
    else:
        word, source = default_name if name_or_scope is None else name_or_scope, outer
        name = f"{outer.name}/{word}" if outer.name else word
    made = VariableScope(source.reuse if reuse is None else reuse, name, initializer or source.initializer,
                         regularizer or source.regularizer, caching_device, partitioner,
                         custom_getter or source.custom_getter, f"{name}/", source.dtype if dtype is None else dtype,
                         use_resource, constraint or source.constraint)
    _scopes().append(made)
    try:
        with _variables.open_scope(f"{name}/"):
            yield made
    finally:
        _scopes().remove(made)


def get_variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=None, collections=None,
                 caching_device=None, partitioner=None, validate_shape=True, use_resource=None, custom_getter=None,
                 constraint=None, synchronization=None, aggregation=None):
    """Return a new variable named below the scope that is open: where calls run at once, none is found again.

    Parameters
    ----------
    name : str
        Its name.
    shape : Sequence[int], optional
        Its shape; not needed beside a tensor as initializer.
    dtype : DType, optional
        float32 by default, or the scope's.
    initializer : Union[Tensor, Callable], optional
        A tensor, or a function of shape and dtype; Glorot's uniform numbers by default, zeros for integers.
    regularizer, use_resource, collections : Any, optional
        Belong to graphs; collections are filled.
    trainable : bool, optional
        True by default.
    caching_device, partitioner : Any, optional
        Must be None.
    validate_shape, constraint, synchronization, aggregation : Any, optional
        See `tf.Variable`.
    custom_getter : Callable, optional
        Called in the place of this function, which it gets as its first argument.

    """
    scope = get_variable_scope()
    getter = custom_getter or scope.custom_getter
    settings = {"shape": shape, "dtype": dtype, "initializer": initializer, "regularizer": regularizer,
                "trainable": trainable, "collections": collections, "caching_device": caching_device,
                "partitioner": partitioner, "validate_shape": validate_shape, "use_resource": use_resource,
                "constraint": constraint, "synchronization": synchronization, "aggregation": aggregation}
    if getter is not None:
        return getter(_make_variable, name, **settings)
    return _make_variable(name, **settings)


def _make_variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=None, collections=None,
                   caching_device=None, partitioner=None, validate_shape=True, use_resource=None, constraint=None,
                   synchronization=None, aggregation=None, **_):
    scope = get_variable_scope()
    for word, given in (("caching_device", caching_device), ("partitioner", partitioner)):
        if given is not None:
            raise NotImplementedError(f"get_variable: variables are whole and on one device. Received: {word}="
                                      f"{given!r}")
    initializer = scope.initializer if initializer is None else initializer
    told = as_dtype(scope.dtype if dtype is None else dtype)
    if initializer is None:
        initializer = _usual(told)
    if callable(initializer) and not isinstance(initializer, Variable):
        if shape is None:
            raise ValueError(f"Shape of a new variable ({name}) must be fully defined, but instead was <unknown>.")
        sizes = TensorShape(shape)
        sizes.assert_is_fully_defined()
        initializer = initializer() if isinstance(initializer, type) else initializer
        value = initializer(tuple(sizes), dtype=told)
    else:
        value = convert_to_tensor(initializer, dtype and told)
        if shape is not None and not TensorShape(shape).is_compatible_with(value.shape):
            raise ValueError(f"Shapes {TensorShape(shape)} and {value.shape} are incompatible. Received: name={name!r}")
    made = Variable(value, trainable=trainable is not False, name=name, validate_shape=validate_shape,
                    constraint=constraint or scope.constraint, synchronization=synchronization,
                    aggregation=aggregation)
    for one in collections or ():
        add_to_collection(one, made)
    return made


def _usual(dtype):
    """Return the initializer of variables that name none."""
    from dragon.vm.keras import initializers
    return initializers.GlorotUniform() if dtype.is_floating or dtype.is_complex else initializers.Zeros()


def get_local_variable(name, *args, trainable=False, **kwargs):
    """Return a variable that is not trained; see `get_variable`."""
    return get_variable(name, *args, trainable=trainable, **kwargs)


# --- functions that write

def assign(ref, value, validate_shape=None, use_locking=None, name=None):
    """Replace a variable's value; returns the variable."""
    return ref.assign(value)


def assign_add(ref, value, use_locking=None, name=None):
    """Add to a variable's value; returns the variable."""
    return ref.assign_add(value)


def assign_sub(ref, value, use_locking=None, name=None):
    """Subtract from a variable's value; returns the variable."""
    return ref.assign_sub(value)


def _scatter(word):
    def function(ref, indices, updates, use_locking=False, name=None):
        return getattr(ref, f"scatter_{word}")(IndexedSlices(convert_to_tensor(updates, ref.dtype), indices))
    function.__name__ = function.__qualname__ = f"scatter_{word}"
    function.__doc__ = f"Write rows into a variable; see `tf.Variable.scatter_{word}`."
    return function


def _scatter_nd(word):
    def function(ref, indices, updates, use_locking=False, name=None):
        return getattr(ref, f"scatter_nd_{word}")(indices, convert_to_tensor(updates, ref.dtype))
    function.__name__ = function.__qualname__ = f"scatter_nd_{word}"
    function.__doc__ = f"Write entries into a variable; see `tf.Variable.scatter_nd_{word}`."
    return function


for _word in ("add", "div", "max", "min", "mul", "sub", "update"):
    globals()[f"scatter_{_word}"] = _scatter(_word)
for _word in ("add", "sub", "update"):
    globals()[f"scatter_nd_{_word}"] = _scatter_nd(_word)


def is_variable_initialized(variable):
    """Return True: a variable holds a value from the beginning."""
    return convert_to_tensor(True)


def no_regularizer(_):
    """Return None: nothing is regularized."""


def report_uninitialized_variables(var_list=None, name="report_uninitialized_variables"):
    """Return an empty vector of strings: variables hold values from the beginning."""
    return convert_to_tensor(["a"])[:0]
