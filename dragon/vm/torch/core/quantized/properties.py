"""What quantized tensors say of themselves: integers, scales, zero points."""
from dragon.vm.torch.core import layout as layouts
from dragon.vm.torch.core.quantized.parts import (WHOLE, QuantizedTensor, axis_of, dequantized, integers_of,
                                                  is_quantized, kind_of, parts_of, rule, scheme_of, with_integers)
from dragon.vm.torch.core.register import both, method
from dragon.vm.torch.core.sentences import named
from dragon.vm.torch.core.tensor import _numel, ops


def require_whole(who, x):
    """Raise unless all numbers have one scale and zero point."""
    if scheme_of(x) != WHOLE:
        raise RuntimeError(f"{who}: got a tensor of torch.{scheme_of(x)}, expected torch.per_tensor_affine: Expected "
                           "quantizer->qscheme() == kPerTensorAffine")


def require_channels(who, x):
    """Raise unless each channel has its own scale and zero point."""
    if scheme_of(x) == WHOLE:
        raise RuntimeError(f"{who}: got a tensor of torch.per_tensor_affine, expected torch.per_channel_affine: "
                           "Expected quantizer->qscheme() == kPerChannelAffine")


@rule("is_signed")
def is_signed(self):
    """Refuse, as PyTorch does: only of plain dtypes is that told."""
    raise RuntimeError(f"is_signed: got {self.dtype}, expected another: is_signed not implemented for quantized dtypes")


@rule("requires_grad_")
def requires_grad_(self, requires_grad=True):
    """Refuse: integers have no gradients."""
    if requires_grad:
        raise RuntimeError("requires_grad_: got a quantized tensor, expected one of floats: only Tensors of floating "
                           "point dtype can require gradients")
    return self


@rule("numpy", "__array__")
def numpy(self, *args, **kwargs):
    """Refuse: NumPy has no quantized arrays."""
    raise TypeError(f"numpy: got unsupported ScalarType {self.dtype}, expected another: .int_repr() has the integers, "
                    ".dequantize() the numbers")


def tolist(self):
    """Refuse: Python's lists hold no quantized numbers."""
    raise RuntimeError("tolist: got a quantized tensor, expected another: .dequantize() has the numbers")


def item(self):
    """Return the number of a tensor of one element."""
    if _numel(self) != 1:
        raise RuntimeError(f"item: a Tensor with {_numel(self)} elements cannot be converted to Scalar; expected one")
    return dequantized(self).item()


QuantizedTensor.item, QuantizedTensor.tolist = item, tolist
QuantizedTensor.__bool__ = lambda self: bool(item(self))
QuantizedTensor.__float__ = lambda self: float(item(self))
QuantizedTensor.__int__ = lambda self: int(item(self))
QuantizedTensor.data_ptr = lambda self: integers_of(self).data_ptr()


@rule("allclose", "isclose")
def isclose(input, other, *args, **kwargs):
    """Refuse: what is close is asked of the numbers."""
    raise RuntimeError("isclose: got quantized tensors, expected others: isclose is not supported for quantized "
                       "inputs.")


@rule("dequantize")
def dequantize(input):
    """Return the numbers that a quantized tensor stands for."""
    if isinstance(input, (list, tuple)):
        return tuple(map(dequantize, input))
    return dequantized(input) if is_quantized(input) else input.float()


def packed(integers):
    """Return integers of 4 bits two to a byte, the first in the lower half."""
    flat = ops.reshape(integers, (-1,))
    if flat.shape[0] % 2:
        flat = ops.cat((flat, ops.zeros((1,), dtype=flat.dtype)), 0)
    pairs = ops.reshape(flat, (-1, 2))
    return ops.add(pairs[:, 0], ops.mul(pairs[:, 1], 16))


def _asked(name, sentence, require=None):
    """Register a method of quantized tensors, which others refuse."""
    def register(answer):
        def ask(self):
            if require is not None:
                require(name, self)
            return answer(self)

        def refuse(self):
            raise NotImplementedError(f"{name}: got a plain tensor, expected a quantized one")
        rule(name)(named(ask, name, sentence))
        make_method = method if name == "qscheme" else both
        make_method(named(refuse, name, sentence))
        return answer
    return register


_asked("int_repr", "Return the integers of a quantized tensor.")(
    lambda x: packed(integers_of(x)) if kind_of(x) == "quint4x2" else ops.clone(integers_of(x)))
_asked("q_scale", "Return the scale of a quantized tensor.", require_whole)(lambda x: parts_of(x)[0].item())
_asked("q_zero_point", "Return the integer that stands for 0.", require_whole)(lambda x: parts_of(x)[1].item())
_asked("q_per_channel_scales", "Return the scale of each channel.", require_channels)(lambda x: parts_of(x)[0])
_asked("q_per_channel_zero_points", "Return the zero point of each channel.", require_channels)(
    lambda x: parts_of(x)[1])
_asked("q_per_channel_axis", "Return the axis along which channels lie.", require_channels)(axis_of)
_asked("qscheme", "Return how a quantized tensor's numbers are scaled.")(lambda x: getattr(layouts, scheme_of(x)))


def _plain(name, answer):
    rule(name)(named(answer, name, f"Answer `{name}` of quantized tensors."))


for _name, _answer in {
        "numel": _numel, "nelement": _numel, "dim": lambda self: self.ndim, "ndimension": lambda self: self.ndim,
        "element_size": lambda self: integers_of(self).itemsize, "storage_offset": lambda self: 0,
        "stride": lambda self, *dim: integers_of(self).stride(*dim),
        "is_contiguous": lambda self, **options: integers_of(self).is_contiguous(**options),
        "is_floating_point": lambda self: False, "is_complex": lambda self: False,
        "detach": lambda self: with_integers(
            self, integers_of(self)), "type": lambda self: "torch.quantized." + {
                "qint8": "QInt8", "quint8": "QUInt8", "qint32": "QInt32",
                "quint4x2": "QUInt4x2"}[kind_of(self)] + "Tensor",
        "untyped_storage": lambda self: integers_of(self).untyped_storage(),
        "_is_view": lambda self: False, "resolve_conj": lambda input: input,
        "resolve_neg": lambda input: input}.items():
    if _name not in ("numel", "nelement"):
        _plain(_name, _answer)
    else:
        rule(_name)(_answer)
