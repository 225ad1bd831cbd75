"""The parts of a profile: events in time, their sums by name, tables and traces."""
import json
import os
import re
from collections import defaultdict
from enum import Enum

from dragon.core import files


_STACK_METRICS = ["self_cpu_time_total", "self_cuda_time_total", "self_xpu_time_total", "self_privateuse1_time_total"]
_STACKED = re.compile(r"(?:.*\.)?(.*) \((.*):(\d+)\)", re.DOTALL)  # a caller, "forward (net.py:8)"
_NO_BLANKS = str.maketrans(" ;\t\n", "____")  # what parts the words and lines of files of stacks


class DeviceType(Enum):
    """The place where an event happened."""

    CPU = 0
    CUDA = 1


class Interval:
    """A stretch of time in microseconds since the profile's start."""

    def __init__(self, start, end):
        self.start = start
        self.end = end

    def elapsed_us(self):
        """Return its length."""
        return self.end - self.start


def _time(microseconds, unit=None):
    """Return a time as text, in the unit that suits it or the one that is asked for."""
    if unit is None:
        unit = "s" if microseconds >= 1e6 else "ms" if microseconds >= 1e3 else "us"
    return f"{microseconds / {'s': 1e6, 'ms': 1e3, 'us': 1.0}[unit]:.3f}{unit}"


def _bytes(count):
    """Return a number of bytes as text."""
    for unit, size in (("GB", 2 ** 30), ("MB", 2 ** 20), ("KB", 2 ** 10)):
        if abs(count) >= size:
            return f"{count / size:.2f} {unit}"
    return f"{count} B"


class _Times:
    """Names of times that one event and many have alike."""

    device_time = device_time_total = self_device_time_total = cuda_time = cuda_time_total = 0.0
    self_cuda_time_total = 0.0
    device_memory_usage = self_device_memory_usage = self_cuda_memory_usage = 0
    flops = 0

    cpu_time = property(lambda self: 0.0 if self.count == 0 else self.cpu_time_total / self.count,
                        doc="The mean time of a call.")
    cpu_time_str = property(lambda self: _time(self.cpu_time), doc="The mean time of a call as text.")
    cpu_time_total_str = property(lambda self: _time(self.cpu_time_total), doc="The time of all calls as text.")
    self_cpu_time_total_str = property(lambda self: _time(self.self_cpu_time_total),
                                       doc="The time of all calls without those they made, as text.")


class FunctionEvent(_Times):
    """One call: when, by whom, with what."""

    count = 1
    is_async = is_remote = is_legacy = False
    device_type = DeviceType.CPU
    node_id = sequence_nr = -1

    def __init__(self, id, name, start, end, memory=0, shapes=(), scope=0, is_user_annotation=False, thread=1):
        self.id, self.trace_name, self.thread = id, name, thread
        # Sums count all steps as one.
        self.name = self.key = "ProfilerStep*" if name.startswith("ProfilerStep#") else name
        self.time_range = Interval(start, end)
        self.memory, self.scope = memory, scope
        self.input_shapes = [list(shape) for shape in shapes]
        self.is_user_annotation = is_user_annotation
        self.stack, self.kernels, self.cpu_children, self.cpu_parent = [], [], [], None

    cpu_time_total = property(lambda self: self.time_range.elapsed_us(), doc="How long the call took.")

    @property
    def self_cpu_time_total(self):
        """How long it took without the calls it made."""
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    cpu_memory_usage = property(lambda self: self.memory or sum(child.cpu_memory_usage for child in self.cpu_children),
                                doc="Bytes of the results of this call, or of those that it made.")

    @property
    def self_cpu_memory_usage(self):
        """Bytes of the results without those of the calls that it made."""
        return self.cpu_memory_usage - sum(child.cpu_memory_usage for child in self.cpu_children)

    def __repr__(self):
        return (f"<FunctionEvent id={self.id} name={self.name} cpu_time={self.cpu_time_str} "
                f"start_us={self.time_range.start:.3f} end_us={self.time_range.end:.3f} "
                f"cpu_children={[child.id for child in self.cpu_children]} thread={self.thread} "
                f"input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage}>")


class FunctionEventAvg(_Times):
    """The sum of all calls of a name."""

    def __init__(self, key=None, input_shapes=""):
        self.key, self.input_shapes = key, input_shapes
        self.count, self.is_user_annotation, self.stack, self.scope = 0, False, [], 0
        self.cpu_time_total = self.self_cpu_time_total = 0.0
        self.cpu_memory_usage = self.self_cpu_memory_usage = 0
        self.device_type = DeviceType.CPU

    def add(self, event):
        """Count an event, or another sum, in."""
        self.key = event.key if self.key is None else self.key
        self.count += event.count
        self.is_user_annotation |= event.is_user_annotation
        for name in ("cpu_time_total", "self_cpu_time_total", "cpu_memory_usage", "self_cpu_memory_usage"):
            setattr(self, name, getattr(self, name) + getattr(event, name))
        return self

    __iadd__ = add

    def __repr__(self):
        return (f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
                f"cpu_time={self.cpu_time_str}  self_cuda_time=0.000us cuda_time=0.000us "
                f"input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage} cuda_memory_usage=0>")


class EventList(list):
    """Events, or sums of them."""

    def __init__(self, events=(), *, profile_memory=False, record_shapes=False):
        super().__init__(events)
        self._profile_memory, self._record_shapes = profile_memory, record_shapes

    def __str__(self):
        return self.table()

    self_cpu_time_total = property(lambda self: sum(event.self_cpu_time_total for event in self),
                                   doc="The time of all events.")

    def key_averages(self, group_by_input_shapes=False, group_by_stack_n=0, group_by_overload_name=False):
        """Return sums of the events by name, and by shapes if asked."""
        sums = defaultdict(FunctionEventAvg)
        for event in self:
            shapes = str(event.input_shapes) if group_by_input_shapes else ""
            total = sums[event.key, shapes].add(event)
            total.input_shapes = event.input_shapes if group_by_input_shapes else ""
        return EventList(sums.values(), profile_memory=self._profile_memory, record_shapes=group_by_input_shapes)

    def total_average(self):
        """Return the sum of all events."""
        total = FunctionEventAvg("Total")
        for event in self:
            total.add(event)
        return total

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75, max_name_column_width=55,
              max_shapes_column_width=80, header=None, top_level_events_only=False, time_unit=None):
        """Return the events as a table.

        Parameters
        ----------
        sort_by : str, optional
            An attribute such as "cpu_time_total", the largest first; as they are by default.
        row_limit : int, optional, default=100
            How many rows; -1 for all.
        max_name_column_width : int, optional, default=55
            How many letters of a name.
        max_shapes_column_width : int, optional, default=80
            How many letters of shapes.
        header : str, optional
            A line above the table.
        top_level_events_only : bool, optional, default=False
            Whether to leave out what others called.
        time_unit : str, optional
            "s", "ms" or "us" for all times.

        Returns
        -------
        str
            The table.

        """
        rows = [event for event in self if not top_level_events_only or getattr(event, "cpu_parent", None) is None]
        if sort_by is not None:
            name = sort_by.replace("cuda", "device")
            rows.sort(key=lambda event: getattr(event, name), reverse=True)
        total = sum(event.self_cpu_time_total for event in self) or 1.0
        columns = [("Name", min(max((len(str(event.key)) for event in rows), default=4) + 4, max_name_column_width),
                    lambda event: _short(event.key, max_name_column_width))]
        columns += [
            ("Self CPU %", 12, lambda event: f"{event.self_cpu_time_total / total:.2%}"),
            ("Self CPU", 12, lambda event: _time(event.self_cpu_time_total, time_unit)),
            ("CPU total %", 12, lambda event: f"{event.cpu_time_total / total:.2%}"),
            ("CPU total", 12, lambda event: _time(event.cpu_time_total, time_unit)),
            ("CPU time avg", 12, lambda event: _time(event.cpu_time, time_unit))]
        if self._profile_memory:
            columns += [("CPU Mem", 12, lambda event: _bytes(event.cpu_memory_usage)),
                        ("Self CPU Mem", 12, lambda event: _bytes(event.self_cpu_memory_usage))]
        columns.append(("# of Calls", 12, lambda event: str(event.count)))
        if self._record_shapes:
            columns.append(("Input Shapes", min(max_shapes_column_width, 45),
                            lambda event: _short(str(event.input_shapes), max_shapes_column_width)))
        rule = "  ".join("-" * width for _, width, _ in columns) + "  "
        lines = [] if header is None else ["=" * len(rule), header]
        lines += [rule, "  ".join(title.rjust(width) for title, width, _ in columns) + "  ", rule]
        for event in rows if row_limit < 0 else rows[:row_limit]:
            lines.append("  ".join(show(event).rjust(width) for _, width, show in columns) + "  ")
        lines += [rule, f"Self CPU time total: {_time(total if self else 0.0, time_unit)}", ""]
        return "\n".join(lines)

    def export_chrome_trace(self, path):
        """Write the events for chrome://tracing and its kin."""
        write_trace(path, self)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        """Write a line for each event with its functions, the outermost first, and a number: for flame graphs.

        Parameters
        ----------
        path : Union[str, os.PathLike]
            The file.
        metric : str, optional, default="self_cpu_time_total"
            The number: "self_cpu_time_total" or one of the same kind for other devices, in microseconds.

        """
        if metric not in _STACK_METRICS:
            raise ValueError(f"metric should be one of: {_STACK_METRICS}. Received: metric={metric!r}")
        lines = []
        for event in self:
            number = int(getattr(event, metric, 0))
            if event.stack and number > 0:
                lines.append(f"{';'.join(entry.translate(_NO_BLANKS) for entry in reversed(event.stack))} {number}\n")
        files.write(path, "".join(lines).encode("utf-8"))


def _short(text, width):
    return text if len(text) <= width else text[:width - 3] + "..."


def write_trace(path, events, metadata=None):
    """Write events as a chrome trace; packed if the path ends in ".gz"."""
    pid = os.getpid()
    records = [{"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "ts": 0, "args": {"name": "python"}}]
    for event in events:
        category = "user_annotation" if event.is_user_annotation else "cpu_op"
        arguments = {"External id": event.id}
        if event.input_shapes:
            arguments["Input Dims"] = event.input_shapes
        if event.stack:
            arguments["Call stack"] = ";".join(event.stack)
        records.append({"ph": "X", "cat": category, "name": event.trace_name, "pid": pid, "tid": event.thread,
                        "ts": event.time_range.start, "dur": event.cpu_time_total, "args": arguments})
    content = {"schemaVersion": 1, "displayTimeUnit": "ms", "traceEvents": records, "traceName": str(path),
               **(metadata or {})}
    data = json.dumps(content).encode()
    if str(path).endswith(".gz"):
        import gzip
        data = gzip.compress(data)
    files.write(path, data)


def build_events(calls, marks, begin, options):
    """Return an `EventList` from the engine's calls and the user's marks, each knowing who made it.

    Parameters
    ----------
    calls : Sequence[tuple]
        Name, start, end, whether of the backward pass, bytes of the results, shapes of the arguments, the functions
        around it.
    marks : Sequence[tuple]
        Name, start, end, the functions around it.
    begin : int
        When the profile began, in nanoseconds.
    options : dict
        `profile_memory` and `record_shapes`.

    Returns
    -------
    EventList
        In the order in which the calls began.

    """
    from dragon.vm.torch.core.nodes import name_of
    events = []
    for name, start, end, backward, memory, shapes, where in calls:
        shown = f"autograd::engine::evaluate_function: {name_of(name)}" if backward else f"aten::{name}"
        events.append(((start - begin) / 1000, -(end - begin) / 1000, shown, 0 if backward else memory, shapes, False,
                       where))
    for name, start, end, where in marks:
        events.append(((start - begin) / 1000, -(end - begin) / 1000, name, 0, (), True, where))
    events.sort(key=lambda event: event[:2])
    found, open_events = EventList(**options), []
    for number, (start, end, name, memory, shapes, marked, where) in enumerate(events):
        event = FunctionEvent(number, name, start, -end, memory, shapes if options["record_shapes"] else (),
                              is_user_annotation=marked)
        event.stack = [_STACKED.sub(r"\2(\3): \1", caller) for caller in where.split(";")[::-1]] if where else []
        while open_events and open_events[-1].time_range.end < event.time_range.end:
            open_events.pop()
        if open_events:
            event.cpu_parent = open_events[-1]
            open_events[-1].cpu_children.append(event)
        open_events.append(event)
        found.append(event)
    return found
