"""Whatever Python has becomes a tensor: numbers, lists, arrays, strings, tensors of other faces."""
from dragon import _C
from dragon.core.capture.settings import is_capturing
from dragon.core.dtypes import NAMES, SHORT_FLOATS
from dragon.vm.shared.tensors.dtypes import OBJECTS, as_dtype, float32, wrapped
from dragon.vm.shared.tensors.host import host_array
from dragon.vm.shared.tensors.placing import CPU, default_device, is_plain, on_host
from dragon.vm.shared.tensors.tensor import Base, Tensor, as_tensor, ops

NATURAL = {bool: OBJECTS["bool"], int: OBJECTS["int32"], float: OBJECTS["float32"], complex: OBJECTS["complex128"]}
NO_VALUE = "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor."
MOST_TRACED = 1 << 20  # elements of an array that becomes a constant of a graph
BEYOND_FLOAT8 = 464.0  # what is larger is no number of `float8_e4m3fn`
DEEPEST = 64  # lists in lists, as in NumPy
FEW = 16
TOO_DEEP = f"Can't convert a Python sequence that is nested more than {DEEPEST} deep, or holds itself, to a Tensor."
INT32 = range(-2 ** 31, 2 ** 31)
string_class = []  # how to get the class of tensors of strings, which stands upon this: the package says so
_registered = []  # (class, function) of tf.register_tensor_conversion_function


def is_tensor(x):
    """Return whether something is a tensor of any kind, or a variable.

    Parameters
    ----------
    x : Any
        What is asked about.

    Returns
    -------
    bool
        True for rows of tensors and for extension types as well; what is kept in parts, as ragged and sparse tensors
        are, is asked for by itself.

    """
    return isinstance(x, _C.Tensor) or getattr(type(x), "is_string_tensor", False) or (
        hasattr(x, "_component_tensors") and not hasattr(x, "kept_in_parts"))


def convert_to_tensor(value, dtype=None, dtype_hint=None, name=None):
    """Return a value as a tensor.

    Parameters
    ----------
    value : Any
        A number, nested lists, an array, text, or a tensor of any face.
    dtype : DType, optional
        The dtype; a tensor must have it already. By default what the value has: Python's integers are int32, its
        floats are float32.
    dtype_hint : DType, optional
        A dtype that is taken if the value can have it.
    name : str, optional
        Accepted.

    Returns
    -------
    Tensor
        The value itself if it is one.

    Examples
    --------
    >>> tf.convert_to_tensor([1, 2], dtype=tf.float32)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>

    """
    if type(value) is Tensor and dtype is None:
        return value
    if dtype is not None:
        dtype = as_dtype(dtype)
    elif dtype_hint is not None and not isinstance(value, _C.Tensor):
        try:
            return convert_to_tensor(value, dtype_hint)
        except (TypeError, ValueError):
            pass
    if isinstance(value, _C.Tensor):
        return _adopt(value, dtype)
    if dtype is not None and dtype.name == "float8_e4m3fn" and getattr(value, "dtype", None) != dtype:
        return cast_numbers(_from_python(value, float32), dtype)
    return _from_python(value, dtype)


def placed(x):
    """Return a tensor where its calls run, so that each of several finds it there; int32 and strings stay."""
    if is_plain[0] or not isinstance(x, _C.Tensor):
        return x
    where = default_device()
    if x.device == where or x.device.type == "meta" or where.type == "cuda" and x.dtype is OBJECTS["int32"]:
        return x
    return ops.to_device(x, where)


def brought(x, device):
    """Return a tensor on a device."""
    return x if is_plain[0] or x.device == device else ops.to_device(x, device)


def cast_numbers(x, dtype):
    """Return a tensor's numbers in another dtype, those beyond `float8_e4m3fn` as TensorFlow has them: NaN.

    Parameters
    ----------
    x : Tensor
        The numbers.
    dtype : DType
        What they become.

    Returns
    -------
    Tensor
        Of the same shape.

    """
    if dtype.name == "float8_e4m3fn" and dtype != x.dtype:
        x = x if x.dtype.is_floating else ops.cast(x, float32)
        # Half a step above the largest number; the engine has that one for all that is larger, as PyTorch has.
        x = ops.where(ops.abs(x) > BEYOND_FLOAT8, ops.full((), float("nan"), dtype=x.dtype), x)
    return ops.cast(x, dtype)


def _adopt(value, dtype):
    """Return a tensor or variable of any face as a Tensor with its dtype checked."""
    if dtype is not None and value.dtype is not dtype and value.dtype != dtype:
        raise ValueError(f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype {value.dtype.name}: "
                         f"{value!r}")
    if type(value) is Tensor:
        return value
    read = getattr(value, "_read", None)
    return read() if read is not None else as_tensor(value)


def _from_python(value, dtype):
    kind = type(value) if type(value) in NATURAL else value.__class__  # a size that varies says that it is an int
    if kind in NATURAL:
        return _scalar(value, kind, dtype)
    if isinstance(value, (str, bytes)):
        return _strings(value, dtype)
    if value is None:
        raise ValueError(NO_VALUE)
    if isinstance(value, (list, tuple, range)):
        return _sequence(value, dtype)
    if type(value).__module__ == "numpy":
        return _array(value, dtype)
    if hasattr(value, "__array_interface__"):
        import numpy as np
        return _array(np.asarray(value), dtype)
    return _foreign(value, dtype)


def _foreign(value, dtype):
    """Return an object that knows how to become a tensor or an array as one."""
    for kind, function in reversed(_registered):
        if isinstance(value, kind):
            made = function(value, dtype=dtype, name=None, as_ref=False)
            if made is not NotImplemented:
                return made
    if getattr(type(value), "is_string_tensor", False):
        return _strings(value, dtype)
    if hasattr(value, "__tf_tensor__"):
        return value.__tf_tensor__(dtype, None)
    if hasattr(value, "_dense_tensor"):  # IndexedSlices and the like
        return _adopt(value._dense_tensor(), dtype)
    if hasattr(value, "__array__"):
        return _array(told_array(value), dtype)
    if isinstance(value, (int, float, complex)):  # a subclass, such as an enumeration
        return _from_python(next(kind(value) for kind in (int, float, complex) if isinstance(value, kind)), dtype)
    if hasattr(value, "__dlpack__"):
        return _adopt(_C.from_dlpack(value, Tensor), dtype)
    if hasattr(value, "__iter__") and hasattr(value, "__len__") and not isinstance(value, (dict, set)):
        return _sequence(list(value), dtype)
    raise ValueError(f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)!r}) to a Tensor.")


def told_array(value):
    """Return the array that an object says it is."""
    import numpy as np
    array = value.__array__()
    if not isinstance(array, (np.ndarray, np.generic)):
        raise ValueError(f"Expected an array of {type(value).__name__}.__array__(). Received: {_short(array)}")
    return array


def _refuse(value, dtype):
    return TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {dtype.name}")


def _scalar(value, kind, dtype):
    """Return a Python number as a tensor without axes."""
    natural = NATURAL[kind]
    if dtype is None:
        dtype = OBJECTS["int64"] if kind is int and not _is_int32(value) else natural
    elif dtype is not natural:
        _check_kind(value, natural, dtype)
    if kind is int and dtype.is_integer:
        value = wrapped(value, dtype)
    return _C.tensor(value, dtype, default_device(dtype), Tensor)


def _check_kind(value, natural, dtype):
    """Raise a TypeError if numbers of one kind are none of a dtype's."""
    if natural.is_complex and not dtype.is_complex or natural.is_floating and not (
            dtype.is_floating or dtype.is_complex) or dtype.is_bool and not natural.is_bool or not (
            dtype.is_numeric or dtype.is_bool):
        raise _refuse(value, dtype)
    _check_exists(dtype)


def _check_exists(dtype):
    if dtype.name not in NUMBERED:
        raise NotImplementedError(f"Tensors of dtype {dtype.name} are not supported; supported are "
                                  f"{', '.join(NUMBERED)} and string. Received: dtype={dtype!r}")


NUMBERED = tuple(name for name in NAMES if name != "complex32")


def _store(made, dtype):
    """Return fresh numbers in a dtype, on the device of new tensors."""
    if made.dtype is not dtype:
        made = ops.cast(made, dtype)
    device = default_device(made.dtype)
    return made if device.type == "cpu" else ops.to_device(made, device)


def _strings(value, dtype):
    StringTensor = string_class[0]()
    if dtype is not None and dtype.name != "string":
        if isinstance(value, StringTensor):
            raise ValueError(f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype string: "
                             f"{value!r}")
        raise _refuse(value, dtype)
    if isinstance(value, StringTensor):
        return value.read_value() if hasattr(value, "is_string_variable") else value
    return StringTensor(value)


def _array(array, dtype):
    """Return a copy of a NumPy array, or of one of its numbers."""
    kind = array.dtype.kind
    if kind in "SUOT":
        return _objects(array, dtype)
    name = array.dtype.name
    if name not in NUMBERED:
        _check_exists(as_dtype(name))
        array, name = array.astype(dtype.name), dtype.name
    if dtype is not None and dtype.name == "string":
        raise _refuse(array, dtype)
    if name in SHORT_FLOATS:
        words = "int16" if name == "bfloat16" else "uint8"
        made = ops.view_dtype(_C.tensor(array.view(words), OBJECTS[words], CPU, Tensor), OBJECTS[name])
    else:
        if not array.dtype.isnative:
            array = array.astype(array.dtype.newbyteorder("="))
        if any(stride < 0 or stride % array.itemsize for stride in array.strides):
            array = array.copy()
        if is_capturing():
            made = _traced(array, OBJECTS[name])
        else:
            made = _C.tensor(array, OBJECTS[name] if dtype is None else dtype, CPU, Tensor)
    return _store(made, made.dtype if dtype is None else dtype)


def _traced(array, dtype):
    """Return an array's numbers as a constant of the graph that is written down, which has them one by one."""
    if array.size > MOST_TRACED:
        return _C.tensor(array, dtype, CPU, Tensor)  # and nobody knows where its memory comes from
    if not array.size:
        return ops.zeros(array.shape, dtype=dtype)
    return _C.tensor(array.tolist(), dtype, CPU, Tensor)


def _objects(array, dtype):
    """Return an array of text or Python objects."""
    first = array.reshape(-1)[0] if array.size else ""
    if array.dtype.kind in "SUT" or isinstance(first, (str, bytes)):
        return _strings(array, dtype)
    return _sequence(array.tolist(), dtype) if array.ndim else _from_python(array[()], dtype)


def first_leaf(value):
    """Return what comes first in nested lists, or None; a list that holds itself has no end."""
    for _ in range(DEEPEST):
        if not isinstance(value, (list, tuple)):
            return value
        if not value:
            return None
        value = value[0]
    raise ValueError(TOO_DEEP)


def _holds_tensors(value, depth=DEEPEST):
    """Return whether there are tensors among nested lists."""
    if not depth:
        raise ValueError(TOO_DEEP)
    for item in value:
        kind = type(item)
        if kind is float or kind is int:
            continue
        if isinstance(item, (list, tuple)):
            if _holds_tensors(item, depth - 1):
                return True
        elif isinstance(item, _C.Tensor):
            return True
    return False


def _sequence(value, dtype):
    """Return nested lists as a tensor."""
    if isinstance(value, range):
        value = list(value)
    first = first_leaf(value)
    wants_text = dtype is not None and dtype.name == "string" and first is None
    if isinstance(first, (str, bytes)) or getattr(type(first), "is_string_tensor", False) or wants_text:
        return _strings(value, dtype)
    if _holds_tensors(value):
        return _pack(value, dtype)
    if isinstance(first, complex) or type(first).__module__ == "ml_dtypes":
        import numpy as np
        return _array(np.asarray(value), dtype)
    try:
        if dtype is not None and dtype.is_floating and type(first) in (float, int) and dtype.name in NUMBERED:
            return _C.tensor(value, dtype, default_device(), Tensor)
        # Python's numbers are read in the widest type, so that none is lost before its dtype is known.
        made = _C.tensor(value, None, CPU, Tensor)
    except (ValueError, TypeError, RuntimeError) as error:
        raise _sequence_trouble(value, dtype, error) from None
    natural = made.dtype
    if natural.name == "int64" and type(first).__module__ != "numpy":
        natural = OBJECTS["int32"] if _in_int32(made, value) else natural
    elif natural.name == "float64" and type(first) is float:
        natural = OBJECTS["float32"]
    if dtype is not None and dtype is not natural:
        if type(first).__module__ != "numpy" and made.size:
            _check_kind(value, natural, dtype)
        _check_exists(dtype)
        natural = dtype
        if dtype.name == "float64" and made.dtype.name == "float32" and type(first) in (float, bool):
            made = _C.tensor(value, dtype, CPU, Tensor)
    return _store(made, natural)


def _sequence_trouble(value, dtype, error):
    """Return TensorFlow's error for lists that are no box of numbers."""
    if first_leaf(value) is None or "None" in str(error):
        return ValueError(NO_VALUE)
    if "lists" in str(error):
        return ValueError(f"Can't convert non-rectangular Python sequence to Tensor. Received: {_short(value)}")
    if dtype is not None:
        return _refuse(value, dtype)
    return ValueError(f"Can't convert Python sequence with mixed types to Tensor. Received: {_short(value)}")


def _short(value):
    text = repr(value)
    return text if len(text) < 200 else text[:200] + "..."


def _in_int32(made, value):
    if not made.size:
        return True
    # A few are looked at sooner here; and who looks at a tensor's numbers ends a branch or loop that is written down.
    if made.size <= FEW or is_capturing():
        return all(map(_is_int32, _leaves(value)))
    with on_host():
        low, high = (made, made) if made.ndim == 0 else ops.aminmax(made)
        return _is_int32(low.item()) and _is_int32(high.item())


def _is_int32(number):
    return INT32.start <= number < INT32.stop  # sizes that vary are compared, and not looked up


def _pack(value, dtype):
    """Return nested lists with tensors among them, stacked so that gradients reach those."""
    found = next((item for item in _leaves(value) if isinstance(item, _C.Tensor)))
    wanted = dtype or as_dtype(found.dtype)

    def pack(item):
        if isinstance(item, (list, tuple)):
            return ops.stack([pack(part) for part in item])
        if isinstance(item, _C.Tensor):
            if item.dtype != wanted:
                raise TypeError(f"Cannot convert a list containing a tensor of dtype {as_dtype(item.dtype)} to "
                                f"{wanted} (Tensor is: {item!r})")
            return item if isinstance(item, Base) else as_tensor(item)
        return convert_to_tensor(item, wanted)
    try:
        return pack(value)
    except _C.InvalidValue as error:
        from dragon.vm.shared.errors import invalid_argument
        raise invalid_argument(f"Shapes of all inputs must match [Op:Pack] name: packed; {error}") from None


def _leaves(value):
    for item in value:
        if isinstance(item, (list, tuple)):
            yield from _leaves(item)
        else:
            yield item


def adopt_array(array):
    """Return a tensor over an array's memory, without a copy; whoever writes there writes into both."""
    return _C.from_buffer(array, Tensor)


def _reduce(self):
    numbers = ops.cast(self.detach(), "float32") if self.dtype.name in SHORT_FLOATS else self
    return rebuild, (host_array(numbers).copy(), self.dtype.name)


Tensor.__reduce__ = _reduce


def rebuild(array, dtype):
    """Return a pickled tensor."""
    return ops.cast(convert_to_tensor(array), as_dtype(dtype))
