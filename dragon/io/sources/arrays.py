"""Arrays in files, row by row: `.npy`, and numbers without a word about them.

Nothing is mapped into memory: a file that shrinks is an error then, and no signal.
"""
import io
import math
import zipfile

import numpy as np

from dragon.core.files import may_hold
from dragon.io.errors import DataError
from dragon.io.sources.opened import MOST_OPEN, OpenFiles, read_spans
from dragon.io.sources.paths import list_paths
from dragon.io.sources.remote import open_file
from dragon.io.sources.shards import Shards


def load_array(data):
    """Return the array in the bytes of a `.npy` file; a ValueError if there is none, or not as much as it says."""
    try:
        return np.load(io.BytesIO(data), allow_pickle=False)
    except MemoryError as error:
        raise ValueError(f"got {len(data)} bytes for an array that there is no memory for: {error}") from None
    except (EOFError, SyntaxError, TypeError, OverflowError, OSError, zipfile.BadZipFile) as error:
        raise ValueError(str(error)) from None


class _Rows(Shards):
    """The rows of arrays along their first axis."""

    def __init__(self, paths, open_files, who):
        self.paths, self._files, self._who = list_paths(paths, who), OpenFiles(open_files), who
        self._forms = [self._form_of(path) for path in self.paths]
        super().__init__(self._rows_of(path, *form) for path, form in zip(self.paths, self._forms))

    def _rows_of(self, path, dtype, shape, offset):
        if not shape:
            raise DataError(f"{self._who}: got an array without axes, expected rows", path, offset)
        size = math.prod(shape[1:]) * dtype.itemsize
        stored = self._files.get(path).size
        if min(shape) < 0 or offset + size * shape[0] > stored or not size and not may_hold(shape[0], stored):
            raise DataError(f"{self._who}: got a file of {stored} bytes for an array {shape} of {dtype}, expected "
                            f"{size * shape[0]} bytes from byte {offset} on", path, offset)
        return np.stack((offset + size * np.arange(shape[0], dtype=np.int64), np.full(shape[0], size, np.int64)), 1)

    def _read_part(self, part, places):
        dtype, shape, _ = self._forms[part]
        return [np.frombuffer(bytearray(data), dtype).reshape(shape[1:]) if len(data) else np.zeros(shape[1:], dtype)
                for data in read_spans(self._files.get(self.paths[part]), places, self._who)]


class NumPyArray(_Rows):
    """The rows of the arrays in `.npy` files, which lie in C's order.

    Parameters
    ----------
    paths : Union[str, os.PathLike, Sequence]
        The files; names may have wildcards and braces.
    open_files : int, optional, default=64
        How many files are kept open.

    """

    def __init__(self, paths, open_files=MOST_OPEN):
        super().__init__(paths, open_files, "NumPyArray")

    def _form_of(self, path):
        form = np.lib.format
        try:
            with open_file(path) as file:
                version = form.read_magic(file)
                read = {(1, 0): form.read_array_header_1_0, (2, 0): form.read_array_header_2_0}.get(version)
                if read is None:
                    raise ValueError(f"version {version} of the format")
                shape, in_columns, dtype = read(file)
                offset = file.tell()
        except OSError:
            raise
        except Exception as error:  # headers are Python's own literals, and so are the errors of reading them
            raise DataError(f"NumPyArray: got a file that is no .npy file, expected one: {error}", path, 0) from None
        if dtype.hasobject:
            raise DataError(f"NumPyArray: got an array of dtype {dtype}, expected numbers: objects are programs", path)
        if in_columns and len(shape) > 1:
            raise DataError(f"NumPyArray: got an array {shape} in Fortran's order, whose rows lie apart, expected C's: "
                            f"numpy.ascontiguousarray", path)
        return dtype, shape, offset


class RawArray(_Rows):
    """The rows of arrays in files that hold their numbers and nothing else.

    Parameters
    ----------
    paths : Union[str, os.PathLike, Sequence]
        The files; names may have wildcards and braces.
    dtype : Union[str, numpy.dtype]
        What the numbers are.
    shape : Sequence[int]
        The shape of a row; as many rows are taken as a file has.
    offset : int, optional, default=0
        How many bytes stand before the numbers.
    open_files : int, optional, default=64
        How many files are kept open.

    """

    def __init__(self, paths, dtype, shape=(), offset=0, open_files=MOST_OPEN):
        self._dtype, self._shape, self._offset = np.dtype(dtype), tuple(shape), offset
        self._size = math.prod(self._shape) * self._dtype.itemsize
        if self._dtype.hasobject or self._size <= 0 or offset < 0:
            raise ValueError(f"RawArray: got rows {self._shape} of {self._dtype} from byte {offset} on, expected rows "
                             f"of numbers")
        super().__init__(paths, open_files, "RawArray")

    def _form_of(self, path):
        rows, rest = divmod(self._files.get(path).size - self._offset, self._size)
        if rows < 0 or rest:
            raise DataError(f"RawArray: got {self._files.get(path).size - self._offset} bytes, expected rows of "
                            f"{self._size}", path, self._offset)
        return self._dtype, (rows, *self._shape), self._offset
