"""Stores in which processes leave each other values, with PyTorch's names."""
import functools
import weakref
from datetime import timedelta

from dragon.distributed import errors
from dragon.distributed.stores.memory import MemoryStore
from dragon.distributed.stores.store import encode
from dragon.distributed.stores.tcp import TCPStore as Keeper
from dragon.vm.torch.distributed.groups import DistNetworkError, DistStoreError, QueueEmptyError

DEFAULT_TIMEOUT = timedelta(seconds=300)


def _as_pytorch(method):
    """Return a method whose errors are of the classes that PyTorch's users catch."""
    @functools.wraps(method)
    def call(*args, **kwargs):
        try:
            return method(*args, **kwargs)
        except errors.DistributedError as error:
            raise DistStoreError(str(error)) from None
    return call


class Store:
    """Values by key; the base of stores."""

    timeout = DEFAULT_TIMEOUT

    def set_timeout(self, timeout):
        """Set how long to wait for a value."""
        self.timeout = timeout

    def multi_get(self, keys):
        """Return values as bytes, waiting for them."""
        return [self.get(key) for key in keys]

    def multi_set(self, keys, values):
        """Set several values."""
        for key, value in zip(keys, values):
            self.set(key, value)

    def has_extended_api(self):
        """Return whether there are `append`, `multi_get` and `multi_set`."""
        return hasattr(self, "append")


class _OfTable(Store):
    """A store over one of Dragon's."""

    def __init__(self, store):
        self._store = store

    @_as_pytorch
    def set(self, key, value):
        """Set a value."""
        self._store.ask("set", key, encode(value))

    @_as_pytorch
    def get(self, key):
        """Return a value as bytes, waiting for it."""
        self.wait([key])
        return self._store.ask("peek", [key])[0]

    @_as_pytorch
    def multi_get(self, keys):
        """Return values as bytes, waiting for them."""
        self.wait(keys)
        return self._store.ask("peek", list(keys))

    @_as_pytorch
    def multi_set(self, keys, values):
        """Set several values."""
        self._store.ask("multi_set", list(keys), [encode(value) for value in values])

    @_as_pytorch
    def add(self, key, amount):
        """Add to a number, 0 if it is not there; return the sum."""
        return self._store.ask("add", key, int(amount))

    @_as_pytorch
    def append(self, key, value):
        """Add to the end of a value."""
        self._store.ask("append", key, encode(value))

    @_as_pytorch
    def compare_set(self, key, expected_value, desired_value):
        """Set a value if it is what is expected, or nothing is and it is not there; return what it is then."""
        return self._store.ask("compare_set", key, encode(expected_value), encode(desired_value))

    @_as_pytorch
    def check(self, keys):
        """Return whether all keys are there."""
        return self._store.ask("check", list(keys))

    @_as_pytorch
    def wait(self, keys, timeout=None):
        """Wait until all keys are there; raise DistStoreError when it takes too long."""
        timeout, keys = timeout or self.timeout, list(keys)
        if not self._store.await_keys(keys, timeout.total_seconds()):
            missing = [key for key in keys if not self.check([key])]
            raise DistStoreError(f"wait timeout after {int(timeout.total_seconds() * 1000)}ms, keys: got none of "
                                 f"{missing}, expected them in the store")

    @_as_pytorch
    def delete_key(self, key):
        """Remove a value; return whether there was one."""
        return self._store.ask("delete", key)

    @_as_pytorch
    def num_keys(self):
        """Return how many values there are."""
        return self._store.ask("count", "")

    @_as_pytorch
    def list_keys(self):
        """Return the keys that are there."""
        return self._store.ask("keys", "")

    @_as_pytorch
    def queue_push(self, key, value):
        """Add a value to the end of a queue."""
        self._store.ask("push", key, encode(value))

    @_as_pytorch
    def queue_pop(self, key, block=True):
        """Take the first value of a queue, waiting for one; without `block`, raise where there is none."""
        value = self._store.await_queue(key, self.timeout.total_seconds() if block else 0.0)
        if value is None and block:
            raise DistStoreError(f"wait timeout: got nothing in the queue {key!r}, expected a value")
        if value is None:
            raise QueueEmptyError(f"queue_pop: got an empty queue {key!r}, expected a value")
        return value

    @_as_pytorch
    def queue_len(self, key):
        """Return how many values a queue has."""
        return self._store.ask("length", key)


class HashStore(_OfTable):
    """Values by key, for the threads of this process."""

    def __init__(self):
        super().__init__(MemoryStore())


class TCPStore(_OfTable):
    """Values by key, which one process keeps and all reach through its port.

    Parameters
    ----------
    host_name : str
        The machine of the process that keeps them.
    port : int
        Its port; 0 there for any.
    world_size : int, optional
        How many processes use it.
    is_master : bool, optional, default=False
        Whether this process keeps them.
    timeout : datetime.timedelta, optional
        How long to wait for the keeper, for the others and for values.
    wait_for_workers : bool, optional, default=True
        Whether the keeper waits until all have come.
    multi_tenant : bool, optional, default=False
        Whether stores of this process on one port are one.
    master_listen_fd : int, optional
        A socket that listens already.
    use_libuv : bool, optional, default=True
        Which server PyTorch takes; here there is one.

    """

    _kept = weakref.WeakValueDictionary()  # {port: the keeper}, of those that several may be

    def __init__(self, host_name, port, world_size=None, is_master=False, timeout=DEFAULT_TIMEOUT,
                 wait_for_workers=True, multi_tenant=False, master_listen_fd=None, use_libuv=True):
        self.host, self.timeout, self.libuvBackend, self.world_size = host_name, timeout, use_libuv, world_size
        keeps = is_master and not (multi_tenant and port in self._kept)
        listener = None
        if keeps and master_listen_fd is not None:
            import socket
            listener = socket.socket(fileno=master_listen_fd)
        try:
            super().__init__(Keeper(host_name, port, keeps, timeout.total_seconds(), listener))
        except errors.DistributedError as error:
            raise DistNetworkError(str(error)) from None
        self.port = self._store.port
        if keeps and multi_tenant:
            self._kept[self.port] = self._store
        self._keeper = self._kept.get(self.port) if multi_tenant and is_master else None
        if wait_for_workers and world_size:
            self._await_workers(is_master, world_size)

    def _await_workers(self, is_master, world_size):
        come = self.add("worker/come", 1)
        if come == world_size:
            self.set("worker/all", "1")
        if is_master:
            self.wait(["worker/all"])

    def clone(self):
        """Return another connection to the same store."""
        return TCPStore(self.host, self.port, None, False, self.timeout, wait_for_workers=False)

    def __repr__(self):
        return f"TCPStore({self.host}, {self.port})"


class PrefixStore(Store):
    """A part of another store, whose keys begin with a prefix."""

    def __init__(self, prefix, store):
        self.prefix, self.underlying_store = prefix, store

    @property
    def timeout(self):
        """datetime.timedelta: how long to wait for a value."""
        return self.underlying_store.timeout

    @property
    def _underlying_non_prefix_store(self):
        store = self.underlying_store
        return store._underlying_non_prefix_store if isinstance(store, PrefixStore) else store

    def set_timeout(self, timeout):
        self.underlying_store.set_timeout(timeout)

    def _key(self, key):
        return f"{self.prefix}/{key}"

    def multi_get(self, keys):
        return self.underlying_store.multi_get([self._key(key) for key in keys])

    def multi_set(self, keys, values):
        self.underlying_store.multi_set([self._key(key) for key in keys], values)

    def check(self, keys):
        """Return whether all keys are there."""
        return self.underlying_store.check([self._key(key) for key in keys])

    def wait(self, keys, timeout=None):
        """Wait until all keys are there; raise DistStoreError when it takes too long."""
        self.underlying_store.wait([self._key(key) for key in keys], timeout)

    def num_keys(self):
        """Return how many values the other store has."""
        return self.underlying_store.num_keys()

    def list_keys(self):
        """Return the keys that begin with the prefix, without it."""
        begin = self._key("")
        return [key.removeprefix(begin) for key in self.underlying_store.list_keys() if key.startswith(begin)]


def _of_part(name):
    method = getattr(_OfTable, name)

    @functools.wraps(method)
    def call(self, key, *args, **kwargs):
        return getattr(self.underlying_store, name)(self._key(key), *args, **kwargs)
    return call


for _name in "set get add append compare_set delete_key queue_push queue_pop queue_len".split():
    setattr(PrefixStore, _name, _of_part(_name))
