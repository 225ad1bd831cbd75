"""Stores in which processes leave each other values; those of one process stay in its memory."""
import threading
from datetime import timedelta

from dragon.vm.torch.distributed.groups import DistStoreError


def encode(value):
    """Return a value as a store keeps it."""
    return value.encode() if isinstance(value, str) else bytes(value)


class Store:
    """Values by key; the base of stores."""


class HashStore(Store):
    """Values by key, for the threads of this process."""

    def __init__(self):
        self.timeout = timedelta(seconds=300)
        self._values, self._changed = {}, threading.Condition()

    def set(self, key, value):
        """Set a value."""
        with self._changed:
            self._values[key] = encode(value)
            self._changed.notify_all()

    def get(self, key):
        """Return a value as bytes, waiting for it."""
        self.wait([key])
        return self._values[key]

    def add(self, key, amount):
        """Add to a number, 0 if it is not there; return the sum."""
        with self._changed:
            total = int(self._values.get(key, b"0")) + amount
            self._values[key] = str(total).encode()
            self._changed.notify_all()
            return total

    def append(self, key, value):
        """Add to the end of a value."""
        with self._changed:
            self._values[key] = self._values.get(key, b"") + encode(value)
            self._changed.notify_all()

    def compare_set(self, key, expected_value, desired_value):
        """Set a value if it is what is expected, or nothing is and it is not there; return what it is then."""
        with self._changed:
            if self._values.get(key, b"") == encode(expected_value):
                self._values[key] = encode(desired_value)
                self._changed.notify_all()
            return self._values.get(key, encode(expected_value))

    def check(self, keys):
        """Return whether all keys are there."""
        return all(key in self._values for key in keys)

    def wait(self, keys, timeout=None):
        """Wait until all keys are there; raise DistStoreError when it takes too long."""
        with self._changed:
            if not self._changed.wait_for(lambda: self.check(keys), (timeout or self.timeout).total_seconds()):
                raise DistStoreError(f"wait timeout: got none of {[key for key in keys if key not in self._values]}, "
                                     "expected them in the store")

    def delete_key(self, key):
        """Remove a value; return whether there was one."""
        with self._changed:
            return self._values.pop(key, None) is not None

    def num_keys(self):
        """Return how many values there are."""
        return len(self._values)

    def set_timeout(self, timeout):
        """Set how long to wait for a value."""
        self.timeout = timeout


class TCPStore(HashStore):
    """A store that others could reach; alone, it stays in this process, which must be the master."""

    def __init__(self, host_name, port, world_size=None, is_master=False, timeout=timedelta(seconds=300),
                 wait_for_workers=True, multi_tenant=False, master_listen_fd=None, use_libuv=True):
        super().__init__()
        if not is_master or (world_size or 1) > 1:
            raise NotImplementedError(f"TCPStore: got world_size={world_size}, is_master={is_master}, expected the "
                                      "master of a world of one: Dragon's world has one process (yet)")
        self.host, self.port, self.timeout = host_name, port, timeout


class PrefixStore(HashStore):
    """A part of another store, whose keys begin with a prefix."""

    def __init__(self, prefix, store):
        super().__init__()
        self.prefix, self.underlying_store = prefix, store
        self._changed = store._changed
        self._values = _Prefixed(prefix + "/", store._values)


class _Prefixed:
    """A dictionary seen through a prefix."""

    def __init__(self, prefix, values):
        self._prefix, self._values = prefix, values

    def __getitem__(self, key):
        return self._values[self._prefix + key]

    def __setitem__(self, key, value):
        self._values[self._prefix + key] = value

    def __contains__(self, key):
        return self._prefix + key in self._values

    def __len__(self):
        return len(self._values)

    def get(self, key, default=None):
        """Return a value, or a default."""
        return self._values.get(self._prefix + key, default)

    def pop(self, key, default=None):
        """Remove a value and return it, or a default."""
        return self._values.pop(self._prefix + key, default)
