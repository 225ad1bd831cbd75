"""Collectives among processes, for a world of one: scripts written for many run alone."""
import logging
import os
import sys

from dragon.core.scopes import contextmanager
from dragon.vm.guest import lookup
from dragon.core import groups as _core_groups
from dragon.vm.torch.distributed import distributed_c10d as _c10d
from dragon.vm.torch.distributed import nccl as _nccl
from dragon.vm.torch.distributed.groups import DebugLevel, QueueEmptyError  # noqa: F401

globals().update((name, value) for name, value in vars(_c10d).items() if not name.startswith("_"))
from dragon.vm.torch.distributed.distributed_c10d import (  # noqa: E402, F401
    _all_gather_base, _coalescing_manager, _CoalescingManager, _get_default_group, _get_process_group_name,
    _rank_not_in_group, _reduce_scatter_base)


def is_available():
    """Return True: a world of one is."""
    return True


GroupName, RankType = str, int
log = logging.getLogger("torch.distributed")
_settings = {"level": DebugLevel.OFF, "communication": None}


def get_debug_level():
    """Return how much is said of what processes do."""
    return _settings["level"]


def set_debug_level(level):
    """Set how much is said of what processes do; one alone has nothing to say."""
    if not isinstance(level, DebugLevel):
        raise TypeError(f"set_debug_level: got {level!r}, expected a DebugLevel")
    _settings["level"] = level
    _core_groups.set_devices_compare(level == DebugLevel.DETAIL)


def set_debug_level_from_env():
    """Set how much is said as TORCH_DISTRIBUTED_DEBUG has it."""
    word = os.environ.get("TORCH_DISTRIBUTED_DEBUG", "OFF").upper()
    if word not in DebugLevel.__members__:
        raise RuntimeError(f"set_debug_level_from_env: got TORCH_DISTRIBUTED_DEBUG={word}, expected one of "
                           f"{', '.join(DebugLevel.__members__)}")
    set_debug_level(DebugLevel[word])


set_debug_level_from_env()


@contextmanager
def record_comm(name):
    """Call the work of processes by a name within a `with` block."""
    before, _settings["communication"] = _settings["communication"], name
    try:
        yield
    finally:
        _settings["communication"] = before


def breakpoint(rank=0, skip=0, timeout_s=3600):
    """Stop in the debugger where this process has a rank, after some times that are passed over.

    Parameters
    ----------
    rank : int, optional, default=0
        The rank.
    skip : int, optional, default=0
        How many times each line is passed over.
    timeout_s : float, optional
        Accepted: the others wait in their next collective, as long as the group's timeout lets them.

    """
    import pdb
    frame = sys._getframe(1)
    place = frame.f_code.co_filename, frame.f_lineno
    _passed[place] = _passed.get(place, 0) + 1
    if _passed[place] > skip and get_rank() == rank:  # noqa: F821: of the file of collectives
        pdb.Pdb().set_trace(frame)


_passed = {}


class _ReduceOp:
    """Of old, the ways to reduce: `ReduceOp` has them now."""

    def __getattr__(self, name):
        from dragon.core import warnings
        if name.startswith("__"):
            raise AttributeError(name)
        warnings.warn("`torch.distributed.reduce_op` is deprecated, please use `torch.distributed.ReduceOp` instead",
                      FutureWarning)
        return getattr(_c10d.ReduceOp, name)


reduce_op = _ReduceOp()


_find, __dir__ = lookup(globals())


def __getattr__(name):
    if name == "ProcessGroupNCCL" and _nccl.is_available():
        return _nccl.ProcessGroupNCCL
    if name in ("DeviceMesh", "init_device_mesh"):
        from dragon.vm.torch.distributed import device_mesh
        return getattr(device_mesh, name)
    return _find(name)
