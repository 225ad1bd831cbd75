"""Where and when operators run: on the host, at once; what asks for else is told so, or is of no matter."""
import enum
import os
import threading

from dragon.vm.dali.core.atonce import THREADS
from dragon.vm.dali.core.devices import tell
from dragon.vm.dali.core.refusals import got

_current = threading.local()


class Nested:
    """What is current within a `with` block."""

    def __enter__(self):
        stack_of(type(self)).append(self)
        return self

    def __exit__(self, *_):
        stack_of(type(self)).pop()

    @classmethod
    def current(cls):
        """Return the innermost one."""
        stack = stack_of(cls)
        return stack[-1] if stack else cls()


def stack_of(kind):
    """Return the stack of what is current in this thread."""
    stacks = _current.__dict__.setdefault("stacks", {})
    return stacks.setdefault(kind, [])


class Device(Nested):
    """A place for numbers: the host, whatever the program says.

    Parameters
    ----------
    device_type : str, optional, default="cpu"
        "cpu", or "gpu", which one warning answers.
    device_id : int, optional
        Which one.

    """

    def __init__(self, device_type="cpu", device_id=None):
        device_type, _, number = str(device_type).partition(":")
        if device_type not in ("cpu", "gpu"):
            raise ValueError(got("Device", device_type, "'cpu' or 'gpu'"))
        if device_type == "gpu":
            tell("gpu")
        self.device_type, self.device_id = "cpu", None
        self.asked = device_type, int(number) if number else device_id

    def __repr__(self):
        return f"Device(device_type={self.device_type!r})"

    def __str__(self):
        return self.device_type

    def __eq__(self, other):
        return isinstance(other, Device) and self.device_type == other.device_type

    def __hash__(self):
        return hash(self.device_type)


Device.CPU = Device()


def device(obj):
    """Return a device, given itself, its name, or None for the current one."""
    return Device.current() if obj is None else obj if isinstance(obj, Device) else Device(obj)


class EvalMode(enum.Enum):
    """When operators run: at once in each of them, so that errors come where they are made."""

    deferred = 1
    eager = 2
    sync_cpu = 3
    sync_full = 4
    default = 2

    def __enter__(self):
        stack_of(EvalMode).append(self)

    def __exit__(self, *_):
        stack_of(EvalMode).pop()

    @staticmethod
    def current():
        """Return the mode that is set."""
        stack = stack_of(EvalMode)
        return stack[-1] if stack else EvalMode.default


class ThreadPool:
    """Threads that operators share; all calls have the same ones.

    Parameters
    ----------
    num_threads : int
        How many.

    """

    def __init__(self, num_threads):
        if num_threads < 1:
            raise ValueError(got("ThreadPool", f"num_threads={num_threads}", "a positive number"))
        self.num_threads = num_threads


class EvalContext(Nested):
    """What calls stand in: threads, and a device.

    Parameters
    ----------
    num_threads : int, optional
        How many threads operators share.
    device_id, cuda_stream : optional
        Of a device; there is none.
    thread_pool : ThreadPool, optional
        Says the number of threads.

    """

    def __init__(self, num_threads=None, device_id=None, cuda_stream=None, *, thread_pool=None):
        self.device_id, self.cuda_stream, self.thread_pool = device_id, cuda_stream, thread_pool
        self.num_threads = num_threads or (thread_pool.num_threads if thread_pool else get_num_threads())
        self._before = []  # it may be entered again while it is entered

    def __enter__(self):
        self._before.append(THREADS.count)
        THREADS.count = self.num_threads
        return super().__enter__()

    def __exit__(self, *_):
        THREADS.count = self._before.pop()
        super().__exit__()

    def evaluate_all(self):
        """Do nothing: everything is computed when it is called."""


def get_num_threads():
    """Return how many threads operators share."""
    return THREADS.count or len(os.sched_getaffinity(0))


def set_num_threads(num_threads):
    """Have operators share so many threads."""
    if num_threads < 1:
        raise ValueError(got("set_num_threads", num_threads, "a positive number"))
    THREADS.count = num_threads
