"""A part of a store, whose keys begin with a prefix."""
from dragon.distributed.stores.store import Store


class PrefixStore(Store):
    """Values by key in a part of another store.

    Parameters
    ----------
    prefix : str
        What its keys begin with there.
    store : Store
        The other store.

    """

    def __init__(self, prefix, store):
        super().__init__(store.timeout)
        self.prefix, self.store = prefix, store

    def ask(self, action, key, *args):
        named = [self.prefix + each for each in key] if isinstance(key, (list, tuple)) else self.prefix + key
        return self.store.ask(action, named, *args)

    def await_keys(self, keys, seconds):
        return self.store.await_keys([self.prefix + key for key in keys], seconds)

    def await_queue(self, key, seconds):
        return self.store.await_queue(self.prefix + key, seconds)
