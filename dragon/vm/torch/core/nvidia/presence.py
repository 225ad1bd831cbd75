"""Whether there is a CUDA device, and what is said where there is none."""
from dragon.core import accelerator
from dragon.vm.torch.core.accelerators import count, index_of

HINT = "Dragon has no CUDA device here; ask torch.cuda.is_available() first"


def device_count():
    """Return how many CUDA devices there are."""
    return count("cuda")


def is_available():
    """Return whether there is a CUDA device."""
    return device_count() > 0


def require(name):
    """Raise unless there is a CUDA device for a function of `torch.cuda`."""
    if not is_available():
        raise AssertionError(f"Torch not compiled with CUDA enabled: torch.cuda.{name} needs a CUDA device; {HINT} "
                             f"({accelerator.why_no_cuda()})")


def require_for_class(name):
    """Raise unless there is a CUDA device for an object of a class of `torch.cuda`."""
    if not is_available():
        raise RuntimeError(f"torch.cuda.{name} requires CUDA support; {HINT}")


def number(device=None):
    """Return the index of the device that an argument means, the current one for None; raise if there is none."""
    index, devices = index_of(device, "cuda"), device_count()
    index = accelerator.cuda_index() if index is None else index
    if not 0 <= index < devices:
        raise AssertionError(f"Invalid device id: got {index}, expected 0 to {devices - 1}")
    return index


def place(device=None):
    """Return the engine's word for a device."""
    return f"cuda:{number(device)}"
