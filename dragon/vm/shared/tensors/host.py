"""Numbers on their way to Python: NumPy arrays of tensors, and how tensors are shown."""
from dragon import _C
from dragon.core.dtypes import SHORT_FLOATS
from dragon.core.modes import is_absent

operators = []  # those of TensorFlow's tensors, which show themselves by what is here: `tensor.py` enters them


def host_array(x):
    """Return a tensor's numbers as a NumPy array, over the same memory where that is possible."""
    ops = operators[0]
    if getattr(type(x), "reads_together", False):  # a variable that is cut between processes
        x = x.value
    if x.requires_grad:
        x = x.detach()
    if x.device.type != "cpu":
        if x.device.type == "meta":
            raise NotImplementedError(f"numpy() is only available for tensors with numbers. Received: {x!r}")
        x = ops.to_device(x, "cpu")
    name = getattr(x.dtype, "name", x.dtype)  # a variable of Keras tells its dtype by the name
    if name in SHORT_FLOATS:
        from dragon.vm.shared.tensors.dtypes import ml_dtypes
        words = ops.view_dtype(ops.contiguous(x), "int16" if name == "bfloat16" else "uint8")
        return words.numpy().view(getattr(ml_dtypes(name), name))
    array = _C.Tensor.numpy(x)
    # The engine's int64 is C's long long; where that is not NumPy's int64, reprs would tell its dtype.
    return array.view("int64") if array.dtype.char == "q" else array


def owned_array(x):
    """Return a tensor's numbers as an array of its own; as a NumPy number if there is only one without axes."""
    array = host_array(x)
    return array.copy() if array.ndim else array[()]


def show_numbers(x, is_repr):
    """Return the text of a tensor's numbers: as NumPy's repr or str."""
    if x.device.type == "meta":
        return "<unprintable>"
    try:
        array = host_array(x)
    except RuntimeError as error:
        if not is_absent(error):
            raise
        return "<no numbers>"
    if array.ndim == 0:
        return repr(array[()].item()) if is_repr else str(array[()])
    return repr(array) if is_repr else str(array)


def describe(x):
    """Return `numpy=...` as the reprs of tensors and variables hold it."""
    text = show_numbers(x, True)
    return f"numpy={chr(10) if chr(10) in text else ''}{text}"
