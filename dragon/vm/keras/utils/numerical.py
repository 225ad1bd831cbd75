"""Labels as vectors, and vectors of length one."""
from dragon import _C


def to_categorical(x, num_classes=None):
    """Return class numbers as vectors with a one at the class.

    Parameters
    ----------
    x : Union[Sequence[int], numpy.ndarray, Tensor]
        Class numbers from 0; a last axis of size one is dropped.
    num_classes : int, optional
        How many classes there are; by default one more than the largest number.

    Returns
    -------
    Union[numpy.ndarray, Tensor]
        Of the kind of `x`, with an axis more.

    Examples
    --------
    >>> keras.utils.to_categorical([0, 2], num_classes=3)
    array([[1., 0., 0.],
           [0., 0., 1.]])

    """
    import numpy
    if isinstance(x, _C.Tensor):
        from dragon.vm.keras import ops
        shape = tuple(x.shape)
        if len(shape) > 1 and shape[-1] == 1:
            x = ops.reshape(x, shape[:-1])
        return ops.one_hot(x, num_classes)
    x = numpy.array(x, dtype="int64")
    shape = x.shape[:-1] if x.ndim > 1 and x.shape[-1] == 1 else x.shape
    x = x.reshape(-1)
    num_classes = num_classes or int(x.max()) + 1
    found = numpy.zeros((len(x), num_classes))
    found[numpy.arange(len(x)), x] = 1
    return found.reshape(*shape, num_classes)


def normalize(x, axis=-1, order=2):
    """Return vectors divided by their norm.

    Parameters
    ----------
    x : Union[numpy.ndarray, Tensor]
        The vectors.
    axis : int, optional, default=-1
        The axis that they lie along.
    order : int, optional, default=2
        Which norm.

    Returns
    -------
    Union[numpy.ndarray, Tensor]
        Of the kind of `x`; a vector of zeros stays one.

    """
    import numpy
    if isinstance(x, _C.Tensor):
        from dragon.vm.keras import ops
        return ops.normalize(x, axis=axis, order=order)
    norm = numpy.atleast_1d(numpy.linalg.norm(x, order, axis))
    norm[norm == 0] = 1
    return x / numpy.expand_dims(norm, axis)
