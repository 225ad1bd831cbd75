"""The accelerator, whichever there is, under one name."""
from dragon.vm.torch import cuda
from dragon.vm.torch.core.accelerators import index_of, refusal
from dragon.vm.torch.core.device import device as _device
from dragon.vm.torch.core.sentences import named


def is_available():
    """Return whether there is an accelerator."""
    return cuda.is_available()


def device_count():
    """Return how many there are."""
    return cuda.device_count()


def current_accelerator(check_available=False):
    """Return the accelerator's device type; None without one."""
    return _device("cuda") if is_available() else None


def _require(name):
    if not is_available():
        raise _refuse(name)


def _refuse(name):
    return RuntimeError(f"Cannot access accelerator device when none is available: torch.accelerator.{name}; "
                        "ask torch.accelerator.is_available() first")


def synchronize(device=None, /):
    """Wait for the accelerator."""
    _require("synchronize")
    cuda.synchronize(device)


def current_device_index():
    """Return the index of the current device."""
    _require("current_device_index")
    return cuda.current_device()


current_device_idx = current_device_index


class device_index:
    """Make a device the current one within a `with` block; nothing for None."""

    def __init__(self, device, /):
        self.idx = device

    def __enter__(self):
        if self.idx is not None:
            _require("device_index")
            cuda.set_device(index_of(self.idx, "cuda"))

    def __exit__(self, *_):
        return False


# Names here, and those in torch.cuda that do the work; the same ones unless told.
_TOLD = {"set_device_index": "set_device", "set_device_idx": "set_device", "get_memory_info": "mem_get_info"}


def _delegate(name):
    def use(*args, **kwargs):
        _require(name)
        return getattr(cuda, _TOLD.get(name, name))(*args, **kwargs)
    return named(use, name, f"Do as `torch.cuda.{_TOLD.get(name, name)}`; raise without an accelerator.")


for _name in """set_device_index set_device_idx current_stream set_stream empty_cache memory_allocated memory_reserved
                max_memory_allocated max_memory_reserved memory_stats reset_peak_memory_stats get_memory_info
                get_device_capability""".split():
    globals()[_name] = _delegate(_name)
for _name in ("reset_accumulated_memory_stats", "empty_host_cache"):
    globals()[_name] = refusal(_name, _refuse)
