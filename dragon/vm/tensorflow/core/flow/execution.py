"""Around computing: devices, printing, Python inside of graphs, and the words of graphs that are no longer."""
import enum
import functools
import logging
import sys
import time

from dragon.core.modes import no_grad
from dragon.core.capture import control
from dragon.core.capture.untraced_call import aside
from dragon.core.capture.host_calls import Note, is_writing, when_run
from dragon.core.capture.rollback import for_good
from dragon.core.capture.settings import is_capturing
from dragon.core.capture.structure import Template
from dragon.core.scopes import contextmanager
from dragon.vm.shared import nest
from dragon.vm.shared.autograph.hosting import key_of
from dragon.vm.shared.recording import leaks
from dragon.vm.shared.tensors import convert, variable
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.shared.tensors.tensor import as_tensor, ops
from dragon.vm.shared.written.nodes import is_written, stand_in_of


class VariableAggregation(enum.Enum):
    """The ways of joining a variable's updates from several devices."""

    NONE, SUM, MEAN, ONLY_FIRST_REPLICA = 0, 1, 2, 3


class VariableSynchronization(enum.Enum):
    """When a variable's copies on several devices meet."""

    AUTO, NONE, ON_WRITE, ON_READ = 0, 1, 2, 3


class AggregationMethod:
    """The ways of adding gradients from several ways to one source; there is one."""

    ADD_N = DEFAULT = 0
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


# --- devices

class DeviceSpec:
    """A device's name in parts.

    Parameters
    ----------
    job, replica, task, device_type, device_index : Any, optional
        The parts; None where one is not said.

    """

    PARTS = (("job", "/job:{}"), ("replica", "/replica:{}"), ("task", "/task:{}"))

    def __init__(self, job=None, replica=None, task=None, device_type=None, device_index=None):
        if device_type is not None and not isinstance(device_type, str):
            raise TypeError(f"DeviceSpec: device_type must be text. Received: {device_type!r}")
        self.job, self.replica, self.task = job, replica, task
        self.device_type, self.device_index = device_type and device_type.upper(), device_index

    @classmethod
    def from_string(cls, spec):
        """Return the parts of a name."""
        made = cls()
        for part in filter(None, spec.replace("/device:", "/").split("/")):
            key, _, value = part.partition(":")
            if key in ("job", "replica", "task"):
                setattr(made, key, value if key == "job" else int(value))
            else:
                made.device_type = key.upper()
                made.device_index = int(value) if value.isdecimal() else None
        return made

    def to_string(self):
        """Return the name."""
        text = "".join(form.format(getattr(self, key)) for key, form in self.PARTS if getattr(self, key) is not None)
        if self.device_type is None:
            return text
        return f"{text}/device:{self.device_type}:{'*' if self.device_index is None else self.device_index}"

    def __eq__(self, other):
        return isinstance(other, DeviceSpec) and self.to_string() == other.to_string()

    def __hash__(self):
        return hash(self.to_string())

    def __repr__(self):
        return f"<DeviceSpec {self.to_string()!r}>"


def is_tensor(x):
    """Return whether something is a tensor, also one that is kept in parts, as ragged and sparse ones are.

    Parameters
    ----------
    x : Any
        What is asked about.

    Returns
    -------
    bool
        Whether it is.

    """
    return convert.is_tensor(x) or getattr(x, "kept_in_parts", False)


# --- printing

def _shown(value, summarize):
    """Return a value as tf.print shows it: arrays without commas, long ones with dots."""
    if nest.is_nested(value):
        if isinstance(value, dict):
            return "{" + ", ".join(f"{key!r}: {_shown(item, summarize)}" for key, item in sorted(value.items())) + "}"
        ends = "()" if isinstance(value, tuple) else "[]"
        inner = ", ".join(_shown(item, summarize) for item in value)
        return ends[0] + inner + ("," if isinstance(value, tuple) and len(value) == 1 else "") + ends[1]
    if isinstance(value, str):
        return value
    if not convert.is_tensor(value) and type(value).__module__ != "numpy":
        return f"{value:g}" if isinstance(value, float) else str(value)
    if hasattr(value, "_component_tensors"):
        return str(value)
    import numpy as np
    array = np.asarray(convert_to_tensor(value).numpy())
    if array.dtype == object:
        return _strings(array)
    edge = array.size if summarize == -1 else summarize
    return np.array2string(array, separator=" ", edgeitems=edge, threshold=0 if summarize != -1 else sys.maxsize,
                           formatter={"float_kind": lambda number: f"{number:g}", "bool": lambda flag: str(int(flag))})


def _strings(array):
    if not array.ndim:
        return array[()].decode("utf-8", "replace")
    if array.ndim == 1:
        return "[" + " ".join('"' + item.decode("utf-8", "replace") + '"' for item in array) + "]"
    return "[" + "\n ".join(_strings(row) for row in array) + "]"


def print_(*inputs, **kwargs):
    """Print tensors and other values; arrays are shortened to some entries at both ends of each axis.

    Parameters
    ----------
    *inputs : Any
        What is printed.
    **kwargs : Any
        `output_stream` (a stream or "file://..."), `summarize` (3; -1: everything), `sep` (" "), `end` (a line's end)
        and `name`.

    """
    stream = kwargs.pop("output_stream", None) or sys.stderr
    summarize = 3 if (given := kwargs.pop("summarize", 3)) is None else given
    separator, end = kwargs.pop("sep", " "), kwargs.pop("end", "\n")
    kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")

    if variable.inferring.on:  # numbers are not there
        return

    def show(values):
        _write(separator.join(_shown(value, summarize) for value in values) + end, stream)
    if is_writing():  # strings are tensors there
        inputs = nest.map_structure(lambda item: stand_in_of(item) if is_written(item) else item, list(inputs))
    template = Template(list(inputs), merge=False) if is_capturing() else None
    if template is None or not when_run(ops, lambda tensors: show(template.fill(list(map(as_tensor, tensors)))),
                                        [as_tensor(tensor) for tensor in template.tensors],
                                        _key_of(inputs, stream, summarize, separator, end),
                                        lambda: _note_of(template, stream, summarize, separator, end)):
        with for_good():
            show(inputs)
    elif not is_writing():
        template.tensors.clear()  # what is kept is for tensors that come


def _key_of(inputs, stream, summarize, separator, end):
    """Return a key of what a call of `print_` does, or None where a structure has none."""
    named = stream if isinstance(stream, str) else id(stream)  # which stays its own: what is kept has the stream
    return key_of("tf.print", list(inputs), named, summarize, separator, end)


class _Place:
    """Stands for a tensor in a text."""

    def __init__(self, number):
        self.number = number

    def __str__(self):
        return f"\0{self.number}\0"


def _note_of(template, stream, summarize, separator, end):
    """Return what a model has for a call of `print_`."""
    named = {id(sys.stdout): "stdout", id(sys.stderr): "stderr"}.get(id(stream), stream)
    if not isinstance(named, str):
        raise NotImplementedError(f"tf.print: a file knows stdout, stderr and 'file://...'. Received: "
                                  f"output_stream={stream!r}")
    filled = template.fill([_Place(number) for number in range(len(template.tensors))])
    words = separator.join(_shown(value, summarize) for value in filled).split("\0")
    return Note("print", [ops.clone(as_tensor(template.tensors[int(number)])).detach() for number in words[1::2]],
                words=words[::2], stream=named, summarize=summarize, end=end)


def _write(text, stream):
    """Write a text to a stream, a file or a logger's function."""
    if isinstance(stream, str):
        with open(stream.removeprefix("file://"), "a", encoding="utf-8") as file:
            file.write(text)
    elif callable(stream) and not hasattr(stream, "write"):
        stream(text.rstrip("\n"))
    else:
        stream.write(text)
        stream.flush()


# --- Python inside of graphs

def _outputs(result, wanted):
    """Return what a Python function returned as tensors of the dtypes asked for."""
    if _is_nothing(wanted):
        return []
    if isinstance(wanted, (list, tuple)):
        parts = list(result) if isinstance(result, (list, tuple)) else [result]
        return [convert_to_tensor(part, as_dtype(getattr(kind, "dtype", kind))) for part, kind in zip(parts, wanted)]
    return convert_to_tensor(result, as_dtype(getattr(wanted, "dtype", wanted)))


def _calls_python(name, prepare):
    """Return `tf.numpy_function` or `tf.py_function`: both call Python whenever they run, and decorate as well."""
    def call(func, inp, wanted):
        inputs = [convert_to_tensor(item) for item in inp]
        if _is_nothing(wanted):
            if when_run(ops, lambda tensors: func(*prepare([as_tensor(ops.clone(item)) for item in tensors])), inputs,
                        (name, id(func))):  # which stays its own: what is kept has the function
                return []
        elif control.part() is not None:
            raise control.NoGraph(f"it calls a Python function whenever it runs ({name})")
        elif is_capturing():
            control.give_up(f"it calls a Python function whenever it runs ({name})")
        with for_good():
            return _outputs(func(*prepare(inputs)), wanted)

    def made(func, inp, wanted):
        if func is not None:
            return call(func, inp if inp is not None else (), wanted)

        def decorate(function):
            @functools.wraps(function)
            def decorated(*args):
                return call(function, args, wanted)
            return decorated
        return decorate
    return made


def _is_nothing(wanted):
    return wanted is None or isinstance(wanted, (list, tuple)) and not wanted


def _as_arrays(tensors):
    import numpy as np
    arrays = [tensor.numpy() for tensor in tensors]
    return [array if isinstance(array, (bytes, np.ndarray)) else np.asarray(array)[()] for array in arrays]


_numpy_function = _calls_python("tf.numpy_function", _as_arrays)
_py_function = _calls_python("tf.py_function", lambda tensors: tensors)


def numpy_function(func=None, inp=None, Tout=None, stateful=True, name=None):
    """Call a Python function with arrays, and return its results as tensors; no gradient flows.

    Parameters
    ----------
    func : Callable, optional
        Called with NumPy arrays, whenever a graph with this call runs; without it, a decorator is returned.
    inp : Sequence[Tensor], optional
        The arguments.
    Tout : Union[DType, Sequence[DType]]
        The dtypes of the results.
    stateful : bool, optional, default=True
        Not used.

    Returns
    -------
    Union[Tensor, List[Tensor]]
        In the form of `Tout`.

    """
    return _numpy_function(func, inp, Tout)


def py_function(func=None, inp=None, Tout=None, name=None):
    """Call a Python function as `numpy_function` does, but with tensors; gradients flow through it."""
    return _py_function(func, inp, Tout)


# --- words of graphs

def executing_eagerly():
    """Return whether calls run at once: everywhere but within `tf.function`."""
    return not is_capturing()


def inside_function():
    """Return whether a `tf.function` is being traced."""
    return is_capturing()


def is_symbolic_tensor(tensor):
    """Return False: tensors have numbers."""
    return False


@contextmanager
def init_scope():
    """Compute at once within a `with` block, without a tape's notice, and as no part of a graph that is traced."""
    with aside(), no_grad():
        yield
    leaks.keep_values()


@contextmanager
def control_dependencies(control_inputs):
    """Do nothing: calls run in the order in which they are written."""
    yield


def group(*inputs, **kwargs):
    """Return None: whatever the inputs are, they were computed."""
    kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"Unknown keyword arguments: {', '.join(kwargs)}")


def tuple_(tensors, control_inputs=None, name=None):
    """Return the tensors, which were all computed."""
    return [None if item is None else convert_to_tensor(item) for item in tensors]


def no_op(name=None):
    """Return None, having done nothing."""


def timestamp(name=None):
    """Return the seconds since 1970 as a float64 tensor."""
    return convert_to_tensor(time.time(), as_dtype("float64"))


def guarantee_const(input, name=None):
    """Return the tensor."""
    return convert_to_tensor(input)


def get_static_value(tensor, partial=False):
    """Return a tensor's numbers as an array; None while a `tf.function` is being traced."""
    if tensor is None or is_capturing():
        return None
    return convert_to_tensor(tensor).numpy()


def get_logger():
    """Return the logger of TensorFlow's name."""
    return logging.getLogger("tensorflow")


def register_tensor_conversion_function(base_type, conversion_func, priority=100):
    """Have `conversion_func(value, dtype, name, as_ref)` make tensors of objects of a class.

    Parameters
    ----------
    base_type : Union[type, Tuple[type, ...]]
        The class.
    conversion_func : Callable
        Returns a tensor, or NotImplemented.
    priority : int, optional, default=100
        Not used: the function that was registered last is asked first.

    """
    if not callable(conversion_func):
        raise TypeError(f"Argument `conversion_func` must be callable. Received: {conversion_func!r}")
    convert._registered.append((base_type, conversion_func))
