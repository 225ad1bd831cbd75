"""Switches of the process: threads, devices, the default float dtype, memory, libraries from outside."""
from dragon import _C

default_dtype, device_count, library_folder = _C.default_dtype, _C.device_count, _C.library_folder
set_default_device = _C.set_default_device
usual_device, set_usual_device = _C.usual_device, _C.set_usual_device
arrivals = []  # functions to be called when a library was loaded, which may have brought a device


def set_num_threads(count):
    """Set how many threads kernels may use."""
    _C.set_num_threads(count)


def get_num_threads():
    """Return how many threads kernels may use."""
    return _C.num_threads()


def work_alone(alone):
    """Set whether kernels that this thread runs wake no others, as one of several would; return what was set so far."""
    return _C.work_alone(alone)


def set_allows_tf32(allowed):
    """Set whether float32 products of a device may round their operands to TensorFloat32; the CPU's never do."""
    _C.set_allows_tf32(allowed)


def set_convolutions_allow_tf32(allowed):
    """Set whether float32 convolutions of a device may round their operands to TensorFloat32; they may by default."""
    _C.set_convolutions_allow_tf32(allowed)


def set_allows_vendor_attention(allowed):
    """Set whether attention on a device may be computed by a library of its vendor's."""
    _C.set_allows_vendor_attention(allowed)


def set_allows_vendor_convolution(allowed):
    """Set whether convolutions on a device may be computed by a library of its vendor's."""
    _C.set_allows_vendor_convolution(allowed)


def set_allows_vendor_recurrent(allowed):
    """Set whether recurrent networks on a device may be computed by a library of its vendor's."""
    _C.set_allows_vendor_recurrent(allowed)


def set_measures_vendors(measures):
    """Set whether ways of a vendor's library are measured the first time that a shape comes, instead of believed."""
    _C.set_measures_vendors(measures)


def set_default_dtype(dtype):
    """Set the dtype of Python floats, and of integer tensors in float functions."""
    _C.set_default_dtype(dtype)


def cpu_level():
    """Return the instruction-set level of the CPU kernels in use, e.g. "v4", or "generic" on ARM."""
    return _C.cpu_level()


def has_onednn():
    """Return whether this build has oneDNN, which does large products and convolutions on x86-64."""
    return _C.has_onednn()


def load_library(path):
    """Load operators, kernels or a device from a shared library.

    Parameters
    ----------
    path : str
        Where it lies.

    """
    _C.load_library(str(path))
    for listener in arrivals:
        listener()


def memory_stats(device="cpu"):
    """Return what an allocator holds: a dict of bytes and counts, current and peak.

    Parameters
    ----------
    device : Union[str, Device], optional, default="cpu"
        Whose memory.

    Returns
    -------
    dict
        Numbers by name.

    Examples
    --------
    >>> isinstance(dragon.memory_stats(), dict)
    True

    """
    return _C.memory_stats(device)


def reset_peak_memory(device="cpu"):
    """Start the peaks of `memory_stats` anew from what is held now."""
    _C.reset_peak_memory(device)


def empty_cache(device="cpu"):
    """Give memory that no tensor uses back to the system."""
    _C.empty_cache(device)


def set_memory_limit(limit, device="cpu"):
    """Make allocations that would exceed a number of bytes a MemoryError; 0 lifts the limit."""
    _C.set_memory_limit(limit, device)


def synchronize(device="cpu"):
    """Wait for a device's work to end; the CPU's calls have ended when they return."""
    _C.synchronize(device)
