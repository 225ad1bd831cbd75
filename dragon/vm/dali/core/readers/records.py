"""Readers of records: TFRecord files with examples, and RecordIO files of MXNet."""
import struct

import numpy as np

from dragon.io import DataError
from dragon.vm.dali.core.kinds import FLOAT, INT64, STRING
from dragon.vm.dali.core.readers.files import order_of
from dragon.vm.dali.core.readers.reader import Reader
from dragon.vm.dali.core.refusals import got
from dragon.vm.dali.core.schema import operator

MAGIC = 0xCED7230A
KINDS = {1: "bytes", 2: "float", 3: "int64"}  # of a feature, by the number of its field


def as_list(value):
    """Return one path, or several, as a list."""
    return [value] if isinstance(value, str) else list(value)


def read_index(path):
    """Return (offset, size) of the records that an index tells, a line each."""
    with open(path, encoding="utf-8") as file:
        return [tuple(map(int, line.split()[:2])) for line in file if line.strip()]


def number_of(data, place):
    """Return a number of seven bits a byte, and where it ends."""
    value = shift = 0
    while True:
        byte = data[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place


def fields_of(data):
    """Yield (number, value) of the fields of a message: bytes, or a whole number."""
    place = 0
    while place < len(data):
        key, place = number_of(data, place)
        if key & 7 == 2:
            size, place = number_of(data, place)
            yield key >> 3, data[place:place + size]
            place += size
        elif key & 7 == 0:
            value, place = number_of(data, place)
            yield key >> 3, value
        elif key & 7 == 5:
            yield key >> 3, data[place:place + 4]
            place += 4
        else:
            raise DataError(got("readers.tfrecord", f"a field of wire type {key & 7}", "a tf.train.Example"))


def parse_example(data):
    """Return {name: (kind, values)} of the bytes of a tf.train.Example."""
    found = {}
    for _, features in fields_of(data):
        for _, entry in fields_of(features):
            pair = dict(fields_of(entry))
            for number, values in fields_of(pair.get(2, b"")):
                found[bytes(pair[1]).decode()] = KINDS[number], list(_values(KINDS[number], values))
    return found


def _values(kind, data):
    for _, value in fields_of(data):
        if kind == "bytes":
            yield bytes(value)
        elif kind == "float":
            yield from struct.unpack(f"<{len(value) // 4}f", value)
        elif isinstance(value, int):
            yield value - (1 << 64) if value >> 63 else value
        else:
            place = 0
            while place < len(value):
                number, place = number_of(value, place)
                yield number - (1 << 64) if number >> 63 else number


class RecordReader(Reader):
    """Records at known places of several files."""

    def find(self, paths, indices, read):
        """Note where all records are."""
        if len(paths) != len(indices):
            raise RuntimeError(got("readers", f"{len(paths)} files and {len(indices)} indices", "an index for each"))
        self.places = [(path, *place) for path, index in zip(paths, indices) for place in read(path, index)]

    def record(self, number):
        """Return the bytes at a place."""
        path, offset, size = self.places[number]
        with open(path, "rb") as file:
            file.seek(offset)
            data = file.read(size)
        if len(data) < size:
            raise DataError(got("readers", f"{len(data)} bytes", f"{size}: the file is cut off"), path, offset)
        return data


@operator("readers.tfrecord", outputs=lambda arguments: len(arguments["features"]), kind="source")
class TFRecordReader(RecordReader):
    """Read the features of examples in TFRecord files."""

    def __init__(self, *, path, index_path, features, random_shuffle=False, shard_id=0, num_shards=1,
                 initial_fill=1024, stick_to_shard=False, pad_last_batch=False, shuffle_after_epoch=False,
                 shuffle_after_epoch_seed=None, seed=0):
        self.features = features
        self.find(as_list(path), as_list(index_path), lambda _, index: read_index(index))
        super().__init__(len(self.places), order_of(random_shuffle, shard_id, num_shards, initial_fill, stick_to_shard,
                                                    pad_last_batch, shuffle_after_epoch, shuffle_after_epoch_seed,
                                                    mix_files=False), seed)

    def read(self, number):
        """Return the features of an example."""
        data = self.record(number)
        size = int.from_bytes(data[:8], "little")
        if size != len(data) - 16:
            raise DataError(got("readers.tfrecord", f"a record of {size} bytes",
                                f"{len(data) - 16} as the index says"), *self.places[number][:2])
        found = parse_example(memoryview(data)[12:12 + size])
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

    def read(self, name, found):
        """Return the values as an array."""
        kind, values = found or (None, [])
        if self.kind is STRING:
            data = values[0] if values else str(self.default).encode()
            return np.frombuffer(data, np.uint8)
        wanted, dtype = {INT64: ("int64", np.int64), FLOAT: ("float", np.float32)}[self.kind]
        if kind is None:
            return np.full(self.shape or 1, self.default, dtype) if self.shape is not None else np.empty(0, dtype)
        if kind != wanted:
            raise DataError(got(f"the feature {name}", kind, wanted))
        array = np.asarray(values, dtype)
        return array if self.shape is None or not len(self.shape) else array.reshape(self.shape)


@operator("readers.mxnet", outputs=2, kind="source")
class MXNetReader(RecordReader):
    """Read pictures and labels of RecordIO files of MXNet."""

    def __init__(self, *, path, index_path, random_shuffle=False, shard_id=0, num_shards=1, initial_fill=1024,
                 stick_to_shard=False, pad_last_batch=False, shuffle_after_epoch=False, shuffle_after_epoch_seed=None,
                 seed=0):
        self.find(as_list(path), as_list(index_path), _sizes)
        super().__init__(len(self.places), order_of(random_shuffle, shard_id, num_shards, initial_fill, stick_to_shard,
                                                    pad_last_batch, shuffle_after_epoch, shuffle_after_epoch_seed,
                                                    mix_files=False), seed)

    def read(self, number):
        """Return a picture's bytes and its labels."""
        data = self.record(number)
        parts, place = [], 0
        while place + 8 <= len(data):
            magic, length = struct.unpack_from("<II", data, place)
            if magic != MAGIC:
                raise DataError(got("readers.mxnet", hex(magic), f"{MAGIC:#x}, a record's beginning"),
                                self.places[number][0], self.places[number][1] + place)
            parts.append(data[place + 8:place + 8 + (length & 0x1FFFFFFF)])
            place += 8 + -(-(length & 0x1FFFFFFF) // 4) * 4
            if length >> 29 in (0, 3):
                break
        whole = struct.pack("<I", MAGIC).join(parts)  # the words that stood where it was cut
        count, label = struct.unpack_from("<If", whole)
        labels = np.frombuffer(whole, np.float32, count, 24) if count else np.array([label], np.float32)
        return (np.frombuffer(whole, np.uint8, offset=24 + 4 * count), labels), ""


def _sizes(path, index):
    """Return (offset, size) of records from the offsets in an index."""
    import os
    with open(index, encoding="utf-8") as file:
        starts = sorted(int(line.split()[1]) for line in file if line.strip())
    return [(start, end - start) for start, end in zip(starts, [*starts[1:], os.path.getsize(path)])]
