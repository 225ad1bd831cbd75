"""Open files that are read by place: few at a time, whatever the number of names, and anew in each process."""
import os
import stat
import threading
from collections import OrderedDict

from dragon.io.errors import DataError
from dragon.io.sources.remote import is_remote, local_path
from dragon.io.sources.remote_file import RemoteFile

# A process may have a thousand files open by default, and Dragon is not alone in it.
MOST_OPEN = 64
# Bytes that are read ahead by who walks; that are read together; and that are read past rather than asked for anew.
WINDOW, TOGETHER, GAP = 64 << 10, 1 << 20, 4 << 10


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

    def will_need(self, start, end):
        """Have the system read from one place to another, before anybody asks for it."""
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(self.source, start, end - start, os.POSIX_FADV_WILLNEED)

    def __del__(self):
        if self.source is not None:
            os.close(self.source)


class Kept:
    """What was asked for last, made where it is not there. Another process begins anew.

    Parameters
    ----------
    limit : int
        How many stay.
    make : Callable
        What makes one of its name, for one thread at a time.

    """

    def __init__(self, limit, make):
        if not isinstance(limit, int) or limit < 1:
            raise ValueError(f"open_files: got {limit!r}, expected a number from 1")
        self.limit, self._make = limit, make
        self._begin()

    def _begin(self):
        self._process, self._lock, self._found = os.getpid(), threading.Lock(), OrderedDict()

    def __reduce__(self):
        return type(self), (self.limit, self._make)

    def get(self, name):
        """Return what is of a name."""
        if self._process != os.getpid():
            # Another thread of the parent may have held the lock, and remote files share what they are read through.
            self._begin()
        with self._lock:
            found = self._found.get(name)
            if found is not None:
                self._found.move_to_end(name)
                return found
            self._found[name] = found = self._make(name)
            while len(self._found) > self.limit:
                self._found.popitem(last=False)
        return found


def open_one(path):
    """Return a file that is read by place."""
    return RemoteFile(path) if is_remote(path) else LocalFile(path)


class OpenFiles(Kept):
    """The files that were asked for last.

    Parameters
    ----------
    limit : int, optional, default=64
        How many stay open.

    """

    def __init__(self, limit=MOST_OPEN):
        super().__init__(limit, open_one)

    def __reduce__(self):
        return type(self), (self.limit,)


class Walk:
    """An open file that is walked over in steps: the next few bytes are mostly there already."""

    def __init__(self, file):
        self._file, self._start, self._data = file, 0, b""

    def at(self, place, size):
        """Return bytes from a place on; fewer at the end."""
        if not self._start <= place <= place + size <= self._start + len(self._data):
            self._data, self._start = self._file.read_at(place, max(size, WINDOW)), place
        return self._data[place - self._start:place - self._start + size]


def read_spans(file, places, who):
    """Yield the bytes at places of an open file; small neighbours are read together.

    Parameters
    ----------
    file : Union[LocalFile, RemoteFile]
        The file.
    places : numpy.ndarray
        A place and a size for each.
    who : str
        Who speaks.

    """
    places = places[:, :2].tolist()
    for offset, size in places:
        if offset < 0 or not 0 <= size <= file.size - offset:
            raise DataError(f"{who}: got a sample of {size} bytes, expected one that lies within the file", file.path,
                            offset)
    first = 0
    while first < len(places):
        last = _count_together(places, first)
        start, end = places[first][0], sum(places[last - 1])
        data = memoryview(file.read_at(start, end - start))
        if len(data) < end - start:
            raise DataError(f"{who}: got fewer bytes than the file had when it was opened, expected as many", file.path,
                            start + len(data))
        for offset, size in places[first:last]:
            yield data[offset - start:offset - start + size]
        first = last


def _count_together(places, first):
    """Return the end of the run of places that are best read at once."""
    start, last = places[first][0], first + 1
    while last < len(places):
        offset, size = places[last]
        if not sum(places[last - 1]) <= offset <= sum(places[last - 1]) + GAP or offset + size - start > TOGETHER:
            break
        last += 1
    return last
