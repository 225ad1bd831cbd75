"""Open files that are read by place: few at a time, whatever the number of names, and anew in each process."""
import os
import stat
import threading
from collections import OrderedDict

from dragon.io.sources.remote import is_remote, local_path, open_file

# A process may have a thousand files open by default, and Dragon is not alone in it.
MOST_OPEN = 64


class LocalFile:
    """A file of this machine. It is closed when nobody holds it any more, so that no thread reads from a number that
    belongs to another file by now."""

    def __init__(self, path):
        self.path = path
        self.source = None  # for the engine: the number of the open file
        descriptor = os.open(local_path(path), os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        self.source, status = descriptor, os.fstat(descriptor)
        self.size = status.st_size
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(21, os.strerror(21), path)

    def read_at(self, offset, size):
        """Return the bytes from a place on; fewer at the end."""
        return os.pread(self.source, size, offset)

    def __del__(self):
        if self.source is not None:
            os.close(self.source)


class RemoteFile:
    """A file of another machine, read by one thread at a time."""

    def __init__(self, path):
        self.path = path
        self._file, self._lock = open_file(path), threading.Lock()
        self.size = self._file.seek(0, os.SEEK_END)
        self.source = self.read_at  # for the engine: a function

    def read_at(self, offset, size):
        """Return the bytes from a place on; fewer at the end."""
        with self._lock:
            self._file.seek(offset)
            return self._file.read(size)


class OpenFiles:
    """The files that were asked for last.

    Parameters
    ----------
    limit : int, optional
        How many stay open.

    """

    def __init__(self, limit=MOST_OPEN):
        if not isinstance(limit, int) or limit < 1:
            raise ValueError(f"OpenFiles: got {limit!r} files to keep open, expected a number from 1")
        self.limit = limit
        self._begin()

    def _begin(self):
        self._process, self._lock, self._files = os.getpid(), threading.Lock(), OrderedDict()

    def __reduce__(self):
        return type(self), (self.limit,)

    def get(self, path):
        """Return the open file of a name."""
        if self._process != os.getpid():
            # Another thread of the parent may have held the lock, and remote files share what they are read through.
            self._begin()
        with self._lock:
            file = self._files.get(path)
            if file is not None:
                self._files.move_to_end(path)
                return file
        file = RemoteFile(path) if is_remote(path) else LocalFile(path)
        with self._lock:
            self._files[path] = file
            while len(self._files) > self.limit:
                self._files.popitem(last=False)
        return file
