"""Operators that make one number of many along some axes, or need these axes whole."""
import math

from dragon.distributed.globals.signatures import BROADCAST, Partial, Split, is_partial, is_split
from dragon.vm.torch.distributed.tensor._ops.pointwise import align
from dragon.vm.torch.distributed.tensor._ops.table import ways

# What the parts' results are yet to be reduced by.
_REDUCTIONS = {"sum": "sum", "mean": "average", "max": "maximum", "amax": "maximum", "min": "minimum",
               "amin": "minimum", "prod": "product"}
_LINEAR = ("sum", "mean")


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


@ways("sum mean max amax min amin prod")
def _reduce(call):
    x, name = call.operands[0], call.packet
    axes, keepdim = axes_of(call, x.ndim), bool(call.values.get("keepdim", False))
    pairs = name in ("max", "min") and call.overload == "dim"  # values, and where they stand
    count, found = 2 if pairs else 1, []
    for axis in range(x.ndim):
        for cut in call.splits(x, axis):
            if axis not in axes:
                result = Split(kept_axis(axis, axes, keepdim), cut.pieces)
                found.append(([cut], [result] * count))
            elif not pairs and (name != "mean" or is_even(call, axis - x.ndim)) and _is_reducible(x, name, axis, call):
                found.append(([cut], [Partial(_REDUCTIONS[name])]))
    for signature in {each for each in x.signatures if is_partial(each)}:
        if name in _LINEAR and signature.reduction in ("sum", "average"):
            found.append(([signature], [signature]))
    return found


def _is_reducible(x, name, axis, call):
    """Return whether each process has something to reduce, where nothing has no largest."""
    return name in ("sum", "prod", "mean") or x.shape[axis] > 0 and is_even(call, axis - x.ndim)


def along(name="dim"):
    """Return a rule for operators that need some axes whole, and whose results have the form of the first operand."""
    def found(call):
        ndim = max(operand.ndim for operand in call.operands)
        axes = axes_of(call, ndim, name)
        return [([cut] * len(call.operands), [cut]) for axis in range(ndim) if axis not in axes
                for cut in call.splits(call.operands[0], axis)]
    return found


for _names, _argument in {"cumsum cumprod logcumsumexp cummax cummin": "dim",
                          "sort argsort topk": "dim",
                          "dragon.sort dragon.linear_scan": "axis", "flip": "dims", "roll": "dims"}.items():
    ways(_names)(along(_argument))


@ways("tril triu")
def _triangle(call):
    x = call.operands[0]
    return [([cut], [cut]) for axis in range(x.ndim - 2) for cut in call.splits(x, axis)]


@ways("var std var_mean std_mean logsumexp argmax argmin all any nansum nanmean median kthvalue mode count_nonzero "
      "linalg_vector_norm norm aminmax")
def _shrink(call):
    """Reduce axes that are whole, and leave the others as they are."""
    x = call.operands[0]
    axes, keepdim = axes_of(call, x.ndim), bool(call.values.get("keepdim", False))
    return [([cut], [Split(kept_axis(axis, axes, keepdim), cut.pieces)]) for axis in range(x.ndim) if axis not in axes
            for cut in call.splits(x, axis)]


@ways("dragon.median_axis")
def _median_axis(call):
    """Find the middle along an axis that is whole."""
    x, keepdim = call.operands[0], call.values["keepdims"]
    axes = axes_of(call, x.ndim, "axis")
    return [([cut], [Split(kept_axis(axis, axes, keepdim), cut.pieces)]) for axis in range(x.ndim) if axis not in axes
            for cut in call.splits(x, axis)]


@ways("mse_loss smooth_l1_loss huber_loss binary_cross_entropy binary_cross_entropy_with_logits soft_margin_loss "
      "l1_loss kl_div")
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


@ways("mse_loss_backward smooth_l1_loss_backward huber_loss_backward binary_cross_entropy_backward "
      "soft_margin_loss_backward")
def _loss_backward(call):
    """Give elements their share; where a mean was taken, of the whole's number of elements."""
    return align(call) if call.values.get("reduction", 1) != 1 else [
        way for way in align(call) if way[0].count(BROADCAST) == len(way[0])]
