"""Where new tensors go: to the device that this thread has named, or else to the first GPU, or to the CPU."""
import contextlib
import os
import threading

from dragon.core import config
from dragon.vm.shared.tensors.device import Device
from dragon.vm.shared.tensors.dtypes import OBJECTS

CPU = Device("cpu")
INT32 = OBJECTS["int32"]  # shapes, sizes and places, which the host wants to read: no GPU keeps them unasked
_local = threading.local()
_lock = threading.Lock()
_open = [0]  # how many scopes are open, in all threads
_usual = [None]  # the device where none is named, once somebody has looked
is_plain = [False]  # whether all new tensors are on the CPU: there is no GPU, and no thread has named a device


def default_device(dtype=None):
    """Return the device of new tensors, of a dtype if one is given."""
    return CPU if is_plain[0] else _find(dtype)


def _find(dtype):
    stack = getattr(_local, "stack", None)
    chosen = stack[-1] if stack else None
    if chosen is None:
        chosen = usual_device()
    return CPU if dtype is INT32 and chosen.type == "cuda" else chosen


def usual_device():
    """Return the device of calls that nobody has placed."""
    if _usual[0] is None:
        kind, _, index = config.usual_device().partition(":")
        with _lock:
            _usual[0] = Device(kind, int(index or 0))
            is_plain[0] = not _open[0] and kind == "cpu"
    return _usual[0]


def set_usual_device(device):
    """Have calls that nobody has placed run on a device."""
    config.set_usual_device(device.engine_name)
    _look_again()


def _look_again():
    with _lock:
        _usual[0], is_plain[0] = None, False


config.arrivals.append(_look_again)
os.register_at_fork(after_in_child=_look_again)  # what the parent computed on is no device of the child's


def named_devices():
    """Return what this thread has named, the innermost last; None stands for no choice."""
    return list(getattr(_local, "stack", ()))


class Scope:
    """Name the device of new tensors and of calls within a `with` block, for this thread.

    Parameters
    ----------
    devices : List[Optional[Device]]
        What the block has named, the innermost last.

    """

    def __init__(self, devices):
        self._devices = devices

    def __enter__(self):
        self._before = named_devices()
        with _lock:
            _open[0] += 1
            is_plain[0] = False
        self._put(self._devices)

    def __exit__(self, *_):
        self._put(self._before)
        with _lock:
            _open[0] -= 1
            is_plain[0] = not _open[0] and _usual[0] is not None and _usual[0].type == "cpu"

    @staticmethod
    def _put(devices):
        _local.stack = devices
        config.set_default_device(devices[-1] if devices else None)


def within(device):
    """Return a block in which a device is named; None stands for no choice."""
    return Scope([*named_devices(), device])


class OnHost(Scope):
    """A block in which new tensors and calls are on the host."""

    def __init__(self):
        super().__init__([CPU])


_anywhere = contextlib.nullcontext()  # changes nothing


def beside(x):
    """Return a block in which calls run where a tensor is."""
    return _anywhere if is_plain[0] else within(x.device)


def hosted(elements):
    """Return an iterator whose steps run on the host, whichever thread takes them."""
    return elements if on_host() is _anywhere else _Hosted(iter(elements))


def hosted_call(function):
    """Return a function that runs on the host, whichever thread calls it."""
    def call(*args):
        with on_host():
            return function(*args)
    return function if on_host() is _anywhere else call


class _Hosted:
    """An iterator whose steps run on the host."""

    def __init__(self, elements):
        self._elements = elements

    def __iter__(self):
        return self

    def __next__(self):
        with on_host():
            return next(self._elements)


def on_host():
    """Return a block in which new tensors are on the host: pipelines run there, wherever the model they feed is."""
    return _anywhere if is_plain[0] or not _may_leave_host() else OnHost()


def _may_leave_host():
    """Return whether calls of this thread, or of those that it starts, run elsewhere unless they are told otherwise."""
    return usual_device().type != "cpu" or default_device().type != "cpu"
