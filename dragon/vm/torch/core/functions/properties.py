"""The answers that a tensor gives about itself, and Python's own protocols: iteration, `in`, NumPy's priorities."""
from dragon import _C
from dragon.core import accelerator, config
from dragon.vm.torch.core import layout as layouts
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.functions.creation import as_tensor, finish, tensor
from dragon.vm.torch.core.register import FUNCTIONS, both, function, method
from dragon.vm.torch.core.sentences import named
from dragon.vm.torch.core.tensor import Tensor, ops

# Answers that are the same for every tensor of Dragon's.
ALWAYS = {"layout": layouts.strided, "is_sparse": False, "is_sparse_csr": False, "is_quantized": False,
          "is_mkldnn": False, "is_nested": False, "is_mps": False, "is_xpu": False, "is_xla": False, "is_ipu": False,
          "is_vulkan": False, "is_maia": False, "is_mtia": False, "name": None}


def _constant(name, value):
    return property(lambda self: value, doc=f"`{name}`, the same for every tensor here.")


for _name, _value in ALWAYS.items():
    setattr(Tensor, _name, _constant(_name, _value))
for _type in ("cpu", "cuda", "meta"):
    setattr(Tensor, "is_" + _type, property(lambda self, type=_type: self.device.type == type,
                                            doc=f"Whether the tensor is on a {_type} device."))
Tensor._base = property(lambda self: self.base, doc="The tensor that this is a view of, or None.")
Tensor._cdata = property(lambda self: id(self), doc="A number that no other tensor alive has: a tensor is one object.")
Tensor.grad_dtype = property(lambda self: self.dtype, doc="The dtype of the gradient.")


def _write_part(part):
    def write(self, value):
        part(self).copy_(value) if isinstance(value, Tensor) else part(self).fill_(value)
    return write


def _real(self):
    """The real part: a view, or the tensor itself."""
    return ops.real(self) if self.dtype.is_complex else self


def _imag(self):
    """The imaginary part, a view."""
    if not self.dtype.is_complex:
        raise RuntimeError(f"imag: got {self.dtype}, but imag is not implemented for tensors with non-complex dtypes.")
    return ops.imag(self)


for _name, _part in (("real", _real), ("imag", _imag)):
    setattr(Tensor, _name, property(_part, _write_part(_part)))
    _part.__name__ = _part.__qualname__ = _name
    FUNCTIONS[_name] = ops.overridable(_part)


@method
def __rdiv__(self, other):
    """Return a number divided by the tensor."""
    return other / self


# Classes tell the method, which iteration asks for, from the function `torch.unbind`.
Tensor.unbind = ops.overridable(ops.unbind)


def __iter__(self):
    if self.ndim == 0:
        raise TypeError("iteration over a 0-d tensor, expected at least one dim")
    return iter(Tensor.unbind(self, 0))


def __reversed__(self):
    """Return the tensor with its first axis reversed."""
    return ops.flip(self, [0]) if self.ndim else self


def __contains__(self, element):
    """Return whether an element equals a number or, broadcast, a tensor."""
    if not isinstance(element, (Tensor, int, float, complex)):
        raise RuntimeError(f"in: got {type(element).__name__}, expected a tensor or a number")
    return bool(ops.any(ops.eq(self, element)))


def __array_wrap__(self, array, context=None, return_scalar=False):
    """Return what a NumPy function made of this tensor as a tensor again."""
    return as_tensor(array)


for _function in (__reversed__, __contains__, __array_wrap__):
    method(_function)
Tensor.__iter__ = __iter__  # what it hands out comes from an operator, which asks subclasses


FUNCTIONS["detach"] = Tensor.detach = ops.overridable(_C.Tensor.detach)


@function
def _shape_as_tensor(input):
    """Return the shape as a tensor."""
    return tensor(list(input.shape), dtype=OBJECTS["int64"])


@method
def is_set_to(self, tensor):
    """Return whether two tensors stand for the same memory in the same way."""
    return (self.data_ptr() == tensor.data_ptr() and self.shape == tensor.shape and self.stride() == tensor.stride())


@method
def dim_order(self, *, ambiguity_check=False):
    """Return the axes from the slowest in memory to the fastest."""
    steps = self.stride()
    return tuple(sorted(range(self.ndim), key=lambda axis: -steps[axis]))


@method
def to_dense(self, dtype=None, *, masked_grad=None):
    """Return the tensor, which is dense."""
    return self if dtype is None else self.to(dtype)


@method
def pin_memory(self, device=None):
    """Return the tensor in pinned memory, from which copies to a device need not wait; itself if it is there."""
    if not config.device_count("cuda"):
        raise RuntimeError("pin_memory: got no accelerator, expected one: only its driver can pin memory")
    if self.device.type != "cpu":
        raise RuntimeError(f"cannot pin '{self.type()}' only dense CPU tensors can be pinned")
    return self if accelerator.is_pinned(self) else finish(accelerator.pin(self), self.requires_grad)


@method
def record_stream(self, stream):
    """Tell the allocator of a stream that uses the memory: a CUDA tensor's business."""
    if self.device.type != "cuda":
        raise NotImplementedError(f"record_stream: got a tensor on {self.device}, expected one on a CUDA device")
    accelerator.record_stream(self, stream.cuda_stream)


def _refusing(error, got, sentence, names):
    """Make methods that say what Dragon has no tensors of."""
    def make(name):
        def refuse(self, *args, **kwargs):
            raise error(f"{name}: {got}")
        method(named(refuse, name, f"`{name}` {sentence}; there are none."))
    for name in names.split():
        make(name)


_refusing(NotImplementedError, "got a plain tensor, expected no call: Dragon has no layout of oneDNN's", "would return "
          "a tensor in the layout of oneDNN", "to_mkldnn")


# Answers of one line.
for _register, _name, _answer, _sentence in (
        (both, "_is_all_true", lambda input: ops.all(input), "Return whether all elements hold, as a tensor."),
        (both, "_is_any_true", lambda input: ops.any(input), "Return whether some element holds, as a tensor."),
        (both, "_is_zerotensor", lambda input: False, "Return False: zeros are always written out."),
        (method, "is_pinned", lambda self, device=None: config.device_count("cuda") > 0 and accelerator.is_pinned(self),
         "Return whether the tensor lies in pinned memory."),
        (both, "is_inference", lambda input: False, "Return whether the tensor was made in inference mode."),
        (both, "is_distributed", lambda input: False, "Return False: no tensor is spread over processes."),
        (method, "_is_view", lambda self: self.is_view, "Return whether the memory is another tensor's."),
        (method, "const_data_ptr", lambda self: self.data_ptr(), "Return the address of the first element."),
        (method, "sparse_dim", lambda self: 0, "Return 0: no axis is sparse."),
        (method, "dense_dim", lambda self: self.ndim, "Return the number of axes: all are dense."),
        (method, "chalf", lambda self, *, memory_format=layouts.preserve_format: self.to(
            OBJECTS["complex32"], memory_format=memory_format), "Return the tensor in complex numbers of halves."),
        (both, "dequantize", lambda input: input.float(), "Return the tensor in single precision.")):
    globals()[_name] = _register(named(_answer, _name, _sentence))  # pickles find functions by name
