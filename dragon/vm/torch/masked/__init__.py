"""`torch.masked`: reductions and normalizations that leave out the elements where a mask does not hold."""
import math

from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.functions import logarithms
from dragon.vm.torch.core.numbers import iinfo
from dragon.vm.torch.core.register import overridable
from dragon.vm.torch.core.sentences import named
from dragon.vm.torch.core.tensor import ops

INT64 = OBJECTS["int64"]


def _mask_of(x, mask):
    """Return the mask of a tensor's shape, or None if every element counts."""
    if mask is None:
        return None
    if mask.ndim > x.ndim:
        raise IndexError(f"masked: got a mask of {mask.ndim} dims for {x.ndim}, expected at most as many")
    return ops.expand(mask.bool(), x.shape)


def _filled(x, mask, value, who=None):
    """Return a tensor with one number, or what `value(x, who)` gives, where the mask does not hold."""
    mask = _mask_of(x, mask)
    return x if mask is None else ops.where(mask, x, value(x, who) if callable(value) else value)


def _lowest(x, who):
    """Return the number that no element is below."""
    if x.dtype.name == "bool":
        raise NotImplementedError(f"{who}: got bool, expected numbers")
    return -math.inf if x.dtype.is_floating_point or x.dtype.is_complex else iinfo(x.dtype).min


def _highest(x, who):
    """Return the number that no element is above."""
    return math.inf if _lowest(x, who) == -math.inf else iinfo(x.dtype).max


def _wide(dtype):
    """Return the dtype of sums: int64 for integers and bools."""
    return dtype if dtype.is_floating_point or dtype.is_complex else INT64


def _axes(x, dim):
    return list(range(x.ndim)) if dim is None or dim == () else [dim] if isinstance(dim, int) else list(dim)


def _reduction(name, operator, identity, widens):
    """Make a reduction over axes; `identity(x, name)` is what masked elements count as."""
    operator = getattr(ops, operator) if isinstance(operator, str) else operator

    def reduce(input, dim=None, *, keepdim=False, dtype=None, mask=None):
        result_dtype = dtype or (_wide(input.dtype) if widens else input.dtype)
        if widens:
            input = input.to(result_dtype)
        filled = _filled(input, mask, identity, name)
        return operator(filled, _axes(input, dim), bool(keepdim)).to(result_dtype)
    return overridable(named(reduce, name, f"Return the {name} of the elements where the mask holds."))


sum = _reduction("sum", "sum", lambda x, who: 0, True)
prod = _reduction("prod", "prod", lambda x, who: 1, True)
amax = _reduction("amax", "amax", _lowest, False)
amin = _reduction("amin", "amin", _highest, False)
logsumexp = _reduction("logsumexp", logarithms.logsumexp, _lowest, False)


def _place(name, identity):
    operator = getattr(ops, name)

    def place(input, dim=None, *, keepdim=False, dtype=None, mask=None):
        found = operator(_filled(input, mask, identity, name), dim, bool(keepdim))
        return found.to(dtype or input.dtype)
    return overridable(named(place, name, f"Return the {name} of the elements where the mask holds."))


argmax, argmin = _place("argmax", _lowest), _place("argmin", _highest)


def _running(name, identity):
    operator = getattr(ops, name)

    def run(input, dim, *, dtype=None, mask=None):
        dtype = dtype or (INT64 if input.dtype.name == "bool" else input.dtype)
        return operator(_filled(input.to(dtype), mask, identity), dim).to(dtype)
    return overridable(named(run, name,
                             f"Return the {name} along an axis, in which masked elements count as {identity}."))


cumsum, cumprod = _running("cumsum", 0), _running("cumprod", 1)


def _exponential(name, identity):
    operator = getattr(ops, name)

    def weigh(input, dim, *, dtype=None, mask=None):
        return operator(_filled(input if dtype is None else input.to(dtype), mask, identity), dim)
    return overridable(named(weigh, name, f"Return the {name} along an axis, of the elements where the mask holds."))


softmax, log_softmax = _exponential("softmax", -math.inf), _exponential("log_softmax", -math.inf)
softmin = _exponential("softmin", math.inf)


def _count(x, dim, keepdim, mask):
    """Return how many elements count."""
    mask = _mask_of(x, mask)
    ones = ops.ones(x.shape, dtype=INT64, device=x.device) if mask is None else mask
    return ops.sum(ones, _axes(x, dim), keepdim)


@overridable
def mean(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Return the mean of the elements where the mask holds; nan where there are none."""
    dtype = dtype or input.dtype
    if not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(f"mean: got {dtype}, expected a floating or complex dtype")
    total = sum(input, dim, keepdim=keepdim, dtype=dtype, mask=mask)
    return ops.div(total, _count(input, dim, bool(keepdim), mask)).to(dtype)


@overridable
def median(input, dim=-1, *, keepdim=False, dtype=None, mask=None):
    """Return the median along an axis of the elements where the mask holds."""
    dtype = dtype or input.dtype
    floating = dtype.is_floating_point
    if not floating and mask is not None and not bool(ops.all(ops.any(_mask_of(input, mask), dim))):
        raise ValueError(f"median: got rows without an element for {dtype}, expected a floating dtype")
    filled = _filled(input if floating else input.to(OBJECTS["float64"]), mask, math.nan)
    return ops.nanmedian_axis(filled, dim, keepdim)[0].to(dtype)


@overridable
def logaddexp(input, other, *, dtype=None, input_mask=None, other_mask=None):
    """Return log(exp(x) + exp(y)), in which masked elements count as nothing."""
    dtype = dtype or input.dtype
    return ops.logaddexp(_filled(input.to(dtype), input_mask, -math.inf),
                         _filled(other.to(dtype), other_mask, -math.inf))


@overridable
def norm(input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Return the vector norm of the elements where the mask holds."""
    filled = _filled(input if dtype is None else input.to(dtype), mask, math.inf if ord == -math.inf else 0)
    return ops.linalg_vector_norm(filled, 2 if ord is None else ord, _axes(input, dim), bool(keepdim))


@overridable
def normalize(input, ord, dim, *, eps=1e-12, dtype=None, mask=None):
    """Return the elements divided by their norm along an axis, those that are masked as 0."""
    input = input if dtype is None else input.to(dtype)
    size = norm(input, ord, dim, keepdim=True, mask=mask)
    return ops.div(_filled(input, mask, 0), ops.clamp(size, eps))


@overridable
def var(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """Return the variance of the elements where the mask holds."""
    if unbiased is not None and correction is not None:
        raise RuntimeError("var: got both unbiased and correction, expected one of them")
    correction = (1 if unbiased in (None, True) else 0) if correction is None else correction
    input = input if dtype is None else input.to(dtype)
    if not (input.dtype.is_floating_point or input.dtype.is_complex):
        if input.dtype.name == "bool":
            raise RuntimeError("var: got bool, expected numbers")
        input = input.to(OBJECTS["float32"])
    axes = _axes(input, dim)
    count = _count(input, dim, True, mask)
    middle = ops.div(ops.sum(_filled(input, mask, 0), axes, True), count)
    spread = _filled(ops.sub(input, middle), mask, 0)
    total = ops.sum(ops.square(ops.abs(spread)), axes, bool(keepdim))
    rest = ops.clamp(ops.sub(count if keepdim else ops.sum(count, axes), correction), 0)
    return ops.div(total, rest).to(input.dtype)


@overridable
def std(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """Return the standard deviation of the elements where the mask holds."""
    return ops.sqrt(var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask))
