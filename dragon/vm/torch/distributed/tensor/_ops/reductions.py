"""Operators that make one number of many along some axes, or need these axes whole."""
import math

from dragon.distributed.globals.signatures import BROADCAST, Partial, Split, is_partial, is_split
from dragon.vm.torch.core.aten.kinds import ALONG, LOSS, LOSS_GRADIENT, REDUCTION, kinds_of
from dragon.vm.torch.distributed.tensor._ops.pointwise import align
from dragon.vm.torch.distributed.tensor._ops.table import ways, ways_of_kind

_BY = ("sum", "average", "maximum", "minimum", "product")  # kinds of reductions of which there are partial results


def axes_of(call, ndim, name="dim"):
    """Return the axes that a call names, counted from the first; all without a name."""
    given = call.values.get(name)
    if given is None or isinstance(given, (list, tuple)) and not given:
        return tuple(range(ndim))
    return tuple(sorted(axis % ndim if ndim else 0 for axis in (
        given if isinstance(given, (list, tuple)) else (given,))))


def kept_axis(axis, axes, keepdim):
    """Return where an axis stands that is not reduced."""
    return axis if keepdim else axis - sum(other < axis for other in axes)


def is_even(call, axis):
    """Return whether all processes have as much of an axis, counted from the last, however operands are cut there."""
    length = max(operand.shape[axis] for operand in call.operands if operand.ndim >= -axis)
    if length % math.prod(call.mesh.shape) == 0:
        return True
    parts = 1
    for place, size in enumerate(call.mesh.shape):
        cuts = [(operand.signatures[place], operand.ndim) for operand in call.operands]
        if any(is_partial(cut) for cut, _ in cuts):
            return False
        parts *= size if any(is_split(cut, ndim + axis) for cut, ndim in cuts) else 1
    return length % parts == 0


@ways_of_kind(REDUCTION)
def _reduce(call):
    """Reduce parts, which are reduced in turn where that is known; axes that are not reduced stay as they are."""
    x, kinds = call.operands[0], kinds_of(call.packet)
    by = next((by for by in _BY if by in kinds), None)
    axes, keepdim = axes_of(call, x.ndim), bool(call.values.get("keepdim", False))
    count, found = len(call.func._schema.returns), []  # with values, where they stand
    for axis in range(x.ndim):
        for cut in call.splits(x, axis):
            if axis not in axes:
                result = Split(kept_axis(axis, axes, keepdim), cut.pieces)
                found.append(([cut], [result] * count))
            elif by and count == 1 and _is_reducible(x, by, axis, call):
                found.append(([cut], [Partial(by)]))
    for signature in {each for each in x.signatures if is_partial(each)}:
        if by in ("sum", "average") and signature.reduction in ("sum", "average"):
            found.append(([signature], [signature]))
    return found


def _is_reducible(x, by, axis, call):
    """Return whether each process has something to reduce, where nothing has no largest, and as much for a mean."""
    if by in ("maximum", "minimum") and x.shape[axis] == 0:
        return False
    return by in ("sum", "product") or is_even(call, axis - x.ndim)


def along(name="dim"):
    """Return a rule for operators that need some axes whole, and whose results have the form of the first operand."""
    def found(call):
        ndim = max(operand.ndim for operand in call.operands)
        axes = axes_of(call, ndim, name)
        return [([cut] * len(call.operands), [cut]) for axis in range(ndim) if axis not in axes
                for cut in call.splits(call.operands[0], axis)]
    return found


ways_of_kind(ALONG)(along())
ways("dragon.sort dragon.linear_scan")(along("axis"))
ways("flip roll")(along("dims"))


@ways("tril triu")
def _triangle(call):
    x = call.operands[0]
    return [([cut], [cut]) for axis in range(x.ndim - 2) for cut in call.splits(x, axis)]


@ways("dragon.median_axis")
def _median_axis(call):
    """Find the middle along an axis that is whole."""
    x, keepdim = call.operands[0], call.values["keepdims"]
    axes = axes_of(call, x.ndim, "axis")
    return [([cut], [Split(kept_axis(axis, axes, keepdim), cut.pieces)]) for axis in range(x.ndim) if axis not in axes
            for cut in call.splits(x, axis)]


@ways_of_kind(LOSS)
def _loss(call):
    """Reduce losses of elements as the call says: not at all, by their mean, or by their sum."""
    reduction = call.values.get("reduction", 1)
    whole = max(call.operands, key=lambda operand: operand.ndim)
    found = []
    for wanted, results in align(call):
        axis = results[0].axis
        if reduction == 0:
            found.append((wanted, results))
        elif reduction == 2 or is_even(call, axis - whole.ndim):
            found.append((wanted, [Partial("sum" if reduction == 2 else "average")]))
    return found


@ways_of_kind(LOSS_GRADIENT)
def _loss_backward(call):
    """Give elements their share; where a mean was taken, of the whole's number of elements."""
    return align(call) if call.values.get("reduction", 1) != 1 else [
        way for way in align(call) if way[0].count(BROADCAST) == len(way[0])]
