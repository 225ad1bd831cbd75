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


def shape_equal(first, second):
    """Tell whether two shapes agree where both are known."""
    return len(first) == len(second) and all(
        a is None or b is None or a == b for a, b in zip(first, second))


def is_shape_tuple(shape):
    """Tell whether something is a shape rather than a structure of shapes."""
    return isinstance(shape, (list, tuple)) and all(size is None or isinstance(size, int) for size in shape)
