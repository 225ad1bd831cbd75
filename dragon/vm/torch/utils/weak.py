"""Dictionaries whose keys are told apart by identity and may die: `torch.utils.weak`."""
import weakref
from collections.abc import MutableMapping


class WeakIdRef(weakref.ref):
    """A weak reference that hashes and compares by its object's identity."""

    __slots__ = ("_id",)

    def __init__(self, key, callback=None):
        super().__init__(key, callback)
        self._id = id(key)

    def __call__(self):
        return super().__call__()

    def __hash__(self):
        return self._id

    def __eq__(self, other):
        mine, theirs = self(), other()
        if mine is not None and theirs is not None:
            return mine is theirs
        return self is other


class WeakIdKeyDictionary(MutableMapping):
    """A dictionary whose entries go when their keys die.

    Parameters
    ----------
    dict : Mapping, optional
        What to begin with.
    ref_type : type, optional, default=WeakIdRef
        The class of references.

    """

    def __init__(self, dict=None, ref_type=WeakIdRef):
        self.ref_type, self.data = ref_type, {}
        data = self.data

        def forget(reference):
            data.pop(reference, None)
        self._forget = forget
        if dict is not None:
            self.update(dict)

    def __getitem__(self, key):
        return self.data[self.ref_type(key)]

    def __setitem__(self, key, value):
        self.data[self.ref_type(key, self._forget)] = value

    def __delitem__(self, key):
        del self.data[self.ref_type(key)]

    def __contains__(self, key):
        return self.ref_type(key) in self.data

    def __len__(self):
        return len(self.data)

    def __iter__(self):
        for reference in list(self.data):
            key = reference()
            if key is not None:
                yield key

    def copy(self):
        """Return a dictionary of the same keys and values."""
        return type(self)(self, self.ref_type)

    def __repr__(self):
        return f"<{type(self).__name__} at {id(self):#x}>"


WeakTensorKeyDictionary = WeakIdKeyDictionary
TensorWeakRef = WeakIdRef
