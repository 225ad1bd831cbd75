"""Parts of a tensor that were saved, and parts that are wanted: where they meet."""


def overlaps(one, other):
    """Return whether two parts of a tensor have numbers in common."""
    return all(begin < other_begin + other_size and other_begin < begin + size for begin, size, other_begin, other_size
               in zip(one.offsets, one.sizes, other.offsets, other.sizes))


def find_overlap(saved, wanted):
    """Return (where the common part begins in the saved one, where in the wanted one, its shape)."""
    begins = [max(pair) for pair in zip(saved.offsets, wanted.offsets)]
    ends = [min(begin + size, other_begin + other_size) for begin, size, other_begin, other_size
            in zip(saved.offsets, saved.sizes, wanted.offsets, wanted.sizes)]
    return ([begin - at for begin, at in zip(begins, saved.offsets)],
            [begin - at for begin, at in zip(begins, wanted.offsets)],
            [end - begin for begin, end in zip(begins, ends)])
