"""Files of the years before 2020: pickles one after another, then the storages' bytes."""
import io
import pickle
import struct
import sys

from dragon.vm.torch.core.device import as_device
from dragon.vm.torch.core.files.locations import place
from dragon.vm.torch.core.files.pickler import StorageBook, dump
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.storage import BYTE, TypedStorage, UntypedStorage
from dragon.vm.torch._weights_only_unpickler import Unpickler

MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001
SYSTEM = {"protocol_version": PROTOCOL_VERSION, "little_endian": sys.byteorder == "little",
          "type_sizes": {"short": 2, "int": 4, "long": 4}}


def starts_legacy(file):
    """Return whether a seekable file goes on with the number that old files start with."""
    start = file.tell()
    head = file.read(64)
    file.seek(start)
    return struct.pack("<Q", MAGIC_NUMBER & (1 << 64) - 1) in head


class LegacyUnpickler(Unpickler):
    """Reads the pickle of an old file; storages get their bytes afterwards."""

    def __init__(self, file, restore, **options):
        super().__init__(file, **options)
        self.restore = restore
        self.storages, self.views = {}, {}

    def persistent_load(self, key):
        """Return the storage, or the class, that an id from outside stands for."""
        if isinstance(key, tuple) and len(key) == 4 and key[0] == "module":
            return key[1]  # the class of a module, kept with its source
        if not isinstance(key, tuple) or len(key) != 6 or key[0] != "storage":
            raise pickle.UnpicklingError("load: got a persistent id that names no storage")
        _, kind, name, location, count, view = key
        dtype = BYTE if kind is UntypedStorage else getattr(kind, "_dtype", None)
        if dtype is None or not isinstance(count, int) or not 0 <= count * dtype.itemsize <= self.limit:
            raise pickle.UnpicklingError(f"load: got a storage of {count} elements, more than the file has")
        if name not in self.storages:
            self.limit -= count * dtype.itemsize  # all of them together are in the file
            memory = ops.empty((count * dtype.itemsize,), dtype=BYTE, device=as_device("cpu"))
            self.storages[name] = memory, dtype, place(memory, as_text(location), self.restore)
        untyped = self.storages[name][2]
        if view is not None:
            _, offset, size = view
            part = untyped._memory[offset * dtype.itemsize:(offset + size) * dtype.itemsize]
            untyped = self.views.setdefault(view[0], UntypedStorage._over(part.detach()))
        return TypedStorage(wrap_storage=untyped, dtype=dtype)


def as_text(value):
    """Return a text of Python 2 or 3 as one of Python 3."""
    return value.decode("ascii") if isinstance(value, bytes) else value


def load_legacy(file, restore, trust, encoding="utf-8"):
    """Return the object in an old file."""
    def read(cls=Unpickler, *arguments):
        return cls(file, *arguments, encoding=encoding, trust=trust)
    if read().load() != MAGIC_NUMBER:
        raise pickle.UnpicklingError("load: got a file without the number that PyTorch's old files start with")
    version = read().load()
    if version != PROTOCOL_VERSION:
        raise pickle.UnpicklingError(f"load: got a file of version {version}, expected {PROTOCOL_VERSION}")
    system = read().load()
    little = not isinstance(system, dict) or system.get("little_endian", True)
    start = file.tell()
    limit = file.seek(0, io.SEEK_END)
    file.seek(start)
    reader = read(LegacyUnpickler, restore)
    reader.limit = limit
    result = reader.load()
    keys = read().load()
    if not isinstance(keys, list):
        raise pickle.UnpicklingError("load: got no list of storages behind the pickle")
    for key in keys:
        fill_storage(file, reader.storages.get(key), little)
    return result


def fill_storage(file, entry, little):
    """Read a storage's bytes, and put them where the storage was placed."""
    if entry is None:
        raise pickle.UnpicklingError("load: got bytes of a storage that nothing names")
    memory, dtype, placed = entry
    head = file.read(8)
    if len(head) != 8 or struct.unpack("<q" if little else ">q", head)[0] * dtype.itemsize != memory.numel():
        raise pickle.UnpicklingError("load: got a storage of another size than the file says: it is damaged")
    view = memoryview(memory)
    filled = 0
    while filled < len(view):
        part = file.read(min(len(view) - filled, 1 << 24))
        if not part:
            raise pickle.UnpicklingError(f"load: got {filled} bytes of a storage, expected {len(view)}: the file is "
                                         "cut off")
        view[filled:filled + len(part)] = part
        filled += len(part)
    if not little:
        UntypedStorage._over(memory).byteswap(dtype)
    if placed._memory is not memory and placed.device.type != "meta":
        placed._memory.copy_(memory)


class LegacyBook(StorageBook):
    """Describes storages as old files do: with a sixth entry, for views of storages."""

    def describe(self, storage):
        """Return what stands for a storage."""
        if isinstance(storage, UntypedStorage):
            storage = TypedStorage(wrap_storage=storage, dtype=BYTE)
        return *super().describe(storage), None


def save_legacy(value, file, protocol, module=None):
    """Write an old file."""
    book = LegacyBook()
    for part in (MAGIC_NUMBER, PROTOCOL_VERSION, SYSTEM):
        file.write(pickle.dumps(part, protocol=protocol))
    file.write(dump(value, book, protocol, module))
    keys = sorted(book.storages)
    file.write(pickle.dumps(keys, protocol=protocol))
    for key in keys:
        storage = book.storages[key].cpu()
        width = book.dtypes[key].itemsize
        file.write(struct.pack("<q", storage.nbytes() // width))
        file.write(memoryview(storage._memory))
