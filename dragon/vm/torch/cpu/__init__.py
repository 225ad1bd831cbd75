"""The CPU, spoken to as if it were an accelerator."""
from dragon.core import config


def is_available():
    """Return True."""
    return True


def is_initialized():
    """Return True."""
    return True


def device_count():
    """Return 1."""
    return 1


def current_device():
    """Return "cpu"."""
    return "cpu"


def set_device(device):
    """Do nothing: there is one CPU."""


def synchronize(device=None):
    """Do nothing: work on the CPU is done when a call returns."""


class Stream:
    """A queue of work; on the CPU work is done at once."""

    def __init__(self, priority=-1):
        pass

    def wait_stream(self, stream):
        """Do nothing: the other stream's work is done."""

    def record_event(self):
        """Do nothing: there is nothing to wait for."""

    def wait_event(self, event):
        """Do nothing: there is nothing to wait for."""


class Event:
    """A point in a queue of work, which has been reached."""

    def query(self):
        """Return True."""
        return True

    def record(self, stream=None):
        """Do nothing: there is nothing to wait for."""

    def synchronize(self):
        """Do nothing: there is nothing to wait for."""

    def wait(self, stream=None):
        """Do nothing: there is nothing to wait for."""


_stream = Stream()


def current_stream(device=None):
    """Return the only stream."""
    return _stream


class StreamContext:
    """Work on a stream within a `with` block."""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        return None

    def __exit__(self, *_):
        return False


def stream(stream):
    """Return a context that works on a stream."""
    return StreamContext(stream)


def get_capabilities():
    """Return what the processor can do, as far as the engine asks."""
    return {"cpu_level": config.cpu_level()}
