"""Reductions that PyTorch overloads: with or without an axis, against another tensor, values alone or with indices."""
import math

from dragon.vm.torch.core.functions.destination import deliver
from dragon.vm.torch.core.register import both, function
from dragon.vm.torch.core.sentences import named
from dragon.vm.torch.core.tensor import Tensor, ops

MOST_AXES = 64  # of a tensor


def axis_words(who, dim, keepdim, named):
    """Return (dim, keepdim) where NumPy's words `axis` and `keepdims` may have come instead."""
    for name, value in named.items():
        if name == "axis":
            dim = value
        elif name == "keepdims":
            keepdim = value
        else:
            raise TypeError(f"{who}: got an unexpected keyword argument {name!r}")
    return dim, keepdim


def _extreme(name, pairwise):
    whole, along, pairwise = getattr(ops, name), getattr(ops, name + "_axis"), getattr(ops, pairwise)

    def extreme(input, dim=None, keepdim=False, *, other=None, out=None, **named):
        if named:
            dim, keepdim = axis_words(name, dim, keepdim, named)
        if isinstance(dim, Tensor):
            dim, other = None, dim
        if other is not None:
            return pairwise(input, other, out=out)
        return whole(input, out=out) if dim is None else along(input, dim, keepdim, out=out)
    both(named(
        extreme, name, f"Return the {name} of all elements, (values, indices) along an axis, or of two tensors."))


_extreme("max", "maximum")
_extreme("min", "minimum")


def _middle(name):
    whole, along = getattr(ops, name), getattr(ops, name + "_axis")

    def middle(input, dim=None, keepdim=False, *, out=None, **named):
        if named:
            dim, keepdim = axis_words(name, dim, keepdim, named)
        if dim is not None:
            return along(input, dim, keepdim, out=out)
        if out is not None:
            raise TypeError(f"{name}: got out without dim, expected both")
        return whole(input)[0]
    both(named(middle, name, f"Return the {name} of all elements, or (values, indices) along an axis."))


_middle("median")
_middle("nanmedian")


def _spread(name, is_method):
    operator = getattr(ops, name)

    def spread(input, dim=None, unbiased=None, keepdim=False, *, correction=1, out=None, **named):
        if named:
            dim, keepdim = axis_words(name, dim, keepdim, named)
        if isinstance(dim, bool):  # var(x, False)
            dim, unbiased = None, dim
        if unbiased is not None:
            if not isinstance(unbiased, bool):
                raise TypeError(f"{name}: got {unbiased!r} for argument 'unbiased', expected a bool; "
                                "correction and keepdim are given by name")
            correction = int(unbiased)
        return operator(input, dim, correction=1 if correction is None else correction, keepdim=keepdim, out=out)
    (both if is_method else function)(named(
        spread, name, f"Return the {name} of all elements or along axes, with Bessel's or another correction."))


for _name, _is_method in (("var", True), ("std", True), ("var_mean", False), ("std_mean", False)):
    _spread(_name, _is_method)


@both
def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None, **named):
    """Return a vector norm of all elements or along axes; "nuc" is the nuclear norm of matrices."""
    if named:
        dim, keepdim = axis_words("norm", dim, keepdim, named)
    if isinstance(p, str):
        if p == "nuc":
            axes = (0, 1) if dim is None else dim
            return ops.linalg_matrix_norm_name(input, "nuc", axes, keepdim, dtype=dtype, out=out)
        if p != "fro":
            raise RuntimeError(f"norm: got p={p!r}, expected a number, 'fro' or 'nuc'")
        p = 2
    return ops.norm(input, 2 if p is None else p, dim, keepdim, dtype=dtype, out=out)


@function
def dist(input, other, p=2):
    """Return the p-norm of the difference of two tensors."""
    if p is None:
        raise TypeError("dist(): argument 'p' (position 3) must be Number, not NoneType")
    return ops.norm(ops.sub(input, other), p)


Tensor.dist = dist


def chosen(results, *wanted):
    """Return the first result, in a tuple with those others that are wanted."""
    more = tuple(result for result, want in zip(results[1:], wanted) if want)
    return (results[0], *more) if more else results[0]


@both
def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """Return the different elements, or the different slices of an axis."""
    return chosen(ops.unique(input, sorted, return_inverse, return_counts, dim), return_inverse, return_counts)


@both
def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """Return the elements, or slices of an axis, without those that equal the one before them."""
    if dim is not None and input.ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return chosen(ops.unique_consecutive(input, return_inverse, return_counts, dim), return_inverse, return_counts)


@function
def _unique2(input, sorted=True, return_inverse=False, return_counts=False):
    return tuple(ops.unique(input, sorted, return_inverse, return_counts))


@both
def histogram(input, bins, *, range=None, weight=None, density=False, out=None):
    """Return counts in bins, equal ones or between given edges, and the edges."""
    from dragon.vm.torch.core.results import CLASSES
    if isinstance(bins, Tensor):
        counts = ops.histogram_edges(input, bins, weight=weight, density=density)
        made = CLASSES["histogram"]((counts, ops.clone(bins)))
    else:
        made = ops.histogram(input, bins, range=_ends("histogram", input, range), weight=weight, density=density)
    return deliver(made, out)


@function
def histogramdd(input, bins, *, range=None, weight=None, density=False):
    """Return counts of points in a grid of bins, and each axis' edges."""
    from dragon.vm.torch.core.results import CLASSES
    axes = input.shape[-1]
    if not input.dtype.is_floating_point:
        raise NotImplementedError(f"histogramdd: got {input.dtype}, expected a floating dtype")
    if axes > MOST_AXES:
        raise RuntimeError(f"histogramdd: got points of {axes} numbers, expected at most {MOST_AXES}: the result has "
                           "an axis for each")
    points = input.reshape(-1, axes)
    bins = [bins] * axes if isinstance(bins, int) else list(bins)
    if len(bins) != axes:
        raise RuntimeError(f"histogramdd: got {len(bins)} bins for {axes} dims, expected one for each")
    if range is not None and len(range) != 2 * axes:
        raise RuntimeError(f"histogramdd: got a range of {len(range)} numbers, expected {2 * axes}, two for each dim")
    if weight is not None and tuple(weight.shape) != tuple(input.shape[:-1]):
        raise RuntimeError(f"histogramdd: got weights of shape {tuple(weight.shape)}, expected "
                           f"{tuple(input.shape[:-1])}")
    edges = [_edges(points[:, axis], each, range[2 * axis:2 * axis + 2] if range is not None else None)
             for axis, each in enumerate(bins)]
    counts = _grid_counts(points, edges, None if weight is None else weight.reshape(-1))
    if density:
        counts = counts / counts.sum()
        for axis, ends in enumerate(edges):
            shape = [1] * axes
            shape[axis] = -1
            counts = counts / ops.sub(ends[1:], ends[:-1]).reshape(shape)
    return CLASSES["histogramdd"]((counts, tuple(edges)))


def _ends(who, x, ends):
    """Return where the bins of an axis begin and end: the given places, or the extremes; apart, if they are one."""
    if ends is None:
        ends = (x.min().item(), x.max().item()) if x.numel() else (0.0, 1.0)
    low, high = ends
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"{who}: got a range from {low} to {high}, expected finite numbers")
    if low > high:
        raise RuntimeError(f"{who}: got a range from {low} to {high}, expected none that falls")
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def _edges(x, bins, ends):
    """Return the edges of one axis: those given, or equal ones between the ends or the extremes."""
    if isinstance(bins, Tensor):
        return bins
    if bins < 1:
        raise RuntimeError(f"histogramdd: got {bins} bins, expected at least 1")
    low, high = _ends("histogramdd", x, ends)
    return ops.linspace(low, high, bins + 1, dtype=x.dtype, device=x.device)


def _grid_counts(points, edges, weight):
    """Return how many points, or how much weight, fall into each cell of a grid."""
    sizes = [ends.numel() - 1 for ends in edges]
    place, inside = None, None
    for axis, (ends, size) in enumerate(zip(edges, sizes)):
        x = points[:, axis].contiguous()
        index = ops.sub(ops.searchsorted(ends, x, right=True), 1)
        index = ops.where(x == ends[-1], size - 1, index)  # the last edge belongs to the last bin
        fits = (index >= 0) & (index < size)
        index = ops.clamp(index, 0, max(size - 1, 0))
        place, inside = (index, fits) if place is None else (place * size + index, inside & fits)
    cells = 1
    for size in sizes:
        cells *= size
    weight = ops.ones_like(points[:, 0]) if weight is None else weight
    flat = ops.bincount(place, ops.where(inside, weight, 0).to(points.dtype), cells)
    return flat.reshape(sizes).to(points.dtype)
