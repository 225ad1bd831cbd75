"""`dragon.Tensor`: strided numbers in NumPy's dialect. Its methods are the operators themselves."""
import os
import re

from dragon import _C
from dragon.core import config, gradients
from dragon.core.descriptions import Descriptions
from dragon.core.device import Device, current_device
from dragon.core.dtypes import NATIVE, SHORT_FLOATS
from dragon.core.modes import is_absent
from dragon.core.printing import format_tensor
from dragon.core.refusals import guard_methods, refused


class Tensor(_C.Tensor):
    """Strided numbers of one dtype on one device.

    Every operator whose first argument is `x` is a method too: `x.sum(axis=0)` is `ops.sum(x, axis=0)`, and
    `x.exp_()` writes `ops.exp(x)` into `x` itself.
    """

    __slots__ = ()

    def __repr__(self):
        try:
            numbers = None if self.device.type == "meta" else host_array(self)
        except RuntimeError as error:
            if not is_absent(error):
                raise
            numbers = None
        return format_tensor(self, numbers)

    def _repr_html_(self):
        from dragon.core.pictures.card import tensor_card
        return tensor_card(self, "dragon.Tensor")

    def __format__(self, spec):
        return format(self.item(), spec) if spec else str(self)

    def __array__(self, dtype=None, copy=None):
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError(f"__array__: got copy=False for {array.dtype} to {dtype}, expected the same dtype")
            return array.astype(dtype)
        return array.copy() if copy else array

    def __iter__(self):
        if self.ndim == 0:
            raise TypeError("iter: got a 0-d tensor, expected at least one axis")
        return iter(ops.unbind(self))

    def __contains__(self, number):
        return bool(ops.any(ops.eq(self, number)))

    def __reduce__(self):
        return rebuild, (to_bytes(self), tuple(self.shape), self.dtype.name, str(self.device), self.requires_grad)

    def __copy__(self):
        return self.detach().requires_grad_(self.requires_grad) if self.is_leaf else ops.view(self, self.shape)

    def __deepcopy__(self, memo):
        if not self.is_leaf:
            raise RuntimeError("deepcopy: got a tensor with a history, expected a leaf; call detach() first")
        copied = ops.clone(self.detach()).requires_grad_(self.requires_grad)
        memo[id(self)] = copied
        if self.grad is not None:
            copied.grad = ops.clone(self.grad.detach())
        return copied

    T = property(lambda self: ops.numpy_t(self), doc="The tensor with its axes in reverse order.")
    mT = property(lambda self: ops.matrix_transpose(self), doc="The tensor with its last two axes exchanged.")
    real = property(lambda self: ops.real(self), doc="The real part.")
    imag = property(lambda self: ops.imag(self), doc="The imaginary part.")

    def astype(self, dtype):
        """Return the numbers in another dtype; the tensor itself if it has that one."""
        wanted = as_dtype(dtype)
        return self if wanted == self.dtype else ops.cast(self, wanted)

    def to(self, device):
        """Return the tensor on a device; itself if it is there."""
        device = Device(device)
        return self if device == self.device else ops.to_device(self, device)

    def backward(self, grad=None, retain_graph=None, create_graph=False, inputs=None):
        """Add this tensor's gradients into the `grad` of the leaves it was computed from; see `dragon.backward`."""
        gradients.backward(self, grad, retain_graph, create_graph, inputs)

    def register_hook(self, hook):
        """Call `hook(grad)` when this tensor's gradient is known; what it returns, if anything, takes its place.

        Returns
        -------
        RemovableHook
            Whose `remove()` takes the hook away.

        """
        return RemovableHook(self, _C.register_hook(self, hook))

    def requires_grad_(self, value=True):
        """Ask for gradients, or no longer; returns the tensor."""
        self.requires_grad = value
        return self

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if stream is not None and self.device.type == "cpu":
            raise ValueError(f"__dlpack__: got stream {stream!r}, expected None for a tensor on the CPU")
        if dl_device is not None and tuple(dl_device) != _C.dlpack_device(self):
            raise BufferError(f"__dlpack__: got device {dl_device!r}, expected {_C.dlpack_device(self)}, the tensor's")
        return _C.to_dlpack(self, max_version, copy)

    def __dlpack_device__(self):
        return _C.dlpack_device(self)


class RemovableHook:
    """A hook in place."""

    __slots__ = ("_tensor", "_hook")

    def __init__(self, tensor, hook):
        self._tensor, self._hook = tensor, hook

    def remove(self):
        """Take the hook away; the second time, nothing happens."""
        if self._hook is not None:
            _C.remove_hook(self._tensor, self._hook)
            self._tensor = self._hook = None


dtype = _C.dtype
bool_, uint8 = NATIVE["bool"], NATIVE["uint8"]
int8, int16, int32, int64 = (NATIVE[name] for name in ("int8", "int16", "int32", "int64"))
float16, bfloat16, float32, float64 = (NATIVE[name] for name in ("float16", "bfloat16", "float32", "float64"))
complex64, complex128 = NATIVE["complex64"], NATIVE["complex128"]
ops = _C.Ops(Tensor, NATIVE, Device)
ops.set_refusal(refused)
ops.set_describer(Descriptions(os.path.join(os.path.dirname(gradients.__file__), "examples")))
guard_methods(ops, Tensor)


def add_methods():
    """Make methods of the operators whose first argument is `x`, and of their in-place forms."""
    for name in _C.op_names():
        # Of the schema its line: all that is told of each operator takes twenty times as long to gather.
        if not re.match(r"\w+\(Tensor\?? x\b", getattr(ops, name).schema) or name.endswith("_backward"):
            continue
        for method in (name, name + "_"):
            if method not in Tensor.__dict__ and not hasattr(_C.Tensor, method):
                setattr(Tensor, method, getattr(ops, method))


add_methods()


def as_dtype(value):
    """Return the dtype that a dtype, a NumPy dtype, a Python type or a name stands for."""
    if isinstance(value, _C.dtype):
        return value
    kinds = {bool: "bool", int: "int64", float: config.default_dtype(), complex: "complex64"}
    name = kinds.get(value) if isinstance(value, type) else None
    name = name or (value if isinstance(value, str) else getattr(value, "name", None) or getattr(value, "__name__", ""))
    if name not in NATIVE:
        raise TypeError(f"dtype: got {value!r}, expected one of {', '.join(NATIVE)}")
    return NATIVE[name]


def default_dtype():
    """Return the dtype of Python floats."""
    return NATIVE[config.default_dtype()]


def host_array(x):
    """Return the numbers as a NumPy array; floats that NumPy lacks as float32, complex32 as complex64."""
    x = x.detach().to("cpu")
    if x.dtype.name == "complex32":
        x = ops.cast(x, complex64)
    return (ops.cast(x, float32) if x.dtype.name in SHORT_FLOATS else x).numpy()


def tensor(data, dtype=None, device=None, requires_grad=False):
    """Return a tensor with a copy of the data.

    Parameters
    ----------
    data : Union[number, Sequence, numpy.ndarray, Tensor]
        Numbers, nested lists of them, an array or a tensor.
    dtype : Union[dtype, str], optional
        By default what the data has; Python floats take the default dtype.
    device : Union[str, Device], optional
        By default the one of the innermost `dragon.device` block.
    requires_grad : bool, optional, default=False
        Whether to gather gradients.

    Returns
    -------
    Tensor
        A leaf.

    Examples
    --------
    >>> dragon.tensor([[1, 2], [3, 4]])
    Tensor([[1, 2],
            [3, 4]])
    >>> dragon.tensor([1.0, 2.0]).dtype
    dragon.float32

    """
    made = _C.tensor(data, dtype, current_device() if device is None else Device(device), Tensor)
    made.requires_grad = requires_grad
    return made


def asarray(data, dtype=None, device=None):
    """Return data as a tensor: the tensor itself, or one over an array's memory, if dtype and device allow it.

    Parameters
    ----------
    data : Union[number, Sequence, numpy.ndarray, Tensor]
        The data.
    dtype : Union[dtype, str], optional
        That of the data by default.
    device : Union[str, Device], optional
        That of the data by default.

    Returns
    -------
    Tensor
        Of the shape of the data.

    Examples
    --------
    >>> a = np.array([1, 2, 3])
    >>> x = dragon.asarray(a)
    >>> a[0] = 10
    >>> x
    Tensor([10,  2,  3])

    """
    if not isinstance(data, _C.Tensor):
        if not hasattr(data, "__array_interface__"):
            return tensor(data, dtype, device)
        data = from_numpy(data)
    data = data if isinstance(data, Tensor) else _C.as_class(data, Tensor)
    data = data if dtype is None else data.astype(dtype)
    return data if device is None else data.to(device)


def from_numpy(array):
    """Return a tensor over the memory of a NumPy array. Read-only memory is copied.

    Parameters
    ----------
    array : numpy.ndarray
        The array.

    Returns
    -------
    Tensor
        Of its shape and dtype.

    Examples
    --------
    >>> dragon.from_numpy(np.array([[1.0, 2.0]])).dtype
    dragon.float64

    """
    return _C.from_buffer(array, Tensor)


def from_dlpack(source):
    """Return a tensor over the memory of another library's tensor, through DLPack."""
    return _C.from_dlpack(source, Tensor)


def to_bytes(x):
    """Return the numbers as bytes in row-major order; None for a meta tensor."""
    if x.device.type == "meta":
        return None
    flat = ops.reshape(x.detach().to("cpu"), (-1,))
    return bytes(memoryview(ops.view_dtype(ops.contiguous(flat), uint8)))


def rebuild(data, shape, dtype, device, requires_grad):
    """Return a pickled tensor."""
    if data is None:
        made = ops.empty(shape, dtype=dtype, device=device)
    else:
        # A bytearray may be written, so the tensor takes it over without another copy.
        made = ops.reshape(ops.view_dtype(from_numpy(bytearray(data)), dtype), shape).to(device)
    made.requires_grad = requires_grad
    return made
