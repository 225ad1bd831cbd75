"""One tensor as another: dtypes, devices, layouts, Python and NumPy objects."""
import builtins

from dragon import _C
from dragon.core import accelerator, config, modes
from dragon.vm.torch.core import layout as layouts
from dragon.vm.torch.core.device import device as device_class
from dragon.vm.torch.core.dtypes import NAMES, OBJECTS, PYTHON_DTYPES, as_dtype
from dragon.vm.torch.core.overrides import DisableTorchFunctionSubclass
from dragon.vm.torch.core.register import both, function, method, overload, plain, plain_method
from dragon.vm.torch.core.sentences import named
from dragon.vm.torch.core.tensor import Tensor, ops

CHANNELS_LAST = {layouts.channels_last: (4, (0, 2, 3, 1)), layouts.channels_last_3d: (5, (0, 2, 3, 4, 1))}


def order_in_memory(x, memory_format):
    """Return a tensor with its elements in the order of a memory format: itself if they are."""
    layouts.require_memory_format("contiguous", memory_format)
    if memory_format is None or memory_format is layouts.preserve_format:
        return x
    if memory_format is layouts.contiguous_format:
        return ops.contiguous(x)
    rank, order = CHANNELS_LAST[memory_format]
    if x.ndim != rank:
        raise RuntimeError(f"contiguous: got {memory_format} for {x.ndim} dims, expected {rank} dims")
    back = sorted(range(rank), key=order.__getitem__)
    return ops.permute(ops.contiguous(ops.permute(x, order)), back)


@overload("contiguous", of="method")
def contiguous(self, memory_format=None):
    """Return the tensor with its elements in row-major order, or in another memory format."""
    return ops.contiguous(self) if memory_format is None else order_in_memory(self, memory_format)


@method
def is_contiguous(self, memory_format=None):
    """Return whether the elements are in row-major order, or in another memory format."""
    layouts.require_memory_format("is_contiguous", memory_format)
    if memory_format is None or memory_format is layouts.contiguous_format:
        return _C.Tensor.is_contiguous(self)
    if memory_format is layouts.preserve_format:
        raise RuntimeError(f"is_contiguous: got {memory_format}, expected one that says an order")
    rank, order = CHANNELS_LAST[memory_format]
    return self.ndim == rank and _C.Tensor.is_contiguous(ops.permute(self.detach(), order))


def parse_to(args, kwargs):
    """Return (device, dtype, copy, memory_format) from the arguments of `Tensor.to` and `Module.to`."""
    wanted = {"device": None, "dtype": None, "copy": False, "memory_format": None}
    positional = list(args)
    if positional:
        first = positional.pop(0)
        if isinstance(first, Tensor):
            wanted["device"], wanted["dtype"] = first.device, first.dtype
        elif is_dtype(first):
            wanted["dtype"] = first
        else:
            wanted["device"] = first
            if positional and (positional[0] is None or is_dtype(positional[0])):
                wanted["dtype"] = positional.pop(0)
    for name in ("non_blocking", "copy")[:len(positional)]:
        wanted[name] = positional.pop(0)
    other = kwargs.pop("other", None) if kwargs else None
    if other is not None:
        wanted["device"], wanted["dtype"] = other.device, other.dtype
    for name, value in kwargs.items():
        if name not in ("device", "dtype", "copy", "memory_format", "non_blocking"):
            raise TypeError(f"to: got an unexpected keyword argument {name!r}")
        wanted[name] = value
    if positional:
        raise TypeError(f"to: got {len(args)} positional arguments, expected a device, dtype or tensor and flags")
    where, dtype = wanted["device"], wanted["dtype"]
    return None if where is None else device_class(where), as_dtype(dtype), wanted["copy"], wanted["memory_format"]


def is_dtype(value):
    """Return whether a value is a dtype, or a type of Python that stands for one."""
    return isinstance(value, _C.dtype) or isinstance(value, builtins.type) and value in PYTHON_DTYPES


def wants_queueing(args, kwargs):
    """Return whether the arguments of `Tensor.to` say that the host need not wait for a copy."""
    if kwargs and kwargs.get("non_blocking"):
        return True
    flags = [value for value in args[1:] if isinstance(value, bool)]
    return bool(flags and flags[0])


def move(x, where, non_blocking=False):
    """Return a tensor on another device; the host does not wait for pinned memory where it need not."""
    if not non_blocking:
        return ops.to_device(x, where)
    before = accelerator.let_copies_queue(True)
    try:
        return ops.to_device(x, where)
    finally:
        accelerator.let_copies_queue(before)


def _means_here(where, here):
    """Return whether a device without an index is the one where a tensor is."""
    if where.type != here.type or where.index is not None:
        return False
    return here.type != "cuda" or here.index == accelerator.cuda_index()


@method
def to(self, *args, **kwargs):
    """Return the tensor with another dtype, device or memory format; itself if nothing changes."""
    if len(args) == 1 and not kwargs:  # the common forms, told apart before anything else
        wanted = args[0]
        if isinstance(wanted, _C.dtype):
            return self if wanted == self.dtype else ops.cast(self, wanted)
        if wanted == "cpu" or getattr(wanted, "type", None) == "cpu" and wanted.index is None:
            return self if self.device.type == "cpu" else ops.to_device(self, "cpu")
    where, dtype, copy, memory_format = parse_to(args, kwargs)
    moved = self
    if where is not None and where != self.device and not _means_here(where, self.device):
        moved = move(moved, where, wants_queueing(args, kwargs))
    if dtype is not None and dtype != moved.dtype:
        moved = ops.cast(moved, dtype)
    if memory_format is not None:
        moved = order_in_memory(moved, memory_format)
    return ops.clone(moved) if copy and moved is self else moved


def _caster(name):
    wanted = NAMES[name]

    def cast(self, memory_format=None):
        moved = self if self.dtype == wanted else ops.cast(self, wanted)
        return moved if memory_format is None else order_in_memory(moved, memory_format)
    return method(named(cast, name, f"Return the tensor as `torch.{wanted.name}`; itself if it is."))


for _name in ("float", "double", "half", "bfloat16", "int", "long", "short", "cfloat", "cdouble"):
    _caster(_name)
for _name, _dtype in (("bool", "bool"), ("byte", "uint8"), ("char", "int8")):
    NAMES_BEFORE = NAMES.get(_name)
    NAMES[_name] = OBJECTS[_dtype]
    _caster(_name)
    if NAMES_BEFORE is None:
        del NAMES[_name]


@method
def type(self, dtype=None, non_blocking=False):
    """Return the name of the tensor's old type, or the tensor as another dtype."""
    if dtype is None:
        place = "torch.cuda." if self.device.type == "cuda" else "torch."
        return place + (OLD_TYPES.get(self.dtype.name) or LATER_TYPES[self.dtype.name])
    if isinstance(dtype, str) and dtype.startswith("torch.cuda."):
        return self.cuda(non_blocking=non_blocking).to(dtype_of_type(f"torch.{dtype[len('torch.cuda.'):]}"))
    return self.to(dtype_of_type(dtype))


def dtype_of_type(wanted):
    """Return the dtype that a dtype, an old class of tensors or its name stands for."""
    if isinstance(wanted, _C.dtype):
        return wanted
    if wanted is Tensor or isinstance(wanted, str) and wanted == "torch.Tensor":
        return OBJECTS[config.default_dtype()]
    if isinstance(wanted, str):
        if wanted not in DTYPE_OF_OLD_TYPE:
            raise ValueError(f"type: invalid type: {wanted!r}, expected one of torch.Tensor, "
                             f"{', '.join(DTYPE_OF_OLD_TYPE)}")
        return DTYPE_OF_OLD_TYPE[wanted]
    if not isinstance(wanted, builtins.type):
        raise TypeError(f"type: got '{builtins.type(wanted).__name__}' for argument 'dtype', expected a dtype, a type "
                        "or the name of one")
    dtype = getattr(wanted, "dtype", None)
    if not isinstance(dtype, _C.dtype):
        raise ValueError(f"type: got type {wanted.__name__}, expected torch.Tensor or one such as torch.FloatTensor")
    return dtype


OLD_TYPES = {"float32": "FloatTensor", "float64": "DoubleTensor", "float16": "HalfTensor",
             "bfloat16": "BFloat16Tensor", "uint8": "ByteTensor", "int8": "CharTensor", "int16": "ShortTensor",
             "int32": "IntTensor", "int64": "LongTensor", "bool": "BoolTensor", "complex64": "ComplexFloatTensor",
             "complex128": "ComplexDoubleTensor"}
# What came later goes by such names only where a tensor tells its type.
LATER_TYPES = {"uint16": "UInt16Tensor", "uint32": "UInt32Tensor", "uint64": "UInt64Tensor",
               "complex32": "ComplexHalfTensor",
               **{name: f"F{name[1:]}Tensor" for name in OBJECTS if name.startswith("float8_e") and "e8" not in name}}
DTYPE_OF_OLD_TYPE = {"torch." + old: OBJECTS[name] for name, old in OLD_TYPES.items()}


@method
def type_as(self, other):
    """Return the tensor with another one's dtype and device."""
    return self.to(other)


@method
def cpu(self, memory_format=None):
    """Return the tensor on the CPU; itself if it is there."""
    return self.to("cpu") if memory_format is None else self.to("cpu", memory_format=memory_format)


@method
def cuda(self, device=None, non_blocking=False, memory_format=None):
    """Return the tensor on a CUDA device."""
    return self.to("cuda" if device is None else device, non_blocking=non_blocking, memory_format=memory_format)


@method
def numpy(self, *, force=False):
    """Return a NumPy array over the same memory; `force` copies what has no such memory."""
    if force:
        return _C.Tensor.numpy(resolve(self.detach().cpu()))
    if self.requires_grad and modes.is_recording():
        raise RuntimeError("numpy: Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() "
                           "instead.")
    if self.device.type == "cuda":
        raise TypeError(f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor "
                        "to host memory first.")
    return _C.Tensor.numpy(self.detach() if self.requires_grad else self)


def resolve(x):
    """Return a tensor that NumPy has a dtype for."""
    return ops.cast(x, OBJECTS["float32"]) if x.dtype.name == "bfloat16" else x


@method
def __array__(self, dtype=None, copy=None):
    array = self.numpy()
    if dtype is not None and array.dtype != dtype:
        return array.astype(dtype)
    return array.copy() if copy else array


@overload("view", of="method")
def view(self, *shape, dtype=None):
    """Return the same memory in another shape, or as another dtype."""
    if len(shape) == 1 and is_dtype(shape[0]):
        dtype = shape[0]
    if dtype is not None:
        dtype = as_dtype(dtype)
        return self if dtype == self.dtype else ops.view_dtype(self, dtype)
    return ops.view(self, *shape)


@plain_method
def as_subclass(self, cls):
    """Return the same tensor, history included, as an instance of a subclass of Tensor."""
    with DisableTorchFunctionSubclass():
        made = ops.view(self, self.shape)
    made.__class__ = cls
    return made


@plain
def is_tensor(obj):
    """Return whether an object is a tensor.

    Parameters
    ----------
    obj : Any
        The object.

    Returns
    -------
    bool
        Whether it is one, of a subclass too.

    Examples
    --------
    >>> torch.is_tensor(torch.tensor(1)), torch.is_tensor([1])
    (True, False)

    """
    return isinstance(obj, Tensor)


@both
def is_floating_point(input):
    """Return whether the dtype is a real float."""
    return input.dtype.is_floating_point


@both
def is_complex(input):
    """Return whether the dtype is complex."""
    return input.dtype.is_complex


@both
def is_signed(input):
    """Return whether the dtype has negative numbers."""
    return input.dtype.is_signed


@both
def is_nonzero(input):
    """Return whether the only element is not zero."""
    if input.numel() != 1:
        raise RuntimeError(f"is_nonzero: got {input.numel()} elements, expected one")
    return bool(input)


@function
def numel(input):
    """Return the number of elements."""
    return input.numel()


@method
def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    if stream not in (None, -1) and self.device.type == "cpu":
        raise ValueError(f"__dlpack__: got stream {stream!r}, expected None for a tensor on the CPU")
    if self.device.type == "cuda" and stream != -1:
        _let_wait(self.device.index, stream)
    if self.requires_grad:
        raise BufferError("__dlpack__: got a tensor that requires grad, expected one without; use tensor.detach()")
    return _C.to_dlpack(self, max_version, copy)


def _let_wait(index, stream):
    """Have a taker's stream wait for what was queued here; CUDA's legacy stream goes by None and 1, a thread's by 2."""
    if stream == 0:
        raise RuntimeError("__dlpack__: got stream 0, expected 1 for the legacy default stream, 2 for a thread's, or a "
                           "stream's address: 0 could mean either")
    here, taker = accelerator.current_stream(index), 1 if stream is None else stream
    if taker != here:
        event = _C.Event(False, False, False)
        event.record(index, here)
        event.wait(index, taker)


@method
def __dlpack_device__(self):
    return _C.dlpack_device(self)


@both
def detach_(input):
    """Cut the tensor off from its history."""
    if input.is_view and input.grad_fn is not None:
        raise RuntimeError("detach_: Can't detach views in-place. Use detach() instead.")
    _C.forget(input)
    return input


def get_device(input):
    """Return the index of the tensor's device, -1 on the CPU."""
    return -1 if input.device.type == "cpu" else input.device.index or 0


both(get_device)


def __cuda_array_interface__(self):
    if self.device.type != "cuda":
        raise AttributeError(f"Can't get __cuda_array_interface__ on non-CUDA tensor type: {self.type()} If CUDA data "
                             "is required use tensor.cuda() to copy tensor to device memory.")
    if self.requires_grad:
        raise RuntimeError("Can't get __cuda_array_interface__ on Variable that requires grad. If gradients aren't "
                           "required, use var.detach() to get Variable that doesn't require grad.")
    kind, size = ARRAY_KINDS[self.dtype.name], self.element_size()
    strides = None if self.is_contiguous() else tuple(step * size for step in self.stride())
    return {"typestr": f"{'|' if size == 1 else '<'}{kind}{size}", "shape": tuple(self.shape), "strides": strides,
            "data": (self.data_ptr() if self.numel() else 0, False), "version": 3,
            "stream": accelerator.current_stream(self.device.index) or 1}


# Letters of NumPy's for kinds of numbers; bfloat16, which it lacks, goes as plain bytes.
ARRAY_KINDS = {"bool": "b", "bfloat16": "V", "float16": "f", "float32": "f", "float64": "f", "complex64": "c",
               "complex128": "c", **{f"int{bits}": "i" for bits in (8, 16, 32, 64)},
               **{f"uint{bits}": "u" for bits in (8, 16, 32, 64)}}
Tensor.__cuda_array_interface__ = property(__cuda_array_interface__, doc="Where the numbers are, for other libraries.")
