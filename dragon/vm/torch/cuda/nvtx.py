"""Ranges for NVIDIA's profilers, through the library that they bring along."""
import ctypes
import functools

from dragon.core.scopes import contextmanager

LIBRARIES = ("libnvToolsExt.so.1", "libnvtx3interop.so.1", "libnvtx3interop.so")


@functools.cache
def _library():
    for name in LIBRARIES:
        try:
            found = ctypes.CDLL(name)
            found.nvtxRangeStartA.restype, found.nvtxRangeEnd.argtypes = ctypes.c_uint64, [ctypes.c_uint64]
            return found
        except (OSError, AttributeError):
            continue
    return None


def _tool(name):
    found = _library()
    if found is None:
        raise RuntimeError(f"NVTX functions not installed. Are you sure you have a CUDA build? torch.cuda.nvtx.{name} "
                           f"needs one of {', '.join(LIBRARIES)}: CUDA's toolkit and nvidia-nvtx have one")
    return found


def range_push(msg):
    """Begin a range within this thread's others; return how many it lies in."""
    return _tool("range_push").nvtxRangePushA(str(msg).encode())


def range_pop():
    """End the innermost range; return how many it lay in."""
    return _tool("range_pop").nvtxRangePop()


def range_start(msg):
    """Begin a range that may end anywhere; return its number."""
    return _tool("range_start").nvtxRangeStartA(str(msg).encode())


def range_end(range_id):
    """End a range by its number."""
    _tool("range_end").nvtxRangeEnd(range_id)


def mark(msg):
    """Mark a moment."""
    _tool("mark").nvtxMarkA(str(msg).encode())


@contextmanager
def range(msg, *args, **kwargs):
    """Return a context, or a decorator, whose time is a range."""
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
