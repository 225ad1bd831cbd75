"""Arrays of different shapes as one: each is copied into a corner of its part of an array of one value."""


def pad(arrays, sizes, value, dtype, to_the_end=False):
    """Return arrays as one array, filled up with a value.

    Parameters
    ----------
    arrays : Sequence[numpy.ndarray]
        The arrays, none of which is larger than its place along any axis.
    sizes : Sequence[int]
        The shape that all get.
    value : Any
        What is filled in.
    dtype : numpy.dtype
        The dtype of the result.
    to_the_end : bool, optional, default=False
        Whether arrays stand at the end of the first axis, with the value before them.

    Returns
    -------
    numpy.ndarray
        Of shape (number of arrays, *sizes).

    """
    import numpy as np
    padded = np.full((len(arrays), *sizes), value, dtype)
    for number, array in enumerate(arrays):
        corner = [slice(size) for size in array.shape]
        if to_the_end:
            corner[0] = slice(sizes[0] - len(array), None)
        padded[(number, *corner)] = array
    return padded
