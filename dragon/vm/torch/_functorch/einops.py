"""Axes by name: `rearrange`."""
import math
import re

from dragon.core.refusals import refusing
from dragon.vm.torch.core.tensor import Tensor, ops


def _parse(side, pattern):
    """Return the axes of one side: a list of names per axis, and "..." for all that have no names."""
    groups, inner = [], None
    for token in re.findall(r"\.\.\.|\(|\)|\S+?(?=[\s()]|$)", side):
        if token == "(" and inner is None:
            inner = []
        elif token == ")" and inner is not None:
            groups.append(inner)
            inner = None
        elif token in "()" or not (token in ("...", "1") or token.isidentifier()):
            raise ValueError(f"rearrange: got {token!r} in {pattern!r}, expected names, '1', '...' and parentheses")
        elif inner is None:
            groups.append(token if token == "..." else [token] if token != "1" else [])
        elif token != "1":
            inner.append(token)
    if inner is not None:
        raise ValueError(f"rearrange: got an open parenthesis in {pattern!r}, expected it closed")
    names = [name for group in groups for name in ([group] if group == "..." else group)]
    if len(set(names)) != len(names):
        raise ValueError(f"rearrange: got a name twice on one side of {pattern!r}, expected each once")
    return groups


def _sizes(groups, shape, known, pattern):
    """Return the size of every name on the left; one name per axis may be found out."""
    sizes = dict(known)
    for group, size in zip(groups, shape):
        rest = [name for name in group if name not in sizes]
        product = math.prod(sizes[name] for name in group if name in sizes)
        if len(rest) > 1 or (product == 0 and rest) or (size % product if product else size):
            raise ValueError(f"rearrange: got a dim of {size} for {group} with lengths {known} in {pattern!r}, "
                             "expected lengths whose product it is")
        if rest:
            sizes[rest[0]] = size // product
        elif product != size:
            raise ValueError(f"rearrange: got a dim of {size} for {group} in {pattern!r}, expected {product}")
    return sizes


@refusing
def rearrange(tensor, pattern, **axes_lengths):
    """Return a tensor with its axes reordered, split and joined by name.

    Parameters
    ----------
    tensor : Union[Tensor, Sequence[Tensor]]
        The tensor; several are stacked first.
    pattern : str
        Names before and after, as "b (h w) c -> b c h w"; "..." stands for all other axes.
    **axes_lengths : int
        Lengths of names that cannot be found out.

    Returns
    -------
    Tensor
        The rearranged tensor.

    Examples
    --------
    >>> rearrange(torch.ones(2, 12), "a (b c) -> c a b", b=3).shape
    torch.Size([4, 2, 3])

    """
    tensor = tensor if isinstance(tensor, Tensor) else ops.stack(list(tensor))
    if pattern.count("->") != 1:
        raise ValueError(f"rearrange: got {pattern!r}, expected one '->'")
    left, right = (_parse(side, pattern) for side in pattern.split("->"))
    others = tensor.ndim - len(left) + 1
    rest = [f"...{index}" for index in range(others)]

    def spread(groups):
        return [part for group in groups
                for part in ([[name] for name in rest] if group == "..." else
                             [[name for item in group for name in (rest if item == "..." else [item])]])]
    given, wanted = spread(left), spread(right)
    names, result = ([name for group in groups for name in group] for groups in (given, wanted))
    if set(names) != set(result) or len(given) != tensor.ndim or not set(axes_lengths) <= set(names):
        raise ValueError(f"rearrange: got {pattern!r} with lengths for {sorted(axes_lengths)} for a tensor of "
                         f"{tensor.ndim} axes, expected the same names on both sides, and one place for each axis")
    sizes = _sizes(given, tensor.shape, axes_lengths, pattern)
    split = ops.reshape(tensor, [sizes[name] for name in names])
    moved = ops.permute(split, [names.index(name) for name in result]) if names else split
    return ops.reshape(moved, [math.prod(sizes[name] for name in group) for group in wanted])
