"""`torch.save` and `torch.load`: PyTorch's files, both ways, without unpickling anything that can run code."""
import enum
import io
import os
import pickle
import pickletools
import sys
from collections.abc import Callable
from tempfile import mkdtemp  # noqa: F401
from typing import Dict, TypeAlias, Union

from dragon.core import warnings
from dragon import _C
from dragon.core import files
from dragon.core.scopes import Scope, contextmanager
from dragon.core.thread_state import ThreadFlag
from dragon.vm.torch._weights_only_unpickler import Unpickler
from dragon.vm.torch.core.device import as_device, device
from dragon.vm.torch.core.files.errors import WriteError
from dragon.vm.torch.core.files import legacy, trusted
from dragon.vm.torch.core.files.archive import ArchiveReader, ArchiveWriter, starts_archive, whole
from dragon.vm.torch.core.files.legacy import MAGIC_NUMBER, PROTOCOL_VERSION
from dragon.vm.torch.core.files.locations import (PACKAGES, default_restore_location, location_tag, make_restore, place,
                                                  validate_cuda_device, validate_hpu_device)
from dragon.vm.torch.core.files.pickler import StorageBook, dump
from dragon.vm.torch.core.layout import _get_layout  # noqa: F401: where files look for it
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.storage import BYTE, TypedStorage, UntypedStorage

DEFAULT_PROTOCOL = 2
STORAGE_KEY_SEPARATOR = ","
# What `map_location` may be, for annotations.
MAP_LOCATION: TypeAlias = Union[
    Callable[[UntypedStorage, str], UntypedStorage], device, str, Dict[str, str], None]
_settings = {"mmap": None, "checksums": True, "endianness": None}


class LoadEndianness(enum.Enum):
    """The order of bytes in files that do not say it."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


class SourceChangeWarning(Warning):
    """PyTorch warns with it of changed sources; files do not hold sources any more."""


# --- writing

def save(obj, f, pickle_module=pickle, pickle_protocol=DEFAULT_PROTOCOL, _use_new_zipfile_serialization=True,
         _disable_byteorder_record=False):
    """Write an object to a file that PyTorch reads.

    Parameters
    ----------
    obj : Any
        Tensors, numbers, texts, containers of them, modules, whatever pickles.
    f : Union[str, PathLike, BinaryIO]
        Where.
    pickle_module : module, optional, default=pickle
        Whose `Pickler` to use.
    pickle_protocol : int, optional, default=2
        Of the pickle within.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> torch.save({"step": 3, "weight": torch.tensor([1.0, 2.0])}, file)
    >>> _ = file.seek(0)
    >>> torch.load(file)["weight"]
    tensor([1., 2.])

    """
    if not (isinstance(f, (str, os.PathLike)) or hasattr(f, "write")):
        raise AttributeError(f"save: got {type(f).__name__}, expected 'f' to be string, path, or a file-like object "
                             "with a 'write' attribute")
    if not _use_new_zipfile_serialization:
        with _opened(f, "wb") as file:
            legacy.save_legacy(obj, file, pickle_protocol, pickle_module)
        return
    book = StorageBook()
    data = dump(obj, book, pickle_protocol, pickle_module)
    name = os.path.splitext(os.path.basename(os.fspath(f)))[0] if isinstance(f, (str, os.PathLike)) else "archive"
    with _opened(f, "wb") as file:
        writer = ArchiveWriter(file, name or "archive")
        writer.write("data.pkl", data)
        writer.write(".format_version", b"1")
        writer.write(".storage_alignment", b"64")
        if not _disable_byteorder_record:
            writer.write("byteorder", sys.byteorder.encode())
        for key, storage in book.storages.items():
            writer.write(f"data/{key}", memoryview(storage.cpu()._memory))
        writer.write("version", b"3\n")
        writer.write(".data/serialization_id", _identify(writer))
        writer.close()


def _identify(writer):
    """Return 40 digits that depend on all that was written."""
    import hashlib
    digest = hashlib.sha256(repr(writer.checksums).encode()).digest()
    return str(int.from_bytes(digest, "big"))[:40].rjust(40, "0").encode()


@contextmanager
def _opened(file, mode):
    """Give a file: the one at a path, closed afterwards, or the object itself."""
    if not isinstance(file, (str, os.PathLike)):
        yield file
        if mode == "wb" and hasattr(file, "flush"):
            file.flush()
    elif mode != "wb":
        with open(file, mode) as opened:
            yield opened
    elif not os.path.isdir(os.path.dirname(os.path.abspath(file))):
        raise RuntimeError(f"Parent directory {os.path.dirname(file)} does not exist.")
    else:
        try:
            with files.rewriting(file) as opened:
                yield opened
        except OSError as error:
            raise error if error.errno is None else WriteError(error.errno, error.strerror, file) from error


# --- reading

def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **pickle_load_args):
    """Return the object in a file that `torch.save` wrote, here or under PyTorch.

    Files are pickles, and an ordinary unpickler runs what they say. This one runs nothing but functions of a short
    list, which look at no more than plain values. With `weights_only`, files may name that list and what
    `add_safe_globals` was given. Without, they may name classes of torch, of `__main__` and of modules that the program
    has imported (the standard library's and NumPy's where they are plain values), and functions: of torch those that
    compute. Instances are made bare and given their attributes; no constructor runs, and a class's own `__setstate__`,
    `__hash__` and `__setitem__` are all of the program's code that does. What is loaded is not called here: whoever
    calls it, a module say, runs what it holds.

    Parameters
    ----------
    f : Union[str, PathLike, BinaryIO]
        Where from.
    map_location : Union[str, device, dict, Callable], optional
        Where storages go.
    weights_only : bool, optional, default=True
        Whether only tensors, numbers, texts and containers of them are expected.
    mmap : bool, optional, default=False
        Whether to map the file instead of reading it.

    Returns
    -------
    Any
        The object.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> torch.save([torch.tensor([1, 2])], file)
    >>> _ = file.seek(0)
    >>> torch.load(file, weights_only=True)
    [tensor([1, 2])]

    """
    if pickle_module is not None and pickle_module is not pickle:
        if weights_only:
            raise RuntimeError("load: got pickle_module with weights_only=True, expected one of them")
        raise NotImplementedError(f"load: got pickle_module={pickle_module.__name__}, expected none: Dragon unpickles "
                                  "with its own machine, which runs no code that a file asks for")
    encoding = pickle_load_args.pop("encoding", "utf-8")
    pickle_load_args.pop("errors", None)
    if pickle_load_args:
        raise TypeError(f"load: got an unexpected keyword argument {next(iter(pickle_load_args))!r}")
    forced = os.environ.get("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD") in ("1", "y", "yes", "true")
    trust = trusted.Trust(not forced if weights_only is None else bool(weights_only))
    restore = make_restore(map_location)
    if _skipping.on:
        restore = make_restore("meta") if map_location is None else restore
    mmap = _settings["mmap"] if mmap is None else mmap
    with _opened(f, "rb") as file:
        _check_readable(file)
        if starts_archive(file):
            if mmap and not isinstance(f, (str, os.PathLike)):
                raise ValueError("load: got mmap=True and a file object, expected a path")
            return _load_archive(whole(file), f if mmap else None, restore, trust, encoding)
        if mmap:
            raise RuntimeError("load: got mmap=True for a file that is no zip archive, expected one that torch.save "
                               "wrote since version 1.6")
        return _load_other(file, restore, trust, encoding)


def _check_readable(file):
    missing = [name for name in ("read", "readline", "seek", "tell") if not hasattr(file, name)]
    if missing:
        raise AttributeError(f"load: '{type(file).__name__}' object has no attribute '{missing[-1]}' (nor "
                             f"{', '.join(missing)}). You can only torch.load from a file that is seekable. Please "
                             "pre-load the data into a buffer like io.BytesIO and try to load from it instead.")


def _load_other(file, restore, trust, encoding):
    """Return the object in a file that is no archive."""
    if legacy.starts_legacy(file):
        return legacy.load_legacy(file, restore, trust, encoding)
    start = file.tell()
    head = file.read(512)
    file.seek(start)
    if not head:
        raise EOFError("load: got an empty file, expected what torch.save wrote")
    if head[257:262] == b"ustar":
        raise RuntimeError("load: got a tar archive of PyTorch before 0.2, expected a newer file: load and save it "
                           "with a PyTorch that reads it")
    raise pickle.UnpicklingError(f"load: got a file that starts with {head[:8]!r}, expected what torch.save wrote. "
                                 "Weights only load failed: nothing could be read of it")


class _ArchiveUnpickler(Unpickler):
    """Reads the pickle of an archive; storages are other records of it."""

    def __init__(self, file, reader, memory_of, restore, swap, **options):
        super().__init__(file, **options)
        self.reader, self.memory_of, self.restore, self.swap = reader, memory_of, restore, swap
        self.storages = {}

    def persistent_load(self, key):
        """Return the storage that an id from outside stands for."""
        if not isinstance(key, tuple) or len(key) != 5 or legacy.as_text(key[0]) != "storage":
            raise pickle.UnpicklingError("load: got a persistent id that names no storage")
        _, kind, name, location, count = key
        dtype = BYTE if kind is UntypedStorage else getattr(kind, "_dtype", None)
        if dtype is None or not isinstance(count, int) or count < 0:
            raise pickle.UnpicklingError("load: got a storage whose class or size is none")
        if name not in self.storages:
            self.storages[name] = place(self.read_storage(legacy.as_text(name), dtype), legacy.as_text(location),
                                        self.restore)
        untyped = self.storages[name]
        if count * dtype.itemsize > untyped.nbytes():
            raise pickle.UnpicklingError(f"load: got a storage of {untyped.nbytes()} bytes, expected {count} elements "
                                         f"of {dtype}")
        return untyped if kind is UntypedStorage else TypedStorage(wrap_storage=untyped, dtype=dtype)

    def read_storage(self, name, dtype):
        """Return a storage's bytes."""
        memory = self.memory_of(f"data/{name}")
        if self.swap:
            UntypedStorage._over(memory).byteswap(dtype)
        return memory


def _load_archive(file, path, restore, trust, encoding):
    """Return the object in an archive; with a path, its storages are the mapped file."""
    reader = ArchiveReader(file, _settings["checksums"])
    if "constants.pkl" in reader:
        raise RuntimeError("load: got a TorchScript archive, expected what torch.save wrote; such archives are read "
                           "by torch.jit.load")
    order = _byte_order(reader)
    memory_of = _mapped(reader, path) if path is not None else _copied(reader)
    if path is not None and order != sys.byteorder:
        memory_of = _copied(reader)
    return _ArchiveUnpickler(io.BytesIO(reader.read("data.pkl")), reader, memory_of, restore, order != sys.byteorder,
                             encoding=encoding, trust=trust).load()


def _byte_order(reader):
    """Return the order of bytes in an archive."""
    if "byteorder" not in reader:
        wanted = _settings["endianness"]
        if wanted in (None, LoadEndianness.LITTLE):
            return "little"
        return sys.byteorder if wanted is LoadEndianness.NATIVE else "big"
    order = reader.read("byteorder")
    if order not in (b"little", b"big"):
        raise ValueError(f"load: got the byte order {order[:20]!r}, expected little or big")
    return order.decode()


def _copied(reader):
    """Return a function from records to tensors of their bytes."""
    def memory_of(record):
        start, end = reader.place(record)
        info = reader.find(record)
        if info.file_size != info.compress_size:
            return _C.from_buffer(bytearray(reader.read_packed(info)), Tensor)
        memory = ops.empty((end - start,), dtype=BYTE, device=as_device("cpu"))
        reader.read_into(record, memoryview(memory))
        return memory
    return memory_of


def _mapped(reader, path):
    """Return a function from records to tensors over the mapped file; writes to them stay in this process."""
    import mmap
    with open(path, "rb") as file:
        mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    view = memoryview(mapping)

    def memory_of(record):
        start, end = reader.place(record)
        if reader.find(record).compress_type or end == start:
            return _copied(reader)(record)
        return _C.from_buffer(view[start:end], Tensor)
    return memory_of


# --- what files may name

def add_safe_globals(safe_globals):
    """Let files name, make and call these classes and functions, or (object, "module.name") pairs."""
    trusted.set_safe_globals().extend(entry for entry in safe_globals if entry not in trusted.set_safe_globals())


def clear_safe_globals():
    """Forget what `add_safe_globals` was given."""
    trusted.set_safe_globals().clear()


def get_safe_globals():
    """Return what `add_safe_globals` was given."""
    return list(trusted.set_safe_globals())


class safe_globals:
    """Let files name, make and call more classes and functions within a `with` block."""

    def __init__(self, safe_globals):
        self.more, self.before = safe_globals, []

    def __enter__(self):
        self.before.append(get_safe_globals())
        add_safe_globals(self.more)

    def __exit__(self, *_):
        before = self.before.pop()
        clear_safe_globals()
        add_safe_globals(before)


_skipping = ThreadFlag()


class skip_data(Scope):
    """Load files within a `with` block without their numbers: tensors get no memory."""

    def __init__(self, materialize_fake_tensors=False):
        if materialize_fake_tensors:
            raise NotImplementedError("skip_data: got materialize_fake_tensors=True, expected False")

    def _enter_scope(self, exits):
        exits.set(_skipping, "on", True)


def get_unsafe_globals_in_checkpoint(f):
    """Return the names of globals in a file that `weights_only` would refuse, as "module.name"."""
    with _opened(f, "rb") as file:
        if not starts_archive(file):
            raise ValueError("get_unsafe_globals_in_checkpoint: got a file that is no zip archive, expected one")
        data = ArchiveReader(whole(file)).read("data.pkl")
    trust = trusted.Trust(True)
    found = []
    for name in _list_globals(data):
        try:
            trust.find(*name)
        except trusted.Refused:
            found.append(".".join(name))
    return list(dict.fromkeys(found))


def _list_globals(data):
    """Yield (module, name) of every global that a pickle names, without running it."""
    texts = []
    for opcode, argument, _ in pickletools.genops(data):
        if opcode.name == "GLOBAL":
            yield tuple(argument.split(" ", 1))
        elif opcode.name == "STACK_GLOBAL":
            yield tuple(texts[-2:])
        elif "UNICODE" in opcode.name:
            texts.append(argument)


# --- settings

def register_package(priority, tagger, deserializer):
    """Have functions say where storages are, and put them there."""
    PACKAGES.append((priority, tagger, deserializer))
    PACKAGES.sort(key=lambda entry: entry[0])


def get_crc32_options():
    """Return whether checksums are written and verified."""
    return _settings["checksums"]


def set_crc32_options(compute_crc32):
    """Set whether checksums are verified; they are always written."""
    _settings["checksums"] = bool(compute_crc32)


def get_default_load_endianness():
    """Return the order of bytes in files that do not say it."""
    return _settings["endianness"]


def set_default_load_endianness(endianness):
    """Set the order of bytes in files that do not say it."""
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise TypeError(f"set_default_load_endianness: got {endianness!r}, expected a LoadEndianness or None")
    _settings["endianness"] = endianness


def get_default_mmap_options():
    """Return the flag that files are mapped with."""
    import mmap
    return mmap.MAP_PRIVATE


def set_default_mmap_options(flags):
    """Set the flag that files are mapped with; only the private kind is supported."""
    import mmap
    if flags != mmap.MAP_PRIVATE:
        raise NotImplementedError(f"set_default_mmap_options: got {flags}, expected mmap.MAP_PRIVATE")


def normalize_storage_type(storage_type):
    """Return the class that files name for a class of storages."""
    return storage_type


def check_module_version_greater_or_equal(module, req_version_tuple, error_if_malformed=True):
    """Return whether a module's `__version__` is at least so new."""
    try:
        version = tuple(int(part) for part in module.__version__.split(".")[:len(req_version_tuple)])
    except ValueError as error:
        if error_if_malformed:
            raise RuntimeError(f"got '{module.__version__}' as the version of {module.__name__}, expected "
                               "numbers") from error
        warnings.warn(f"the version of {module.__name__} is no list of numbers: {module.__version__}")
        return True
    return version >= tuple(req_version_tuple)


def storage_to_tensor_type(storage):
    """Return the old class of tensors for an old class of storages."""
    from dragon.vm.torch.core.legacy import CLASSES
    return CLASSES[type(storage).__name__.replace("Storage", "Tensor")]


class StorageType:
    """A storage's old class, as `find_class` of a pickle finds it.

    Parameters
    ----------
    name : str
        Such as "FloatStorage".

    """

    def __init__(self, name):
        from dragon.vm.torch.storage import _get_dtype_from_pickle_storage_type
        self._dtype = _get_dtype_from_pickle_storage_type(name)

    dtype = property(lambda self: self._dtype, doc="dtype: of the elements.")

    def __str__(self):
        return f"StorageType(dtype={self.dtype})"
