"""What calls cost: seconds that were measured on a machine, or the limits of a device that is told in figures."""
import bisect
import json
import math

from dragon.core import files
from dragon.core.costs import multiply_adds

VERSION = 1
LEAST_SECONDS = 5e-7  # of a call that does next to nothing
GRADIENTS_OF_WEIGHTS = ("conv_backward_weights",)
GRADIENTS_OF_INPUTS = ("conv_backward_data", "conv_backward_input", "conv_backward_inputs")


def products(name, shapes, results):
    """Return the multiply-adds of a call, backward ones of convolutions among them; None for what is bound by memory.

    Parameters
    ----------
    name : str
        The operator.
    shapes : Sequence[Sequence[int]]
        The shapes of its tensors.
    results : int
        How many numbers it gives.

    Returns
    -------
    Optional[int]
        How many.

    """
    if name in GRADIENTS_OF_WEIGHTS and len(shapes) > 1 and len(shapes[0]) > 1:
        return math.prod(shapes[0]) // max(shapes[0][1], 1) * results
    if name in GRADIENTS_OF_INPUTS and len(shapes) > 1:
        return math.prod(shapes[0]) * math.prod(shapes[1][1:])
    if name == "attention_backward" and len(shapes) > 1:
        return 5 * math.prod(shapes[0]) * (shapes[0][-2] if len(shapes[0]) > 1 else 1)
    if name in ("recurrent_layer", "recurrent_network") and shapes:
        return math.prod(shapes[0][:-1]) * sum(math.prod(shape) for shape in shapes[1:] if len(shape) == 2)
    found = multiply_adds(name, [tuple(shape) for shape in shapes], results)
    return found or None


def work_of(call):
    """Return (multiply-adds or None, bytes read and written) of a call of a dry run."""
    name, _, _, size, shapes, _ = call[:6]
    item = next((width for width in (4, 2, 8) if size and size % width == 0), 4)
    return (products(name, shapes, size // item),
            size + item * sum(math.prod(shape) for shape in shapes if shape))


class Table:
    """Seconds of calls by operator and amount of work, measured on one machine.

    Parameters
    ----------
    calls : Dict[str, List[Tuple[float, float]]], optional
        By operator: amounts of work (multiply-adds, else bytes), in order, with seconds.
    between : float, optional
        Seconds of Python from one call to the next.
    about : dict, optional
        What was measured: the processor, threads, how many processes ran at once.

    """

    overlaps = False  # what is sent takes the processor from what is computed

    def __init__(self, calls=None, between=0.0, about=None):
        self.calls, self.between, self.about = {}, between, dict(about or {})
        for name, entries in (calls or {}).items():
            self.calls[name] = sorted((float(work), float(seconds)) for work, seconds in entries)
        self._rates = self._find_rates()

    def _find_rates(self):
        """Return the middle of the rates at which multiply-adds, and bytes, were worked off."""
        rates = {True: [], False: []}
        for name, entries in self.calls.items():
            work, seconds = entries[-1]
            if seconds > 20 * LEAST_SECONDS:
                rates[multiply_adds(name, [(2, 2), (2, 2)], 4) is not None].append(work / seconds)
        return {kind: sorted(found)[len(found) // 2] if found else 5e9 for kind, found in rates.items()}

    def seconds(self, call):
        """Return what a call of a dry run would take, and Python around it."""
        if call[5]:
            return self.between
        madds, size = work_of(call)
        return self.between + self._of_work(call[0], size if madds is None else madds, madds is not None)

    def _of_work(self, name, work, is_products):
        entries = self.calls.get(name)
        if not entries:
            return max(work / self._rates[is_products], LEAST_SECONDS)
        place = bisect.bisect_left(entries, (work, -1.0))
        if place < len(entries) and entries[place][0] == work:
            return entries[place][1]
        if 0 < place < len(entries):
            (low, before), (high, after) = entries[place - 1:place + 1]
            share = math.log(work / low) / math.log(high / low) if low > 0 else (work - low) / (high - low)
            return math.exp(math.log(before) + share * (math.log(after) - math.log(before)))
        known, seconds = entries[0] if place == 0 else entries[-1]
        return max(seconds * work / known if known else seconds, LEAST_SECONDS)

    def merge(self, other):
        """Return a table with another's entries as well; where both know an amount of work, the other's counts."""
        calls = {name: dict(entries) for name, entries in self.calls.items()}
        for name, entries in other.calls.items():
            calls.setdefault(name, {}).update(entries)
        return Table({name: entries.items() for name, entries in calls.items()}, other.between or self.between,
                     {**self.about, **other.about})

    @classmethod
    def of_steps(cls, step, about=None):
        """Return the table of steps that were run and timed.

        Parameters
        ----------
        step : dict
            "calls" of some "repeats", with their seconds behind them, and the "seconds" of one whole step.
        about : dict, optional
            What was measured.

        Returns
        -------
        Table
            The table.

        """
        sums, within = {}, 0.0
        for call in step["calls"]:
            within += call[6]
            if not call[5]:
                madds, size = work_of(call)
                sums.setdefault(call[0], {}).setdefault(size if madds is None else madds, []).append(call[6])
        calls = {name: [(work, max(sum(times) / len(times), LEAST_SECONDS)) for work, times in found.items()]
                 for name, found in sums.items()}
        return cls(calls,
                   max(step["seconds"] - within / step["repeats"], 0.0) * step["repeats"] / len(step["calls"]), about)

    def save(self, path):
        """Write the table as a JSON file."""
        with files.rewriting(path, "w", encoding="utf-8") as file:
            json.dump({"version": VERSION, "about": self.about, "between": self.between, "calls": self.calls}, file)

    @classmethod
    def load(cls, path):
        """Read a table from a file; a ValueError says what is wrong with it."""
        with open(path, encoding="utf-8") as file:
            told = json.load(file)
        if not isinstance(told, dict) or told.get("version") != VERSION:
            raise ValueError(f"got {path!r}, expected a table of costs that `dragon plan --save-costs` wrote")
        return cls(told["calls"], told["between"], told["about"])


class Roofline:
    """A device that is told in figures: a call takes its products or its bytes, whichever take longer, and a start.

    Parameters
    ----------
    flops : float
        Operations per second; a multiply-add is two.
    memory_speed : float
        Bytes per second between the device and its memory.
    share : float, optional, default=0.5
        How much of either is reached.
    start : float, optional, default=5e-6
        Seconds that each call takes at least.

    """

    overlaps = True  # what is sent goes beside what is computed

    def __init__(self, flops, memory_speed, share=0.5, start=5e-6):
        self.flops, self.memory_speed, self.share, self.between = flops, memory_speed, share, start
        self.about = {"flops": flops, "memory speed": memory_speed, "share": share, "start": start}

    def seconds(self, call):
        """Return what a call of a dry run would take."""
        if call[5]:
            return 0.0
        madds, size = work_of(call)
        return max(2 * (madds or 0) / (self.flops * self.share), size / (self.memory_speed * self.share), self.between)
