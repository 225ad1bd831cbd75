"""`tf.io.gfile`: the system's files under TensorFlow's names and errors."""
import glob as _glob
import os
import shutil
from collections import namedtuple

from dragon.core import files
from dragon.vm.shared import errors
from dragon.vm.shared.files.system_errors import translated
from dragon.vm.shared.letters import expect
from dragon.vm.tensorflow.io.files import path_of

FileStatistics = namedtuple("FileStatistics", ["length", "mtime_nsec", "is_directory"])


class GFile:
    """A file, written as it goes, as `open` does; `write_file` and `copy` replace theirs whole.

    Parameters
    ----------
    name : str
        Its name.
    mode : str, optional, default="r"
        "r", "w", "a", with "b" for bytes and "+" for both directions.

    """

    def __init__(self, name, mode="r"):
        if expect(mode, str, "GFile", "mode").replace("b", "").replace("+", "") not in ("r", "w", "a"):
            raise ValueError(f"GFile: mode is not 'r' or 'w' or 'a'. Received: {mode!r}")
        self._name, self._mode, self._file = path_of(name), mode, None

    name = property(lambda self: self._name, doc="str: the file's name.")
    mode = property(lambda self: self._mode, doc="str: how it is opened.")

    def _open(self):
        """Return the file, opened when it is first used."""
        if self._file is None:
            with translated(self._name):
                options = {} if "b" in self._mode else {"encoding": "utf-8", "newline": "\n"}
                self._file = open(self._name, self._mode, **options)
        return self._file

    def _check(self, reading):
        if "+" not in self._mode and reading != ("r" in self._mode):
            raise errors.PermissionDeniedError(
                None, None, f"File isn't open for {'reading' if reading else 'writing'}. Received: mode {self._mode!r}")

    def read(self, n=-1):
        """Return the next `n` characters or bytes; all that are left by default."""
        self._check(True)
        file = self._open()
        if n is None or n < 0:
            with translated(self._name):
                files.check_end(file)
        return file.read(n)

    def readline(self):
        """Return the next line with its end."""
        self._check(True)
        return self._open().readline()

    def readlines(self):
        """Return all lines that are left."""
        self._check(True)
        return self._open().readlines()

    def write(self, file_content):
        """Append text or bytes."""
        self._check(False)
        if isinstance(file_content, bytes) and "b" not in self._mode:
            file_content = file_content.decode()
        elif isinstance(file_content, str) and "b" in self._mode:
            file_content = file_content.encode()
        self._open().write(file_content)

    def seek(self, offset=None, whence=0, position=None):
        """Go to a place."""
        if (offset is None) == (position is None):
            raise TypeError(f"seek(): offset must be set. Received: offset={offset}, position={position}")
        self._open().seek(position if offset is None else offset, whence)

    def tell(self):
        """Return the place."""
        return self._open().tell()

    def size(self):
        """Return the number of bytes of the file."""
        if self._file is not None and not self._file.closed and self._mode[0] != "r":
            self._file.flush()
        with translated(self._name):
            return os.path.getsize(self._name)

    def seekable(self):
        """Return True: all files are."""
        return True

    def flush(self):
        """Write what waits to the file."""
        self._open().flush()

    def close(self):
        """Close the file."""
        if self._file is None and self._mode[0] == "w":
            self._open()
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __iter__(self):
        return self

    def __next__(self):
        line = self.readline()
        if not line:
            raise StopIteration
        return line


def exists(path):
    """Return whether there is a file or a folder."""
    return os.path.exists(path_of(path))


def isdir(path):
    """Return whether there is a folder."""
    return os.path.isdir(path_of(path))


def listdir(path):
    """Return the names in a folder."""
    path = path_of(path)
    if not os.path.isdir(path):
        raise errors.NotFoundError(None, None, f"Could not find directory {path}")
    return sorted(os.listdir(path))


def glob(pattern):
    """Return the sorted names that match a pattern, or one of several."""
    patterns = [pattern] if isinstance(pattern, (str, bytes, os.PathLike)) or hasattr(pattern, "numpy") else pattern
    return sorted(name for one in patterns for name in _glob.glob(path_of(one)))


def mkdir(path):
    """Make a folder in one that is there."""
    with translated(path_of(path)):
        os.mkdir(path_of(path))


def makedirs(path):
    """Make a folder and those it is in, unless they are there."""
    with translated(path_of(path)):
        os.makedirs(path_of(path), exist_ok=True)


def remove(path):
    """Delete a file."""
    with translated(path_of(path)):
        os.remove(path_of(path))


def rmtree(path):
    """Delete a folder and all in it."""
    with translated(path_of(path)):
        shutil.rmtree(path_of(path))


def copy(src, dst, overwrite=False):
    """Copy a file; one that is there is replaced only if `overwrite` says so."""
    src, dst = path_of(src), path_of(dst)
    if os.path.exists(dst) and not overwrite:
        raise errors.AlreadyExistsError(None, None, f"file already exists: {dst}")
    with translated(src):
        files.copy(src, dst)


def rename(src, dst, overwrite=False):
    """Move a file or a folder; what is there is replaced only if `overwrite` says so."""
    src, dst = path_of(src), path_of(dst)
    if os.path.exists(dst) and not overwrite:
        raise errors.AlreadyExistsError(None, None, f"file already exists: {dst}")
    with translated(src):
        os.replace(src, dst)


def stat(path):
    """Return the length, the time of the last change in nanoseconds, and whether it is a folder."""
    with translated(path_of(path)):
        found = os.stat(path_of(path))
    return FileStatistics(found.st_size, found.st_mtime_ns, os.path.isdir(path_of(path)))


def walk(top, topdown=True, onerror=None):
    """Yield (folder, folders in it, files in it) of a folder and all below."""
    yield from os.walk(path_of(top), topdown, onerror)


def join(path, *paths):
    """Return the parts of a path put together."""
    return os.path.join(path_of(path), *map(path_of, paths))


def get_registered_schemes():
    """Return the kinds of places that files can be in: only the system's."""
    return ["", "file"]
