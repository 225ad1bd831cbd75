"""Places in a box as single numbers, which can be sorted, compared and looked up."""
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.tensor import ops

INT64 = OBJECTS["int64"]
LARGEST = 2 ** 63 - 1


def product(numbers):
    """Return the product of sizes as a Python integer, which nothing overflows."""
    result = 1
    for number in numbers:
        result *= int(number)
    return result


def count_up(count, like):
    """Return 0, 1, ... as many as asked for, on the device of another tensor."""
    return ops.arange(0, count, dtype=INT64, device=like.device)


def keys_of(rows, sizes):
    """Return a number for each column of indices, in the order of the columns.

    Where the numbers of all places do not fit, they are ranks among the columns there are.

    Parameters
    ----------
    rows : Sequence[Tensor]
        The indices along each axis.
    sizes : Sequence[int]
        The sizes of the axes.

    Returns
    -------
    Tensor
        Integers; equal where the columns are.

    """
    keys, reach = rows[0], int(sizes[0])
    for row, size in zip(rows[1:], sizes[1:]):
        if reach * int(size) > LARGEST:
            _, keys, _ = ops.unique(keys, return_inverse=True)
            reach = max(keys.shape[0], 1)
        keys, reach = ops.add(ops.mul(keys, int(size)), row), reach * int(size)
    return keys


def joint_keys(first, second, sizes):
    """Return the keys of two sets of columns of indices, which can be compared with each other."""
    together = keys_of([ops.cat((a, b), 0) for a, b in zip(first, second)], sizes)
    count = first[0].shape[0]
    return together[:count], together[count:]


def find(wanted, sorted_keys):
    """Return (place, found): where keys stand among sorted ones, and whether they do."""
    count = sorted_keys.shape[0]
    if count == 0:
        return ops.zeros_like(wanted), ops.zeros(wanted.shape, dtype=OBJECTS["bool"], device=wanted.device)
    place = ops.clamp(ops.searchsorted(sorted_keys, wanted), 0, count - 1)
    return place, ops.eq(ops.index_select(sorted_keys, 0, place), wanted)


def starts_of(sorted_rows, count):
    """Return where each row begins among sorted rows, and behind the last where all end."""
    return ops.searchsorted(sorted_rows, count_up(count + 1, sorted_rows))


def runs(lengths):
    """Return (owner, place) for runs one after the other: which run an element is of, and its place within."""
    owner = ops.repeat_interleave(count_up(lengths.shape[0], lengths), lengths)
    ends = ops.cumsum(lengths, 0)
    begins = ops.index_select(ops.sub(ends, lengths), 0, owner)
    return owner, ops.sub(count_up(owner.shape[0], lengths), begins)
