"""What stands in a batch: inputs, targets and weights of the samples."""
from dragon.vm.keras.core import config, tree


def unpack_x_y_sample_weight(data):
    """Return inputs, targets and sample weights of a batch.

    Parameters
    ----------
    data : Any
        `x`, `(x,)`, `(x, y)` or `(x, y, sample_weight)`.

    Returns
    -------
    tuple
        Three things; None for those that are not there.

    """
    if isinstance(data, list):
        data = tuple(data)
    if not isinstance(data, tuple):
        return data, None, None
    if 1 <= len(data) <= 3:
        return (*data, None, None)[:3]
    raise ValueError("Data is expected to be in format `x`, `(x,)`, `(x, y)`, or `(x, y, sample_weight)`. "
                     f"Received: {data}")


def pack_x_y_sample_weight(x, y=None, sample_weight=None):
    """Return a batch of what is there.

    Parameters
    ----------
    x : Any
        The inputs.
    y : Any, optional
        The targets.
    sample_weight : Any, optional
        The samples' weights.

    Returns
    -------
    Any
        `x` itself, or a tuple.

    """
    if y is None:
        return (x,) if isinstance(x, (tuple, list)) else x
    return (x, y) if sample_weight is None else (x, y, sample_weight)


def check_cardinality(data):
    """Return how many samples arrays have; raise a ValueError where they differ."""
    sizes = {int(array.shape[0]) for array in tree.flatten(data) if array is not None}
    if len(sizes) == 1:
        return sizes.pop()
    parts = data if isinstance(data, tuple) else (data,)
    received = "".join(f"'{label}' sizes: {', '.join(str(array.shape[0]) for array in tree.flatten(part))}\n"
                       for label, part in zip(("x", "y", "sample_weight"), parts))
    raise ValueError("Data cardinality is ambiguous. Expected arrays with one number of samples. "
                     f"Received:\n{received}")


def class_weight_to_sample_weights(y, class_weight):
    """Return a weight for each sample from the weights of the classes.

    Parameters
    ----------
    y : Any
        Classes as numbers or one-hot.
    class_weight : Dict[int, float]
        Weights; 1 for classes that are not in it.

    Returns
    -------
    numpy.ndarray
        The weights.

    """
    import numpy
    classes = numpy.asarray(y)
    if classes.ndim > 1:
        classes = classes.argmax(axis=-1) if classes.shape[-1] != 1 else classes[..., 0]
    classes = numpy.round(classes).astype("int32")
    weights = numpy.ones(classes.shape[:1], dtype=config.floatx())
    for number, weight in class_weight.items():
        weights[classes == number] = weight
    return weights


def with_class_weight(batch, class_weight):
    """Return a batch with the sample weights that come from the classes' weights."""
    if class_weight is None:
        return batch
    x, y, sample_weight = unpack_x_y_sample_weight(batch)
    if sample_weight is not None:
        raise ValueError("You cannot specify `class_weight` and `sample_weight` at the same time. "
                         f"Received: class_weight={class_weight}")
    if y is None:
        return batch
    if tree.is_nested(y):
        raise ValueError("`class_weight` is only supported for Models with a single output. "
                         f"Received: {len(tree.flatten(y))} targets")
    return x, y, class_weight_to_sample_weights(y, class_weight)
