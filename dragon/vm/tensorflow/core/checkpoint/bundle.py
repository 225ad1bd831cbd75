"""Checkpoint files as TensorFlow writes them: `<prefix>.index`, a sorted table, and `<prefix>.data-00000-of-00001`.

The table is LevelDB's: blocks of keys that share beginnings, then an index of blocks, then a footer.
"""
import os
import struct

from dragon.core import files
from dragon.core.wire import (BYTES, DecodeError, FIXED32, VARINT, read_fields, read_varint, write_field as field,
                              write_varint)
from dragon.io.sources.tfrecord import masked
from dragon.vm.shared.errors import DataLossError, NotFoundError
from dragon.vm.shared.tensors.dtypes import as_dtype

MAGIC = 0xDB4775248B80FB57
FOOTER = 48
RESTART = 16  # after so many keys, one is written in full
HEADER = b"\x08\x01\x1a\x02\x08\x01"  # one shard, little-endian, version 1
SPARE_SHARDS, SPARE_HEADER = 2, b"\x08\x02\x1a\x02\x08\x01"


# --- the table

def _block(items):
    """Return a block of sorted (key, value) pairs with its trailer."""
    out, restarts, last = bytearray(), [], b""
    for number, (key, value) in enumerate(items):
        shared = 0
        if number % RESTART == 0:
            restarts.append(len(out))
        else:
            while shared < min(len(key), len(last)) and key[shared] == last[shared]:
                shared += 1
        out += write_varint(shared) + write_varint(len(key) - shared) + write_varint(len(value))
        out += key[shared:] + value
        last = key
    restarts = restarts or [0]
    out += struct.pack(f"<{len(restarts) + 1}I", *restarts, len(restarts))
    out += b"\0"  # not compressed
    return bytes(out) + struct.pack("<I", masked(bytes(out)))


def write_table(file, items):
    """Write sorted (key, value) pairs into a file."""
    body = bytearray()
    handles = []
    for block in (_block(items), _block([])):
        handles.append(write_varint(len(body)) + write_varint(len(block) - 5))
        body += block
    data, meta = handles
    index = _block([(items[-1][0] + b"\0", data)])
    handle = write_varint(len(body)) + write_varint(len(index) - 5)
    body += index
    body += (meta + handle).ljust(FOOTER - 8, b"\0") + struct.pack("<Q", MAGIC)
    file.write(body)


def _read_block(data, handle, path):
    """Return the (key, value) pairs of a block."""
    offset, place = read_varint(handle, 0)
    size, _ = read_varint(handle, place)
    block, kind = data[offset:offset + size], data[offset + size]
    if kind:
        raise NotImplementedError(f"Checkpoint tables with compression {kind} are not read. Received: {path}")
    if struct.unpack_from("<I", data, offset + size + 1)[0] != masked(data[offset:offset + size + 1]):
        raise DataLossError(None, None, f"Checksum does not match. Received: {path}")
    end = len(block) - 4 * (struct.unpack_from("<I", block, len(block) - 4)[0] + 1)
    place, key, items = 0, b"", []
    while place < end:
        shared, place = read_varint(block, place)
        own, place = read_varint(block, place)
        length, place = read_varint(block, place)
        key = key[:shared] + block[place:place + own]
        items.append((key, block[place + own:place + own + length]))
        place += own + length
    return items


def read_table(path):
    """Return {key: value} of a table."""
    try:
        return _read_table(path)
    except (IndexError, struct.error, DecodeError) as error:
        raise DataLossError(None, None, f"Not a checkpoint's index, or a damaged one: {error}. Received: "
                            f"{path}") from error


def _read_table(path):
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        raise NotFoundError(None, None, "Unsuccessful TensorSliceReader constructor: Failed to find any matching files "
                            f"for {path.removesuffix('.index')}") from None
    if len(data) < FOOTER or struct.unpack_from("<Q", data, len(data) - 8)[0] != MAGIC:
        raise DataLossError(None, None, f"Not a checkpoint's index: bad magic number. Received: {path}")
    footer, found = data[-FOOTER:], {}
    place = 0
    for _ in range(2):
        _, place = read_varint(footer, place)
    for _, handle in _read_block(data, footer[place:], path):
        found.update(_read_block(data, handle, path))
    return found


# --- tensors in it

def _string_bytes(array):
    """Return strings as bytes, and the checksum of those."""
    items = array.reshape(-1).tolist() if array.ndim else [array[()]]
    lengths = b"".join(struct.pack("<I", len(item)) for item in items)
    check = struct.pack("<I", masked(lengths))
    text = b"".join(items)
    return b"".join(write_varint(len(item)) for item in items) + check + text, masked(lengths + check + text)


def count_shards(table):
    """Return the number of files of data that a table's header tells."""
    return next((value for number, _, value in read_fields(table.get(b"", HEADER)) if number == 1), 1)


def _names_spare(path):
    """Return whether a table that is there tells of two files of data, as between two others it does."""
    try:
        return count_shards(read_table(path)) == SPARE_SHARDS
    except (DataLossError, NotImplementedError, ValueError, struct.error):
        return False  # whatever it was, it cannot be read


def write_bundle(prefix, arrays):
    """Write arrays by name.

    Where there is a checkpoint of that name, the new data stands under another name, the first of two files, until
    the table that tells of it has taken the old one's place: a checkpoint can be read at every moment.

    Parameters
    ----------
    arrays : dict
        {name: NumPy array}; arrays of objects hold bytes.

    """
    folder = os.path.dirname(prefix)
    if folder:
        os.makedirs(folder, exist_ok=True)
    items, offset = [], 0

    def write_data(file):
        nonlocal offset
        for name in sorted(arrays, key=str.encode):
            array = arrays[name]
            is_text = array.dtype == object
            payload, check = _string_bytes(array) if is_text else (array.tobytes(), None)
            check = masked(payload) if check is None else check
            file.write(payload)
            dims = b"".join(field(2, BYTES, field(1, VARINT, write_varint(size))) for size in array.shape)
            entry = field(1, VARINT, write_varint(as_dtype("string" if is_text else array.dtype).as_datatype_enum))
            entry += field(2, BYTES, dims)
            entry += field(4, VARINT, write_varint(offset)) if offset else b""
            entry += field(5, VARINT, write_varint(len(payload))) + field(6, FIXED32, struct.pack("<I", check))
            items.append((name.encode(), entry))
            offset += len(payload)

    def write_index(file, path):
        write_table(file, [(b"", SPARE_HEADER if path == spare else HEADER), *items])

    spare = f"{prefix}.data-00000-of-{SPARE_SHARDS:05d}"
    files.replace_pair(f"{prefix}.index", f"{prefix}.data-00000-of-00001", spare, _names_spare, write_index, write_data)


class Entry:
    """The place of a tensor in a checkpoint's data."""

    def __init__(self, message):
        self.dtype, self.shape, self.shard, self.offset, self.size, self.check = as_dtype(1), [], 0, 0, 0, None
        self.is_sliced = False
        for number, _, value in read_fields(message):
            if number == 1:
                self.dtype = as_dtype(value)
            elif number == 2:
                for inner, _, dim in read_fields(value):
                    if inner == 2:
                        self.shape.append(next((size for key, _, size in read_fields(dim) if key == 1), 0))
            elif number in (3, 4, 5):
                setattr(self, {3: "shard", 4: "offset", 5: "size"}[number], value)
            elif number == 6:
                self.check = struct.unpack("<I", value)[0]
            elif number == 7:
                self.is_sliced = True


class Bundle:
    """A checkpoint that is read. ..."""

    def __init__(self, prefix):
        self.prefix = os.fspath(prefix)
        table = read_table(f"{self.prefix}.index")
        self.shards = count_shards(table)
        table.pop(b"", None)
        self.entries = {key.decode(): Entry(value) for key, value in table.items()}

    def __contains__(self, name):
        return name in self.entries

    def read(self, name):
        """Return a tensor as a NumPy array; strings as an array of bytes."""
        import numpy as np
        entry = self.entries.get(name)
        if entry is None:
            raise NotFoundError(None, None, f"Key {name} not found in checkpoint {self.prefix}")
        if entry.is_sliced:
            raise NotImplementedError(f"Tensors in slices are not read. Received: {name} in {self.prefix}")
        with open(f"{self.prefix}.data-{entry.shard:05d}-of-{self.shards:05d}", "rb") as file:
            # Only what is there is read, whatever the index says.
            there = os.fstat(file.fileno()).st_size
            file.seek(min(entry.offset, there))
            payload = file.read(min(entry.size, there))
        if len(payload) != entry.size:
            raise DataLossError(None, None, f"Truncated data. Received: {name} in {self.prefix}")
        if entry.dtype.name == "string":
            return self._strings(payload, entry)
        if entry.check is not None and entry.check != masked(payload):
            raise DataLossError(None, None, f"Checksum does not match. Received: {name} in {self.prefix}")
        try:
            return np.frombuffer(payload, entry.dtype.as_numpy_dtype).reshape(entry.shape)
        except ValueError as error:
            raise DataLossError(None, None, f"{error}. Received: {name} in {self.prefix}") from None

    @staticmethod
    def _strings(payload, entry):
        import math

        import numpy as np
        lengths, place = [], 0
        for _ in range(math.prod(entry.shape)):
            length, place = read_varint(payload, place)
            lengths.append(length)
        place += 4
        array = np.empty(len(lengths), object)
        for number, length in enumerate(lengths):
            array[number] = bytes(payload[place:place + length])
            place += length
        return array.reshape(entry.shape)
