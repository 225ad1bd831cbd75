"""How far the genuine framework sways by itself: what it computes when it adds up in another order.

Rounding grows as a program trains, in some programs a little and in others without bound, so no fixed tolerance tells
it from a fault. A second genuine run, in which sums have another order, measures it at each value.
"""
import math

from dragon.command import compare

# What gives the genuine framework's kernels other sizes of vectors and blocks, so that its sums have another order.
OTHER_ORDER = {"ATEN_CPU_CAPABILITY": "default", "MKL_CBWR": "COMPATIBLE", "ONEDNN_MAX_CPU_ISA": "SSE41",
               "TF_ENABLE_ONEDNN_OPTS": "0", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
FACTOR = 10  # how many times as far as the genuine framework from itself Dragon may be
AHEAD = 1.5  # how much of the run is looked at for it: rounding grows by leaps, earlier in one run than in another


class Recorder(compare.Comparison):
    """The comparison of the two genuine runs: no value is too far, and how far each is gets noted.

    Parameters
    ----------
    genuine, other : Stream
        The two runs.
    forgiving : bool
        As for a `Comparison`.

    """

    def __init__(self, genuine, other, forgiving):
        super().__init__(genuine, other, compare.tolerances(), forgiving)
        self.reached = {}  # (file, function, name) -> [(event, the largest distance until then)]

    def compare_values(self, frame, path, first, second):
        """Note how far two values are."""
        if "unknown" in (first[0], second[0]) or first == second:
            return
        far = distance(first, second)
        if far is None:
            raise compare.Part(why="value", place=self.place, name=path)
        known = self.reached.setdefault((self.place[0], frame.name, path), [])
        if not known or far > known[-1][1]:
            known.append((self.streams[0].count, far))


class Sway:
    """What the second genuine run tells, read as far as it is asked for.

    Parameters
    ----------
    recorder : Recorder
        The comparison of the two genuine runs.

    """

    factor = FACTOR

    def __init__(self, recorder):
        self.recorder, self.events = recorder, recorder.walk()
        self.end = None  # (event, place) from where on the genuine framework takes another way by itself
        self.over = False

    def reach(self, event):
        """Compare the genuine runs until an event of the first; all of them for None."""
        while not self.over and (event is None or self.recorder.streams[0].count <= event):
            try:
                next(self.events)
            except StopIteration:
                self.over = True
            except compare.Part as part:
                self.over = True
                # A run that ended early or failed tells nothing.
                if part.report["why"] in ("flow", "value", "absent"):
                    self.end = self.recorder.streams[0].count, part.report["place"]

    def is_beyond(self, event):
        """Return whether the genuine framework has taken another way by itself before an event; None: at all."""
        self.reach(event)
        return self.end is not None and (event is None or event >= self.end[0])

    def most(self, key, event):
        """Return how far the genuine runs were from each other at a name, about until an event; None: at all."""
        event = event and AHEAD * event
        self.reach(event)
        return max((far for when, far in self.recorder.reached.get(key, ()) if event is None or when <= event),
                   default=0.0)

    def judge(self, key, event, first, second):
        """Return (whether rounding explains two values of a name, how far they are, how far the genuine ones are)."""
        far = distance(first, second)
        if far is None:
            return False, None, None
        # Integers follow from rounding by leaps, now on one side, now on the other.
        own = self.most(key, event if is_measured(first) else None)
        return 0 < far <= self.factor * own, far, own


def is_measured(value):
    """Return whether a digest is of floats, which differ by more or less, not one by one."""
    if compare.is_tensor(value):
        return value[5].startswith(("float", "complex"))
    return isinstance(value[1], (float, complex))


def distance(first, second):
    """Return how far two digests are: relative to the size of floats, by count of what is exact; None if unlike."""
    if compare.is_tensor(first) != compare.is_tensor(second):
        return None
    if compare.is_tensor(first):
        return distance_of_tensors(first, second)
    a, b = first[1], second[1]
    if isinstance(a, str) or a is None or type(a) is not type(b):
        return 0.0 if a == b else None
    if a == b or a != a and b != b:
        return 0.0
    gap = abs(a - b)
    if not is_measured(first):
        return float(gap)
    return gap / max(abs(a), 1e-30) if math.isfinite(gap) else math.inf


def distance_of_tensors(first, second):
    """Return how far the digests of two tensors are."""
    import numpy
    if first[1:3] != second[1:3] or first[5] != second[5] or not first[5]:
        return None if first[1:3] != second[1:3] or first[3] != second[3] else 0.0
    if first[3] == second[3]:
        return 0.0
    a, b = compare.sample_of(first), compare.sample_of(second)
    if not is_measured(first):
        return max(float((a != b).mean()), 1 / max(math.prod(first[2]), 1))
    with numpy.errstate(all="ignore"):
        gaps = numpy.where((a == b) | (numpy.isnan(a) & numpy.isnan(b)), 0.0, numpy.abs(a - b).astype("float64"))
        gaps = numpy.where(numpy.isnan(gaps), numpy.inf, gaps)
    if first[4][0] != second[4][0]:
        return math.inf
    moved = max(abs(x - y) for x, y in zip(first[4][1:], second[4][1:]))
    return max(float(gaps.max(initial=0.0)), moved) / max(first[4][4], 1e-30)
