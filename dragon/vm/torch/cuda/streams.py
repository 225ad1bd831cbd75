"""Streams of CUDA devices: the engine has one for each device, in whose order all work is done."""
import time

from dragon.core import config
from dragon.vm.torch.core.device import device as _device
from dragon.vm.torch.core.nvidia.presence import number, place, require, require_for_class


class Stream:
    """The queue of a device's work, which is done in the order in which it came, whichever stream it was put into.

    Parameters
    ----------
    device : Union[device, int, str], optional
        The device, the current one by default.
    priority : int, optional, default=0
        Kept: one queue has nothing to go before.

    """

    def __init__(self, device=None, priority=0, **kwargs):
        require_for_class("Stream")
        if kwargs:
            raise NotImplementedError(f"torch.cuda.Stream: got {', '.join(kwargs)}, expected a device and a priority: "
                                      "Dragon has one stream for each device")
        self.device_index, self.priority = number(device), priority
        self.device = _device("cuda", self.device_index)

    def synchronize(self):
        """Wait until all work is done."""
        config.synchronize(place(self.device_index))

    def query(self):
        """Return True, when all work is done."""
        self.synchronize()
        return True

    def wait_stream(self, stream):
        """Do nothing: work is done in the order in which it came."""

    def wait_event(self, event):
        """Do nothing: work is done in the order in which it came."""

    def record_event(self, event=None):
        """Mark this point of the queue with an event, a new one by default; return it."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def __eq__(self, other):
        return isinstance(other, Stream) and self.device_index == other.device_index

    def __hash__(self):
        return hash((Stream, self.device_index))

    def __repr__(self):
        return f"<torch.cuda.Stream device={self.device}>"


class Event:
    """A point in a device's queue of work.

    Parameters
    ----------
    enable_timing : bool, optional, default=False
        Whether the time is told between this event and another; recording waits for the work before it then.
    blocking, external : bool, optional, default=False
        How a processor waits; it sleeps in any case.
    interprocess : bool, optional, default=False
        Not supported: other processes cannot see events.

    """

    def __init__(self, enable_timing=False, blocking=False, interprocess=False, external=False):
        require_for_class("Event")
        if interprocess:
            raise NotImplementedError("torch.cuda.Event: got interprocess=True, expected False: other processes cannot "
                                      "see Dragon's events")
        self.enable_timing, self.device = enable_timing, None
        self._at = None

    def record(self, stream=None):
        """Mark the point that the queue of work has reached."""
        self.device = _device("cuda", 0) if stream is None else stream.device
        if self.enable_timing:
            config.synchronize(str(self.device))
        self._at = time.perf_counter()

    def wait(self, stream=None):
        """Do nothing: work is done in the order in which it came."""

    def synchronize(self):
        """Wait until the work before this point is done."""
        if self.device is not None:
            config.synchronize(str(self.device))

    def query(self):
        """Return True, when the work before this point is done."""
        self.synchronize()
        return True

    def elapsed_time(self, end_event):
        """Return the milliseconds from this point to another."""
        for event in (self, end_event):
            if not event.enable_timing or event._at is None:
                raise ValueError("Event.elapsed_time: got an event without a time, expected two that were recorded, "
                                 "and made with enable_timing=True")
        return (end_event._at - self._at) * 1e3

    def __repr__(self):
        return f"<torch.cuda.Event {'uninitialized' if self._at is None else self.device}>"


class StreamContext:
    """Queue work on a stream within a `with` block; nothing for None."""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        if self.stream is not None:
            require("stream")

    def __exit__(self, *_):
        return False


def stream(stream):
    """Return a context that queues work on a stream."""
    return StreamContext(stream)


def current_stream(device=None):
    """Return the device's queue of work."""
    require("current_stream")
    return Stream(device)


def default_stream(device=None):
    """Return the device's queue of work."""
    require("default_stream")
    return Stream(device)


def is_current_stream_capturing():
    """Return False: work is done, never noted down."""
    require("is_current_stream_capturing")
    return False
