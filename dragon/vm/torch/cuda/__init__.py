"""CUDA devices: honest answers on a machine or build without one, as PyTorch's build for CPUs gives them."""
from dragon import _C
from dragon.core import config
from dragon.vm.guest import lookup
from dragon.vm.torch.core.accelerators import count, fill, index_of
from dragon.vm.torch.core.sentences import named
from dragon.vm.torch.storage import CLASSES as _storage_classes, _LegacyStorage

default_generators = ()
has_half, has_magma = True, False
_initialized = False


def device_count():
    """Return how many CUDA devices there are."""
    return count("cuda")


def is_available():
    """Return whether there is a CUDA device."""
    return device_count() > 0


def is_bf16_supported(including_emulation=True):
    """Return whether a CUDA device computes in bfloat16."""
    return is_available()


def is_initialized():
    """Return whether CUDA is in use."""
    return is_available()


def _lazy_init():
    """Raise unless there is a CUDA device."""
    if not is_available():
        raise AssertionError("Torch not compiled with CUDA enabled: Dragon has no CUDA device here; "
                             "ask torch.cuda.is_available() first")


init = _lazy_init


def _lazy_call(callable, **kwargs):
    """Call a function now if there is a device, else never: nothing will be initialized later."""
    if is_available():
        callable()


def synchronize(device=None):
    """Wait for the device."""
    _lazy_init()
    config.synchronize(f"cuda:{index_of(device, 'cuda') or 0}")


def current_device():
    """Return the index of the current device."""
    _lazy_init()
    return 0


def empty_cache():
    """Give memory that is kept for later back to the device."""
    if is_available():
        config.empty_cache("cuda")


def _statistic(name, key):
    def read(device=None):
        return config.memory_stats(f"cuda:{index_of(device, 'cuda') or 0}").get(key, 0) if is_available() else 0
    return named(read, name, "Return bytes of the device's memory; 0 without one.")


memory_allocated, max_memory_allocated = _statistic("memory_allocated", "current"), _statistic(
    "max_memory_allocated", "peak")
memory_reserved = memory_cached = _statistic("memory_reserved", "reserved")


class device:
    """Make a CUDA device the current one within a `with` block; nothing for None or a negative index. ...

    Examples
    --------
    >>> torch.device("cpu")
    device(type='cpu')
    >>> torch.device("cuda", 1).index
    1

    """

    def __init__(self, device):
        self.idx = -1 if device is None else index_of(device, "cuda")

    def __enter__(self):
        if self.idx is not None and self.idx >= 0:
            _lazy_init()

    def __exit__(self, *_):
        return False


class device_of(device):
    """Make a tensor's device the current one; nothing for a tensor on the CPU."""

    def __init__(self, obj):
        super().__init__(obj.get_device() if getattr(obj, "is_cuda", False) else -1)


class StreamContext:
    """Queue work on a stream within a `with` block; nothing for None."""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        if self.stream is not None:
            _lazy_init()

    def __exit__(self, *_):
        return False


def stream(stream):
    """Return a context that queues work on a stream."""
    return StreamContext(stream)


def set_device(device):
    """Make a device the current one."""
    index = index_of(device, "cuda")
    if index is not None and index >= 0:
        _lazy_init()


def _refuse(name):
    if is_available():
        return NotImplementedError(f"torch.cuda.{name}: Dragon does not have it (yet)")
    return AssertionError(f"Torch not compiled with CUDA enabled: torch.cuda.{name} needs a CUDA device, "
                          "and Dragon has none here")


def _refuse_class(name):
    return RuntimeError(f"torch.cuda.{name} requires CUDA support, and Dragon has no CUDA device here")


class _CudaStorage(_LegacyStorage):
    """The old classes of storages on CUDA's devices."""

    def __init__(self, *args, wrap_storage=None, device=None):
        super().__init__(*args, wrap_storage=wrap_storage, device="cuda" if device is None else device)


_storages = {name: type(name, (_CudaStorage,), {"_dtype": kind._dtype, "__module__": "torch.cuda", "__doc__":
                                                f"Elements of `{kind._dtype}` on a CUDA device."})
             for name, kind in _storage_classes.items()}


class cudaStatus:
    """Numbers that the CUDA runtime answers with."""

    SUCCESS = 0
    ERROR_NOT_READY = 34


class CudaError(RuntimeError):
    """An error of the CUDA driver."""


class DeferredCudaCallError(Exception):
    """An error of a call that had waited for a device."""


fill(globals(), "torch.cuda", _refuse, """
    can_device_access_peer cudart current_blas_handle current_solver_handle current_stream default_stream
    get_device_capability get_device_name get_device_properties get_per_process_memory_fraction get_rng_state
    get_sync_debug_mode initial_seed ipc_collect mem_get_info memory_snapshot memory_summary
    reset_accumulated_memory_stats reset_accumulated_host_memory_stats reset_max_memory_allocated
    reset_max_memory_cached reset_peak_memory_stats reset_peak_host_memory_stats
    set_per_process_memory_fraction set_sync_debug_mode list_gpu_processes utilization temperature power_draw clock_rate
    memory_usage device_memory_used check_error caching_allocator_alloc caching_allocator_delete
    get_stream_from_external make_graphed_callables graph_pool_handle is_current_stream_capturing use_mem_pool _sleep
    get_allocator_backend change_current_allocator host_memory_snapshot
""")
fill(globals(), "torch.cuda", _refuse_class, "", """
    Stream Event ExternalStream CUDAGraph MemPool graph CUDAPluggableAllocator FloatTensor DoubleTensor HalfTensor
    BFloat16Tensor ByteTensor CharTensor ShortTensor IntTensor LongTensor BoolTensor
""")
_find, __dir__ = lookup(globals())


def __getattr__(name):
    if name == "OutOfMemoryError":
        return _C.OutOfMemory
    if name in _storages:
        return _storages[name]
    return _find(name)
