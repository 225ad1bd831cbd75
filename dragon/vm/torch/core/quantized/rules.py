"""What is computed of quantized tensors: of their integers, or of the numbers that they stand for."""
from dragon.vm.torch.core.aten.kinds import COMPARISON, MAXIMUM, MINIMUM, MOVED, kinds_of
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.functions.conversion import parse_to
from dragon.vm.torch.core.kinds import take_form
from dragon.vm.torch.core.quantized.parts import (CHANNELS, HELD, WHOLE, QuantizedTensor, axis_of, dequantized,
                                                  integers_of, is_quantized, kind_of, make, parts_of, quantized_like,
                                                  rule, scheme_of, with_integers)
from dragon.vm.torch.core.quantized.properties import require_whole
from dragon.vm.torch.core.sentences import named
from dragon.vm.torch.core.tensor import Tensor, ops

# Of the numbers, quantized by the same scale and zero point again.
NUMBERS = set("relu relu_ clamp hardtanh max_pool1d max_pool2d max_pool3d avg_pool2d avg_pool3d "
              "adaptive_avg_pool2d adaptive_avg_pool3d interpolate upsample leaky_relu threshold masked_fill".split())


def is_ordered(name):
    """Return whether a function depends on the order of numbers alone, which integers have as well."""
    return name in ("sort", "topk") or not kinds_of(name).isdisjoint((MAXIMUM, MINIMUM))


def applies(name):
    """Return whether a function is computed of integers or numbers."""
    return name in NUMBERS or is_ordered(name) or not name.endswith("_") and not kinds_of(name).isdisjoint(
        (MOVED, COMPARISON))


def compute(func, name, args, kwargs):
    """Return a function of a quantized tensor."""
    x = next(one for one in (*args, *kwargs.values()) if is_quantized(one))
    if COMPARISON in kinds_of(name):
        return func(*(dequantized(one) if is_quantized(one) else one for one in args), **kwargs)
    if MOVED in kinds_of(name) and scheme_of(x) != WHOLE:
        return moved_channels(func, name, x, args, kwargs)
    require_whole(name, x)
    if name in NUMBERS:
        made = quantized_like(x, func(*(dequantized(one) if one is x else one for one in args), **kwargs))
        return write(x, made) if name.endswith("_") or kwargs.get("inplace") else made
    made = func(*(integers_of(one) if is_quantized(one) else one for one in args), **kwargs)
    return shown(x, made, both_too=not is_ordered(name))


def shown(x, made, both_too):
    """Return results as quantized; behind sorted values there are plain indices."""
    if isinstance(made, Tensor):
        return with_integers(x, made)
    if both_too:
        return tuple(with_integers(x, one) for one in made)
    return type(made)((with_integers(x, made[0]), *made[1:]))


def moved_channels(func, name, x, args, kwargs):
    """Return a tensor whose channels have scales of their own in another shape, where they still lie along an axis."""
    if name != "unsqueeze":
        raise RuntimeError(f"{name}: got a tensor quantized per channel, expected one of torch.per_tensor_affine: "
                           "Setting strides is possible only on uniformly quantized tensor")
    made = func(*(integers_of(one) if one is x else one for one in args), **kwargs)
    dim = kwargs["dim"] if "dim" in kwargs else args[1]
    return with_integers(x, made, axis_of(x) + (dim % made.ndim <= axis_of(x)))


QuantizedTensor.ELEMENTWISE[applies] = compute


@rule("__getitem__")
def get_item(self, key):
    """Return a part; of channels with scales of their own, one alone or all."""
    if scheme_of(self) == WHOLE:
        return with_integers(self, integers_of(self)[key])
    if axis_of(self) or not hasattr(key, "__index__") or isinstance(key, Tensor) or scheme_of(self) != CHANNELS:
        raise RuntimeError("__getitem__: got a tensor quantized per channel, expected torch.per_tensor_affine, or the "
                           "number of a channel along axis 0")
    scales, points, integers = parts_of(self)
    return make(integers[key], kind_of(self), WHOLE, scales[key], points[key])


@rule("__setitem__")
def set_item(self, key, value):
    """Write numbers, which are quantized, or a quantized tensor's."""
    require_whole("__setitem__", self)
    numbers = dequantized(value) if is_quantized(value) else value
    numbers = numbers if isinstance(numbers, Tensor) else ops.full((), numbers, dtype=OBJECTS["float32"])
    integers_of(self)[key] = integers_of(quantized_like(self, numbers.to(OBJECTS["float32"])))


QuantizedTensor.__setitem__ = set_item


@rule("mean")
def mean(input, dim=None, keepdim=False, *, dtype=None):
    """Return the mean of the integers, rounded to one."""
    require_whole("mean", input)
    if dtype is not None:
        raise RuntimeError(f"mean: got dtype={dtype} for a quantized tensor, expected none")
    _, low, high = HELD[kind_of(input)]
    found = ops.mean(integers_of(input).double(), dim, keepdim)
    return with_integers(input, ops.clamp(ops.round(found), low, high).to(integers_of(input).dtype))


@rule("cat", "concat")
def cat(tensors, dim=0, *, out=None):
    """Return tensors side by side, by the scale and zero point of the first."""
    tensors = list(tensors)
    for one in tensors[::-1]:
        if not is_quantized(one) or not is_quantized(tensors[0]) or kind_of(one) != kind_of(tensors[0]):
            raise RuntimeError(f"cat: got {tensors[0].dtype} and {one.dtype}, expected one dtype: All dtypes must be "
                               "the same.")
        if scheme_of(one) != WHOLE:
            raise RuntimeError("cat: got a tensor quantized per channel: Only per-tensor quantization is supported in "
                               "'cat'!")
    first = tensors[0]
    alike = all(told(one) == told(first) for one in tensors)
    held = [integers_of(one if alike else quantized_like(first, dequantized(one))) for one in tensors]
    made = with_integers(first, ops.cat(held, dim))
    return made if out is None else write(out, made)


@rule("stack")
def stack(tensors, dim=0, *, out=None):
    """Return tensors side by side along a new dim, by the scale and zero point of the first."""
    return cat([QuantizedTensor._compute(ops.unsqueeze, (one, dim), {}) for one in tensors], dim, out=out)


def told(x):
    """Return scale and zero point as numbers."""
    scale, zero_point, _ = parts_of(x)
    return scale.tolist(), zero_point.tolist()


@rule("equal")
def equal(input, other):
    """Return whether two tensors are quantized alike and hold the same integers."""
    if not (is_quantized(input) and is_quantized(other)):
        raise NotImplementedError("equal: got a quantized tensor and another, expected two quantized ones")
    return (kind_of(input), scheme_of(input), told(input), tuple(input.shape)) == (
        kind_of(other), scheme_of(other), told(other), tuple(other.shape)) and bool(
        ops.all(ops.eq(integers_of(input), integers_of(other)))) and axis_of(input) == axis_of(other)


@rule("clone", "contiguous", "alias_copy")
def clone(input, *, memory_format=None):
    """Return a copy."""
    return with_integers(input, ops.clone(integers_of(input)))


@rule("copy_")
def copy_(self, src, non_blocking=False):
    """Write numbers, which are quantized, or become what a tensor quantized in the same way is."""
    if not is_quantized(self):
        raise RuntimeError("copy_: got a quantized tensor for one that is not: Copying from quantized Tensor to "
                           "non-quantized Tensor is not allowed, please use dequantize to get a float Tensor from a "
                           "quantized Tensor")
    if not is_quantized(src):
        if src.dtype != OBJECTS["float32"]:
            raise RuntimeError(f"copy_: got {src.dtype}, expected torch.float32: Quantized copy only works with kFloat "
                               "as source Tensor")
        return write(self, quantized_like(self, ops.expand(src, self.shape)))
    for what, find in (("qscheme", scheme_of), ("dtype", kind_of)):
        if find(self) != find(src):
            raise RuntimeError(f"copy_: got {what} {find(src)}, expected {find(self)}: Quantized Copy only works with "
                               f"same {what}")
    if tuple(self.shape) != tuple(src.shape):
        raise RuntimeError(f"copy_: got shape {tuple(src.shape)}, expected {tuple(self.shape)}")
    write(self, src)
    take_form(self, src)
    return self


def write(x, other):
    """Write another one's integers into a quantized tensor."""
    integers_of(x).copy_(integers_of(other))
    return x


@rule("fill_", "zero_")
def fill_(self, value=0):
    """Write one number everywhere, quantized."""
    return write(self, quantized_like(self, ops.full(tuple(self.shape), float(value), dtype=OBJECTS["float32"])))


@rule("to", "cpu")
def to(self, *args, **kwargs):
    """Return the tensor on another device; another dtype is refused."""
    where, dtype, copy, _ = parse_to(args, dict(kwargs))
    if dtype is not None and dtype != self.dtype:
        raise RuntimeError(f"to: got {dtype} for a quantized tensor, expected {self.dtype}: Creation of quantized "
                           "tensor requires quantized dtype like torch.quint8; .dequantize() makes one of floats")
    if where is None or where == self.device:
        return clone(self) if copy else self
    scale, zero_point, integers = (part.to(where) for part in parts_of(self))
    return make(integers, kind_of(self), scheme_of(self), scale, zero_point, axis_of(self))


def _cast(name):
    def refuse(self, memory_format=None):
        raise RuntimeError(f"{name}: got a quantized tensor, expected another: Creation of quantized tensor requires "
                           "quantized dtype like torch.quint8; .dequantize() makes one of floats")
    rule(name)(named(refuse, name, "Refuse: quantized tensors become others by `dequantize` and `int_repr`."))


for _name in ("float", "double", "half", "bfloat16", "int", "long", "short", "byte", "char", "bool"):
    _cast(_name)


@rule("empty_like")
def empty_like(input, **options):
    """Return zeros of the same scale and zero point."""
    if options.get("dtype") not in (None, input.dtype):
        raise RuntimeError(f"empty_like: got {options['dtype']} for a quantized tensor, expected {input.dtype}")
    return with_integers(input, ops.zeros_like(integers_of(input)))


QuantizedTensor.ENGINE_RULES.update(clone=clone, copy=clone)
