"""What every store of values can be asked, and the list of the kinds of stores."""


class KVStoreBase:
    """A kind of store; classes of users derive from it and enter themselves with `KVStoreBase.register`."""

    OPTIMIZER = "optimizer"
    kinds = {}

    @classmethod
    def register(cls, kind):
        """Have `create` make a kind of store by its class's name, in any case; returns the class, as a decorator does.

        Parameters
        ----------
        kind : type
            A class that derives from this one.

        """
        if not (isinstance(kind, type) and issubclass(kind, KVStoreBase)):
            raise TypeError(f"KVStoreBase.register: got {kind!r}, expected a class that derives from KVStoreBase")
        cls.kinds[kind.__name__.lower()] = kind
        return kind

    @staticmethod
    def is_capable(capability):
        """Return whether a store can do something that not all can, such as run an optimizer."""
        return False

    def _lacking(self, what):
        return NotImplementedError(f"{type(self).__name__}.{what}: got a call, expected a class that defines it")

    def broadcast(self, key, value, out, priority=0):
        """Give a key the first worker's value, and write it into the tensors of all."""
        raise self._lacking("broadcast")

    def pushpull(self, key, value, out=None, priority=0):
        """Push, then pull."""
        raise self._lacking("pushpull")

    def set_optimizer(self, optimizer):
        """Have what is pushed update the values."""
        raise self._lacking("set_optimizer")

    def save_optimizer_states(self, fname, dump_optimizer=False):
        """Write what the optimizer remembers to a file."""
        raise self._lacking("save_optimizer_states")

    def load_optimizer_states(self, fname):
        """Read what the optimizer remembers from a file."""
        raise self._lacking("load_optimizer_states")

    @property
    def type(self):
        """The kind's name."""
        raise self._lacking("type")

    @property
    def rank(self):
        """This worker's number."""
        raise self._lacking("rank")

    @property
    def num_workers(self):
        """How many workers there are."""
        raise self._lacking("num_workers")
