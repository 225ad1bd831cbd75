"""Tensors from nothing or from data."""
from dragon import _C
from dragon.core import config, modes
from dragon.core.capture.settings import is_capturing, is_exporting, is_sketching
from dragon.vm.torch.core.device import as_device
from dragon.vm.torch.core.dtypes import OBJECTS, UNSUPPORTED, as_dtype
from dragon.vm.torch.core.functions.destination import require_dtype
from dragon.vm.torch.core.layout import channels_last, channels_last_3d, contiguous_format, EMPTY, require_strided
from dragon.vm.torch.core.nvidia import lending
from dragon.vm.torch.core.register import both, function, method, overload
from dragon.vm.torch.core.sentences import named
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.core.triangles import MOST_PLACES, triangle


def finish(made, requires_grad, pin_memory=False):
    """Return a new tensor, in pinned memory and asking for gradients if wanted."""
    if pin_memory and config.device_count("cuda"):
        made = made.pin_memory()
    if requires_grad:
        made.requires_grad = True
    return made


def shape_of(size):
    """Return the shape that loose integers, or one sequence of them, stand for."""
    if len(size) == 1 and not hasattr(size[0], "__index__"):
        return size[0]
    return size


def default_dtype():
    """Return the dtype of Python floats."""
    return OBJECTS[config.default_dtype()]


def make(operator):
    """Return a function of a shape, as `torch.zeros(2, 3)` or `torch.zeros((2, 3))`."""
    fills = operator == "ones"
    operator = getattr(ops, operator)

    def create(*size, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False,
               memory_format=None, **named):
        size = named.pop("size") if "size" in named else shape_of(size)
        if named:
            raise TypeError(f"{create.__name__}: got an unexpected keyword argument {next(iter(named))!r}")
        if layout in EMPTY and not fills and out is None:
            return EMPTY[layout](create.__name__, size, layout, dtype, device, requires_grad)
        require_strided(create.__name__, layout)
        if out is not None:
            require_dtype(out, dtype)
            out.resize_(size)
            return operator(size, dtype=out.dtype, device=out.device, out=out)
        made = operator(size, dtype=dtype, device=as_device(device))
        if memory_format is not None and memory_format is not contiguous_format:
            made = made.contiguous(memory_format=memory_format)
        return finish(made, requires_grad, pin_memory)
    return create


def in_format(made, memory_format):
    """Return a tensor in a memory format, if one is asked for that is not the tensor's own."""
    if memory_format in (contiguous_format, channels_last, channels_last_3d):
        return made.contiguous(memory_format=memory_format)
    return made


def make_like(operator):
    """Return a function of a tensor, as `torch.zeros_like(x)`."""
    fills = operator not in ("empty_like", "zeros_like")
    operator = getattr(ops, operator)

    def create_like(input, *value, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False,
                    memory_format=None, **named):
        if layout in EMPTY and not fills:
            return EMPTY[layout](create_like.__name__, input.shape, layout, dtype or input.dtype,
                                 input.device if device is None else device, requires_grad)
        require_strided(create_like.__name__, layout)
        made = operator(input, *value, dtype=dtype, device=None if device is None else as_device(device), **named)
        return finish(in_format(made, memory_format), requires_grad, pin_memory)
    return create_like


# Those of the engine that draw no numbers.
LIKE = [name for name in _C.op_names() if name.endswith("_like") and all(
    argument["name"] != "generator" for argument in _C.schema(name)["arguments"])]


def _register():
    """Make the functions that differ by the operator alone."""
    for name in ("empty", "zeros", "ones"):
        create = make(name)
        overload(name)(named(create, name, f"Return a new tensor of a shape, as the operator `{name}` fills it."))
    for name in LIKE:
        create = make_like(name)
        overload(name)(named(create, name,
                             f"Return a new tensor of another one's shape, as the operator `{name}` fills it."))


_register()


@function
def full(size, fill_value, *, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False,
         names=None):
    """Return a tensor of one number; its dtype is that of the number unless named."""
    require_strided("full", layout)
    if names is not None:
        raise NotImplementedError(f"full: got names={names!r}, expected None: Dragon's dims have no names")
    if out is not None:
        require_dtype(out, dtype)
        return out.resize_(size).fill_(fill_value)
    if isinstance(fill_value, Tensor):
        dtype = dtype or fill_value.dtype
        fill_value = fill_value.item()
    if dtype is None:
        dtype = (OBJECTS["bool"] if isinstance(fill_value, bool) else OBJECTS["int64"] if isinstance(fill_value, int)
                 else default_dtype().to_complex() if isinstance(fill_value, complex) else default_dtype())
    return finish(ops.full(size, fill_value, dtype=dtype, device=as_device(device)), requires_grad, pin_memory)


@overload("arange")
def arange(start=0, end=None, step=1, *, out=None, dtype=None, layout=None, device=None, pin_memory=False,
           requires_grad=False):
    """Return the numbers from `start` up to, not including, `end`; a single argument is the end."""
    require_strided("arange", layout)
    if end is None:
        start, end = 0, start
    dtype = as_dtype(dtype)
    if dtype is not None and not dtype.is_floating_point:
        start, end, step = int(start), int(end), int(step)
    if out is not None:
        require_dtype(out, dtype)
        return ops.arange(start, end, step, dtype=dtype or out.dtype, out=out)
    return finish(ops.arange(start, end, step, dtype=dtype, device=as_device(device)), requires_grad, pin_memory)


@function
def range(start=0, end=None, step=1, **options):
    """Return the numbers from `start` up to and including `end`."""
    if end is None:
        start, end = 0, start
    options.setdefault("dtype", default_dtype())
    count = int((end - start) / step + 1)
    return arange(0, count, **options) * step + start if count > 0 else arange(0, **options)


def _spaced(name):
    operator = getattr(ops, name)

    def create(start, end, steps, *base, out=None, dtype=None, layout=None, device=None, pin_memory=False,
               requires_grad=False, **named):
        require_strided(name, layout)
        ends = [value.item() if isinstance(value, Tensor) else value for value in (start, end)]
        dtype = as_dtype(dtype)
        if dtype is not None and not dtype.is_floating_point and not dtype.is_complex:
            ends = [int(value) for value in ends]
        if out is not None:
            require_dtype(out, dtype)
            return operator(*ends, steps, *base, dtype=dtype or out.dtype, out=out, **named)
        return finish(operator(*ends, steps, *base, dtype=dtype, device=as_device(device), **named), requires_grad)
    return function(named(create, name, f"Return numbers between two ends, spaced as the operator `{name}` does."))


linspace = _spaced("linspace")
logspace = _spaced("logspace")


@function
def eye(n, m=None, *, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """Return a matrix with ones on the diagonal."""
    require_strided("eye", layout)
    if out is not None:
        require_dtype(out, dtype)
        return ops.eye(n, m, dtype=out.dtype, out=out)
    return finish(ops.eye(n, m, dtype=dtype, device=as_device(device)), requires_grad, pin_memory)


@function
def empty_strided(size, stride, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """Return a tensor of a shape and strides with whatever its memory holds."""
    require_strided("empty_strided", layout)
    return finish(ops.empty_strided(size, stride, dtype=dtype, device=as_device(device)), requires_grad, pin_memory)


@function
def empty_permuted(size, physical_layout, *, dtype=None, layout=None, device=None, requires_grad=False,
                   pin_memory=False):
    """Return an empty tensor whose axes lie in memory in a given order."""
    require_strided("empty_permuted", layout)
    if len(size) != len(physical_layout):
        raise RuntimeError("empty_permuted: Number of dimensions in size does not match the length of the "
                           f"physical_layout; i.e. len(size) = {len(size)} is not equal to len(physical_layout) = "
                           f"{len(physical_layout)}")
    for place, axis in enumerate(physical_layout):
        if not 0 <= axis < len(size):
            raise RuntimeError("empty_permuted: Dimension out of range (expected to be between 0 and "
                               f"{len(size) - 1}, but got {axis} at index {place})")
        if axis in physical_layout[:place]:
            raise RuntimeError(f"empty_permuted: got dim {axis} twice. Duplicate dim not allowed")
    steps, step = [0] * len(size), 1
    for axis in reversed(physical_layout):
        steps[axis] = step
        step *= size[axis]
    return empty_strided(size, steps, dtype=dtype, device=device, requires_grad=requires_grad)


@function
def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """Return a leaf with a copy of numbers, nested sequences of them, an array or a tensor."""
    where = data.device if device is None and isinstance(data, Tensor) else as_device(device)
    if not isinstance(data, Tensor) and hasattr(data, "__cuda_array_interface__"):
        lent = lending.borrow(data, Tensor)
        return finish(lent.to(lent.device if device is None else where, dtype or lent.dtype, copy=True), requires_grad)
    if is_baked(data):
        made = from_numpy(data)
        return finish(made.to(device=where, dtype=dtype or made.dtype), requires_grad, pin_memory)
    return finish(_C.tensor(data, dtype, where, Tensor), requires_grad, pin_memory)


def is_baked(data):
    """Return whether data is an array whose numbers become a graph's own, as those of lists do: the graph is traced."""
    if not is_capturing() or not (is_sketching() or is_exporting()):
        return False
    return hasattr(data, "__array_interface__") and not isinstance(data, Tensor)


@function
def scalar_tensor(value, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """Return a 0-d tensor of a number, in the default dtype unless one is named."""
    require_strided("scalar_tensor", layout)
    return tensor(value, dtype=dtype or default_dtype(), device=device, requires_grad=requires_grad)


@function
def as_tensor(data, dtype=None, device=None):
    """Return data as a tensor, over the same memory if it is an array or tensor of this dtype and device."""
    if not isinstance(data, Tensor) and hasattr(data, "__cuda_array_interface__"):
        data = lending.borrow(data, Tensor)
    if not isinstance(data, Tensor):
        if not hasattr(data, "__array_interface__") or not getattr(data, "shape", ()):
            return tensor(data, dtype=dtype, device=device)
        data = from_numpy(data)
    return data.to(device=data.device if device is None else device, dtype=dtype or data.dtype)


@function
def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    """Return an object as a tensor, sharing memory where `copy` allows and nothing needs to change."""
    if isinstance(obj, Tensor):
        made = obj
    elif hasattr(obj, "__cuda_array_interface__"):
        made = lending.borrow(obj, Tensor)
    elif hasattr(obj, "__dlpack__") and not hasattr(obj, "__array_interface__"):
        made = from_dlpack(obj)
    elif hasattr(obj, "__array_interface__") and getattr(obj, "shape", ()):
        made = from_numpy(obj)
    elif isinstance(obj, (bytes, bytearray, memoryview)):
        made = frombuffer(obj, dtype=dtype or default_dtype())
    else:
        if copy is False:
            raise ValueError("asarray: got copy=False for data without a buffer, expected copy=None or True")
        return tensor(obj, dtype=dtype, device=device, requires_grad=requires_grad)
    moved = made.to(device=made.device if device is None else device, dtype=dtype or made.dtype)
    if moved is not made and copy is False:
        raise ValueError(f"asarray: got copy=False, expected data that is {moved.dtype} on {moved.device} already")
    if copy and moved is made:
        moved = moved.clone()
    if isinstance(obj, Tensor) and moved is obj and requires_grad == obj.requires_grad:
        return moved
    return finish(moved.detach(), requires_grad)


@function
def from_numpy(ndarray):
    """Return a tensor over the memory of a NumPy array."""
    if not hasattr(ndarray, "__array_interface__"):
        raise TypeError(f"from_numpy: expected np.ndarray (got {type(ndarray).__name__})")
    if not is_baked(ndarray) or ndarray.dtype.name not in OBJECTS.keys() - UNSUPPORTED:
        return _C.from_buffer(ndarray, Tensor)
    constant = _C.tensor(ndarray.tolist(), OBJECTS[ndarray.dtype.name], None, Tensor)
    return ops.reshape(constant, ndarray.shape) if 0 in ndarray.shape else constant


@function
def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """Return a 1-d tensor over an object's memory."""
    dtype = as_dtype(dtype)
    width = dtype.itemsize
    try:
        view = memoryview(buffer).cast("B")
    except BufferError as error:  # of a tensor that may not be lent
        raise ValueError(f"frombuffer: {error}") from None
    if view.nbytes == 0:
        raise ValueError(f"frombuffer: both buffer length (0) and count ({count}) must not be 0")
    if not 0 <= offset < view.nbytes:
        raise ValueError(f"frombuffer: got offset {offset}, expected 0 to {view.nbytes - 1}")
    rest = view.nbytes - offset
    if count < 0 and rest % width:
        raise ValueError(f"frombuffer: buffer length ({rest} bytes) after offset ({offset} bytes) must be a multiple "
                         f"of element size ({width})")
    size = (rest // width if count < 0 else count) * width
    if size > rest or size == 0:
        raise ValueError(f"frombuffer: got {count} elements of {width} bytes, expected 1 to "
                         f"{rest // width}")
    flat = _C.from_buffer(view[offset:offset + size], Tensor)
    return finish(ops.view_dtype(flat, dtype), requires_grad)


@function
def from_dlpack(ext_tensor, *, device=None, copy=None):
    """Return a tensor over the memory of another library's tensor, through DLPack."""
    made = lending.take(ext_tensor, Tensor)
    made = made if device is None else made.to(device)
    return made.clone() if copy else made


@function
def tril_indices(row, col, offset=0, *, dtype=None, device=None, layout=None, pin_memory=False):
    """Return the indices of the lower triangle of a matrix, as two rows."""
    return _places("tril_indices", row, col, offset, dtype, device, layout)


@function
def triu_indices(row, col, offset=0, *, dtype=None, device=None, layout=None, pin_memory=False):
    """Return the indices of the upper triangle of a matrix, as two rows."""
    return _places("triu_indices", row, col, offset, dtype, device, layout)


def _places(name, row, col, offset, dtype, device, layout):
    """Return the places of a triangle; while calls are written down, as numbers: how many there are is no shape's."""
    require_strided(name, layout)
    dtype, device = dtype or OBJECTS["int64"], as_device(device)
    if modes.is_written_down() and all(type(number) is int for number in (row, col, offset)) and (
            min(row, col) >= 0 and row * col <= MOST_PLACES):
        return tensor(triangle(row, col, offset, name == "tril_indices"), dtype=dtype, device=device)
    return getattr(ops, name)(row, col, offset, dtype=dtype, device=device)


def _new(name):
    """Return the method `new_<name>`, whose dtype and device are the tensor's unless named."""
    from dragon.vm.torch.core.register import FUNCTIONS
    create = FUNCTIONS[name]

    def new(self, *size, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, **named):
        return create(*size, dtype=dtype or self.dtype, device=self.device if device is None else device,
                      requires_grad=requires_grad, layout=layout, **named)
    return method(named(new, "new_" + name, f"Return `torch.{name}` of a shape with this tensor's dtype and device."))


for _name in (*LIKE, "empty_strided"):
    _new(_name.removesuffix("_like"))


@method
def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """Return a copy of data with this tensor's dtype and device."""
    require_strided("new_tensor", layout)
    return tensor(data, dtype=dtype or self.dtype, device=self.device if device is None else device,
                  requires_grad=requires_grad)


def _over_storage(storage, dtype):
    held = getattr(storage, "dtype", dtype)
    if held != dtype:
        raise TypeError(f"new: got a storage of {held}, expected one of {dtype}")
    return storage.untyped().as_tensor(dtype)


@method
def new(self, *args, device=None):
    """Return a tensor of this dtype from sizes or data, or over a storage, as the old constructors did."""
    where = self.device if device is None else device
    if not args:
        return Tensor.new_empty(self, 0, device=where)
    if len(args) == 1 and hasattr(args[0], "untyped"):
        return _over_storage(args[0], self.dtype)
    if len(args) == 1 and not isinstance(args[0], (int, Size)):
        return tensor(args[0], dtype=self.dtype, device=where)
    return Tensor.new_empty(self, *args, device=where)


@both
def clone(input, *, memory_format=None):
    """Return a copy, on the tape."""
    if memory_format is contiguous_format and not input.is_contiguous():
        return input.contiguous()
    copied = ops.clone(input)
    return copied if memory_format is None else copied.contiguous(memory_format=memory_format)
