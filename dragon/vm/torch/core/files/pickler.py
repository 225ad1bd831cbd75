"""Pickles as PyTorch's files hold them: globals under the guest's names, storages beside the pickle."""
import copyreg
import io
import pickle
import types

from dragon.vm.torch.core.files.trusted import HERE, guest_module
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.nn import functional
from dragon.vm.torch.storage import CLASSES, TypedStorage, UntypedStorage


class StorageBook:
    """Numbers the storages that a pickle names."""

    def __init__(self):
        self.keys, self.storages, self.dtypes = {}, {}, {}

    def describe(self, storage):
        """Return what stands for a storage in the pickle: ("storage", class, key, location, number of elements)."""
        typed = isinstance(storage, TypedStorage)
        untyped = storage.untyped()
        kind = CLASSES[storage.pickle_storage_type()] if typed else UntypedStorage
        size = storage.size() if typed else storage.nbytes()
        # Empty storages have no address that is theirs alone.
        place = untyped.data_ptr() if untyped.nbytes() else ("empty", len(self.storages))
        if place not in self.keys:
            self.keys[place] = str(len(self.storages))
            self.storages[self.keys[place]] = untyped
        key = self.keys[place]
        dtype = storage.dtype if typed else None
        if self.dtypes.setdefault(key, dtype) not in (None, dtype) and dtype is not None:
            raise RuntimeError(f"save: got tensors of {self.dtypes[key]} and {dtype} on the same memory, expected one "
                               "dtype: files cannot say that; clone one of them")
        return "storage", kind, key, location_of(untyped), size


def location_of(storage):
    """Return where a storage is, as files say it."""
    where = storage.device
    return "cpu" if where.type == "cpu" else f"{where.type}:{where.index or 0}"


class NamedInTruth:
    """Mixed into a pickler: storages become ids from outside."""

    book = None

    def persistent_id(self, value):
        """Return what stands for a storage; None for all else."""
        if isinstance(value, (TypedStorage, UntypedStorage)):
            return self.book.describe(value)
        return None


class QuickPickler(NamedInTruth, pickle.Pickler):
    """Where our modules carry the guest's names, the C pickler writes them as they are."""


class RenamingPickler(NamedInTruth, pickle._Pickler):
    """Where our modules are called `dragon.vm.torch`, the names must be written by hand."""

    dispatch = dict(pickle._Pickler.dispatch)

    def save_global(self, value, name=None):
        """Write a class, function or constant by its guest's name."""
        name = name or getattr(value, "__qualname__", None) or value.__name__
        module = pickle.whichmodule(value, name)
        found = guest_module(module)
        if found.startswith("torch.core."):  # operators do not say whose they are
            found = "torch.nn.functional" if hasattr(functional, name) else "torch"
        if found == module:
            return super().save_global(value, name)
        if self.proto >= 4:
            self.save(found)
            self.save(name)
            self.write(pickle.STACK_GLOBAL)
        else:
            self.write(pickle.GLOBAL + f"{found}\n{name}\n".encode())
        self.memoize(value)
        return None

    def save_type(self, value):
        """Write a class by its name; those of None and its like by Python's way."""
        if value in (type(None), type(NotImplemented), type(...)):
            return super().save_type(value)
        return self.save_global(value)

    dispatch[types.FunctionType] = save_global
    dispatch[type] = save_type


def dump(value, book, protocol, module=None):
    """Return an object's pickle.

    Parameters
    ----------
    value : Any
        What.
    book : StorageBook
        Gets the storages.
    protocol : int
        Of the pickle.
    module : module, optional
        Like `pickle`, whose `Pickler` is to be used instead of ours.

    Returns
    -------
    bytes
        The pickle.

    """
    kind = RenamingPickler if HERE else QuickPickler
    if module is not None and module is not pickle:
        kind = type("Pickler", (NamedInTruth, module.Pickler), {})
    buffer = io.BytesIO()
    pickler = kind(buffer, protocol=protocol)
    pickler.book = book
    pickler.dump(value)
    return buffer.getvalue()


def _reduce_operator(operator):
    return operator.__name__


for _kind in {type(ops.add), type(ops.overridable(len))}:
    copyreg.pickle(_kind, _reduce_operator)
