"""Who is told of calls that make the host wait for a CUDA device without being asked to."""
import sys

from dragon.core import accelerator, warnings
from dragon.vm.torch.core.nvidia.presence import require

MODES = {"default": 0, "warn": 1, "error": 2}
_state = {"mode": 0}


def get_sync_debug_mode():
    """Return 0, 1 or 2: whether nothing is said of calls that wait, or a warning, or an error."""
    require("get_sync_debug_mode")
    return _state["mode"]


def set_sync_debug_mode(debug_mode):
    """Say what is to be done of calls that wait for the device: nothing, a warning, or an error.

    Parameters
    ----------
    debug_mode : Union[str, int]
        "default" or 0, "warn" or 1, "error" or 2.

    """
    require("set_sync_debug_mode")
    mode = MODES.get(debug_mode) if isinstance(debug_mode, str) else debug_mode
    if mode not in (0, 1, 2):
        raise RuntimeError("invalid value of debug_mode, expected one of `default`, `warn`, `error`")
    _state["mode"] = mode
    accelerator.set_wait_watcher(_tell if mode else None)


def _tell(who):
    """Warn, or raise, at the line of the program that led to a wait."""
    if _state["mode"] != 2:
        return warnings.warn(f"called a synchronizing CUDA operation: {who}")
    frame = sys._getframe(1)
    while frame is not None and warnings.is_own(frame.f_code.co_filename):
        frame = frame.f_back
    place = f" at {frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else ""
    raise RuntimeError(f"called a synchronizing CUDA operation: {who}{place}")
