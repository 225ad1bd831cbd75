"""Streams and events of CUDA devices: the engine's own, by their addresses."""
import ctypes

from dragon import _C
from dragon.core import accelerator
from dragon.vm.torch.core.device import device as _device
from dragon.vm.torch.core.nvidia.presence import number, require, require_for_class


class Stream:
    """A queue of a device's work, done in the order in which it came; other streams' work goes on beside it.

    Parameters
    ----------
    device : Union[device, int, str], optional
        The device, the current one by default.
    priority : int, optional, default=0
        Below 0 the work goes before that of other streams.
    stream_id, device_index, device_type : int, optional
        What another stream tells of itself, to stand for that one.

    """

    def __new__(cls, device=None, priority=0, **kwargs):
        require_for_class("Stream")
        unknown = set(kwargs) - {"stream_id", "device_index", "device_type", "stream_ptr"}
        if unknown:
            raise TypeError(f"torch.cuda.Stream: got an unexpected keyword argument {sorted(unknown)[0]!r}")
        self = object.__new__(cls)
        self.device_index = number(kwargs.get("device_index", device))
        address = kwargs.get("stream_ptr", kwargs.get("stream_id"))
        self.cuda_stream = accelerator.new_stream(self.device_index, priority) if address is None else int(address)
        return self

    @property
    def device(self):
        """The device whose work it queues."""
        return _device("cuda", self.device_index)

    @property
    def device_type(self):
        """The number of CUDA among kinds of devices."""
        return 1

    @property
    def stream_id(self):
        """What tells it from other streams of the device."""
        return self.cuda_stream

    @property
    def _as_parameter_(self):
        return ctypes.c_void_p(self.cuda_stream)

    @property
    def priority(self):
        """The number that it was made with, within what the device knows."""
        return accelerator.stream_priority(self.device_index, self.cuda_stream)

    @staticmethod
    def priority_range():
        """Return the least and the greatest priority of the current device."""
        require("Stream.priority_range")
        return accelerator.stream_priority_range()

    def synchronize(self):
        """Wait until all work that it was given is done."""
        accelerator.synchronize_stream(self.device_index, self.cuda_stream)

    def query(self):
        """Return whether all work that it was given is done."""
        return accelerator.stream_is_done(self.device_index, self.cuda_stream)

    def wait_stream(self, stream):
        """Have later work wait for what another stream was given until now."""
        self.wait_event(stream.record_event())

    def wait_event(self, event):
        """Have later work wait for an event."""
        event.wait(self)

    def record_event(self, event=None):
        """Mark this point with an event, a new one by default; return it."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def __enter__(self):
        contexts = self.__dict__.setdefault("_contexts", [])
        contexts.append(StreamContext(self))
        contexts[-1].__enter__()
        return self

    def __exit__(self, *_):
        self._contexts.pop().__exit__()

    def __eq__(self, other):
        return isinstance(other, Stream) and (self.device_index, self.cuda_stream) == (
            other.device_index, other.cuda_stream)

    def __hash__(self):
        return hash((self.device_index, self.cuda_stream))

    def __repr__(self):
        return f"<torch.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


class ExternalStream(Stream):
    """A stream that another library made.

    Parameters
    ----------
    stream_ptr : int
        Its address.
    device : Union[device, int, str], optional
        The device, the current one by default.

    """

    def __new__(cls, stream_ptr, device=None, **kwargs):
        return super().__new__(cls, device=device, stream_ptr=stream_ptr)


class Event:
    """A point in a stream's work.

    Parameters
    ----------
    enable_timing : bool, optional, default=False
        Whether the time between it and another one is told.
    blocking : bool, optional, default=False
        Whether a processor that waits for it sleeps.
    interprocess : bool, optional, default=False
        Whether other processes can wait for it: see `ipc_handle`.
    external : bool, optional, default=False
        Not supported: within a graph that is noted down, an event is part of the graph.

    """

    def __init__(self, enable_timing=False, blocking=False, interprocess=False, external=False):
        require_for_class("Event")
        if external:
            raise NotImplementedError(f"torch.cuda.Event: got external={external}, expected False: Dragon's events are "
                                      "seen by their own graph alone")
        if interprocess and enable_timing:
            raise RuntimeError("torch.cuda.Event: got interprocess=True and enable_timing=True, expected one of them: "
                               "CUDA tells no times of events that other processes see")
        self.enable_timing, self._is_shared = enable_timing, bool(interprocess)
        self._event = _C.Event(bool(enable_timing), bool(blocking), bool(interprocess))

    def ipc_handle(self):
        """Return bytes by which another process finds the event: `from_ipc_handle` takes them."""
        if not self._is_shared:
            raise RuntimeError("torch.cuda.Event.ipc_handle: got an event of this process alone, expected one made "
                               "with interprocess=True")
        return self._event.lend(accelerator.cuda_index())

    @classmethod
    def from_ipc_handle(cls, device, handle):
        """Return an event of another process on a device."""
        made = cls()
        made._event, made._is_shared = _C.Event.borrow(number(device), handle), True
        return made

    @property
    def device(self):
        """The device on which it was recorded; None before that."""
        return _device("cuda", self._event.index) if self._event.is_recorded else None

    @property
    def cuda_event(self):
        """The address by which CUDA knows it; 0 until it is recorded."""
        return self._event.handle

    def record(self, stream=None):
        """Mark the point that a stream, the current one by default, has reached."""
        stream = current_stream() if stream is None else stream
        self._event.record(stream.device_index, stream.cuda_stream)

    def wait(self, stream=None):
        """Have a stream's later work wait for this point."""
        stream = current_stream() if stream is None else stream
        self._event.wait(stream.device_index, stream.cuda_stream)

    def synchronize(self):
        """Wait until the work before this point is done."""
        self._event.synchronize()

    def query(self):
        """Return whether the work before this point is done."""
        return self._event.query()

    def elapsed_time(self, end_event):
        """Return the milliseconds from this point to another."""
        for event in (self, end_event):
            if not event.enable_timing or not event._event.is_recorded:
                raise ValueError("Both events must be recorded before calculating elapsed time, and made with argument "
                                 "'enable_timing=True'.")
        if not (self.query() and end_event.query()):
            raise RuntimeError("Event.elapsed_time: got an event that has not come yet: Both events must be completed "
                               "before calculating elapsed time.")
        return self._event.elapsed(end_event._event)

    def __repr__(self):
        return (f"<torch.cuda.Event {self.cuda_event:#x}>" if self._event.is_recorded
                else "<torch.cuda.Event uninitialized>")


class StreamContext:
    """Queue work on a stream within a `with` block; nothing for None.

    Parameters
    ----------
    stream : Stream, optional
        The stream.

    """

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        if self.stream is None:
            return
        require("stream")
        self._index, index = accelerator.cuda_index(), self.stream.device_index
        self._before = accelerator.current_stream(index)
        accelerator.set_cuda_index(index)
        accelerator.set_current_stream(index, self.stream.cuda_stream)

    def __exit__(self, *_):
        if self.stream is not None:
            accelerator.set_current_stream(self.stream.device_index, self._before)
            accelerator.set_cuda_index(self._index)


def stream(stream):
    """Return a context that queues work on a stream."""
    return StreamContext(stream)


def set_stream(stream):
    """Queue this thread's work on a stream from now on."""
    if stream is not None:
        require("set_stream")
        accelerator.set_cuda_index(stream.device_index)
        accelerator.set_current_stream(stream.device_index, stream.cuda_stream)


def current_stream(device=None):
    """Return the stream on which this thread's work goes."""
    require("current_stream")
    index = number(device)
    return Stream(device_index=index, stream_ptr=accelerator.current_stream(index))


def default_stream(device=None):
    """Return the stream on which work goes where no other is named."""
    require("default_stream")
    index = number(device)
    return Stream(device_index=index, stream_ptr=accelerator.default_stream(index))


def get_stream_from_external(data_ptr, device=None):
    """Return a stream that another library made."""
    require("get_stream_from_external")
    return ExternalStream(data_ptr, device)


def is_current_stream_capturing():
    """Return whether this thread's work is noted down in a graph instead of being done."""
    require("is_current_stream_capturing")
    return accelerator.is_capturing(accelerator.cuda_index())
