"""Two streams of events side by side: where a program does something else on one side than on the other."""
import collections
import json
import marshal
import math
import struct
import time

# (relative, absolute) tolerances of dtypes; others must be equal. They are those of torch.testing.assert_close, but for
# 32 bits a hundred times wider: that judges one call, and here rounding grows from step to step.
TOLERANCES = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-4, 1e-5), "float64": (1e-7, 1e-7),
              "complex64": (1.3e-4, 1e-5), "complex128": (1e-7, 1e-7)}
NARROW = {"float32": 1.2e-7, "float64": 2.3e-16, "float16": 1e-3, "bfloat16": 8e-3}
NUMBER = (1.3e-4, 1e-5)  # of Python's own floats, which mostly come from tensors of float32


class Part(Exception):
    """The two sides part: what is reported, as a dict that JSON can hold."""

    def __init__(self, **report):
        super().__init__(report["why"])
        self.report = report


class Stream:
    """The events of one side, read while they are written.

    Parameters
    ----------
    path : str
        The file.
    is_running : Callable[[], bool]
        Whether the process that writes it is still at it.

    """

    def __init__(self, path, is_running):
        self.file, self.is_running, self.ahead = open(path, "rb"), is_running, None
        self.count = 0  # of events that were read

    def read(self, count):
        """Return so many bytes, once they are there; fewer if no more will come."""
        data = self.file.read(count)
        while len(data) < count:
            running = self.is_running()
            more = self.file.read(count - len(data))
            data += more
            if not more:
                if not running:
                    return data
                time.sleep(0.005)
        return data

    def peek(self):
        """Return the next event; ("end", None) where the process died without a word."""
        if self.ahead is None:
            head = self.read(4)
            data = self.read(struct.unpack("<I", head)[0]) if len(head) == 4 else b""
            try:
                self.ahead = marshal.loads(data)
            except (EOFError, ValueError):
                self.ahead = ("end", None)
            self.count += 1
        return self.ahead

    def next(self):
        """Return the next event and go on."""
        event = self.peek()
        self.ahead = None
        return event

    def skip_frame(self):
        """Go on behind the frame whose call is next."""
        depth = 0
        while True:
            kind = self.peek()[0]
            if kind == "end":
                return
            self.ahead = None
            depth += (kind == "call") - (kind == "return")
            if depth == 0:
                return


class Frame:
    """A frame that both sides are in: what each last said of its names, and how well they agreed."""

    def __init__(self, call, is_loose):
        self.name, self.is_loose = call[2], is_loose
        self.known, self.status = ({}, {}), {}


class Comparison:
    """Lock-step of two streams.

    Parameters
    ----------
    genuine, mine : Stream
        The two sides.
    tolerance : Callable[[str], tuple]
        (relative, absolute) tolerance of a dtype's name.
    forgiving : bool
        Whether functions that a framework calls may be called more often on one side, as Keras and TensorFlow trace.
    sway : Sway, optional
        What tells how far rounding alone brings values from each other; without it, tolerances do.

    """

    def __init__(self, genuine, mine, tolerance, forgiving, sway=None):
        self.streams, self.tolerance, self.forgiving, self.sway = (genuine, mine), tolerance, forgiving, sway
        self.frames, self.loose = [], set()
        self.lines = self.tensors = self.numbers = self.swaying = 0
        self.skipped = collections.Counter()
        self.worst = {}  # the largest difference within the tolerances
        self.furthest, self.apart = {}, {}  # the largest that rounding explains; what it does not explain
        self.place = None

    def run(self):
        """Compare until both ends. A `Part` tells where they part."""
        try:
            for _ in self.walk():
                pass
        finally:
            self.parted = self.streams[0].count

    def walk(self):
        """Compare event by event until both ends; where they part, a `Part` is raised."""
        while True:
            yield
            first, second = (stream.peek() for stream in self.streams)
            if first[0] == "end" or second[0] == "end":
                if first[0] == second[0]:
                    return
                if not self.catch_up(first, second):
                    raise Part(why="end", place=self.place, genuine=first[0], dragon=second[0])
            elif first[:3] == second[:3] and first[0] == "line":
                self.compare_lines(*(stream.next() for stream in self.streams))
            elif first == second and first[0] == "call":
                for stream in self.streams:
                    stream.next()
                self.enter(first)
            elif "raise" in (first[0], second[0]):
                self.compare_raised(first, second)
            elif first[0] == second[0] == "return":
                for stream in self.streams:
                    stream.next()
                if self.frames:
                    self.frames.pop()
            elif not self.catch_up(first, second):
                raise Part(why="flow", place=self.place, genuine=list(first[:4]), dragon=list(second[:4]))

    def compare_raised(self, first, second):
        """Go on where both sides raise the same; a side that raises alone parts."""
        if first[0] == second[0] and (first[1] == second[1] or set(first[5]) & set(second[5])):
            for stream in self.streams:
                stream.next()
        elif not self.catch_up(first, second):
            side, event = ("genuine", first) if first[0] == "raise" else ("dragon", second)
            other = second if side == "genuine" else first
            raise Part(why="raise", place=event[3:5], side=side, error=f"{event[1]}: {event[2]}",
                       other=f"{other[1]}: {other[2]}" if other[0] == "raise" else None)

    def enter(self, call):
        """Begin a frame on both sides."""
        above = bool(self.frames) and self.frames[-1].is_loose
        self.frames.append(Frame(call, above or (self.forgiving and not call[4])))

    def catch_up(self, first, second):
        """Leave out frames that only one side has since a framework called the program there; return whether any."""
        moved = False
        for stream, event, side in zip(self.streams, (first, second), ("genuine", "dragon")):
            if event[0] == "call" and not event[4]:
                self.skipped[event[2], side] += 1
                self.loose.add(event[1:4])
                stream.skip_frame()
                moved = True
        if not moved and self.frames and self.frames[-1].is_loose:
            # Inside what a framework traces, another way through a function is no fault: both go on behind it.
            frame = next(frame for frame in self.frames if frame.is_loose)
            depth = len(self.frames) - self.frames.index(frame)
            for stream in self.streams:
                leave(stream, depth)
            del self.frames[-depth:]
            moved = True
        return moved

    def compare_lines(self, first, second):
        """Compare what a line left in names on both sides."""
        self.place = first[1:3]
        self.lines += 1
        frame = self.frames[-1] if self.frames else Frame(first, False)
        changed = [dict(first[3]), dict(second[3])]
        for path in dict.fromkeys([*changed[0], *changed[1]]):
            # What changed on one side alone is compared with what the other said last.
            pair = [changes.get(path, known.get(path)) for changes, known in zip(changed, frame.known)]
            for known, value in zip(frame.known, pair):
                if value is not None:
                    known[path] = value
            if pair[0] is None or pair[1] is None:
                missing = "genuine" if pair[0] is None else "dragon"
                if frame.is_loose or ("unknown",) in pair or not is_tensor(pair[0] or pair[1]):
                    continue
                raise Part(why="absent", place=self.place, name=path, missing=missing)
            if not frame.is_loose:
                self.compare_values(frame, path, *pair)

    def compare_values(self, frame, path, first, second):
        """Compare a value with the other side's; raise a `Part` if they differ by more than the tolerance."""
        if "unknown" in (first[0], second[0]):
            return
        is_any_tensor = is_tensor(first) or is_tensor(second)
        self.tensors += is_any_tensor
        self.numbers += not is_any_tensor
        difference = differ(first, second, self.tolerance)
        frame.status[path] = difference.get("status", "parts")
        if difference.get("part") and self.sway is not None:
            difference = self.explain(frame, path, first, second, difference)
        if difference.get("part"):
            raise Part(why="value", place=self.place, name=path, genuine=tell(first), dragon=tell(second),
                       **difference["part"])
        if difference.get("drift", 0) > self.worst.get("drift", 0):
            self.worst = {"drift": difference["drift"], "name": path, "file": self.place[0], "line": self.place[1]}

    def explain(self, frame, path, first, second, difference):
        """Return a difference as it is where the genuine framework by itself is known to be as far from itself."""
        explained, far, own = self.sway.judge((self.place[0], frame.name, path), self.streams[0].count, first, second)
        told = {"distance": far, "own": own}
        if not explained:
            self.apart = told
            return difference
        frame.status[path] = "swaying"
        self.swaying += 1
        if far > self.furthest.get("distance", 0):
            self.furthest = {**told, "name": path, "file": self.place[0], "line": self.place[1]}
        return {"status": "swaying"}

    def said(self, place):
        """Return what the program of a side, which has ended, said at its end, or None if it had no time for it."""
        stream = self.streams[place]
        while stream.peek()[0] != "end":
            stream.next()
        return json.loads(stream.peek()[1]) if stream.peek()[1] else None


def leave(stream, depth):
    """Go on behind so many frames that a stream is in."""
    while depth:
        kind = stream.peek()[0]
        if kind == "end":
            return
        stream.ahead = None
        depth += (kind == "call") - (kind == "return")


def is_tensor(value):
    """Return whether a digest is a tensor's."""
    return value[0] == "tensor"


def tell(value):
    """Return what a digest says, for a report."""
    if not is_tensor(value):
        return {"value": value[1] if isinstance(value[1], (int, float, bool, str, type(None))) else repr(value[1])}
    told = {"dtype": value[1], "shape": list(value[2])}
    if value[4]:
        told.update(zip(("not finite", "min", "max", "mean", "rms"), value[4]))
    if math.prod(value[2]) == 1 and value[6]:
        told["value"] = sample_of(value).tolist()[0]
    return told


def sample_of(value):
    """Return the kept elements of a tensor's digest."""
    import numpy
    return numpy.frombuffer(value[6], value[5])


def differ(first, second, tolerance):
    """Return {"status": words} of two digests that agree, or {"part": what differs}."""
    if first == second:
        return {"status": "equal"}
    if is_tensor(first) != is_tensor(second):
        return {"part": {"what": "kind"}}
    if not is_tensor(first):
        return differ_numbers(first[1], second[1], tolerance)
    for what, place in (("shape", 2), ("dtype", 1)):
        if first[place] != second[place]:
            return {"part": {"what": what}}
    if first[3] == second[3]:
        return {"status": "equal"}
    if first[5] == "" or first[5] != second[5]:
        return {"part": {"what": "elements"}}
    return differ_tensors(first, second, tolerance)


def differ_numbers(first, second, tolerance):
    """Compare two plain numbers."""
    if type(first) is not type(second):
        # None against something, or an int against a float of the same value, which NumPy's scalars give.
        same = isinstance(first, (int, float)) and isinstance(second, (int, float)) and first == second
        return {"status": "equal"} if same else {"part": {"what": "kind"}}
    if not isinstance(first, (float, complex)):
        return {"part": {"what": "value"}}
    if first != first and second != second:
        return {"status": "equal"}
    relative, absolute = tolerance("number")
    gap = abs(first - second)
    if gap <= absolute + relative * abs(first):
        return {"status": f"within {gap:.1e}"}
    return {"part": {"what": "value", "difference": gap}}


def differ_tensors(first, second, tolerance):
    """Compare two tensors of one dtype and shape by what is kept of them."""
    import numpy
    relative, absolute = tolerance(first[1])
    a, b = sample_of(first), sample_of(second)
    if a.dtype.kind not in "fc":
        wrong = numpy.flatnonzero(a != b)
        if len(wrong) == 0:
            return {"part": {"what": "elements"}}  # beyond those that were kept
        return {"part": {"what": "elements", **where(first, wrong[0], a, b)}}
    a, b = a.astype("complex128" if a.dtype.kind == "c" else "float64"), b.astype(
        "complex128" if a.dtype.kind == "c" else "float64")
    scale = first[4][4]
    with numpy.errstate(invalid="ignore"):
        gaps = numpy.abs(a - b)
        agree = (a == b) | (numpy.isnan(a) & numpy.isnan(b))
        gaps = numpy.where(agree, 0.0, numpy.where(numpy.isnan(gaps), numpy.inf, gaps))
        allowed = absolute + relative * numpy.maximum(numpy.where(numpy.isfinite(a), numpy.abs(a), 0), scale)
    worst = int(numpy.argmax(gaps - allowed)) if gaps.size else 0
    if gaps.size and gaps[worst] > allowed[worst]:
        return {"part": {"what": "elements", "difference": float(gaps.max()),
                         **where(first, int(numpy.argmax(gaps)), a, b)}}
    limit = absolute + relative * max(scale, abs(first[4][1]), abs(first[4][2]))
    moved = max((abs(x - y) for x, y in zip(first[4][1:], second[4][1:])), default=0.0)
    if first[4][0] != second[4][0] or moved > limit:
        return {"part": {"what": "elements", "difference": float(moved)}}
    largest = float(gaps.max()) if gaps.size else 0.0
    drift = largest / max(scale, 1e-30) / NARROW.get(first[1], 1e-7)
    return {"status": f"within {largest:.1e}", "drift": drift}


def where(value, position, a, b):
    """Return the place of a kept element in its tensor, and what it is on both sides."""
    import numpy
    size = math.prod(value[2])
    flat = position if size == len(a) else position * (size - 1) // max(len(a) - 1, 1)
    return {"index": [int(place) for place in numpy.unravel_index(int(flat), value[2])] if value[2] else [],
            "elements": [plain(a[position]), plain(b[position])], "all elements": size == len(a)}


def plain(number):
    """Return a NumPy scalar as a number that JSON can hold."""
    number = number.item()
    return number if isinstance(number, (int, float, bool)) else repr(number)


def tolerances(relative=None, absolute=None):
    """Return the function that tells the tolerances of a dtype; what is given stands for all."""
    def read(name):
        usual = NUMBER if name == "number" else TOLERANCES.get(name, (0.0, 0.0))
        return (usual[0] if relative is None else relative, usual[1] if absolute is None else absolute)
    return read
