"""Readers of records: TFRecord files with examples, and RecordIO files of MXNet."""
import functools

import numpy as np

from dragon.io import DataError
from dragon.io.sources import RecordIO, TFRecord, parse_example
from dragon.vm.dali.core.kinds import FLOAT, INT64, STRING
from dragon.vm.dali.core.readers.files import order_of
from dragon.vm.dali.core.readers.reader import Reader
from dragon.vm.dali.core.refusals import got
from dragon.vm.dali.core.schema import operator


def as_list(value):
    """Return one path, or several, as a list."""
    return [value] if isinstance(value, str) else list(value)


class RecordReader(Reader):
    """Records of a source of `dragon.io`, found by an index for each file.

    Parameters
    ----------
    source : Callable
        Makes the source of files and their indices.
    path, index_path : Union[str, Sequence[str]]
        The files, and their indices.
    order : dict
        The arguments of `Order`.
    seed : int
        Where random order starts from.

    """

    def __init__(self, source, path, index_path, order, seed):
        paths, indices = as_list(path), as_list(index_path)
        if len(paths) != len(indices):
            raise RuntimeError(got("readers", f"{len(paths)} files and {len(indices)} indices", "an index for each"))
        self.source = source(paths, index=indices)
        super().__init__(len(self.source), order, seed)


@operator("readers.tfrecord", outputs=lambda arguments: len(arguments["features"]), kind="source")
class TFRecordReader(RecordReader):
    """Read the features of examples in TFRecord files."""

    def __init__(self, *, path, index_path, features, random_shuffle=False, shard_id=0, num_shards=1,
                 initial_fill=1024, stick_to_shard=False, pad_last_batch=False, shuffle_after_epoch=False,
                 shuffle_after_epoch_seed=None, seed=0):
        self.features = features
        super().__init__(functools.partial(TFRecord, parse=parse_example), path, index_path,
                         order_of(random_shuffle, shard_id, num_shards, initial_fill, stick_to_shard, pad_last_batch,
                                  shuffle_after_epoch, shuffle_after_epoch_seed, mix_files=False), seed)

    def read(self, number):
        """Return the features of an example."""
        found = self.source[number]
        return tuple(feature.read(name, found.get(name)) for name, feature in self.features.items()), ""


class Feature:
    """What is read of a feature.

    Parameters
    ----------
    shape : Sequence[int]
        Of what comes; empty for a single value, None where the count decides.
    kind : DALIDataType
        Of numbers, or STRING for bytes.
    default : Union[str, int, float]
        What stands for a feature that an example lacks.

    """

    def __init__(self, shape, kind, default):
        self.shape, self.kind, self.default = shape, kind, default

    def read(self, name, values):
        """Return the values as an array."""
        if self.kind is STRING:
            data = values[0] if isinstance(values, list) and values else str(self.default).encode()
            return np.frombuffer(data, np.uint8)
        dtype = np.dtype({INT64: np.int64, FLOAT: np.float32}[self.kind])
        if values is None:
            return np.full(self.shape or 1, self.default, dtype) if self.shape is not None else np.empty(0, dtype)
        came = "bytes" if isinstance(values, list) else str(values.dtype)
        if came != dtype.name:
            raise DataError(got(f"the feature {name}", came, dtype.name))
        return values if self.shape is None or not len(self.shape) else values.reshape(self.shape)


@operator("readers.mxnet", outputs=2, kind="source")
class MXNetReader(RecordReader):
    """Read pictures and labels of RecordIO files of MXNet."""

    def __init__(self, *, path, index_path, random_shuffle=False, shard_id=0, num_shards=1, initial_fill=1024,
                 stick_to_shard=False, pad_last_batch=False, shuffle_after_epoch=False, shuffle_after_epoch_seed=None,
                 seed=0):
        super().__init__(RecordIO, path, index_path,
                         order_of(random_shuffle, shard_id, num_shards, initial_fill, stick_to_shard, pad_last_batch,
                                  shuffle_after_epoch, shuffle_after_epoch_seed, mix_files=False), seed)

    def read(self, number):
        """Return a picture's bytes and its labels."""
        record = self.source[number]
        return (np.frombuffer(record["data"], np.uint8), np.atleast_1d(np.asarray(record["label"], np.float32))), ""
