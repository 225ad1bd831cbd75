"""The class of quantized tensors, and the table of what is computed of them.

A quantized tensor is a scale, a zero point and integers: `scale * (integer - zero_point)` is the number. Both are one
number of the whole, or one for each channel along an axis.
"""
from dragon.core import parts
from dragon.vm.torch.core import layout as layouts
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.kinds import COMMON, KINDS, TensorOfParts, look, parts_of, rules_into, values_of
from dragon.vm.torch.core.tensor import ops

# Which integers a dtype's numbers are held as, the least and the largest of them.
HELD = {"qint8": ("int8", -128, 127), "quint8": ("uint8", 0, 255), "qint32": ("int32", -2 ** 31, 2 ** 31 - 1),
        "quint4x2": ("uint8", 0, 15)}
QUANTIZED_OF = {"int8": "qint8", "uint8": "quint8", "int32": "qint32"}
WHOLE, CHANNELS, FLOATING = "per_tensor_affine", "per_channel_affine", "per_channel_affine_float_qparams"


class QuantizedTensor(TensorOfParts):
    """A tensor whose numbers are held as integers: `torch.Tensor` of a quantized dtype."""

    RULES, ENGINE_RULES = {}, {}
    ELEMENTWISE = {}

    @classmethod
    def _refusal(cls, name, *arguments):
        return NotImplementedError(f"{name}: got a quantized tensor, expected another: .dequantize() makes one of "
                                   "floats")


QuantizedTensor.__name__ = QuantizedTensor.__qualname__ = "Tensor"
QuantizedTensor.__module__ = "torch"
QuantizedTensor.RULES.update(COMMON)
KINDS["quantized"] = QuantizedTensor
rule = rules_into(QuantizedTensor.RULES)


def is_quantized(x):
    """Return whether an object is a quantized tensor."""
    return isinstance(x, QuantizedTensor)


def make(integers, kind, scheme, scale, zero_point, axis=0):
    """Return a quantized tensor of integers, which are not looked at."""
    made = parts.make_of_parts(f"quantized {kind} {scheme} {axis}", (scale, zero_point, integers), integers.shape)
    made.__class__ = QuantizedTensor
    return made


def with_integers(x, integers, axis=None):
    """Return a quantized tensor with another one's scale and zero point."""
    scale, zero_point, _ = parts_of(x)
    return make(integers, kind_of(x), scheme_of(x), scale, zero_point, axis_of(x) if axis is None else axis)


def kind_of(x):
    """Return the name of the dtype."""
    return look(x)[0].split()[1]


def scheme_of(x):
    """Return the name of the way in which numbers are scaled."""
    return look(x)[0].split()[2]


def axis_of(x):
    """Return the axis along which each channel has its own scale."""
    return int(look(x)[0].split()[3])


def integers_of(x):
    """Return the integers, one each."""
    return values_of(x)


def along(x, numbers):
    """Return scales or zero points in a shape that meets the integers."""
    if scheme_of(x) == WHOLE:
        return numbers
    return ops.reshape(numbers, tuple(-1 if axis == axis_of(x) else 1 for axis in range(x.ndim)))


def dequantized(x):
    """Return the numbers that a quantized tensor stands for."""
    scale, zero_point, integers = parts_of(x)
    float32 = OBJECTS["float32"]
    if kind_of(x) == "qint32":  # floats do not hold all of these integers
        shifted = ops.sub(integers.double(), along(x, zero_point).double()).to(float32)
    else:
        shifted = ops.sub(integers.to(float32), along(x, zero_point).to(float32))
    return ops.mul(shifted, along(x, scale).to(float32))


def quantized_like(x, numbers):
    """Return numbers quantized by the scale and zero point of a tensor."""
    scale, zero_point, _ = parts_of(x)
    if scheme_of(x) != WHOLE:
        scale, zero_point = along(x, scale), along(x, zero_point)
    return with_integers(x, integers_for(numbers, scale, zero_point, kind_of(x), scheme_of(x)))


def integers_for(numbers, scale, zero_point, kind, scheme):
    """Return the integers that stand for numbers: the nearest, even ones where two are as near."""
    held, low, high = HELD[kind]
    scaled = ops.mul(numbers, ops.reciprocal(scale.to(OBJECTS["float32"])))
    if scheme == FLOATING:
        rounded = ops.round(ops.add(scaled, zero_point.to(scaled.dtype))).double()
    else:
        rounded = ops.add(ops.round(scaled).double(), zero_point.double())
    unknown = low if kind == "qint32" else high  # as the processor has it
    rounded = ops.where(ops.isnan(rounded), ops.full_like(rounded, unknown), rounded)
    return ops.clamp(rounded, low, high).to(OBJECTS[held])


QuantizedTensor.dtype = property(lambda self: OBJECTS[kind_of(self)], doc="The quantized dtype.")
QuantizedTensor.is_quantized = property(is_quantized, doc="Whether the tensor is quantized: True.")
QuantizedTensor.layout = property(lambda self: layouts.strided, doc="How the tensor is held.")
QuantizedTensor.nbytes = property(
    lambda self: (values_of(self).numel() + 1) // 2 if kind_of(self) == "quint4x2" else values_of(self).nbytes,
    doc="The bytes of the integers.")
