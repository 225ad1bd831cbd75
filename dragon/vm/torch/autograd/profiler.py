"""Watching what runs, and for how long: the engine notes its calls, the user's marks join them."""
import functools
import threading
import time

from dragon.core.profile import stack, start_profile, stop_profile
from dragon.vm.torch.autograd.profiler_util import (EventList, FunctionEvent, FunctionEventAvg, build_events,  # noqa
                                                    write_trace)

_state = threading.local()


def _marks():
    """Return where this thread's marks are noted, or None while nothing is watched."""
    return getattr(_state, "marks", None)


class record_function:
    """Note a stretch of code by name, within a `with` block or a decorated function.

    Parameters
    ----------
    name : str
        What the profile calls it.
    args : str, optional
        A remark.

    """

    def __init__(self, name, args=None):
        self.name, self.args = name, args
        self.starts = []

    def __enter__(self):
        self.starts.append(time.monotonic_ns())
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        start, marks = self.starts.pop(), _marks()
        if marks is not None:
            end = time.monotonic_ns()
            marks.append((self.name, start, end, stack() if _state.with_stack else ""))

    def __call__(self, function):
        @functools.wraps(function)
        def marked(*args, **kwargs):
            with record_function(self.name, self.args):
                return function(*args, **kwargs)
        return marked


def _enter(name, args=None):
    """Return a stretch of code that begins now."""
    return record_function(name, args).__enter__()


def _exit(handle):
    """End a stretch of code."""
    if not isinstance(handle, record_function):
        raise TypeError(f"_record_function_exit: got a {type(handle).__name__}, expected what "
                        "_record_function_enter returned")
    handle.__exit__(None, None, None)


# The same as operators, `torch.ops.profiler`, for programs that write them into graphs.
MARKS = {"_record_function_enter": _enter, "_record_function_enter_new": _enter, "_record_function_exit": _exit}


class profile:
    """Watch what runs within a `with` block.

    Parameters
    ----------
    enabled : bool, optional, default=True
        Whether to watch.
    use_device : str, optional
        Only the CPU is watched.
    record_shapes : bool, optional, default=False
        Whether to note the shapes of arguments.
    profile_memory : bool, optional, default=False
        Whether tables show the bytes of results.
    with_stack : bool, optional, default=False
        Whether events know the user's functions around them.
    use_cuda, with_flops, with_modules, use_kineto, use_cpu, experimental_config, acc_events : optional
        Accepted where they have their defaults or can be left aside: there is one way of watching.

    Examples
    --------
    >>> with torch.autograd.profiler.profile() as prof:
    ...     y = x @ x
    >>> print(prof.key_averages().table(sort_by="self_cpu_time_total"))

    """

    def __init__(self, enabled=True, *, use_cuda=False, use_device=None, record_shapes=False, with_flops=False,
                 profile_memory=False, with_stack=False, with_modules=False, use_kineto=False, use_cpu=True,
                 experimental_config=None, acc_events=False, custom_trace_id_callback=None,
                 post_processing_timeout_s=None, activity_filters=None):
        if with_flops:
            raise NotImplementedError("profile: got with_flops=True, expected False: Dragon counts no operations")
        self.enabled, self.with_stack = enabled, with_stack
        self.options = {"profile_memory": profile_memory, "record_shapes": record_shapes}
        self.acc_events = acc_events
        self.function_events = None
        self.entered = False

    def __enter__(self):
        if not self.enabled:
            return self
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        if _marks() is not None:
            raise RuntimeError("Can't have two profilers at once: another one watches this thread")
        self.entered = True
        _state.marks = []
        self.begin = time.monotonic_ns()
        _state.with_stack = self.with_stack
        start_profile(self.options["record_shapes"], stack if self.with_stack else None)
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        if not self.enabled:
            return False
        calls = stop_profile()
        marks, _state.marks = _state.marks, None
        self.entered = False
        found = build_events(calls, marks, self.begin, self.options)
        self.function_events = EventList([*self.function_events, *found], **self.options) \
            if self.acc_events and self.function_events else found
        return False

    def _check_finish(self):
        if self.function_events is None:
            raise RuntimeError("Profiler didn't finish running")
        return self.function_events

    def __repr__(self):
        return "<unfinished torch.autograd.profile>" if self.function_events is None else repr(self.function_events)

    def __str__(self):
        return "<unfinished torch.autograd.profile>" if self.function_events is None else str(self.function_events)

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False):
        """Return sums of the events by name."""
        return self._check_finish().key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75, max_name_column_width=55,
              max_shapes_column_width=80, header=None, top_level_events_only=False, time_unit=None):
        """Return the events as a table."""
        return self._check_finish().table(sort_by, row_limit, max_src_column_width, max_name_column_width,
                                          max_shapes_column_width, header, top_level_events_only, time_unit)

    def total_average(self):
        """Return the sum of all events."""
        return self._check_finish().total_average()

    def export_chrome_trace(self, path):
        """Write the events for chrome://tracing and its kin."""
        write_trace(path, self._check_finish())

    def export_stacks(self, path, metric="self_cpu_time_total"):
        """Write the events with the functions around them, for flame graphs."""
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        self._check_finish().export_stacks(path, metric)

    self_cpu_time_total = property(lambda self: self._check_finish().self_cpu_time_total, doc="The time of all events.")


class emit_nvtx:
    """Would show calls to NVIDIA's profiler."""

    def __init__(self, enabled=True, record_shapes=False):
        self.enabled = enabled

    def __enter__(self):
        if self.enabled:
            raise NotImplementedError("emit_nvtx: Dragon tells nothing to NVTX")
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        return False


class emit_itt(emit_nvtx):
    """Would show calls to Intel's profiler."""

    def __enter__(self):
        if self.enabled:
            raise NotImplementedError("emit_itt: Dragon tells nothing to ITT")
        return self


def kineto_available():
    """Return whether events may be kept as traces: they may."""
    return True
