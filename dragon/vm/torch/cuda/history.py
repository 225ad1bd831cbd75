"""What happened to devices' memory, and where in the program: in the form that viewers of PyTorch's snapshots read."""
import pickle
import sys
import time
from collections import deque

from dragon.core import accelerator, files, warnings
from dragon.vm.torch.core.nvidia.presence import device_count, require
from dragon.vm.torch.cuda.segments import memory_snapshot

_CONTEXTS = {None: (), "state": ("alloc",), "alloc": ("alloc",),
             "all": ("alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "oom", "snapshot")}


class _History:
    """What is remembered."""

    def __init__(self):
        self.enabled, self.looks_back, self.skips = None, (), frozenset()
        self.traces = {}  # device -> what happened, the latest last
        self.live = {}  # (device, address) -> frames of who asked for it
        self.most = sys.maxsize

    def forget(self):
        self.traces = {}
        self.live = {}

    def note(self, action, index, address, size, stream, pool):
        frames = _frames() if action in self.looks_back else []
        if action == "alloc":
            self.live[index, address] = frames
        elif action == "free_completed":
            self.live.pop((index, address), None)
        if self.enabled != "all" or action in self.skips:
            return
        entry = {"action": action, "size": size, "stream": stream, "pool_id": (0, pool), "frames": frames,
                 "time_us": time.time_ns() // 1000, "compile_context": "N/A", "user_metadata": ""}
        entry["device_free" if action == "oom" else "addr"] = (
            accelerator.device_memory(index)[0] if action == "oom" else address)
        if index not in self.traces:
            self.traces[index] = deque(maxlen=self.most)
        self.traces[index].append(entry)


_history = _History()


def _frames():
    """Return the lines of the program that led here, the innermost first, without our own."""
    found, frame = [], sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if not warnings.is_own(code.co_filename):
            found.append({"filename": code.co_filename, "line": frame.f_lineno, "name": code.co_name})
        frame = frame.f_back
    return found


def _record_memory_history(enabled="all", context="all", stacks="all", max_entries=sys.maxsize, device=None,
                           clear_history=False, compile_context=False, global_record_annotations=False,
                           skip_actions=None):
    """Remember from now on what happens to devices' memory, or no longer.

    Parameters
    ----------
    enabled : Union[str, bool], optional, default="all"
        None or False for nothing, "state" for what is in use alone, "all" for all that happened.
    context : str, optional, default="all"
        Of what lines of the program are remembered: None, "state", "alloc" or "all".
    stacks : str, optional, default="all"
        "python" or "all": the lines are those of Python.
    max_entries : int, optional
        How many events of each device are kept, the latest.
    device : Any, optional
        All devices are watched, whatever is given.
    clear_history : bool, optional, default=False
        Whether what is remembered so far is forgotten.
    compile_context : bool, optional, default=False
        False: the compiler leaves no marks.
    global_record_annotations : bool, optional, default=False
        False: ranges of the profiler leave no marks.
    skip_actions : list of str, optional
        Events that are not kept, such as "free_requested".

    """
    require("_record_memory_history")
    if isinstance(enabled, bool):
        enabled = "all" if enabled else None
    if enabled not in (None, "state", "all"):
        raise RuntimeError(f"expected state to be 'state', 'all', or None, got {enabled!r}")
    if context not in _CONTEXTS:
        raise RuntimeError(f"expected context to be 'state', 'alloc', 'all', or None, got {context!r}")
    if stacks not in ("python", "all"):
        raise RuntimeError(f"expected stacks to be 'python', or 'all', got {stacks!r}")
    for name, value in (("compile_context", compile_context), ("global_record_annotations", global_record_annotations)):
        if value:
            raise NotImplementedError(f"_record_memory_history: got {name}=True, expected False: lines of the program "
                                      "are what is remembered")
    unknown = set(skip_actions or ()) - set(_CONTEXTS["all"])
    if unknown:
        raise RuntimeError(f"_record_memory_history: got skip_actions={skip_actions}, expected some of "
                           f"{', '.join(_CONTEXTS['all'])}")
    if clear_history or _history.most != max_entries:
        _history.forget()
    _history.enabled, _history.looks_back, _history.most = enabled, _CONTEXTS[context], max_entries
    _history.skips = frozenset(skip_actions or ())
    accelerator.set_memory_watcher(None if enabled is None else _history.note)


def _snapshot(device=None, augment_with_fx_traces=False):
    """Return segments of memory with the lines that asked for them, and what happened on each device.

    Parameters
    ----------
    device : Any, optional
        All devices are told of, whatever is given.
    augment_with_fx_traces : bool, optional, default=False
        False: graphs run without code of their own.

    Returns
    -------
    dict
        "segments", "device_traces" and "allocator_settings".

    """
    require("_snapshot")
    if augment_with_fx_traces:
        raise NotImplementedError("_snapshot: got augment_with_fx_traces=True, expected False: graphs run without "
                                  "code of their own")
    if _history.enabled == "all":
        for index in range(device_count()):
            _history.note("snapshot", index, 0, 0, 0, 0)
    segments = memory_snapshot()
    for segment in segments:
        for block in segment["blocks"]:
            block["frames"] = _history.live.get((segment["device"], block["address"]), [])
    return {"segments": segments,
            "device_traces": [list(_history.traces.get(index, ())) for index in range(device_count())],
            "allocator_settings": {"expandable_segments": accelerator.expands_segments()},
            "external_annotations": []}


def _dump_snapshot(filename="dump_snapshot.pickle", augment_with_fx_traces=False):
    """Write what `_snapshot` returns to a file."""
    found = _snapshot(augment_with_fx_traces=augment_with_fx_traces)
    with files.rewriting(filename) as file:
        pickle.dump(found, file)


def _allocation_traceback(data_ptr):
    """Return the lines that asked for the memory at an address; None if they are not remembered."""
    return next((frames for (_, address), frames in list(_history.live.items()) if address == data_ptr), None)
