"""How many servers the rows of a variable are shared out among."""
import math

from dragon.vm.shared.tensors.dtypes import as_dtype, string
from dragon.vm.shared.tensors.shape import TensorShape


def _positive(name, value):
    if value < 1:
        raise ValueError(f"Argument `{name}` must be positive. Received: {value}")
    return value


class Partitioner:
    """Base of the rules; a rule tells the number of parts along each axis of a shape."""

    def __call__(self, shape, dtype, axis=0):
        raise NotImplementedError(f"{type(self).__name__}: got a call, expected a class that defines `__call__`")

    @staticmethod
    def _parts(shape, axis, count):
        shape = TensorShape(shape)
        parts = [1] * len(shape)
        parts[axis] = count(int(shape[axis]))
        return parts


class FixedShardsPartitioner(Partitioner):
    """As many parts as are named, or rows if there are fewer.

    Parameters
    ----------
    num_shards : int
        How many.

    """

    def __init__(self, num_shards):
        self._count = num_shards

    def __call__(self, shape, dtype, axis=0):
        return self._parts(shape, axis, lambda size: min(self._count, size))


class MinSizePartitioner(Partitioner):
    """As many parts as there can be of at least some size.

    Parameters
    ----------
    min_shard_bytes : int, optional, default=262144
        The size.
    max_shards : int, optional, default=1
        The most parts.
    bytes_per_string : int, optional, default=16
        What a string is counted as.

    """

    def __init__(self, min_shard_bytes=256 << 10, max_shards=1, bytes_per_string=16):
        self._least, self._most = _positive("min_shard_bytes", min_shard_bytes), _positive("max_shards", max_shards)
        self._text = _positive("bytes_per_string", bytes_per_string)

    def __call__(self, shape, dtype, axis=0):
        whole = math.prod(int(size) for size in TensorShape(shape)) * _bytes_of(dtype, self._text)
        parts = max(1, math.ceil(whole / self._least))
        return self._parts(shape, axis, lambda size: max(1, min(self._most, size, parts)))


class MaxSizePartitioner(Partitioner):
    """As few parts as there can be of at most some size.

    Parameters
    ----------
    max_shard_bytes : int
        The size.
    max_shards : int, optional
        The most parts, whatever their size.
    bytes_per_string : int, optional, default=16
        What a string is counted as.

    """

    def __init__(self, max_shard_bytes, max_shards=None, bytes_per_string=16):
        self._largest, self._most = _positive("max_shard_bytes", max_shard_bytes), max_shards
        if max_shards:
            _positive("max_shards", max_shards)
        self._text = _positive("bytes_per_string", bytes_per_string)

    def __call__(self, shape, dtype, axis=0):
        whole = math.prod(int(size) for size in TensorShape(shape)) * _bytes_of(dtype, self._text)

        def count(size):
            row = whole / size if whole else 1.0
            rows = max(1, int(self._largest // row))
            parts = math.ceil(size / rows)
            return min(parts, self._most) if self._most else parts
        return self._parts(shape, axis, count)


def _bytes_of(dtype, text):
    dtype = as_dtype(dtype)
    return text if dtype is string else dtype.size
