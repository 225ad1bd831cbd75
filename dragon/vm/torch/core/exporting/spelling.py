"""What functions of the API are in PyTorch's operators, where they are not the operator of their name."""
from dragon.dialects.aten.table import factories
from dragon.vm.torch.core.dtypes import dtype as Dtype
from dragon.vm.torch.core.device import device as Device
from dragon.vm.torch.core.exporting.hearing import leave_to_engine
from dragon.vm.torch.core.exporting.listening import aten, listener
from dragon.vm.torch.core.exporting.resolving import resolve
from dragon.vm.torch.core.tensor import Tensor

RULES = {}


def rule(*names):
    """Register a function of (the operators, the call's arguments) under names of the API."""
    def register(function):
        def speak(listener, func, args, kwargs):
            return function(aten(), *args, **kwargs)
        for name in names or (function.__name__.lstrip("_"),):
            RULES[name] = speak
        return function
    return register


def with_function(*names):
    """Register a function of (listener, the API's function, arguments, arguments by name)."""
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
def _told(listener, func, args, kwargs):
    """Ask, and note nothing; a number of elements is remembered for what it is."""
    value = listener.quietly(func, args, kwargs)
    if func.__name__ in ("numel", "nelement") and id(args[0]) in listener.nodes:
        listener.clerk.learn_number(value, "numel", listener.nodes[id(args[0])][1])
    elif func.__name__ == "size" and not isinstance(value, tuple) and hasattr(type(value), "_combined"):
        listener.node_of(args[0])
    return value


@with_function("backward")
def _backward(listener, func, args, kwargs):
    leave_to_engine()


# --- operators of Python

def _swapped(name, reverse, target=None):
    @with_function(name)
    def spoken(listener, func, args, kwargs):
        if args and not isinstance(args[0], Tensor):
            return reverse(aten(), *args, **kwargs)
        return listener.default(func, target or name, args, kwargs)


_swapped("add", lambda a, x, y, alpha=1: a.add(y, x) if alpha == 1 else a.add(a.mul(y, alpha), x))
_swapped("mul", lambda a, x, y: a.mul(y, x))
_swapped("sub", lambda a, x, y: a.rsub.Scalar(y, x))
for _name in ("div", "divide", "true_divide"):
    _swapped(_name, lambda a, x, y: a.mul.Tensor(a.reciprocal.default(y), x), "div")
for _name, _target in {"bitwise_and": "__and__", "bitwise_or": "__or__", "bitwise_xor": "__xor__"}.items():
    _swapped(_name, lambda a, x, y, name=_target: getattr(a, name)(y, x), _target)


def _method(name, target):
    @with_function(name)
    def spoken(listener, func, args, kwargs):
        return listener.default(func, target, args, kwargs)


for _name, _target in {"numpy_t": "numpy_T", "mt": "mT", "conj_t": "adjoint", "concat": "cat", "concatenate": "cat",
                       "bce_with_logits": "binary_cross_entropy_with_logits", "absolute": "abs",
                       "divide_": "div_", "true_divide_": "div_", "bitwise_and_": "__iand__", "bitwise_or_": "__ior__",
                       "bitwise_xor_": "__ixor__"}.items():
    _method(_name, _target)


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
def _where(listener, func, args, kwargs):
    if len(args) + len(kwargs) == 1:
        return aten().where.default(*args, *kwargs.values())
    return listener.default(func, "where", args, kwargs)


# --- layers

@rule()
def _batch_norm(a, input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    return a.batch_norm.default(input, weight, bias, running_mean, running_var, training,
                                0.0 if momentum is None else momentum, eps, False)


@rule()
def _instance_norm(a, input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True,
                   momentum=0.1, eps=1e-5):
    return a.instance_norm.default(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps,
                                   False)


@rule()
def _layer_norm(a, input, normalized_shape, weight=None, bias=None, eps=1e-5):
    return a.layer_norm.default(input, list(normalized_shape), weight, bias, eps, False)


@rule()
def _group_norm(a, input, num_groups, weight=None, bias=None, eps=1e-5):
    return a.group_norm.default(input, num_groups, weight, bias, eps, False)


@rule()
def _embedding(a, input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
               sparse=False):
    if max_norm is not None:
        raise NotImplementedError("torch.export: embedding with max_norm writes into its weight; Dragon exports none")
    if input.is_floating_point() and not weight.is_floating_point():
        input, weight = weight, input  # `torch.embedding` has them the other way round
    padding = -1 if padding_idx is None else padding_idx % weight.shape[0]
    return a.embedding.default(weight, input, padding, scale_grad_by_freq, sparse)


def _dropped(name, operator):
    @rule(name)
    def spoken(a, input, p=0.5, training=None, inplace=False, train=None):
        training = train if training is None else training
        target = getattr(a, operator + "_" * bool(inplace))
        return target.default(input, p, name == "dropout" if training is None else training)


for _name, _target in {"dropout": "dropout", "alpha_dropout": "alpha_dropout", "dropout1d": "feature_dropout",
                       "dropout2d": "feature_dropout", "dropout3d": "feature_dropout",
                       "feature_alpha_dropout": "feature_alpha_dropout"}.items():
    _dropped(_name, _target)


def _activated(name):
    @with_function(name)
    def spoken(listener, func, args, kwargs):
        kwargs = dict(kwargs)
        inplace = kwargs.pop("inplace", False)
        if args and isinstance(args[-1], bool):
            args, inplace = args[:-1], args[-1]
        target = name + "_" * bool(inplace)
        return getattr(aten(), target)(*args, **kwargs)


@rule()
def _elu(a, input, alpha=1.0, inplace=False):
    return (a.elu_ if inplace else a.elu).default(input, alpha)


@rule()
def _celu(a, input, alpha=1.0, inplace=False):
    return (a.celu_ if inplace else a.celu).default(input, alpha)


@rule()
def _hardtanh(a, input, min_val=-1.0, max_val=1.0, inplace=False):
    return (a.hardtanh_ if inplace else a.hardtanh).default(input, min_val, max_val)


@rule()
def _gelu(a, input, approximate="none"):
    return a.gelu.default(input, approximate=approximate)


for _name in ("relu", "relu6", "leaky_relu", "silu", "hardswish", "hardsigmoid", "selu", "mish", "threshold"):
    _activated(_name)


@rule("logsigmoid")
def _log_sigmoid(a, input):
    return a.log_sigmoid.default(input)


def _soft(name):
    @rule(name)
    def spoken(a, input, dim=None, _stacklevel=3, dtype=None):
        if isinstance(_stacklevel, Dtype):
            dtype = _stacklevel
        dim = (0 if input.ndim in (0, 1, 3) else 1) if dim is None else dim
        if name == "softmin":
            input = a.neg.default(input)
        target = a.log_softmax if name == "log_softmax" else a.softmax
        return target.int(input, dim) if dtype is None else target.int(input, dim, dtype)


for _name in ("softmax", "log_softmax", "softmin"):
    _soft(_name)


def _pooled(name):
    @rule(name)
    def spoken(a, input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        target = getattr(a, name + ("_with_indices" if return_indices else "")).default
        return target(input, kernel_size, [] if stride is None else stride, padding, dilation, ceil_mode)


for _name in ("max_pool1d", "max_pool2d", "max_pool3d"):
    _pooled(_name)


def _fitted(name, rank):
    @rule(name)
    def spoken(a, input, output_size, return_indices=False):
        given = list(output_size) if isinstance(output_size, (list, tuple)) else [output_size] * rank
        given = [size if wanted is None else wanted for size, wanted in zip(input.shape[-rank:], given)]
        target = getattr(a, name).default
        if name.startswith("adaptive_avg"):
            return target(input, given)
        made, indices = target(input, given)
        return (made, indices) if return_indices else made


for _rank in (1, 2, 3):
    _fitted(f"adaptive_avg_pool{_rank}d", _rank)
    _fitted(f"adaptive_max_pool{_rank}d", _rank)


def _convolved(name):
    @with_function(name)
    def spoken(listener, func, args, kwargs):
        padding = kwargs.get("padding", args[4] if len(args) > 4 else 0)
        target = getattr(aten(), name)
        if isinstance(padding, str):
            return target.padding(*args, **kwargs)
        return listener.default(func, name, args, kwargs)


for _name in ("conv1d", "conv2d", "conv3d"):
    _convolved(_name)


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
def _contiguous(listener, func, args, kwargs):
    """Note a copy only where one is made."""
    value = listener.quietly(func, args, kwargs)
    if value is args[0]:
        return value
    return listener.emit(aten().contiguous.default, args[:1], kwargs, value)


@rule()
def _normalize(a, input, p=2.0, dim=1, eps=1e-12, out=None):
    dim = list(dim) if isinstance(dim, (list, tuple)) else [dim]
    norm = a.linalg_vector_norm.default(input, float(p), dim, True)
    return a.div.Tensor(input, a.expand_as.default(a.clamp_min.default(norm, eps), input))


@rule()
def _norm(a, input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    dim = None if dim is None else list(dim) if isinstance(dim, (list, tuple)) else [dim]
    if p == "nuc":
        return a.linalg_matrix_norm.str_ord(input, "nuc", [-2, -1] if dim is None else dim, keepdim, dtype=dtype)
    return a.linalg_vector_norm.default(input, 2 if p in ("fro", None) else p, dim, keepdim, dtype=dtype)


@with_function("unfold")
def _unfold(listener, func, args, kwargs):
    """Tell the function of pictures from the method of tensors."""
    from dragon.vm.torch.nn import functional
    if func is functional.unfold or getattr(func, "__wrapped__", None) is getattr(functional.unfold, "__wrapped__", 0):
        return _columns(aten(), *args, **kwargs)
    return listener.default(func, "unfold", args, kwargs)


def _pair(value):
    return list(value) if isinstance(value, (list, tuple)) else [value, value]


def _columns(a, input, kernel_size, dilation=1, padding=0, stride=1):
    return a.im2col.default(input, *map(_pair, (kernel_size, dilation, padding, stride)))


@rule()
def _fold(a, input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    return a.col2im.default(input, *map(_pair, (output_size, kernel_size, dilation, padding, stride)))


# --- dtypes and devices

def _assert_kind(a, self):
    """Note what the program takes for granted of a tensor that it converts."""
    named = {"dtype": self.dtype, "device": self.device, "layout": self.layout}
    listener().emit(a._assert_tensor_metadata.default, (self,), named, None, "_assert_tensor_metadata_default")


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
    def spoken(a, self, memory_format=None):
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
def _stays(listener, func, args, kwargs):
    """Note nothing where the tensor stays what it is."""
    value = listener.quietly(func, args, kwargs)
    if value is args[0]:
        return value
    return listener.emit(aten().to.device, (args[0], value.device, value.dtype), {}, value)


# --- tensors from nothing

@with_function("tensor", "as_tensor", "from_numpy", "scalar_tensor", "asarray")
def _constant(listener, func, args, kwargs):
    """Lift what Python's numbers are made of."""
    value = args[0] if args else next(iter(kwargs.values()), None)
    if isinstance(value, Tensor) and id(value) in listener.nodes and func.__name__ != "tensor":
        return listener.within(func, args, kwargs) if kwargs or args[1:] else value
    if hasattr(type(value), "_combined"):
        kwargs = {name: item for name, item in kwargs.items() if name in ("dtype", "device")}
        made = listener.quietly(func, (value,), kwargs)
        return listener.emit(aten().scalar_tensor.default, (value,), {"dtype": made.dtype}, made)
    made = listener.lifted(func, args, kwargs)
    fresh = listener.quietly(lambda: made.clone(), (), {})
    listener.emit(aten().lift_fresh_copy.default, (made,), {}, fresh)
    return listener.emit(aten().detach_.default, (fresh,), {}, fresh) if func.__name__ == "tensor" else fresh


def _made(name, placed=True):
    @with_function(name)
    def spoken(listener, func, args, kwargs):
        value = listener.quietly(func, args, kwargs)
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
        return listener.emit(getattr(getattr(aten(), known), overload), positional, named, value)


for _name, _follows in factories().items():
    if _name not in RULES:
        _made(_name, placed=not _follows)
