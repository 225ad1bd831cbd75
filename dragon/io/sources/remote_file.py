"""A file of another machine, read by place: few requests, and another try where one fails."""
import os
import threading
import time

from dragon.io.sources.remote import open_parts

# A request costs about as much as so many bytes; what is read in order is asked for in ever larger pieces up to MOST.
LEAST, MOST, GROWTH = 64 << 10, 8 << 20, 4
# What is kept of a file, so that samples of a few chunks can be mixed without asking again.
KEPT = 64 << 20
# Seconds before each further try. A store that is busy, a server that starts anew: most are back by then.
PAUSES = (0.1, 0.5, 2.0)
# What will not be otherwise the next time.
GONE, BUSY = (404, 410), (408, 425, 429)  # as HTTP has it
FINAL = (FileNotFoundError, PermissionError, IsADirectoryError, NotImplementedError, ValueError, TypeError, MemoryError)


class RemoteFile:
    """A file of another machine, read by one thread at a time.

    Parameters
    ----------
    path : str
        Its name, with a protocol.

    """

    def __init__(self, path):
        self.path = path
        (self._system, self._file), self._lock = open_parts(path), threading.Lock()
        self._parts, self._promised, self._ahead = [], [], LEAST  # the newest part is the last
        self.size = self._file.seek(0, os.SEEK_END)
        self.source = self.read_at  # for the engine: a function

    def read_at(self, offset, size):
        """Return the bytes from a place on; fewer at the end."""
        size = max(0, min(size, self.size - offset))
        with self._lock:
            found = b"".join(self._walk(offset, offset + size)) if size else b""
        return found

    def _walk(self, at, end):
        """Yield bytes from one place to another: those that are there, and those that are asked for."""
        while at < end:
            start, data = self._part_at(at) or self._fetch(at, end)
            if not data[at - start:]:
                return  # it has become shorter
            yield data[at - start:end - start]
            at = start + len(data)

    def _part_at(self, offset):
        for part in reversed(self._parts):
            if part[0] <= offset < part[0] + len(part[1]):
                return part
        return None

    def _fetch(self, offset, end):
        """Ask for bytes from a place on, and for more where more will be wanted; return (their place, bytes)."""
        start, stop = self._choose(offset, end)
        part = start, self._try(start, stop)
        self._parts.append(part)
        while sum(len(data) for _, data in self._parts[:-1]) > KEPT - len(part[1]) and len(self._parts) > 1:
            del self._parts[0]
        return part

    def _choose(self, offset, end):
        for first, last in self._promised:
            if first <= offset < last:
                piece = first + (offset - first) // MOST * MOST
                return piece, max(end, min(piece + MOST, last))
        # Who goes on where the last part ended reads on; who does not, jumps.
        goes_on = self._parts and offset == self._parts[-1][0] + len(self._parts[-1][1])
        self._ahead = min(self._ahead * GROWTH, MOST) if goes_on else LEAST
        stop = min(max(end, offset + self._ahead), self.size)
        # Near the end more is wanted of what lies before: an index is behind what it tells of.
        return max(0, min(offset, stop - LEAST)), stop

    def _try(self, start, stop):
        for pause in (*PAUSES, None):
            try:
                self._file.seek(start)
                return self._file.read(stop - start)
            except FINAL as error:
                if "range" in str(error):
                    raise OSError(f"RemoteFile: got {self.path} from a server that gives whole files only, expected "
                                  f"one that answers for parts of them (HTTP's Range)") from error
                raise
            except Exception as error:  # of a class of the protocol's package
                status = getattr(error, "status", None)
                if status in GONE:
                    raise FileNotFoundError(2, f"RemoteFile: got a file that is gone from its server, expected "
                                               f"{start} to {stop} of its bytes", self.path) from error
                is_final = isinstance(status, int) and 400 <= status < 500 and status not in BUSY
                if pause is None or is_final:
                    tries = 1 if is_final else len(PAUSES) + 1
                    raise OSError(f"RemoteFile: got no answer for bytes {start} to {stop} of {self.path} "
                                  f"(tries: {tries}), expected them: {type(error).__name__}: {error}") from error
                time.sleep(pause)

    def will_need(self, start, end):
        """Remember that a run of bytes is read soon: what is asked for of it is asked for in large pieces.

        Parameters
        ----------
        start, end : int
            Its first byte, and the one behind its last.

        """
        with self._lock:
            self._promised = [*self._promised[-KEPT // MOST:], (start, min(end, self.size))]
