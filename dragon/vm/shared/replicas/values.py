"""Values of several replicas as one object, and structures of such."""
from dragon import _C
from dragon.vm.shared import nest
from dragon.vm.shared.naming import known_as


@known_as("tensorflow.python.distribute.values")
class PerReplica:
    """The values that replicas of this process have.

    Parameters
    ----------
    values : Sequence[Any]
        One for each.

    """

    of_replicas = True

    def __init__(self, values):
        self._values = tuple(values)

    values = property(lambda self: self._values, doc="tuple: the values, by the numbers of the replicas.")

    def _show(self, how):
        lines = ",\n".join(f"  {number}: {how(value)}" for number, value in enumerate(self._values))
        return f"{type(self).__name__}:{{\n{lines}\n}}"

    def __str__(self):
        return self._show(str)

    def __repr__(self):
        return self._show(repr)


@known_as("tensorflow.python.distribute.values")
class Mirrored(PerReplica):
    """A value that all replicas have."""


def regroup(values):
    """Return structures of replicas as one structure, of `PerReplica` where what they hold is not one object.

    Parameters
    ----------
    values : Sequence[Any]
        A structure of each replica, all alike.

    Returns
    -------
    Any
        One structure.

    """
    first = values[0]
    if nest.is_nested(first) and not isinstance(first, PerReplica):
        for other in values[1:]:
            nest.assert_same_structure(first, other)
        columns = zip(*(nest.flatten(value) for value in values))
        return nest.pack_sequence_as(first, [regroup(column) for column in columns])
    if all(value is first for value in values):
        return first
    plain = (bool, int, float, str, bytes, type(None))
    if isinstance(first, plain) and all(type(value) is type(first) and value == first for value in values):
        return first
    return PerReplica(values)


def select(number, structure):
    """Return the values of one replica."""
    return nest.map_structure(lambda value: value.values[number] if isinstance(value, PerReplica) else value, structure)


def is_spread(structure):
    """Return whether a structure holds values of several replicas."""
    return any(isinstance(value, PerReplica) for value in nest.flatten(structure))


def split(structure, count):
    """Return a batch as structures of parts: as even as possible, the first ones larger, the last ones maybe empty.

    Parameters
    ----------
    structure : Any
        Tensors, or a structure of them, with samples along the first axis.
    count : int
        How many parts.

    Returns
    -------
    List[Any]
        A structure for each part.

    """
    def cut(number):
        def part(value):
            if value is None or not isinstance(value, _C.Tensor) and not hasattr(value, "shape"):
                return value
            if not len(value.shape):
                raise ValueError("tf.distribute: got an element without an axis of samples, expected batches: call "
                                 f"`dataset.batch` before it is distributed. Received: {value!r}")
            size = -(-int(value.shape[0]) // count)
            return value[number * size:(number + 1) * size]
        return nest.map_structure(part, structure)
    return [cut(number) for number in range(count)]
