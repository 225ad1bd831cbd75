"""`tf.sets`: the last axis as sets."""


def _rows(value):
    """Return the shape before the last axis, the rows as lists and the dtype of a dense or sparse tensor."""
    from dragon.vm.shared.sparse.tensor import SparseTensor
    from dragon.vm.shared.tensors.convert import convert_to_tensor
    if isinstance(value, SparseTensor):
        shape = tuple(value.dense_shape.numpy().tolist())
        rows = {}
        for place, item in zip(value.indices.numpy().tolist(), value.values.numpy().tolist()):
            rows.setdefault(tuple(place[:-1]), []).append(item)
        return shape[:-1], rows, value.values.dtype
    tensor = convert_to_tensor(value)
    if tensor.ndim < 2:
        from dragon.vm.shared.errors import invalid_argument
        raise invalid_argument(f"Input must have rank 2 at least. Received shape {tensor.shape}")
    import numpy as np
    array = tensor.numpy()
    shape = array.shape[:-1]
    return shape, {place: array[place].tolist() for place in np.ndindex(*shape)}, tensor.dtype


def _combine(a, b, function):
    from dragon.vm.shared.sparse.tensor import SparseTensor
    from dragon.vm.shared.tensors.convert import convert_to_tensor
    shape, one, dtype = _rows(a)
    other_shape, other, other_dtype = _rows(b)
    if shape != other_shape or dtype is not other_dtype:
        raise ValueError(f"Both inputs must agree in dtype and in all axes but the last. Received: {dtype!r} {shape} "
                         f"and {other_dtype!r} {other_shape}")
    places, values, width = [], [], 0
    import numpy as np
    for place in np.ndindex(*shape):
        found = sorted(function(set(one.get(place, ())), set(other.get(place, ()))))
        width = max(width, len(found))
        places += [[*place, number] for number in range(len(found))]
        values += found
    indices = np.array(places, np.int64).reshape(-1, len(shape) + 1)
    return SparseTensor(convert_to_tensor(indices), convert_to_tensor(values, dtype),
                        convert_to_tensor([*shape, width], "int64"))


def intersection(a, b, validate_indices=True):
    """Return what is in both sets, as a sparse tensor."""
    return _combine(a, b, lambda one, other: one & other)


def union(a, b, validate_indices=True):
    """Return what is in one set or both, as a sparse tensor."""
    return _combine(a, b, lambda one, other: one | other)


def difference(a, b, aminusb=True, validate_indices=True):
    """Return what is in one set and not in the other, as a sparse tensor."""
    return _combine(a, b, lambda one, other: one - other if aminusb else other - one)


def size(a, validate_indices=True):
    """Return how many different elements the sets of a sparse tensor have."""
    from dragon.vm.shared.tensors.convert import convert_to_tensor
    import numpy as np
    if not hasattr(a, "dense_shape"):
        raise TypeError(f"Expected `SparseTensor`, got {a!r}.")
    shape, rows, _ = _rows(a)
    return convert_to_tensor(np.array([len(set(rows.get(place, ()))) for place in np.ndindex(*shape)],
                                      np.int32).reshape(shape))
