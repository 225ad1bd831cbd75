"""Collectives on a device that are begun and not waited for: on a stream of their own, which waits for the caller's."""
import collections

from dragon import _C
from dragon.core import accelerator, groups, modes
from dragon.core.scopes import ExitStack
from dragon.distributed.errors import DistributedError

POLL_SECONDS = 0.001


class DeviceWork:
    """Something that a device was given. Who waits has its current stream wait; the host goes on.

    Parameters
    ----------
    index : int
        The device's number.
    number : int
        Of the group.
    stream : int
        The stream that has the work.
    result : Any, optional
        What there is once it is done.

    """

    def __init__(self, index, number, stream, result=None):
        self.index, self.result, self.error = index, result, None
        self._number, self._stream = number, stream
        self.event = _C.Event(False, False, False)

    def is_done(self):
        """Return whether the device has done it."""
        return self.event.query()

    def wait(self, seconds=None):
        """Have the current stream wait; with a number of seconds, have the host wait as long. Raise what went wrong."""
        groups.raise_trouble(self._number, f"cuda:{self.index}")
        if seconds is not None:
            self._await(seconds)
        current = accelerator.current_stream(self.index)
        self.event.wait(self.index, current)
        if current != self._stream:
            for tensor in _tensors_of(self.result):  # what was made there may be given up while it is read here
                accelerator.record_stream(tensor, current)

    def _await(self, seconds):
        import time
        end = time.monotonic() + seconds
        while not self.event.query():
            if time.monotonic() >= end:
                raise DistributedError(f"Work: got no end within {seconds:g} seconds, expected one; the other ranks "
                                       "may not have begun")
            time.sleep(POLL_SECONDS)

    def then(self, follower):
        """Have a function called with this; what it gives the current stream comes after the work."""
        self.wait()
        follower(self)


def _tensors_of(result):
    if isinstance(result, _C.Tensor):
        return [result] if result.is_cuda else []
    if isinstance(result, (list, tuple)):
        return [tensor for each in result for tensor in _tensors_of(each)]
    return []


class DeviceQueue:
    """The stream of a group's collectives on a device, and what they still need.

    Parameters
    ----------
    number : int
        Of the group.
    index : int
        Of the device.
    priority : int, optional, default=0
        Of the stream; below 0 its work goes before others'.

    """

    def __init__(self, number, index, priority=0):
        self._number, self._index = number, index
        self._stream = accelerator.new_stream(index, priority)
        self._held = collections.deque()  # calls, whose tensors stay until the device has done them

    def begin(self, call, result=None):
        """Make a call on the stream, after what the current one was given; return its work."""
        while self._held and self._held[0][0].is_done():
            self._held.popleft()
        current = accelerator.current_stream(self._index)
        work, before = DeviceWork(self._index, self._number, self._stream, result), _C.Event(False, False, False)
        before.record(self._index, current)
        before.wait(self._index, self._stream)
        with ExitStack() as exits:
            exits.switch(modes.set_recording, False)
            exits.callback(accelerator.set_current_stream, self._index, current)
            accelerator.set_current_stream(self._index, self._stream)
            call()
            work.event.record(self._index, self._stream)
        self._held.append((work, call))
        return work


def on_stream_of_caller(call, index):
    """Return a call that another thread makes on this one's device and stream."""
    stream, chosen = accelerator.current_stream(index), accelerator.cuda_index()

    def made():
        accelerator.set_cuda_index(chosen)
        accelerator.set_current_stream(index, stream)
        call()
    return made
