"""CUDA devices: honest answers on a machine or build without one, as PyTorch's build for CPUs gives them."""
from dragon import _C
from dragon.core import accelerator, config
from dragon.vm.guest import lookup
from dragon.vm.torch.core.accelerators import fill, index_of
from dragon.vm.torch.core.legacy import CUDA_CLASSES as _old_classes
from dragon.vm.torch.core.nvidia import driver as _driver
from dragon.vm.torch.core.nvidia.presence import device_count, is_available, place, require
from dragon.vm.torch.core.nvidia.sensors import (clock_rate, device_memory_used, memory_usage, power_draw,  # noqa: F401
                                                 temperature, utilization)
from dragon.vm.torch.cuda.memory import (  # noqa: F401
    caching_allocator_alloc, caching_allocator_delete, empty_cache, get_allocator_backend,
    get_per_process_memory_fraction, list_gpu_processes, max_memory_allocated, max_memory_cached,
    max_memory_reserved, MemPool, host_memory_stats, mem_get_info, memory_allocated, memory_cached, memory_reserved,
    memory_snapshot, memory_stats, memory_stats_as_nested_dict, memory_summary, reset_accumulated_host_memory_stats,
    reset_max_memory_allocated, reset_max_memory_cached, reset_peak_host_memory_stats, reset_peak_memory_stats,
    set_per_process_memory_fraction, use_mem_pool)
from dragon.vm.torch.cuda.random import (get_rng_state, get_rng_state_all, initial_seed, manual_seed,  # noqa: F401
                                         manual_seed_all, seed, seed_all, set_rng_state, set_rng_state_all)
from dragon.vm.torch.cuda.random import generators as _generators
from dragon.vm.torch.cuda.graphs import CUDAGraph, graph, graph_pool_handle  # noqa: F401
from dragon.vm.torch.cuda.streams import (Event, ExternalStream, Stream, StreamContext, current_stream,  # noqa: F401
                                          default_stream, get_stream_from_external, is_current_stream_capturing,
                                          set_stream, stream)
from dragon.vm.torch.cuda.waits import get_sync_debug_mode, set_sync_debug_mode  # noqa: F401
from dragon.vm.torch.storage import CLASSES as _storage_classes, _LegacyStorage

has_half, has_magma = True, False
_initialized = False


def is_bf16_supported(including_emulation=True):
    """Return whether the current CUDA device computes in bfloat16."""
    return is_available() and (including_emulation or get_device_capability()[0] >= 8)


def is_initialized():
    """Return whether CUDA is in use."""
    return is_available()


def _lazy_init():
    """Raise unless there is a CUDA device."""
    require("init")


init = _lazy_init


def _lazy_call(callable, **kwargs):
    """Call a function now if there is a device, else never: nothing will be initialized later."""
    if is_available():
        callable()


def synchronize(device=None):
    """Wait for the device."""
    require("synchronize")
    config.synchronize(place(device))


def current_device():
    """Return the index of the current device."""
    require("current_device")
    return accelerator.cuda_index()


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
        self._before = None
        if self.idx is not None and self.idx >= 0:
            _lazy_init()
            self._before = accelerator.cuda_index()
            accelerator.set_cuda_index(self.idx)

    def __exit__(self, *_):
        if self._before is not None:
            accelerator.set_cuda_index(self._before)
        return False


class device_of(device):
    """Make a tensor's device the current one; nothing for a tensor on the CPU."""

    def __init__(self, obj):
        super().__init__(obj.get_device() if getattr(obj, "is_cuda", False) else -1)


def set_device(device):
    """Make a device the current one."""
    index = index_of(device, "cuda")
    if index is not None and index >= 0:
        _lazy_init()
        accelerator.set_cuda_index(index)


def _refuse(name):
    require(name)
    return NotImplementedError(f"torch.cuda.{name}: Dragon does not have it (yet)")


def _refuse_class(name):
    return RuntimeError(f"torch.cuda.{name} requires CUDA support, and Dragon does not have it (yet)")


def get_device_properties(device=None):
    """Return what a device is: its name, sizes and abilities."""
    require("get_device_properties")
    return _driver.properties(device)


def get_device_name(device=None):
    """Return a device's name."""
    require("get_device_name")
    return _driver.properties(device).name


def get_device_capability(device=None):
    """Return the major and the minor number of what a device can do."""
    require("get_device_capability")
    found = _driver.properties(device)
    return found.major, found.minor


def can_device_access_peer(device, peer_device):
    """Return whether a device can read another one's memory."""
    require("can_device_access_peer")
    return _driver.reaches(device, peer_device)


def ipc_collect():
    """Give up memory that was sent to other processes, where they have dropped it."""
    require("ipc_collect")
    from dragon.vm.torch.multiprocessing import devices
    devices.collect()


def make_graphed_callables(callables, sample_args, num_warmup_iters=3, allow_unused_input=False, pool=None):
    """Return functions or modules whose forward and backward passes are replayed as graphs: see `cuda.graphed`."""
    require("make_graphed_callables")
    from dragon.vm.torch.cuda import graphed
    return graphed.make_graphed_callables(callables, sample_args, num_warmup_iters, allow_unused_input, pool)


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


def check_error(res):
    """Raise unless a number with which the CUDA runtime answered means success."""
    if res != cudaStatus.SUCCESS:
        raise CudaError(f"{res}: see the CUDA runtime's list of errors")


fill(globals(), "torch.cuda", _refuse, """
    cudart current_blas_handle current_solver_handle reset_accumulated_memory_stats
    _sleep change_current_allocator host_memory_snapshot
""")
fill(globals(), "torch.cuda", _refuse_class, "", """
    CUDAPluggableAllocator
""")
globals().update(_old_classes)
_find, __dir__ = lookup(globals())


def __getattr__(name):
    if name == "OutOfMemoryError":
        return _C.OutOfMemory
    if name == "default_generators":
        return _generators()
    if name in _storages:
        return _storages[name]
    return _find(name)
