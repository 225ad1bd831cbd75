"""How far sequences are from others: `tf.edit_distance`."""
from dragon.vm.shared.data.rows import array_of
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.sparse.tensor import SparseTensor
from dragon.vm.shared.tensors.convert import convert_to_tensor


def _rows(sparse):
    """Return {place of a row: its values in order} of a sparse tensor."""
    found = {}
    for place, value in zip(sparse._places().tolist(), array_of(sparse.values).tolist()):
        found.setdefault(tuple(place[:-1]), []).append(value)
    return found


def _distance(one, other):
    """Return how many entries have to be put in, taken out or replaced."""
    last = list(range(len(other) + 1))
    for number, mine in enumerate(one, 1):
        now = [number]
        for place, theirs in enumerate(other, 1):
            now.append(min(last[place] + 1, now[-1] + 1, last[place - 1] + (mine != theirs)))
        last = now
    return last[-1]


def edit_distance(hypothesis, truth, normalize=True, name="edit_distance"):
    """Return how many entries of sequences differ from others: put in, taken out or replaced.

    Parameters
    ----------
    hypothesis, truth : SparseTensor
        Sequences along the last axis.
    normalize : bool, optional, default=True
        Whether the number is divided by the true sequence's length; infinite where that is 0 and the other is not.
    name : str, optional
        Accepted.

    Returns
    -------
    Tensor
        float32, of the shape of all axes but the last.

    Examples
    --------
    >>> one = tf.SparseTensor([[0, 0], [0, 1]], ["a", "b"], [1, 2])
    >>> other = tf.SparseTensor([[0, 0], [0, 1]], ["a", "c"], [1, 2])
    >>> tf.edit_distance(one, other).numpy()
    array([0.5], dtype=float32)

    """
    import numpy as np
    for word, value in (("hypothesis", hypothesis), ("truth", truth)):
        if not isinstance(value, SparseTensor) and not hasattr(value, "dense_shape"):
            raise TypeError(f"{word} must be a SparseTensor. Received: {value!r}")
    hypothesis, truth = SparseTensor.from_value(hypothesis), SparseTensor.from_value(truth)
    if hypothesis.ndim != truth.ndim or hypothesis.ndim < 2:
        raise invalid_argument("edit_distance: both must have one rank of at least 2. Received: "
                               f"{hypothesis.shape} and {truth.shape}")
    sizes = [max(one, other) for one, other in zip(hypothesis._sizes[:-1], truth._sizes[:-1])]
    found = np.zeros(sizes, "float32")
    mine, theirs = _rows(hypothesis), _rows(truth)
    for place in {*mine, *theirs}:
        one, other = mine.get(place, []), theirs.get(place, [])
        distance = _distance(one, other)
        if normalize:
            distance = distance / len(other) if other else float("inf") if one else 0.0
        found[place] = distance
    return convert_to_tensor(found)
