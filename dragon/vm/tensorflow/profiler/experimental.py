"""`tf.profiler.experimental`: what one thread calls, and for how long, as a Chrome trace in a log folder.

The trace is `plugins/profile/<time>/<host>.trace.json.gz`, where TensorFlow writes `<host>.xplane.pb`: chrome://tracing
and ui.perfetto.dev open it as it is. It is no `xplane.pb`: tools that read only those, as the Profile tab of newer
TensorBoards does, do not list it.
"""
import gzip
import json
import os
import socket
import threading
import time
import typing

from dragon.core import files
from dragon.core.profile import profile as _profile
from dragon.vm.tensorflow.errors import AlreadyExistsError, UnavailableError

_lock = threading.Lock()
_sessions = []  # the one that runs


class ProfilerOptions(typing.NamedTuple):
    """What is noted.

    Attributes
    ----------
    host_tracer_level : int
        0 notes nothing, 1 what stands in a `Trace`, 2 operators as well, 3 the shapes of their tensors, too.
    python_tracer_level : int
        From 1 on, the program's functions around the operators are noted.
    device_tracer_level : int
        Accepted: operators are noted where they are called, whatever device computes them.
    delay_ms : Optional[int]
        What starts before so many milliseconds have passed is left out.

    """

    host_tracer_level: int = 2
    python_tracer_level: int = 0
    device_tracer_level: int = 1
    delay_ms: typing.Optional[int] = None


class _Session:
    def __init__(self, logdir, options):
        self.logdir, self.thread, self.spans = os.fspath(logdir), threading.get_ident(), []
        self.begin = time.monotonic_ns() + round((options.delay_ms or 0) * 1e6)
        self.host_level = options.host_tracer_level
        self.noted = _profile(shapes=self.host_level > 2, lines=options.python_tracer_level > 0)
        if self.host_level > 1:
            self.noted.__enter__()

    def trace(self):
        """Return the trace; its times begin at 0."""
        self.noted.events = events = [event for event in self.noted.events if event.start >= self.begin]
        spans = [span for span in self.spans if span[1] >= self.begin]
        trace = self.noted.chrome_trace()
        slices = trace["traceEvents"]
        first = min((event.start for event in events), default=0)
        slices += [{"ph": "X", "name": name, "cat": "trace", "pid": os.getpid(), "tid": thread,
                    "ts": (start - first) / 1e3, "dur": (end - start) / 1e3, "args": details}
                   for name, start, end, thread, details in spans]
        begin = min((entry["ts"] for entry in slices), default=0)
        for entry in slices:
            entry["ts"] -= begin
        return trace

    def write(self):
        folder = os.path.join(self.logdir, "plugins", "profile", time.strftime("%Y_%m_%d_%H_%M_%S"))
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, f"{socket.gethostname()}.trace.json.gz")
        files.write(path, gzip.compress(json.dumps(self.trace()).encode()))


def start(logdir, options=None):
    """Note what this thread calls, until `stop`.

    Parameters
    ----------
    logdir : Union[str, os.PathLike]
        The log folder.
    options : ProfilerOptions, optional
        What is noted.

    """
    if options is not None and not hasattr(options, "host_tracer_level"):
        raise TypeError(f"tf.profiler.experimental.start: got options={options!r}, expected ProfilerOptions")
    with _lock:
        if _sessions:
            raise AlreadyExistsError(None, None, "Another profiler is running.")
        try:
            _sessions.append(_Session(logdir, options or ProfilerOptions()))
        except RuntimeError as error:  # one of Dragon's, or of another face
            raise AlreadyExistsError(None, None, f"Another profiler is running: {error}") from None


def stop(save=True):
    """Stop, and write the trace.

    Parameters
    ----------
    save : bool, optional, default=True
        Whether it is written; else it is dropped.

    """
    with _lock:
        if not _sessions:
            raise UnavailableError(None, None, "Cannot export profiling results. No profiler is running.")
        if _sessions[0].thread != threading.get_ident():
            raise UnavailableError(None, None, "stop: got another thread than the one that called start")
        session = _sessions.pop()
        if session.host_level > 1:
            session.noted.__exit__()
    if save:
        session.write()


class Profile:
    """Note what runs within a `with` block, from `start` to `stop`."""

    def __init__(self, logdir, options=None):
        self._logdir, self._options = logdir, options

    def __enter__(self):
        start(self._logdir, self._options)

    def __exit__(self, typ, value, tb):
        stop()


class Trace:
    """Note a stretch of code by name, and what is told of it, within a `with` block while a profiler runs."""

    def __init__(self, name, **kwargs):
        self._name, self._details, self._start = name, kwargs, None

    def __enter__(self):
        self._start = time.monotonic_ns() if _sessions and _sessions[0].host_level > 0 else None
        return self

    def set_metadata(self, **kwargs):
        """Tell more of the stretch: names and values."""
        self._details.update(kwargs)

    def __exit__(self, exc_type, exc_val, exc_tb):
        session = next(iter(_sessions), None)
        if self._start is not None and session is not None:
            details = {name: str(value) for name, value in self._details.items()}
            session.spans.append((str(self._name), self._start, time.monotonic_ns(), threading.get_ident(), details))
