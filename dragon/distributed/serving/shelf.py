"""Values that a process keeps for others, each with a version, and of large ones a version for each row."""
import threading

ROWS_BYTES = 1 << 16  # from here on rows travel by themselves


class Value:
    """One value.

    Parameters
    ----------
    array : numpy.ndarray
        The numbers; the value is their owner from now on.

    """

    def __init__(self, array):
        import numpy
        self.array, self.version = array, 1
        by_rows = array.ndim > 0 and array.nbytes >= ROWS_BYTES and array.shape[0] > 1
        self.rows = numpy.ones(array.shape[0], "int64") if by_rows else None

    def newer(self, version):
        """Return (version, rows or None for all, numbers) of what has changed since a version."""
        import numpy
        if self.rows is None or not version:
            return self.version, None, self.array.copy()
        rows = numpy.flatnonzero(self.rows > version)
        if 2 * len(rows) > len(self.rows):
            return self.version, None, self.array.copy()
        return self.version, rows, self.array[rows]

    def write(self, verb, rows, array):
        """Put numbers in, or add them."""
        place = slice(None) if rows is None else rows
        if rows is None and self.array.shape != array.shape:  # a variable may take on other shapes
            self.__dict__.update(Value(array.copy()).__dict__, version=self.version)
        elif verb == "add":
            self.array[place if self.array.ndim else ()] += array
        else:
            self.array[place if self.array.ndim else ()] = array
        self.version += 1
        if self.rows is not None:
            self.rows[place] = self.version


class Shelf:
    """All values of one owner."""

    def __init__(self):
        self._values, self._lock = {}, threading.Lock()

    def make(self, key, array):
        """Keep a value under a key; returns its version."""
        with self._lock:
            self._values[key] = value = Value(array)
            return value.version

    def drop(self, keys):
        """Keep the values of some keys no longer."""
        with self._lock:
            for key in keys:
                self._values.pop(key, None)

    def pull(self, known):
        """Return what is newer than versions that are known: {key: (version, rows, numbers)}."""
        with self._lock:
            return {key: self._values[key].newer(version) for key, version in known.items()
                    if self._values[key].version != version}

    def push(self, writes):
        """Take what others write, one write after the other.

        Parameters
        ----------
        writes : Sequence[Tuple[Any, str, int, numpy.ndarray, numpy.ndarray]]
            Keys; "put", "add", or "replace" for numbers that follow from those of a version; that version; the
            rows, or None for all; and the numbers.

        Returns
        -------
        List[Optional[int]]
            The new versions; None for what was to be replaced and is no longer of that version, which has not been
            written.

        """
        found = []
        with self._lock:
            for key, verb, version, rows, array in writes:
                value = self._values[key]
                if verb == "replace" and value.version != version:
                    found.append(None)
                    continue
                value.write(verb, rows, array)
                found.append(value.version)
        return found
