"""Storages: the memory behind tensors, as bytes (`UntypedStorage`) and as elements of one dtype (`TypedStorage`)."""
import io

from dragon.core import warnings
from dragon import _C
from dragon.core import config
from dragon.io.block import is_mapped
from dragon.vm.torch.core.device import as_device
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.legacy import STORAGE_CLASSES
from dragon.vm.torch.core.tensor import Tensor, ops

BYTE = OBJECTS["uint8"]
FILES = []  # how to get `torch.serialization`, which is about storages itself: `torch` says so
# dtype -> the first part of the old class's name, by which files call it.
KINDS = {"float64": "Double", "float32": "Float", "float16": "Half", "int64": "Long", "int32": "Int", "int16": "Short",
         "int8": "Char", "uint8": "Byte", "bool": "Bool", "bfloat16": "BFloat16", "complex128": "ComplexDouble",
         "complex64": "ComplexFloat"}
# What came later has no class of storages: files name the dtype itself.
LATER = ("uint16", "uint32", "uint64", "complex32", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz",
         "float8_e5m2fnuz")


def bytes_behind(tensor):
    """Return a tensor's whole memory as a 1-d tensor of bytes."""
    whole = tensor.detach()
    count = whole.numel() if whole.device.type == "meta" else whole.storage_nbytes // whole.itemsize
    whole.set_storage(whole, (count,), None, 0)
    return whole if whole.dtype is BYTE else ops.view_dtype(whole, BYTE).detach()


# What the integers of quantized dtypes are read as.
HELD_AS = {"qint8": "int8", "quint8": "uint8", "qint32": "int32"}
QUANTIZED = {"qint8": "QInt8", "quint8": "QUInt8", "qint32": "QInt32"}


def window(memory, dtype, offset, size, stride):
    """Return a tensor of a dtype, offset, size and strides on a 1-d tensor of bytes."""
    if isinstance(dtype, _C.dtype) and dtype.name in HELD_AS:
        dtype = OBJECTS[HELD_AS[dtype.name]]
    if not isinstance(dtype, _C.dtype) or dtype.name not in (*KINDS, *LATER):
        raise NotImplementedError(f"storage: got {dtype}, which no tensor of Dragon can have, expected one of "
                                  f"{', '.join((*KINDS, *LATER))}")
    extra = memory.numel() % dtype.itemsize
    whole = memory[:memory.numel() - extra] if extra else memory
    view = (whole if dtype == BYTE else ops.view_dtype(whole, dtype)).detach()
    return view.set_storage(view, tuple(size), None if stride is None else tuple(stride), offset)


def bytes_of(storage, who, name):
    """Return the bytes of an argument that must be a storage."""
    if not isinstance(storage, (UntypedStorage, TypedStorage)):
        raise TypeError(f"{who}: got '{type(storage).__name__}' for argument '{name}', expected a storage")
    return storage.untyped()


class _Storage:
    """The base of storages of bytes and of those of elements."""

    __slots__ = ()

    def get_device(self):
        """Return the index of the device, -1 for the CPU."""
        return -1 if self.device.type == "cpu" else self.device.index or 0

    def cpu(self):
        """Return the storage on the CPU."""
        return self.to(device="cpu")

    def cuda(self, device=None, non_blocking=False):
        """Return the storage on a CUDA device."""
        return self.to(device="cuda" if device is None else device)

    def pin_memory(self, device=None):
        """Return itself: the CPU's memory needs no pinning here."""
        return self

    def is_pinned(self, device=None):
        """Return False."""
        return False

    def __iter__(self):
        return iter(self.tolist())

    def __copy__(self):
        return self.clone()

    def __reduce__(self):
        return _load_from_bytes, (_bytes_of(self),)


class UntypedStorage(_Storage):
    """The bytes that one or several tensors look at.

    Parameters
    ----------
    size : Union[int, Sequence[int]], optional, default=0
        How many bytes, or the bytes.
    device : Union[str, device], optional
        Where.

    """

    __slots__ = ("_held", "__weakref__")

    def __init__(self, size=0, *, device=None):
        where = as_device(device)
        self._held = (ops.empty((size,), dtype=BYTE, device=where) if hasattr(size, "__index__")
                      else _C.tensor(list(size), BYTE, where, Tensor))

    @classmethod
    def _over(cls, memory):
        made = cls.__new__(cls)
        made._held = memory
        return made

    @property
    def _memory(self):
        """The bytes as a tensor: as many as there are now, if somebody else has resized the storage."""
        held = self._held
        if held.numel() > held.storage_nbytes and held.device.type != "meta":
            self._held = held = bytes_behind(held)
        return held

    @classmethod
    def from_file(cls, filename, shared=False, nbytes=0):
        """Return a file's bytes, mapped; `shared` writes changes back."""
        import mmap
        if shared:
            with open(filename, "ab") as file:
                file.truncate(max(nbytes, file.tell()))
        with open(filename, "r+b" if shared else "rb") as file:
            mapping = mmap.mmap(file.fileno(), nbytes, access=mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY)
        return cls._over(_C.from_buffer(memoryview(mapping), Tensor))

    device = property(lambda self: self._memory.device, doc="The device that holds the bytes.")
    is_cuda = property(lambda self: self._memory.device.type == "cuda", doc="Whether that is a CUDA device.")
    is_hpu = is_sparse = is_sparse_csr = property(lambda self: False, doc="False: there are no such storages.")
    _cdata = property(lambda self: self.data_ptr())

    def data_ptr(self):
        """Return the address of the first byte."""
        return self._memory.data_ptr()

    def nbytes(self):
        """Return how many bytes there are."""
        return self._memory.numel()

    size = __len__ = nbytes

    def element_size(self):
        """Return 1: elements are bytes."""
        return 1

    def tolist(self):
        """Return the bytes as a list of integers."""
        return self._memory.tolist()

    def __getitem__(self, key):
        if isinstance(key, slice):
            return UntypedStorage._over(self._memory[key].detach())
        return self._memory[key].item()

    def __setitem__(self, key, value):
        self._memory[key] = value

    def fill_(self, value):
        """Set all bytes to a number."""
        self._memory.fill_(value)
        return self

    def copy_(self, source, non_blocking=None):
        """Copy another storage's bytes into this one."""
        self._memory.copy_(bytes_of(source, "copy_", "source")._memory)
        return self

    def clone(self):
        """Return a copy."""
        return UntypedStorage._over(ops.clone(self._memory))

    def resize_(self, size):
        """Have so many bytes, of which the first are what they were.

        Tensors over the storage keep their shapes. None of them can see anything of a storage of 0 bytes until it is
        resized again or written to.

        """
        if size != self.nbytes():
            self._held = bytes_behind(self._held.resize_storage(size))
        return self

    def resizable(self):
        """Return whether the memory is this storage's own, and lent to nobody."""
        return self._held.has_own_memory

    def to(self, *, device, non_blocking=False):
        """Return the bytes on a device; itself if they are there."""
        moved = self._memory.to(device)
        return self if moved is self._memory else UntypedStorage._over(moved)

    @classmethod
    def _new_shared(cls, size, *, device="cpu"):
        """Return so many bytes, of a CPU's those that other processes can map."""
        return cls(size, device=device).share_memory_()

    def is_shared(self):
        """Return whether other processes see this memory, as they do that of batches which workers made."""
        if self.is_cuda or _C.shared_block_of(self._memory) is not None:
            return True
        return self._memory.device.type == "cpu" and is_mapped(self.data_ptr())

    def share_memory_(self):
        """Move the bytes into memory that other processes can map; tensors made from here on see it."""
        if not self.is_cuda and _C.shared_block_of(self._memory) is None and self.nbytes():
            shared = _C.shared_tensor((self.nbytes(),), BYTE, None, Tensor)
            self._held = shared.copy_(self._memory)
        return self

    def byteswap(self, dtype):
        """Reverse the bytes of every element of a dtype."""
        width = dtype.itemsize // 2 if dtype.is_complex else dtype.itemsize
        if width > 1:
            self._memory.copy_(ops.flip(ops.reshape(self._memory, (-1, width)), (1,)).reshape(-1))

    def untyped(self):
        """Return itself."""
        return self

    def as_tensor(self, dtype):
        """Return the bytes as a 1-d tensor of a dtype, over the same memory."""
        return window(self._memory, dtype, 0, (self.nbytes() // dtype.itemsize,), None)

    def type(self, dtype=None, non_blocking=False):
        """Return the class's name."""
        if dtype is not None:
            raise NotImplementedError(f"UntypedStorage.type: got {dtype}, expected no argument")
        return "torch.storage.UntypedStorage"

    def __deepcopy__(self, memo):
        key = "dragon storage", self.data_ptr(), self.nbytes()
        if not isinstance(memo, dict):
            raise TypeError(f"__deepcopy__: got {type(memo).__name__} for what was copied, expected a dictionary")
        if key not in memo:
            memo[key] = self.clone(), self  # the old one is kept, so that its address stays its own
        return memo[key][0]

    def __eq__(self, other):
        return isinstance(other, UntypedStorage) and self.data_ptr() == other.data_ptr() and len(self) == len(other)

    def __hash__(self):
        return hash(self.data_ptr())

    def __repr__(self):
        numbers = "" if self.device.type == "meta" else "".join(f" {value}\n" for value in self.tolist())
        return f"{numbers}[torch.storage.UntypedStorage(device={self.device}) of size {self.nbytes()}]"


class TypedStorage(_Storage):
    """A storage's elements of one dtype; old code has it, new code needs `UntypedStorage` alone.

    Parameters
    ----------
    args : Union[int, Sequence]
        How many elements, or the elements.
    wrap_storage : UntypedStorage, optional
        The bytes.
    dtype : dtype, optional
        Of the elements.
    device : Union[str, device], optional
        Where.

    """

    is_sparse = False

    def __init__(self, *args, wrap_storage=None, dtype=None, device=None, _internal=False):
        self.dtype = OBJECTS[config.default_dtype()] if dtype is None else dtype
        if wrap_storage is None:
            source = args[0] if args else 0
            made = (ops.empty((source,), dtype=self.dtype, device=as_device(device)) if hasattr(source, "__index__")
                    else _C.tensor(list(source), self.dtype, as_device(device), Tensor))
            wrap_storage = UntypedStorage._over(bytes_behind(made))
        self._untyped_storage = bytes_of(wrap_storage, type(self).__name__, "wrap_storage")

    @classmethod
    def from_buffer(cls, *args, dtype=None, byte_order="native", **options):
        """Return the elements in an object's memory."""
        from dragon.vm.torch.core.register import FUNCTIONS
        view = FUNCTIONS["frombuffer"](*args, dtype=BYTE, **options).clone()
        made = cls(wrap_storage=UntypedStorage._over(view), dtype=dtype)
        if byte_order == "big":
            made._untyped_storage.byteswap(made.dtype)
        return made

    device = property(lambda self: self._untyped_storage.device, doc="The device that holds the elements.")
    is_cuda = property(lambda self: self._untyped_storage.is_cuda, doc="Whether that is a CUDA device.")
    _cdata = property(lambda self: self._untyped_storage._cdata)

    def _elements(self):
        return self._untyped_storage.as_tensor(self.dtype)

    def as_tensor(self, dtype):
        """Return the elements as a 1-d tensor over the same memory."""
        if dtype != self.dtype:
            raise TypeError(f"tensor: got a storage of {self.dtype}, expected {dtype}")
        return self._elements()

    def untyped(self):
        """Return the bytes."""
        return self._untyped_storage

    def size(self):
        """Return how many elements there are."""
        return self._untyped_storage.nbytes() // self.dtype.itemsize

    __len__ = _size = size

    def nbytes(self):
        """Return how many bytes there are."""
        return self._untyped_storage.nbytes()

    def data_ptr(self):
        """Return the address of the first element."""
        return self._untyped_storage.data_ptr()

    def element_size(self):
        """Return the bytes per element."""
        return self.dtype.itemsize

    def tolist(self):
        """Return the elements as a list of numbers."""
        return self._elements().tolist()

    def __getitem__(self, key):
        if isinstance(key, slice):
            raise RuntimeError("TypedStorage: got a slice, expected an index")
        return self._elements()[key].item()

    def __setitem__(self, key, value):
        self._elements()[key] = value

    def fill_(self, value):
        """Set all elements to a number."""
        self._elements().fill_(value)
        return self

    def copy_(self, source, non_blocking=None):
        """Copy another storage's elements into this one."""
        self._elements().copy_(source._elements() if isinstance(source, TypedStorage)
                               else bytes_of(source, "copy_", "source")._memory)
        return self

    def clone(self):
        """Return a copy."""
        return self._with(self._untyped_storage.clone())

    def _with(self, untyped):
        return TypedStorage(wrap_storage=untyped, dtype=self.dtype)

    def _cast(self, dtype):
        return TypedStorage(wrap_storage=UntypedStorage._over(bytes_behind(self._elements().to(dtype))), dtype=dtype)

    def to(self, *, device, non_blocking=False):
        """Return the elements on a device."""
        return self._with(self._untyped_storage.to(device=device))

    def share_memory_(self):
        """Move the elements into memory that other processes can map."""
        self._untyped_storage.share_memory_()
        return self

    def is_shared(self):
        """Return whether other processes can map this memory."""
        return self._untyped_storage.is_shared()

    def resize_(self, size):
        """Have so many elements, of which the first are what they were."""
        self._untyped_storage.resize_(size * self.dtype.itemsize)
        return self

    def pickle_storage_type(self):
        """Return the name of the class that files have for this dtype."""
        return {**KINDS, **QUANTIZED}[self.dtype.name] + "Storage"

    _pickle_storage_type = pickle_storage_type

    def type(self, dtype=None, non_blocking=False):
        """Return the name of the old class for this dtype, or the elements as another dtype."""
        return "torch." + self.pickle_storage_type() if dtype is None else self._cast(dtype)

    def __deepcopy__(self, memo):
        return self._with(self._untyped_storage.__deepcopy__(memo))

    def __eq__(self, other):
        return (isinstance(other, TypedStorage) and self.dtype == other.dtype
                and self._untyped_storage == other._untyped_storage)

    def __hash__(self):
        return hash(self._untyped_storage)

    def __repr__(self):
        numbers = "" if self.device.type == "meta" else "".join(f" {value}\n" for value in self.tolist())
        return (f"{numbers}[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size "
                f"{self.size()}]")


def _add_casts():
    for method, name in {"double": "float64", "float": "float32", "half": "float16", "long": "int64", "int": "int32",
                         "short": "int16", "char": "int8", "byte": "uint8", "bool": "bool", "bfloat16": "bfloat16",
                         "complex_double": "complex128", "complex_float": "complex64"}.items():
        def cast(self, dtype=OBJECTS[name]):
            return self._cast(dtype)
        cast.__name__ = method
        cast.__doc__ = f"Return the elements as `torch.{name}`."
        setattr(TypedStorage, method, cast)


_add_casts()


class _LegacyStorageMeta(type):
    def __instancecheck__(cls, instance):
        return type.__instancecheck__(cls, instance) or (
            isinstance(instance, TypedStorage) and cls._dtype is not None and instance.dtype == cls._dtype)


class _LegacyStorage(TypedStorage, metaclass=_LegacyStorageMeta):
    """The old classes, one per dtype, as `torch.FloatStorage`."""

    _dtype = None

    def __init__(self, *args, wrap_storage=None, device=None, **_):
        super().__init__(*args, wrap_storage=wrap_storage, dtype=self._dtype, device=device)


CLASSES = {kind + "Storage": type(kind + "Storage", (_LegacyStorage,), {
    "_dtype": OBJECTS[name], "__module__": __name__.rpartition(".")[0],
    "__doc__": f"Elements of `torch.{name}`.", "__hash__": TypedStorage.__hash__}) for name, kind in (
        {**KINDS, **QUANTIZED}).items()}


def _get_dtype_from_pickle_storage_type(name):
    """Return the dtype of the elements of an old class, given its name."""
    return CLASSES[name]._dtype


def _bytes_of(storage):
    """Return a storage as a file's bytes."""
    buffer = io.BytesIO()
    FILES[0]().save(storage, buffer)
    return buffer.getvalue()


def _load_from_bytes(data):
    """Return the storage that a file's bytes hold; what pickled storages become."""
    return FILES[0]().load(io.BytesIO(data), weights_only=True)


def _warn_typed_storage_removal(stacklevel=2):
    """Warn once that `TypedStorage` is the old way."""
    if not _warned:
        _warned.append(True)
        warnings.warn("TypedStorage is deprecated: in PyTorch UntypedStorage will be the only storage class; use "
                      "tensor.untyped_storage() instead of tensor.storage()", UserWarning)


_warned = []
STORAGE_CLASSES.extend((UntypedStorage, TypedStorage))
_StorageBase = UntypedStorage
