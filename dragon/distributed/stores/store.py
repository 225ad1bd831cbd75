"""What all stores do, whatever holds their values: each is one change, or one look, of a table of bytes."""
from dragon.distributed.errors import StoreError, StoreTimeout


def encode(value):
    """Return a value as a store keeps it."""
    return value.encode() if isinstance(value, str) else bytes(value)


class Table:
    """Values by key, and what can be done to them in one go.

    Methods return what the caller gets. They know nothing of waiting.
    """

    def __init__(self):
        self.values, self.queues = {}, {}

    def set(self, key, value):
        """Set a value."""
        self.values[key] = value

    def multi_set(self, keys, values):
        """Set several."""
        self.values.update(zip(keys, values))

    def peek(self, keys):
        """Return the values of keys that are there."""
        return [self.values[key] for key in keys]

    def add(self, key, amount):
        """Add to a number, 0 if it is not there; return the sum."""
        held = self.values.get(key, b"0")
        try:
            total = int(held) + amount
        except ValueError:
            raise StoreError(f"add: got the value {held[:40]!r} under {key!r}, expected a number") from None
        self.values[key] = str(total).encode()
        return total

    def append(self, key, value):
        """Add to the end of a value."""
        self.values[key] = self.values.get(key, b"") + value

    def compare_set(self, key, expected, desired):
        """Set a value if it is what is expected, or nothing is and it is not there; return what it is then."""
        held = self.values.get(key)
        if held == expected or (held is None and not expected):
            self.values[key] = desired
            return desired
        return expected if held is None else held

    def check(self, keys):
        """Return whether all keys are there."""
        return all(key in self.values for key in keys)

    def delete(self, key):
        """Remove a value; return whether there was one."""
        return self.values.pop(key, None) is not None

    def count(self, prefix):
        """Return how many keys begin with a prefix."""
        return sum(key.startswith(prefix) for key in self.values)

    def keys(self, prefix):
        """Return the keys that begin with a prefix."""
        return [key for key in self.values if key.startswith(prefix)]

    def push(self, key, value):
        """Add a value to the end of a queue."""
        self.queues.setdefault(key, []).append(value)

    def pop(self, key):
        """Take the first value of a queue that has one."""
        queue = self.queues[key]
        value = queue.pop(0)
        if not queue:
            del self.queues[key]
        return value

    def length(self, key):
        """Return how many values a queue has."""
        return len(self.queues.get(key, ()))


class Store:
    """Values by key, for several processes or threads.

    Parameters
    ----------
    timeout : float, optional, default=300
        Seconds to wait for a value.

    """

    def __init__(self, timeout=300.0):
        self.timeout = timeout

    def ask(self, action, *args):
        """Do something to the table, and return what came of it."""
        raise NotImplementedError(f"{type(self).__name__}.ask: got {action}, expected a store that keeps values")

    def await_keys(self, keys, seconds):
        """Wait until all keys are there; return whether they are."""
        raise NotImplementedError(f"{type(self).__name__}.await_keys: expected a store that keeps values")

    def await_queue(self, key, seconds):
        """Wait until a queue has something; return its first value, or None where it took too long."""
        raise NotImplementedError(f"{type(self).__name__}.await_queue: expected a store that keeps queues")

    def set(self, key, value):
        """Set a value."""
        self.ask("set", key, encode(value))

    def get(self, key):
        """Return a value as bytes, waiting for it."""
        self.wait([key])
        return self.ask("peek", [key])[0]

    def wait(self, keys, seconds=None):
        """Wait until all keys are there; raise a `StoreTimeout` when it takes too long."""
        seconds = self.timeout if seconds is None else seconds
        if not self.await_keys(list(keys), seconds):
            missing = [key for key in keys if not self.ask("check", [key])]
            raise StoreTimeout(f"{type(self).__name__}: got nothing under {missing} within {seconds:g} seconds, "
                               "expected another process to set it; has one died, or was it given other addresses?")
