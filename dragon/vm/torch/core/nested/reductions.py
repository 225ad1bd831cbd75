"""Sums, means and extremes of jagged tensors.

Along the ragged dim the samples are padded with what changes no result; along the batch's and the ragged one together
the values are reduced; along others the result is jagged.
"""
import functools

from dragon.dialects.aten import table
from dragon.vm.torch.core.aten.kinds import AVERAGE, MAXIMUM, MINIMUM, PRODUCT, REDUCTION, SUM, kinds_of
from dragon.vm.torch.core.nested.padding import known_length, padded
from dragon.vm.torch.core.nested.parts import NestedTensor, form_of, lengths_of, make, rule, values_of
from dragon.vm.torch.core.nested.properties import axis_of
from dragon.vm.torch.core.numbers import iinfo
from dragon.vm.torch.core.register import FUNCTIONS
from dragon.vm.torch.core.tensor import Tensor, ops


def lowest(dtype):
    """Return what is below all numbers of a dtype."""
    return float("-inf") if dtype.is_floating_point else False if dtype.name == "bool" else iinfo(dtype).min


def highest(dtype):
    """Return what is above all numbers of a dtype."""
    return float("inf") if dtype.is_floating_point else True if dtype.name == "bool" else iinfo(dtype).max


# What stands behind the shorter samples, a number or what a dtype says, by how results of parts are reduced.
NEUTRAL = {SUM: 0, AVERAGE: 0, PRODUCT: 1, MAXIMUM: lowest, MINIMUM: highest}
TRUTHS = {"any": False, "all": True}


@functools.cache
def neutral_of(name):
    """Return what changes no result of a reduction, None where there is no such thing."""
    found = [NEUTRAL[kind] for kind in NEUTRAL.keys() & kinds_of(name.removeprefix("arg"))]
    return found[0] if found else TRUTHS.get(name)


@functools.cache
def is_reduction(name):
    """Return whether a function is a reduction of which something is known that changes no result."""
    return name in TRUTHS or REDUCTION in kinds_of(name) and neutral_of(name) is not None


@functools.cache
def takes_several(name):
    """Return whether dims may be a list."""
    return any(part.name == "dim" and part.type.startswith("int[") for line in table.overloads(name).values()
               for part in line.arguments)


def reduce(name, x, dim, keepdim, options):
    """Return what a reduction makes of a jagged tensor."""
    compute, form, held = FUNCTIONS[name], form_of(x), values_of(x)
    listed = isinstance(dim, (tuple, list))
    if dim is None or listed and not dim:
        return whole(name, compute, x, keepdim, options)
    if listed and not takes_several(name):
        raise TypeError(f"{name}: got dims {tuple(dim)}, expected one dim")
    axes = [axis_of(name, x.ndim, one) for one in (dim if listed else [dim])]
    others = [axis - 1 for axis in axes if axis not in (0, form.dim)]
    if form.dim in axes and form.lengths is not None:
        raise RuntimeError(f"{name}(): reducing across the ragged dimension is not supported for non-contiguous nested "
                           "tensors with holes: got lengths beside offsets")
    if form.dim in axes and 0 in axes:
        inner = sorted({form.dim - 1, *others})
        made = compute(held, tuple(inner) if listed else inner[0], keepdim, **options)
        return each(made, lambda one: ops.unsqueeze(one, 0)) if keepdim else made
    if form.dim in axes:
        if others:
            raise RuntimeError(f"{name}(): reducing along a ragged and non-batch dimension is not supported for nested "
                               f"tensors: got dims {tuple(axes)}")
        return along_ragged(name, compute, x, keepdim, options)
    if 0 in axes:
        raise RuntimeError(f"{name}(): reducing along the batch dimension but not the ragged dimension is not "
                           f"supported for nested tensors: got dims {tuple(axes)}")
    made = compute(held, tuple(others) if listed else others[0], keepdim, **options)
    gone = 0 if keepdim else sum(axis < form.dim - 1 for axis in others)
    return each(made, lambda one: make(one, form._replace(dim=form.dim - gone)))


def whole(name, compute, x, keepdim, options):
    """Return the reduction of all elements."""
    form, held = form_of(x), values_of(x)
    if name not in ("amax", "amin") and not keepdim:
        return compute(held, **options)
    made = compute(held, dim=None if name in ("argmax", "argmin") else (), keepdim=keepdim, **options)
    return ops.unsqueeze(made, form.dim) if keepdim else made


def along_ragged(name, compute, x, keepdim, options):
    """Return the reduction along the ragged dim, a strided tensor."""
    form, neutral = form_of(x), neutral_of(name)
    held, length = values_of(x), known_length(x)
    made = padded(held, form, neutral(held.dtype) if callable(neutral) else neutral, length)
    if name != "mean":
        return compute(made, form.dim, keepdim, **options)
    total = ops.sum(made, form.dim, True, **options)
    counts = ops.reshape(lengths_of(form), (-1,) + (1,) * (total.ndim - 1))
    made = ops.div(total, counts)
    return made if keepdim else ops.squeeze(made, form.dim)


def each(made, change):
    """Return a result, or a pair of them, changed."""
    return type(made)(map(change, made)) if isinstance(made, tuple) else change(made)


@functools.cache
def reduction(name):
    """Return a reduction of jagged tensors."""
    def compute(input, dim=None, keepdim=False, *, dtype=None, out=None, **old):
        dim, keepdim = old.pop("axis", dim), old.pop("keepdims", keepdim)
        if out is not None or old:
            raise NotImplementedError(f"{name}: got {'out' if out is not None else ', '.join(old)}= for a jagged "
                                      "tensor, expected none")
        if isinstance(dim, Tensor):  # the larger or smaller of two
            return NestedTensor._compute(FUNCTIONS[name + "imum"], (input, dim), {})
        if dim is None and name in ("max", "min", "prod") and keepdim:
            raise TypeError(f"{name}: got keepdim without a dim, expected one")
        if dtype is not None and name not in ("sum", "mean", "prod"):
            raise TypeError(f"{name}() got an unexpected keyword argument 'dtype'")
        return reduce(name, input, dim, keepdim, {} if dtype is None else {"dtype": dtype})
    return compute


NestedTensor.ELEMENTWISE[is_reduction] = lambda func, name, args, kwargs: reduction(name)(*args, **kwargs)


@rule("_is_all_true")
def is_true(input):
    """Return whether all elements hold."""
    return ops.all(values_of(input))


rule("_is_any_true")(lambda input: ops.any(values_of(input)))
