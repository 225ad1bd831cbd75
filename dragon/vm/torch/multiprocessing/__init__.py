"""Python's `multiprocessing`, with tensors that travel through shared memory: `torch.multiprocessing`."""
import ctypes
import multiprocessing as _multiprocessing

from dragon.vm.torch.multiprocessing.reductions import init_reductions
from dragon.vm.torch.multiprocessing.spawn import (ProcessContext, ProcessExitedException, ProcessRaisedException,
                                                   SpawnContext, spawn, start_processes)

_names = {name: getattr(_multiprocessing, name) for name in _multiprocessing.__all__}
globals().update(_names)
context, process = _multiprocessing.context, _multiprocessing.process
init_reductions()
_STRATEGIES = {"file_descriptor", "file_system"}
_strategy = "file_descriptor"
PR_SET_NAME = 15


def get_all_sharing_strategies():
    """Return the names that `set_sharing_strategy` takes."""
    return set(_STRATEGIES)


def get_sharing_strategy():
    """Return how shared memory finds its way to other processes."""
    return _strategy


def set_sharing_strategy(new_strategy):
    """Set how shared memory finds its way: by descriptor. The name "file_system" is taken, and means the same here.

    Blocks have no names, so nothing is left behind, and few descriptors are open, as blocks are used again.
    """
    global _strategy
    if new_strategy not in _STRATEGIES:
        raise AssertionError(f"set_sharing_strategy: got {new_strategy!r}, expected one of {sorted(_STRATEGIES)}")
    _strategy = new_strategy


def _set_thread_name(name):
    """Give this thread a name that `top` shows."""
    ctypes.CDLL(None).prctl(PR_SET_NAME, name.encode()[:15], 0, 0, 0)
