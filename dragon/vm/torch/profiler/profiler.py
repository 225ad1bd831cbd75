"""A profile that knows steps: which to skip, which to watch, and what to do with what was seen."""
import json
import os
import socket
import time
from enum import Enum

from dragon.core import warnings
from dragon.vm.torch.autograd import profiler as watching
from dragon.vm.torch.autograd.profiler_util import EventList, write_trace


class ProfilerAction(Enum):
    """The actions that a step may call for."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class ProfilerActivity(Enum):
    """The devices that are watched; here it is the CPU."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


def supported_activities():
    """Return what can be watched."""
    return {ProfilerActivity.CPU}


def schedule(*, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    """Return a function from the number of a step to what is done with it.

    Parameters
    ----------
    wait : int
        Steps of a round that are not watched.
    warmup : int
        Steps that are watched and forgotten.
    active : int
        Steps that are watched.
    repeat : int, optional, default=0
        How many rounds; 0 for ever.
    skip_first : int, optional, default=0
        Steps before the first round.
    skip_first_wait : int, optional, default=0
        If not 0, the first round does not wait.

    Returns
    -------
    Callable[[int], ProfilerAction]
        The function.

    """
    if min(wait, warmup, repeat, skip_first, skip_first_wait) < 0 or active <= 0:
        raise AssertionError("Invalid profiler schedule arguments: expected active > 0 and none of the others below 0")
    if warmup == 0:
        warnings.warn("Profiler won't be using warmup, this can skew profiler results")
    length = wait + warmup + active

    def choose(step):
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait != 0:
            step += wait
        if repeat > 0 and step / length >= repeat:
            return ProfilerAction.NONE
        place = step % length
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if place == length - 1 else ProfilerAction.RECORD
    return choose


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False, use_python_export=False):
    """Return a function that writes a profile's trace into a folder, under a name of its own."""
    def handle(prof):
        os.makedirs(dir_name, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json" + (".gz" if use_gzip else "")
        prof.export_chrome_trace(os.path.join(dir_name, name))
    return handle


class profile:
    """Watch what runs within a `with` block, step by step.

    Parameters
    ----------
    activities : Iterable[ProfilerActivity], optional
        What to watch; the CPU is.
    schedule : Callable[[int], ProfilerAction], optional
        What is done with which step; by default all is watched.
    on_trace_ready : Callable[[profile], Any], optional
        Called when a round of steps has been watched.
    record_shapes : bool, optional, default=False
        Whether to note the shapes of arguments.
    profile_memory : bool, optional, default=False
        Whether tables show the bytes of results.
    with_stack : bool, optional, default=False
        Whether events know the user's functions around them, for `export_stacks`.
    with_modules : bool, optional, default=False
        Accepted; the functions around an event tell its modules.
    with_flops : bool, optional, default=False
        Not supported.
    acc_events : bool, optional, default=False
        Whether the events of all rounds are kept.

    """

    def __init__(self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False,
                 profile_memory=False, with_stack=False, with_flops=False, with_modules=False,
                 experimental_config=None, execution_trace_observer=None, acc_events=False, use_cuda=None,
                 custom_trace_id_callback=None, post_processing_timeout_s=None):
        if with_flops:
            raise NotImplementedError("profile: got with_flops=True, expected False: Dragon counts no operations")
        if execution_trace_observer is not None:
            raise NotImplementedError("profile: got an execution_trace_observer, expected None: Dragon has none")
        self.activities = set(activities) if activities else supported_activities()
        self.options = {"record_shapes": record_shapes, "profile_memory": profile_memory}
        self.with_stack = with_stack
        self.schedule = schedule or (lambda step: ProfilerAction.RECORD)
        self.record_steps = schedule is not None
        self.on_trace_ready = on_trace_ready
        self.acc_events = acc_events
        self.step_num = 0
        self.current_action = self.schedule(0)
        self.profiler = None
        self.metadata = {}
        self.step_rec_fn = None
        self._events = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.stop()

    def start(self):
        """Begin with the first step."""
        self._begin(self.current_action)

    def stop(self):
        """End the last step."""
        self._end_step_mark()
        if self.profiler is None:
            return
        watched = self.current_action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        self._stop_watching(keep=watched)
        if watched and self.on_trace_ready:
            self.on_trace_ready(self)

    def step(self):
        """End a step, and begin the next."""
        self._end_step_mark()
        before, self.step_num = self.current_action, self.step_num + 1
        self.current_action = self.schedule(self.step_num)
        recorded = before in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        goes_on = before == ProfilerAction.RECORD and self.current_action.value >= ProfilerAction.RECORD.value
        if not goes_on:
            if self.profiler is not None:
                self._stop_watching(keep=recorded)
            if before == ProfilerAction.RECORD_AND_SAVE and self.on_trace_ready:
                self.on_trace_ready(self)
        self._begin(self.current_action)

    def _begin(self, action):
        """Watch, unless that is being done or not wanted, and mark the step."""
        if action != ProfilerAction.NONE and self.profiler is None:
            self.profiler = watching.profile(**self.options, with_stack=self.with_stack)
            self.profiler.__enter__()
        if self.record_steps and action != ProfilerAction.NONE:
            self.step_rec_fn = watching.record_function(f"ProfilerStep#{self.step_num}")
            self.step_rec_fn.__enter__()

    def _end_step_mark(self):
        if self.step_rec_fn is not None:
            self.step_rec_fn.__exit__(None, None, None)
            self.step_rec_fn = None

    def _stop_watching(self, keep):
        self.profiler.__exit__(None, None, None)
        found, self.profiler = self.profiler.function_events, None
        if keep:
            earlier = self._events if self.acc_events and self._events else []
            self._events = EventList([*earlier, *found], **self.options)

    def events(self):
        """Return what was seen."""
        if self._events is None:
            raise AssertionError("profile: nothing has been watched yet, or the profile is still at work")
        return self._events

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False):
        """Return sums of the events by name."""
        return self.events().key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def export_chrome_trace(self, path):
        """Write the events for chrome://tracing and its kin."""
        write_trace(path, self.events(), self.metadata)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        """Write the events with the functions around them, the outermost first, for flame graphs.

        Parameters
        ----------
        path : Union[str, os.PathLike]
            The file.
        metric : str, optional, default="self_cpu_time_total"
            The number behind each line, in microseconds.

        """
        if self._events is None:
            raise AssertionError("Profiler must be initialized before exporting stacks")
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        self.events().export_stacks(path, metric)

    def export_memory_timeline(self, path, device=None):
        """Say that memory is not followed over time."""
        raise NotImplementedError("export_memory_timeline: Dragon's profile knows the bytes of results only")

    def add_metadata(self, key, value):
        """Add a text to the trace."""
        self.metadata[key] = value

    def add_metadata_json(self, key, value):
        """Add something given as JSON to the trace."""
        self.metadata[key] = json.loads(value)

    preset_metadata_json = add_metadata_json

    def toggle_collection_dynamic(self, enable, activities):
        """Say that watching cannot be interrupted."""
        raise NotImplementedError("toggle_collection_dynamic: use a schedule to choose what is watched")
