"""Operations: what can be called with symbolic tensors, and then becomes a node of a graph."""
import functools
import inspect

from dragon.core.interrupts import is_interrupt
from dragon.vm.keras.core import tree
from dragon.vm.keras.core.above import above
from dragon.vm.keras.core.configuration import Configured
from dragon.vm.keras.core.keras_tensor import KerasTensor, any_symbolic_tensors
from dragon.vm.keras.core.naming import auto_name
from dragon.vm.keras.core.node import Node
from dragon.vm.keras.core.remat import current_remat_mode, rematerialize
from dragon.vm.keras.core.spec import compute_spec
from dragon.vm.shared.letters import BLUNDERS, kind_of, letter

PLAIN_TYPES = (str, int, float, bool, type(None))


def default(method):
    """Mark a method as the one that nobody has overridden."""
    method._is_default = True
    return method


def is_default(method):
    """Tell whether a method is the base class's."""
    return getattr(method, "_is_default", False)


@functools.lru_cache(None)
def _signature_of(initializer):
    """Return the signature of an `__init__`, and whether all its arguments can be named."""
    signature = inspect.signature(initializer)
    return signature, not any(parameter.kind is parameter.POSITIONAL_ONLY
                              for parameter in list(signature.parameters.values())[1:])


class Operation(Configured):
    """Something that makes tensors of tensors, or a node of a graph when called with symbolic ones.

    Parameters
    ----------
    name : str, optional
        The name; made from the class's if there is none.

    """

    def __new__(cls, *args, **kwargs):
        self = object.__new__(cls)
        self.__dict__["_auto_config"] = None
        _keep_arguments(self, cls, args, kwargs)
        self.__dict__["_lock"] = True
        return self

    def __init__(self, name=None):
        if name is None:
            name = auto_name(type(self).__name__)
        if not isinstance(name, str) or "/" in name:
            raise ValueError("Argument `name` must be a string and cannot contain character `/`. "
                             f"Received: name={name} (of type {type(name)})")
        self.name = name
        self._inbound_nodes = []
        self._outbound_nodes = []
        self._remat_mode = current_remat_mode()

    def __call__(self, *args, **kwargs):
        if any_symbolic_tensors(args, kwargs):
            return self.symbolic_call(*args, **kwargs)
        call = self.call
        if getattr(self, "quantization_mode", None) is not None:
            call = self.quantized_call
        if self._remat_mode is not None:
            call = rematerialize(self, call, args, kwargs)
        return call(*args, **kwargs)

    def symbolic_call(self, *args, **kwargs):
        """Return the symbolic results of a call, which becomes a node."""
        outputs = self.compute_output_spec(*args, **kwargs)
        Node(self, args, kwargs, outputs)
        return outputs

    def call(self, *args, **kwargs):
        """Return the results; subclasses say how."""
        raise NotImplementedError(f"Operation {type(self).__name__} does not have a `call` method implemented.")

    def quantized_call(self, *args, **kwargs):
        """Return the results of quantized weights; subclasses say how."""
        raise NotImplementedError(f"Operation {type(self).__name__} does not have a `quantized_call` method "
                                  "implemented.")

    # What a call says of itself without explanations of how it was asked for shapes.
    _plain_errors = ()

    def compute_output_spec(self, *args, **kwargs):
        """Return the symbolic results of a call, which leaves no trace."""
        try:
            return compute_spec(self.call, args, kwargs)
        except self._plain_errors:
            raise
        except Exception as error:
            if is_interrupt(error):
                raise
            raise _explained(error, f"Could not automatically infer the output shape / dtype of '{self.name}' (of type "
                             f"{type(self).__name__}). Either the `{type(self).__name__}.call()` method is incorrect, "
                             f"or you need to implement the `{type(self).__name__}.compute_output_spec() / "
                             "compute_output_shape()` method. Error encountered:\n\n"
                             f"{error}") from error

    @default
    def get_config(self):
        """Return the arguments that make an equal object."""
        config = {"name": self.name}
        if not is_default(self.get_config):
            return config
        kept = self.__dict__.get("_auto_config")
        if kept is None:
            raise NotImplementedError(
                f"Object {type(self).__name__} was created by passing non-serializable argument values in "
                "`__init__()`, and therefore the object must override `get_config()` in order to be serializable: "
                "it shall return a dict of the arguments. "
                f"Received: {self!r}")
        config.update(kept)
        parameters = inspect.signature(self.__init__).parameters
        takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
        if "name" not in parameters and not takes_any:
            config.pop("name")
        return config

    @classmethod
    def from_config(cls, config):
        """Make an operation of what `get_config` returned."""
        if isinstance(config.get("dtype"), dict):
            config = {**config, "dtype": above("read_policy")(config["dtype"])}
        try:
            return cls(**config)
        except Exception as error:
            if is_interrupt(error):
                raise
            raise TypeError(f"Error when deserializing class '{cls.__name__}' using config={config}.\n\n"
                            f"Exception encountered: {error}") from error

    def __repr__(self):
        return f"<Operation name={self.name}>"

    input = property(lambda self: self._of_node(0, "input_tensors", "input"),
                     doc="The symbolic tensors of the first call's arguments.")
    output = property(lambda self: self._of_node(0, "output_tensors", "output"),
                      doc="The symbolic tensors that the first call returned.")

    def _of_node(self, number, field, word):
        if not self._inbound_nodes:
            raise AttributeError(f"The layer {self.name} has never been called and thus has no defined {word}.")
        if number >= len(self._inbound_nodes):
            raise ValueError(f"Asked to get {word} at node {number}, but the operation has only "
                             f"{len(self._inbound_nodes)} inbound nodes.")
        values = getattr(self._inbound_nodes[number], field)
        return values[0] if isinstance(values, list) and len(values) == 1 else values

    def _obj_type(self):
        return "Operation"


def _explained(error, message):
    """Return an error of the same kind that says more."""
    try:
        return kind_of(error)(message)
    except Exception:  # a kind that is made of something else than a message
        return RuntimeError(message)


def _keep_arguments(self, cls, args, kwargs):
    """Keep the arguments of `__init__`, defaults included, if all are plain values."""
    signature, can_be_named = _signature_of(cls.__init__)
    if not can_be_named:
        return
    try:
        bound = signature.bind(None, *args, **kwargs)
    except TypeError:
        return
    bound.apply_defaults()
    config = {}
    for number, (name, parameter) in enumerate(signature.parameters.items()):
        if number == 0 or name not in bound.arguments:
            continue
        value = bound.arguments[name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            if value:
                return
        elif parameter.kind is parameter.VAR_KEYWORD:
            config.update(value)
        else:
            config[name] = value
    config.pop("name", None)
    if all(isinstance(value, PLAIN_TYPES) for value in tree.flatten(config)):
        self.__dict__["_auto_config"] = tree.map_structure(lambda value: value, config)


# --- functions of `keras.ops`

# Parameters under which functions take tensors; all others say how, and are in an operation's config.
TENSORS = frozenset("""
    x x1 x2 x3 xs a b inputs input query key value target output indices values tensor tensors kernel condition mask
    bias start_indices updates elements data segment_ids y v y_true y_pred images coordinates image src shift
    boxes1 boxes2 choices bins xp fp new_values start stop q k logits labels predictions targets array
""".split())
_operations = {}


class FunctionOperation(Operation):
    """A function of `keras.ops` in a graph; its classes are made as they are needed, one for each function."""

    _function, _parameters, _positional = None, (), ()
    _takes = TENSORS
    keeps_zeros = False  # whether a zero becomes one, so that a sparse tensor's result is one of its values
    _keeps_sparse = None  # tells of which operands are sparse whether the result is
    _plain_errors = (ValueError, TypeError)  # letters about arguments, the same as for numbers

    def __init__(self, *args, name=None, **config):
        super().__init__(name=name)
        if args:
            told = [parameter for parameter in self._parameters if parameter not in self._takes]
            config = {**dict(zip(told, args)), **config}
        self._config = config
        left = tuple(parameter for parameter in self._positional if parameter not in config)
        # Where the configuration has a parameter before those that are left, positions tell nothing.
        self._left = None if self._positional[:len(left)] == left else left

    def call(self, *args, **kwargs):
        """Return what the function does."""
        if self._left is not None and args:
            args, kwargs = args[len(self._left):], {**dict(zip(self._left, args)), **kwargs}
        return type(self)._function(*args, **kwargs, **self._config)

    def compute_output_spec(self, *args, **kwargs):
        """Return the symbolic results; of functions that leave sparse tensors sparse, a sparse one."""
        made = super().compute_output_spec(*args, **kwargs)
        given = [x.sparse for x in tree.flatten((args, kwargs)) if isinstance(x, KerasTensor)]
        keeps = self._config.get("sparse") or self._keeps_sparse and given and self._keeps_sparse(given)
        if keeps and isinstance(made, KerasTensor):
            return KerasTensor(made.shape, dtype=made.dtype, sparse=True, name=made.name)
        return made

    def get_config(self):
        """Return the function's arguments that are no tensors."""
        return {"name": self.name, **self._config}


def operation(function=None, *, name=None, tensors=None, module=None):
    """Make a function one that also takes symbolic tensors.

    Parameters
    ----------
    function : Callable
        Works on tensors.
    name : str, optional
        The name of the operation's class; the function's name in capitals if there is none.
    tensors : Sequence[str], optional
        The parameters that take tensors, if their names do not tell.
    module : str, optional
        The module that files name; `keras.src.ops.<the function's>` if there is none.

    """
    if function is None:
        return functools.partial(operation, name=name, tensors=tensors, module=module)
    name = name or "".join(word.capitalize() for word in function.__name__.split("_"))
    takes = TENSORS if tensors is None else frozenset(tensors)
    module = module or f"keras.src.ops.{function.__module__.rpartition('.')[2]}"
    signature = inspect.signature(function)
    positional = tuple(one.name for one in signature.parameters.values() if one.kind is one.POSITIONAL_OR_KEYWORD)
    cls = type(name, (FunctionOperation,), {
        "_function": staticmethod(function), "_parameters": tuple(signature.parameters), "_positional": positional,
        "_takes": takes, "__module__": module, "__doc__": f"`keras.ops.{function.__name__}` in a graph."})
    _operations.setdefault(name, cls)
    _operations[module, name] = cls

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        try:
            if any_symbolic_tensors(args, kwargs):
                return _call_symbolically(cls, signature, args, kwargs)
            return cls._function(*args, **kwargs)
        except BLUNDERS as error:
            raise letter(function.__name__, args, kwargs, error)
    wrapper.operation = cls
    return wrapper


def _call_symbolically(cls, signature, args, kwargs):
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    given, named, config = [], {}, {}
    name = bound.arguments.pop("name", None) if "name" in signature.parameters else None
    for parameter, value in bound.arguments.items():
        kind = signature.parameters[parameter].kind
        holds = any(isinstance(leaf, KerasTensor) for leaf in tree.flatten(value))
        if kind is inspect.Parameter.VAR_POSITIONAL:
            given += value
        elif kind is inspect.Parameter.VAR_KEYWORD:
            config.update(value)
        elif holds or parameter in cls._takes and value is not None:
            if len(given) + len(named) == list(signature.parameters).index(parameter):
                given.append(value)
            else:
                named[parameter] = value
        else:
            config[parameter] = value
    return cls(name=name, **config).symbolic_call(*given, **named)


def known_operations():
    """Return the classes of all operations that functions are in graphs, each once."""
    return list({id(kind): kind for kind in _operations.values()}.values())


def find_operation(name, module=None):
    """Return the class of the operation that a function of `keras.ops` is in graphs, or None."""
    if name not in _operations:
        above("ops")  # its functions enter themselves
    return _operations.get((module, name)) or _operations.get(name)
