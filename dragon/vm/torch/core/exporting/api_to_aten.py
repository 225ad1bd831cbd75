"""What functions of the API are in PyTorch's operators, where they are not the operator of their name."""
import math

from dragon.dialects.aten.table import factories, functional_rows
from dragon.vm.torch.core.api import api
from dragon.vm.torch.core.dtypes import dtype as Dtype
from dragon.vm.torch.core.device import device as Device
from dragon.vm.torch.core.exporting.decompositions import operators_of
from dragon.vm.torch.core.exporting.tracing_state import fall_back_to_engine
from dragon.vm.torch.core.exporting.tracer import aten, current_tracer
from dragon.vm.torch.core.exporting.overload_resolution import resolve
from dragon.vm.torch.core.tensor import Tensor

RULES = {}


def rule(*names):
    """Register a function of (the operators, the call's arguments) under names of the API."""
    def register(function):
        def speak(tracer, func, args, kwargs):
            return function(aten(), *args, **kwargs)
        for name in names or (function.__name__.lstrip("_"),):
            RULES[name] = speak
        return function
    return register


def with_function(*names):
    """Register a function of (tracer, the API's function, arguments, arguments by name)."""
    def register(function):
        RULES.update(dict.fromkeys(names, function))
        return function
    return register


# --- what tells of tensors and makes none

@with_function(*"""dim ndimension size stride is_floating_point is_complex is_contiguous element_size storage_offset
    data_ptr is_same_size get_device is_signed is_inference is_conj is_neg has_names nelement is_set_to __len__
    is_tensor is_nonzero is_pinned is_shared untyped_storage storage _typed_storage numel type_of __format__ __repr__
    __hash__ broadcast_shapes result_type promote_types can_cast finfo iinfo device requires_grad register_hook
    is_autocast_enabled is_grad_enabled retain_grad is_leaf __dir__ __deepcopy__ __reduce_ex__""".split())
def _told(tracer, func, args, kwargs):
    """Ask, and note nothing; a number of elements is remembered for what it is."""
    value = tracer.quietly(func, args, kwargs)
    if func.__name__ in ("numel", "nelement") and id(args[0]) in tracer.nodes:
        tracer.shape_env.learn_number(value, "numel", tracer.nodes[id(args[0])][1])
    elif func.__name__ == "size" and not isinstance(value, tuple) and hasattr(type(value), "_combined"):
        tracer.node_of(args[0])
    return value


@with_function("backward")
def _backward(tracer, func, args, kwargs):
    fall_back_to_engine()


# --- operators of Python

def _swapped(name, reverse, target=None):
    @with_function(name)
    def convert(tracer, func, args, kwargs):
        if args and not isinstance(args[0], Tensor):
            return reverse(aten(), *args, **kwargs)
        return tracer.default(func, target or name, args, kwargs)


_swapped("add", lambda a, x, y, alpha=1: a.add(y, x) if alpha == 1 else a.add(a.mul(y, alpha), x))
_swapped("mul", lambda a, x, y: a.mul(y, x))
_swapped("sub", lambda a, x, y: a.rsub.Scalar(y, x))
for _name in ("div", "divide", "true_divide"):
    _swapped(_name, lambda a, x, y: a.mul.Tensor(a.reciprocal.default(y), x), "div")
for _name, _target in {"bitwise_and": "__and__", "bitwise_or": "__or__", "bitwise_xor": "__xor__"}.items():
    _swapped(_name, lambda a, x, y, name=_target: getattr(a, name)(y, x), _target)


def _method(name, target):
    @with_function(name)
    def convert(tracer, func, args, kwargs):
        return tracer.default(func, target, args, kwargs)


for _name, _target in {"numpy_t": "numpy_T", "mt": "mT", "conj_t": "adjoint", "concat": "cat", "concatenate": "cat",
                       "bce_with_logits": "binary_cross_entropy_with_logits", "absolute": "abs",
                       "divide_": "div_", "true_divide_": "div_", "bitwise_and_": "__iand__", "bitwise_or_": "__ior__",
                       "bitwise_xor_": "__ixor__"}.items():
    _method(_name, _target)


# --- functions of torch.nn.functional, which have rows

def _functional(name):
    @with_function(name)
    def write(tracer, func, args, kwargs):
        known = getattr(api().nn.functional, name)
        if func is known or getattr(func, "__wrapped__", func) is getattr(known, "__wrapped__", known):
            return operators_of(name)(*args, **kwargs)
        return tracer.default(func, name, args, kwargs)  # a function of another module, or a method


for _name in functional_rows():
    _functional(_name)


# --- what depends on numbers

@rule()
def _unique(a, input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    if dim is not None:
        raise NotImplementedError("torch.export: unique along an axis; expected all elements (dim=None)")
    made, inverse, counts = a._unique2.default(input, sorted, return_inverse, return_counts)
    results = (made, *([inverse] if return_inverse else []), *([counts] if return_counts else []))
    return results if len(results) > 1 else made


@rule()
def _nonzero(a, input, out=None, as_tuple=False):
    return a.nonzero_numpy.default(input) if as_tuple else a.nonzero.default(input)


@with_function("where")
def _where(tracer, func, args, kwargs):
    if len(args) + len(kwargs) == 1:
        return aten().where.default(*args, *kwargs.values())
    return tracer.default(func, "where", args, kwargs)


# --- layers

@rule()
def _embedding(a, input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
               sparse=False):
    if max_norm is not None:
        raise NotImplementedError("torch.export: embedding with max_norm writes into its weight; Dragon exports none")
    if input.is_floating_point() and not weight.is_floating_point():
        input, weight = weight, input  # `torch.embedding` has them the other way round
    padding = -1 if padding_idx is None else padding_idx % weight.shape[0]
    return a.embedding.default(weight, input, padding, scale_grad_by_freq, sparse)


def _convolved(name):
    @with_function(name)
    def convert(tracer, func, args, kwargs):
        padding = kwargs.get("padding", args[4] if len(args) > 4 else 0)
        target = getattr(aten(), name)
        if isinstance(padding, str):
            return target.padding(*args, **kwargs)
        return tracer.default(func, name, args, kwargs)


for _name in ("conv1d", "conv2d", "conv3d"):
    _convolved(_name)


# --- pictures

@rule()
def _interpolate(a, input, size=None, scale_factor=None, mode="nearest", align_corners=None,
                 recompute_scale_factor=None, antialias=False):
    rank = input.ndim - 2
    if size is not None:
        size = list(size) if isinstance(size, (list, tuple)) else [size] * rank
    if scale_factor is not None:
        scale_factor = list(map(float, scale_factor)) if isinstance(scale_factor, (list, tuple)) else [
            float(scale_factor)] * rank
        if recompute_scale_factor or mode == "area":
            size = [math.floor(length * scale) for length, scale in zip(input.shape[2:], scale_factor)]
            scale_factor = None
    if mode == "area":
        return getattr(a, f"adaptive_avg_pool{rank}d").default(input, size)
    if mode in ("nearest", "nearest-exact"):
        exact = "_" if mode == "nearest-exact" else ""
        return getattr(a, f"{exact}upsample_nearest{'_exact' if exact else ''}{rank}d").vec(input, size, scale_factor)
    word = {"linear": "linear1d", "bilinear": "bilinear2d", "bicubic": "bicubic2d",
            "trilinear": "trilinear3d"}.get(mode)
    if word is None:
        raise NotImplementedError(f"torch.export: got interpolation {mode!r}, expected nearest, nearest-exact, linear, "
                                  "bilinear, bicubic, trilinear or area")
    name = f"_upsample_{word}_aa" if antialias else f"upsample_{word}"
    return getattr(a, name).vec(input, size, bool(align_corners), scale_factor)


# --- shapes

@rule("split", "unsafe_split")
def _split(a, tensor, split_size=None, dim=0, split_size_or_sections=None):
    size = split_size if split_size_or_sections is None else split_size_or_sections
    if isinstance(size, (list, tuple)):
        return a.split_with_sizes.default(tensor, list(size), dim)
    return a.split.Tensor(tensor, size, dim)


@rule()
def _einsum(a, equation, *operands):
    if operands and isinstance(operands[0], (list, tuple)):
        operands = operands[0]
    if not isinstance(equation, str):
        raise NotImplementedError("torch.export: einsum of lists of axes; expected an equation in letters")
    return a.einsum.default(equation, list(operands))


@rule()
def _meshgrid(a, *tensors, indexing="ij"):
    tensors = tensors[0] if tensors and isinstance(tensors[0], (list, tuple)) else tensors
    return tuple(a.meshgrid.indexing(list(tensors), indexing=indexing))


@rule()
def _broadcast_tensors(a, *tensors):
    return a.broadcast_tensors.default(list(tensors[0] if isinstance(tensors[0], (list, tuple)) else tensors))


@with_function("contiguous")
def _contiguous(tracer, func, args, kwargs):
    """Note a copy only where one is made."""
    value = tracer.quietly(func, args, kwargs)
    if value is args[0]:
        return value
    return tracer.emit(aten().contiguous.default, args[:1], kwargs, value)


@rule()
def _norm(a, input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    dim = None if dim is None else list(dim) if isinstance(dim, (list, tuple)) else [dim]
    if p == "nuc":
        return a.linalg_matrix_norm.str_ord(input, "nuc", [-2, -1] if dim is None else dim, keepdim, dtype=dtype)
    return a.linalg_vector_norm.default(input, 2 if p in ("fro", None) else p, dim, keepdim, dtype=dtype)


# --- dtypes and devices

def _assert_kind(a, self):
    """Note what the program takes for granted of a tensor that it converts."""
    named = {"dtype": self.dtype, "device": self.device, "layout": self.layout}
    current_tracer().emit(a._assert_tensor_metadata.default, (self,), named, None, "_assert_tensor_metadata_default")


def _converted(a, self, kind, copy=False, memory_format=None, non_blocking=False):
    _assert_kind(a, self)
    return a.to.dtype(self, kind, non_blocking, copy, memory_format)


@rule()
def _to(a, self, *args, dtype=None, device=None, non_blocking=False, copy=False, memory_format=None, other=None):
    flags = []
    for value in args:
        if isinstance(value, Tensor):
            other = value
        elif isinstance(value, Dtype):
            dtype = value
        elif isinstance(value, bool):
            flags.append(value)
        elif value is not None:
            device = value
    if other is not None:
        dtype, device = other.dtype, other.device
    non_blocking, copy = (*flags, *(non_blocking, copy)[len(flags):])
    if device is None:
        return _converted(a, self, self.dtype if dtype is None else dtype, copy, memory_format, non_blocking)
    _assert_kind(a, self)
    return a.to.device(self, Device(device), self.dtype if dtype is None else dtype, non_blocking, copy, memory_format)


def _named(name, kind):
    @rule(name)
    def convert(a, self, memory_format=None):
        from dragon.vm import torch
        return _converted(a, self, getattr(torch, kind), memory_format=memory_format)


for _name, _kind in {"float": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16", "int": "int32",
                     "long": "int64", "short": "int16", "char": "int8", "byte": "uint8", "bool": "bool",
                     "cfloat": "complex64", "cdouble": "complex128"}.items():
    _named(_name, _kind)


@rule("type")
def _as_type(a, self, dtype=None, non_blocking=False):
    from dragon.vm import torch
    if dtype is None:
        return self.type()
    kind = dtype if isinstance(dtype, Dtype) else torch.empty((), dtype=torch.float32).type(dtype).dtype
    return _converted(a, self, kind)


@with_function("cpu", "cuda", "pin_memory", "requires_grad_", "detach_", "retain_grad")
def _stays(tracer, func, args, kwargs):
    """Note nothing where the tensor stays what it is."""
    value = tracer.quietly(func, args, kwargs)
    if value is args[0]:
        return value
    return tracer.emit(aten().to.device, (args[0], value.device, value.dtype), {}, value)


# --- tensors from nothing

@with_function("tensor", "as_tensor", "from_numpy", "scalar_tensor", "asarray")
def _constant(tracer, func, args, kwargs):
    """Lift what Python's numbers are made of."""
    value = args[0] if args else next(iter(kwargs.values()), None)
    if isinstance(value, Tensor) and id(value) in tracer.nodes and func.__name__ != "tensor":
        return tracer.within(func, args, kwargs) if kwargs or args[1:] else value
    if hasattr(type(value), "_combined"):
        kwargs = {name: item for name, item in kwargs.items() if name in ("dtype", "device")}
        made = tracer.quietly(func, (value,), kwargs)
        return tracer.emit(aten().scalar_tensor.default, (value,), {"dtype": made.dtype}, made)
    made = tracer.lifted(func, args, kwargs)
    fresh = tracer.quietly(lambda: made.clone(), (), {})
    tracer.emit(aten().lift_fresh_copy.default, (made,), {}, fresh)
    return tracer.emit(aten().detach_.default, (fresh,), {}, fresh) if func.__name__ == "tensor" else fresh


def _made(name, placed=True):
    @with_function(name)
    def convert(tracer, func, args, kwargs):
        value = tracer.quietly(func, args, kwargs)
        given = {key: item for key, item in kwargs.items() if key not in ("out", "requires_grad", "names") and
                 not (item is None and key in ("dtype", "layout", "device", "generator"))}
        if kwargs.get("out") is not None:
            raise NotImplementedError(f"torch.export: {name} with out=; assign the result instead")
        if placed:
            given["device"] = value.device
        given.setdefault("pin_memory", False)
        known = name
        overload, positional, named = resolve(known, args, given)
        named["pin_memory"] = bool(given["pin_memory"])
        return tracer.emit(getattr(getattr(aten(), known), overload), positional, named, value)


for _name, _follows in factories().items():
    if _name not in RULES:
        _made(_name, placed=not _follows)
