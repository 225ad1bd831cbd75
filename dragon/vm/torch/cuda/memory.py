"""Memory of CUDA devices: what the engine's allocator tells, and what the driver does."""
from collections import OrderedDict

from dragon.core import accelerator, config, warnings
from dragon.vm.torch.core.device import device as _device
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.nvidia import driver as _driver, sensors as _sensors, settings
from dragon.vm.torch.core.nvidia.presence import device_count, is_available, number, place, require
from dragon.vm.torch.core.sentences import named
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.cuda.history import (_allocation_traceback, _dump_snapshot, _record_memory_history,  # noqa: F401
                                          _snapshot)
from dragon.vm.torch.cuda.pools import MemPool, use_mem_pool  # noqa: F401
from dragon.vm.torch.cuda.segments import memory_snapshot  # noqa: F401

list_gpu_processes = _sensors.list_gpu_processes
# PyTorch's words for what the engine counts.
_COUNTED = {"allocated_bytes.all.current": "current", "allocated_bytes.all.peak": "peak",
            "reserved_bytes.all.current": "reserved", "reserved_bytes.all.peak": "peak_reserved",
            "num_device_alloc": "system_calls", "allocation.all.allocated": "allocations",
            "allocation.all.freed": "frees"}
_fractions = {}  # device -> the part of its memory that this process may use
_blocks = {}  # address -> the tensor whose memory it is


def empty_cache():
    """Give memory that is kept for later back to the devices."""
    for index in range(device_count()):
        config.empty_cache(f"cuda:{index}")


def _statistic(name, key):
    def read(device=None):
        return config.memory_stats(place(device)).get(key, 0) if is_available() else 0
    return named(read, name, "Return bytes of the device's memory; 0 without one.")


memory_allocated, max_memory_allocated = _statistic("memory_allocated", "current"), _statistic(
    "max_memory_allocated", "peak")
memory_reserved = memory_cached = _statistic("memory_reserved", "reserved")
max_memory_reserved = max_memory_cached = _statistic("max_memory_reserved", "peak_reserved")


def memory_stats(device=None):
    """Return what the engine counts of a device's memory, by PyTorch's words; nothing without a device."""
    if not is_available():
        return OrderedDict()
    stats = config.memory_stats(place(device))
    found = {word: stats[key] for word, key in _COUNTED.items() if key in stats}
    segments = accelerator.memory_snapshot(number(device))
    found["num_alloc_retries"], found["num_ooms"] = accelerator.memory_retries(number(device))
    found["segment.all.current"] = len(segments)
    found["active_bytes.all.current"] = found["allocated_bytes.all.current"]
    found["active_bytes.all.peak"] = found["allocated_bytes.all.peak"]
    found["allocation.all.current"] = found["allocation.all.allocated"] - found["allocation.all.freed"]
    found["inactive_split_bytes.all.current"] = sum(
        size for _, whole, _, _, _, _, blocks, _ in segments for _, size, used in blocks if not used and size < whole)
    return OrderedDict(sorted(found.items()))


def _set_allocator_settings(env):
    """Set what PYTORCH_ALLOC_CONF would."""
    warnings.warn("torch.cuda._set_allocator_settings is deprecated. Use torch._C._accelerator_setAllocatorSettings "
                  "instead.", FutureWarning)
    settings.apply(env)


def host_memory_stats():
    """Return what is counted of pinned memory, by PyTorch's words; nothing without a device."""
    if not is_available():
        return OrderedDict()
    stats = accelerator.pinned_stats()
    return OrderedDict([("allocated_bytes.current", stats["current"]), ("allocated_bytes.peak", stats["peak"]),
                        ("allocations.allocated", stats["allocations"]), ("reserved_bytes.current", stats["reserved"])])


def memory_stats_as_nested_dict(device=None):
    """Return what the engine counts of a device's memory, a dict for each part of PyTorch's words."""
    nested = {}
    for word, value in memory_stats(device).items():
        *path, last = word.split(".")
        inner = nested
        for part in path:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return nested


def memory_summary(device=None, abbreviated=False):
    """Return what the engine counts of a device's memory as a table.

    Parameters
    ----------
    device : Union[device, int, str], optional
        The device, the current one by default.
    abbreviated : bool, optional, default=False
        Whether only bytes are shown.

    Returns
    -------
    str
        The table.

    """
    require("memory_summary")
    rows = [(word, value) for word, value in memory_stats(device).items() if "bytes" in word or not abbreviated]
    width = max(len(word) for word, _ in rows)
    lines = [f"| {word:<{width}} | {value:>16,} |" for word, value in rows]
    return "\n".join([f"| memory of cuda:{number(device)}".ljust(len(lines[0]) - 1) + "|", *lines])


def reset_peak_memory_stats(device=None):
    """Start the peaks anew from what is held now."""
    require("reset_peak_memory_stats")
    config.reset_peak_memory(place(device))


def reset_max_memory_allocated(device=None):
    """Start the peaks anew from what is held now."""
    reset_peak_memory_stats(device)


def reset_max_memory_cached(device=None):
    """Start the peaks anew from what is held now."""
    reset_peak_memory_stats(device)


def reset_peak_host_memory_stats():
    """Do nothing: the peak of pinned memory is that of the process."""
    require("reset_peak_host_memory_stats")


def reset_accumulated_host_memory_stats():
    """Do nothing: what is counted of pinned memory is that of the process."""
    require("reset_accumulated_host_memory_stats")


def mem_get_info(device=None):
    """Return how many bytes of a device are free, and how many it has."""
    require("mem_get_info")
    return _driver.memory(device)


def set_per_process_memory_fraction(fraction, device=None):
    """Make allocations that would exceed a part of a device's memory an OutOfMemoryError."""
    require("set_per_process_memory_fraction")
    if not isinstance(fraction, float):
        raise TypeError(f"Invalid type for fraction argument: got {type(fraction).__name__}, expected float")
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    config.set_memory_limit(max(int(fraction * _driver.properties(device).total_memory), 1), place(device))
    _fractions[number(device)] = fraction


def get_per_process_memory_fraction(device=None):
    """Return which part of a device's memory this process may use."""
    require("get_per_process_memory_fraction")
    return _fractions.get(number(device), 1.0)


def caching_allocator_alloc(size, device=None, stream=None):
    """Return the address of so many bytes, held until `caching_allocator_delete` is given it."""
    require("caching_allocator_alloc")
    block = ops.empty((size,), dtype=OBJECTS["uint8"], device=_device("cuda", number(device)))
    _blocks[block.data_ptr()] = block
    return block.data_ptr()


def caching_allocator_delete(mem_ptr):
    """Let memory go that `caching_allocator_alloc` made."""
    require("caching_allocator_delete")
    if _blocks.pop(mem_ptr, None) is None:
        raise RuntimeError(f"caching_allocator_delete: got address {mem_ptr}, expected one of caching_allocator_alloc")


def get_allocator_backend():
    """Return "native": memory is the engine's own business."""
    require("get_allocator_backend")
    return "native"
