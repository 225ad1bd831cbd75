"""Axes rearranged by a pattern of names."""
import math
import re

from dragon.vm.keras.ops.common import operation, ops, tensor


def _axes_of(side):
    """Return one side of a pattern as a list of groups of names."""
    return [group.strip("()").split() for group in re.findall(r"\([^)]*\)|\w+", side)]


@operation
def rearrange(tensor, pattern, **axes_lengths):
    """Split, reorder and join axes as a pattern says.

    Parameters
    ----------
    tensor : Tensor
        The elements.
    pattern : str
        Names of axes before and after: "b (h p) w -> b h (p w)".
    **axes_lengths : int
        Sizes of axes that are split off.

    Returns
    -------
    Tensor
        The result.

    """
    if not isinstance(pattern, str):
        raise TypeError(f"rearrange: `pattern` must be a string. Received: pattern={pattern}")
    x = _as_tensor(tensor)
    sides = pattern.split("->")
    if len(sides) != 2:
        raise ValueError(f"rearrange: expected one `->` in the pattern. Received: pattern={pattern}")
    before, after = map(_axes_of, sides)
    names = [name for group in before for name in group]
    if sorted(names) != sorted(name for group in after for name in group) or len(before) != x.ndim:
        raise ValueError("rearrange: both sides of the pattern must name all axes once. "
                         f"Received: pattern={pattern}, tensor.shape={tuple(x.shape)}")
    sizes = dict(axes_lengths)
    for group, size in zip(before, x.shape):
        known = math.prod(sizes[name] for name in group if name in sizes)
        for name in group:
            if name not in sizes:
                sizes[name] = size // known
                known *= sizes[name]
        if known != size:
            raise ValueError(f"rearrange: the lengths do not make up an axis of {size}. "
                             f"Received: pattern={pattern}, lengths={axes_lengths}")
    x = ops.permute(ops.reshape(x, [sizes[name] for name in names]),
                    [names.index(name) for group in after for name in group])
    return ops.reshape(x, [math.prod(sizes[name] for name in group) for group in after])


_as_tensor = tensor
