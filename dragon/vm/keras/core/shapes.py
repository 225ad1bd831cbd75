"""Shapes as Keras writes them: plain tuples of numbers and None."""


def standardize_shape(shape):
    """Return a shape as a tuple of numbers and None. ..."""
    if shape.__class__ is not tuple:
        if shape is None:
            raise ValueError("Undefined shapes are not supported.")
        if not hasattr(shape, "__iter__"):
            raise ValueError(f"Cannot convert '{shape}' to a shape.")
    sizes = []
    for size in shape:
        if size is None or isinstance(size, int) and size >= 0:  # a captured batch's size stays what it is
            sizes.append(size)
            continue
        wrong = f"Cannot convert '{shape}' to a shape. "
        if isinstance(size, (str, float)):
            raise ValueError(f"{wrong}Found invalid dimension '{size}' of type '{type(size)}'. ")
        try:
            size = int(size)
        except Exception as error:
            raise ValueError(f"{wrong}Found invalid dimension '{size}' of type '{type(size)}'. ") from error
        if size < 0:
            raise ValueError(f"{wrong}Negative dimensions are not allowed.")
        sizes.append(size)
    return tuple(sizes)


def shape_equal(shape1, shape2, axis=None, allow_none=True):
    """Tell whether two shapes agree, apart from some axes.

    Parameters
    ----------
    shape1, shape2 : Sequence[Optional[int]]
        The shapes.
    axis : Union[int, Sequence[int]], optional
        The axes that need not agree.
    allow_none : bool, optional, default=True
        Whether a size that is not known agrees with any other.

    Returns
    -------
    bool
        Whether they do.

    """
    if len(shape1) != len(shape2):
        return False
    left_out = () if axis is None else [axis] if isinstance(axis, int) else axis
    places = {place % len(shape1) for place in left_out} if shape1 else set()
    return all(place in places or first == second or allow_none and None in (first, second)
               for place, (first, second) in enumerate(zip(shape1, shape2)))


def is_shape_tuple(shape):
    """Tell whether something is a shape rather than a structure of shapes."""
    return isinstance(shape, (list, tuple)) and all(size is None or isinstance(size, int) for size in shape)
