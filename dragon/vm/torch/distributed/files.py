"""A store in a file, in PyTorch's form: each change is a key and a value, each behind its length, at the file's end."""
import contextlib
import fcntl
import os
import struct
import time
from datetime import timedelta

from dragon.core.scopes import contextmanager
from dragon.vm.torch.distributed.groups import DistStoreError
from dragon.vm.torch.distributed.stores import Store, encode

_LENGTH = struct.Struct("<i")
_KEPT, _GONE = "/", "-/"  # what stands before keys: those that are there, and those that were taken away
_USERS, _FORMER = "refcount/", "cleanup/"  # keys of how many stores use the file, and of how many did
_PAUSE_SECONDS = 0.01


class FileStore(Store):
    """Values by key in a file, for all processes that open it.

    Parameters
    ----------
    file_name : str
        Where the file lies; it is made if it is not there.
    world_size : int, optional, default=-1
        How many processes use it; -1 for any number. The last of them removes it.

    """

    def __init__(self, file_name, world_size=-1):
        self.path, self.timeout = os.fspath(file_name), timedelta(seconds=300)
        self._world_size = world_size
        self._count(_USERS, 1)

    def __del__(self):
        # The interpreter may be on its way out, and the file gone by other hands, or none that holds a store.
        with contextlib.suppress(OSError, TypeError, DistStoreError):
            former = self._count(_FORMER, 1)
            if self._count(_USERS, -1) == 0 and 0 <= self._world_size <= former:
                os.remove(self.path)

    def _count(self, key, change):
        with self._locked() as (file, values):
            count = int(values.get(key, b"0")) + change
            self._write(file, key, str(count).encode())
            return count

    @contextmanager
    def _locked(self):
        """Have the file to oneself within a `with` block: gives the file, and what it holds."""
        with open(self.path, "a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            yield file, self._read(file.read())

    def _read(self, data):
        """Return what bytes of a file hold: the last value of each key."""
        values, words, place = {}, [], 0
        while place < len(data):
            left = len(data) - place - _LENGTH.size
            (length,) = _LENGTH.unpack_from(data, place) if left >= 0 else (-1,)
            if not 0 <= length <= left:  # another file than a store's, or one that was cut off
                raise DistStoreError(f"FileStore: got length {length} at byte {place} of {self.path}, expected 0 to "
                                     f"{max(left, 0)}: it holds no store")
            place += _LENGTH.size + length
            words.append(data[place - length:place])
        for key, value in zip(words[::2], words[1::2]):
            key = key.decode()
            if key.startswith(_GONE):
                values.pop(key[1:], None)
            else:
                values[key] = value
        return values

    @staticmethod
    def _write(file, key, value):
        file.write(b"".join(_LENGTH.pack(len(word)) + word for word in (key.encode(), value)))
        file.flush()

    def set(self, key, value):
        """Set a value."""
        with self._locked() as (file, _):
            self._write(file, _KEPT + key, encode(value))

    def get(self, key):
        """Return a value as bytes, waiting for it."""
        self.wait([key])
        with self._locked() as (_, values):
            return values[_KEPT + key]

    def add(self, key, amount):
        """Add to a number, 0 if it is not there; return the sum."""
        return self._count(_KEPT + key, amount)

    def compare_set(self, key, expected_value, desired_value):
        """Set a value if it is what is expected, or nothing is and it is not there; return what it is then."""
        with self._locked() as (file, values):
            found = values.get(_KEPT + key)
            if found == encode(expected_value) or found is None and not expected_value:
                self._write(file, _KEPT + key, encode(desired_value))
                return encode(desired_value)
            return encode(expected_value) if found is None else found

    def check(self, keys):
        """Return whether all keys are there."""
        with self._locked() as (_, values):
            return all(_KEPT + key in values for key in keys)

    def wait(self, keys, timeout=None):
        """Wait until all keys are there; raise DistStoreError when it takes too long."""
        end = time.monotonic() + (timeout or self.timeout).total_seconds()
        while not self.check(keys):
            if time.monotonic() > end:
                raise DistStoreError(f"wait timeout after {(timeout or self.timeout)}: got not all of {list(keys)}, "
                                     "expected them in the store")
            time.sleep(_PAUSE_SECONDS)

    def delete_key(self, key):
        """Remove a value; return whether there was one."""
        with self._locked() as (file, values):
            self._write(file, _GONE + key, b"")
            return _KEPT + key in values

    def list_keys(self):
        """Return the keys that are there."""
        with self._locked() as (_, values):
            return [key.removeprefix(_KEPT) for key in values if key.startswith(_KEPT)]

    def num_keys(self):
        """Return how many values there are, the number of users among them."""
        with self._locked() as (_, values):
            return len(values)

    def set_timeout(self, timeout):
        """Set how long to wait for a value."""
        self.timeout = timeout
