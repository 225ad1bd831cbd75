"""Datasets of files: their records, their lines, their pieces of one length."""
import os
from itertools import chain

from dragon.core.files import check_end
from dragon.vm.shared import errors
from dragon.vm.shared.data.dataset import Dataset
from dragon.vm.shared.data.interleaving import Interleave
from dragon.vm.shared.data.rows import string_scalar
from dragon.vm.shared.data.specs import TensorSpec
from dragon.vm.shared.files.records import check_compression, most_of, open_source, read_records
from dragon.vm.shared.files.system_errors import translated
from dragon.vm.shared.naming import known_as
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype

BUFFER = 256 * 1024


class Reading(Dataset):
    """The base of datasets that read files one after the other, or several at a time."""

    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None):
        super().__init__()
        self._who = type(self).__name__
        self._compression = check_compression(compression_type, self._who)
        self._buffer = BUFFER if buffer_size is None else int(buffer_size)
        self._parallel = num_parallel_reads
        self._sources = (self._as_dataset(filenames),)
        self._spec = (TensorSpec([], as_dtype("string")),)

    def _as_dataset(self, filenames):
        from dragon.vm.shared.data.sources import TensorSlices
        if isinstance(filenames, Dataset):
            spec = filenames.element_spec
            if getattr(spec, "dtype", None) is None or spec.dtype.name != "string":
                raise TypeError(f"{self._who}: filenames must be a dataset of strings. Received: elements of {spec}")
            return filenames.flat_map(lambda names: self._as_dataset(names)) if spec.shape.rank else filenames
        if isinstance(filenames, os.PathLike):
            filenames = os.fspath(filenames)
        elif isinstance(filenames, (list, tuple)):
            filenames = [os.fspath(name) if isinstance(name, os.PathLike) else name for name in filenames]
        names = convert_to_tensor(filenames) if not isinstance(filenames, (list, tuple)) or len(filenames) else (
            convert_to_tensor([], dtype="string"))
        if names.dtype.name != "string":
            raise TypeError(f"{self._who}: filenames must be strings. Received: {filenames!r}")
        return TensorSlices(names if len(names.shape) == 1 else convert_to_tensor(names.numpy().ravel().tolist()
                                                                                  if len(names.shape) else [names]))

    def _read(self, path):
        """Return an iterator over the bytes that a file holds."""
        raise NotImplementedError(f"{self._who}: got no reader, expected one")

    def _iterate(self):
        return map(string_scalar, self._texts())

    def _texts(self):
        if self._parallel is not None:
            cycle = None if int(self._parallel) == -1 else int(self._parallel)
            turns = Interleave(self._sources[0], None, cycle, 1, self._parallel)
            return turns._turns(lambda name: self._read(name.numpy()))
        return chain.from_iterable(self._read(name.numpy()) for name in self._sources[0]._open())


@known_as("tensorflow.data")
class TFRecordDataset(Reading):
    """The records of TFRecord files.

    Parameters
    ----------
    filenames : Union[str, Sequence[str], Tensor, Dataset]
        The files.
    compression_type : str, optional
        "GZIP", "ZLIB", or "" for none.
    buffer_size : int, optional
        How many bytes are read at a time.
    num_parallel_reads : int, optional
        How many files are read at a time, their records in turns.

    """

    def _read(self, path):
        return read_records(path, self._compression, max(self._buffer, 2))


@known_as("tensorflow.data")
class TextLineDataset(Reading):
    """The lines of text files, without their ends; how they are read is told as to `TFRecordDataset`."""

    def _read(self, path):
        return read_lines(path, self._compression, self._buffer)


def read_lines(path, compression, buffering):
    """Yield the lines of a file without `\\n` or `\\r\\n`."""
    file = open_source(path, compression, max(buffering, 2))
    try:
        with translated(path):
            check_end(file)  # it has no lines either
        most = most_of(path, compression)
        begun, size = [], 0  # pieces of a line whose end has not come
        while block := file.read(BUFFER):
            *lines, rest = block.split(b"\n")
            if lines:
                lines[0] = b"".join((*begun, lines[0]))
                begun, size = [], 0
            for line in lines:
                yield line[:-1] if line.endswith(b"\r") else line
            if rest:
                begun.append(rest)
                size += len(rest)
            if most is not None and size > most:
                raise errors.DataLossError(None, None, f"{os.fsdecode(path)}: a line is longer than its file can hold")
        if begun:
            yield b"".join(begun)
    finally:
        file.close()


@known_as("tensorflow.data")
class FixedLengthRecordDataset(Reading):
    """Pieces of one length of binary files; how they are read is told as to `TFRecordDataset`.

    Parameters
    ----------
    record_bytes : int
        The length of a piece.
    header_bytes : int, optional, default=0
        How many bytes at the start of a file are skipped.
    footer_bytes : int, optional, default=0
        How many bytes at the end of a file are skipped.

    """

    def __init__(self, filenames, record_bytes, header_bytes=None, footer_bytes=None, buffer_size=None,
                 compression_type=None, num_parallel_reads=None, name=None):
        self._length, self._header, self._footer = int(record_bytes), int(header_bytes or 0), int(footer_bytes or 0)
        if self._length < 1:
            raise errors.InvalidArgumentError(
                None, None, f"FixedLengthRecordDataset: record_bytes must be > 0. Received: {self._length}")
        super().__init__(filenames, compression_type, buffer_size, num_parallel_reads)

    def _read(self, path):
        file = open_source(path, self._compression, max(self._buffer, 2))
        try:
            waiting = file.read(self._header)[self._header:]
            # Records longer than a buffer are met with ever larger ones: no memory for what is not there.
            while block := file.read(max(BUFFER, min(self._length, len(waiting)))):
                waiting += block
                whole = (len(waiting) - self._footer) // self._length
                for start in range(0, max(whole, 0) * self._length, self._length):
                    yield waiting[start:start + self._length]
                waiting = waiting[max(whole, 0) * self._length:]
            if len(waiting) != self._footer:
                raise errors.InvalidArgumentError(
                    None, None, f"Excess bytes at the end of {os.fsdecode(path)}: expected a header of {self._header} "
                    f"bytes, records of {self._length} and a footer of {self._footer}. Received: {len(waiting)} bytes "
                    "after the last record")
        finally:
            file.close()
