"""At which sizes a program stays the same: it is asked at many, and the range around the given sizes is told."""
import random
import re

from dragon import _C

STEPS = 150_000  # calls of operators for all sizes of a program: counted, so that it is asked the same everywhere
FEWEST = 8  # sizes that are asked of each symbol, however slow the program
NO_LONGER = "no longer holds"  # what a procedure says of a decision that comes out otherwise
ALL_UP_TO = 70
FARTHEST = 65537
PRIMES = (101, 211, 499, 997, 1999, 4999, 9973, 30011)
MOST_STEPS = 256  # how far apart sizes may lie at which the program is the same


class Bounds:
    """The sizes at which a program is the same: low, low + multiple, ... up to high.

    Parameters
    ----------
    low : int
        The smallest.
    high : Optional[int]
        The largest; None where none was found.
    multiple : int
        How far apart they are.
    reasons : List[str]
        What the program says just outside.
    of_one : str, optional
        What it decides otherwise where the size is 1, which is no bound: most programs do so to save work.

    """

    def __init__(self, low, high, multiple, reasons, of_one=""):
        self.low, self.high, self.multiple, self.reasons, self.of_one = low, high, multiple, reasons, of_one

    is_open = property(lambda self: self.low <= 2 and self.high is None and self.multiple == 1,
                       doc="bool: whether it is the same at all sizes, but perhaps 0 and 1.")
    is_fixed = property(lambda self: self.low == self.high, doc="bool: whether there is one size only.")

    def __contains__(self, size):
        return (size >= self.low and (self.high is None or size <= self.high)
                and (size - self.low) % self.multiple == 0)

    def __str__(self):
        if self.is_fixed:
            return str(self.low)
        low = max(self.low, 1) if self.multiple == 1 else self.low or self.multiple
        text = f"{low} and more" if self.high is None else f"{low} to {self.high}"
        if self.multiple == 1:
            return text
        rest = self.low % self.multiple
        return f"{text}, multiples of {self.multiple}" + (f" and {rest}" if rest else "")

    ends = property(lambda self: (max(self.low, self.multiple),
                                  self.low + FARTHEST * self.multiple if self.high is None else self.high),
                    doc="Tuple[int, int]: the smallest and the largest; where there is none, one that is large indeed.")

    def near(self, size, distances):
        """Return other sizes at these distances from one, counted in multiples, and those at the ends.

        Parameters
        ----------
        size : int
            A size within the bounds.
        distances : Sequence[int]
            How far away. Where some are out of bounds, others are spread over what there is.

        Returns
        -------
        List[int]
            No two alike.

        """
        places = [size + distance * self.multiple for distance in distances]
        if self.high is not None:
            count, spread = (self.high - self.low) // self.multiple, len(distances) + 12
            places = [place for place in places if place in self]
            places += [self.low + count * turn // spread * self.multiple for turn in range(spread + 1)]
        if self.low:
            places.append(self.low)
        return [place for place in dict.fromkeys(places) if place != size]

    def snapped(self, size):
        """Return the nearest of these sizes.

        Parameters
        ----------
        size : int
            Any size.

        Returns
        -------
        int
            A size at which the program is the same.

        """
        size = max(self.low, size if self.high is None else min(size, self.high))
        return size - (size - self.low) % self.multiple


class Probes:
    """What a program says to other sizes.

    Parameters
    ----------
    refusal : Callable[[Dict[str, int]], str]
        Why the program would be another one at these sizes; empty where it is the same.
    base : Dict[str, int]
        The sizes at which it is known.
    conditions : Sequence[str], optional
        What it decides by sizes: numbers in these texts are sizes that are worth asking for.
    steps : int, optional, default=150000
        About how many calls of operators all of it may make. Where the program is long, fewer sizes are asked for.
    far : Optional[Sequence[int]]
        The sizes far away that are asked for, in place of many.
    calls : int, optional, default=1
        How many calls of operators the program makes.

    """

    def __init__(self, refusal, base, conditions=(), steps=STEPS, far=None, calls=1):
        self._refusal, self.base, self._known, self._far = refusal, dict(base), {}, far
        self.told = sorted({int(number) for text in conditions for number in re.findall(r"\b\d{1,7}\b", text)})
        self.most = max(FEWEST, steps // max(calls, 1) // max(len(base), 1))
        self.bounds = {name: self._bounds_of(name) for name in base}
        self.joint = self._joint_refusals()

    def refusal(self, sizes):
        """Return why the program would be another one at sizes of all symbols; each is asked for once.

        Parameters
        ----------
        sizes : Dict[str, int]
            The sizes.

        Returns
        -------
        str
            Empty where it is the same.

        """
        key = tuple(sizes[name] for name in self.base)
        if key not in self._known:
            self._known[key] = self._refusal(sizes)
        return self._known[key]

    def _alone(self, name, size):
        return "negative" if size < 0 else self.refusal({**self.base, name: size})

    def _bounds_of(self, name):
        base = self.base[name]
        step = self._step(name, base)
        if step is None:
            return Bounds(base, base, 1, list(filter(None, (self._alone(name, base + 1),))))
        reasons = [self._alone(name, base + 1)] if step > 1 else []
        low, below = self._edge(name, base, -step)
        high, above = self._edge(name, base, step)
        reasons += [reason for reason in (below if low > 2 else "", above) if reason]
        return Bounds(low, high, step, list(dict.fromkeys(reasons)), below if low == 2 and NO_LONGER in below else "")

    def _step(self, name, base):
        """Return how far apart the sizes around the given one lie; None where there is no other."""
        for step in range(1, min(MOST_STEPS, max(self.most // 4, 2)) + 1):
            if not self._alone(name, base + step) and (step == 1 or not self._alone(name, base + 2 * step)):
                return step
            if not self._alone(name, base - step) and (step == 1 or not self._alone(name, base - 2 * step)):
                return step
        candidates = {base // part for part in (1, 2, 3, 4, 6, 8) if base % part == 0} | {4, 8, 16, 32, 64}
        return next((step for step in sorted(candidates) if not self._alone(name, base + step)), None)

    def _edge(self, name, base, step):
        """Return the last size in one direction at which the program is the same, and what it says behind it."""
        good = base
        for size in self._ladder(base, step):
            reason = self._alone(name, size)
            if not reason:
                good = size
                continue
            while abs(size - good) > abs(step):  # the edge lies between these two
                middle = good + (size - good) // step // 2 * step
                said = self._alone(name, middle)
                if said:
                    size, reason = middle, said
                else:
                    good = middle
            return good, reason
        return (None if step > 0 else good), ""

    def _ladder(self, base, step):
        """Return sizes in one direction, the nearest first: as many as may be asked for."""
        if self._far is None:
            near = [base + step * count for count in range(1, ALL_UP_TO + 1)]
            far = [2 ** power + offset for power in range(1, 17) for offset in (-1, 0, 1)]
            far += [*PRIMES, *(base * count for count in range(2, 9)), FARTHEST + 2 * abs(step)]
        else:
            near = [base + step * count for count in (1, 2, 3)]
            far = [*self._far, base % abs(step) + abs(step), base // 2]
        far += [number + offset for number in self.told for offset in (-abs(step), -1, 0, 1, abs(step))]
        far = [size - (size - base) % abs(step) for size in far]
        near.append(base % abs(step))
        sizes = sorted({size for size in near + far if (size - base) * step > 0 and size >= 0},
                       key=lambda size: abs(size - base))
        if len(sizes) > self.most // 2:  # the nearest, the farthest, and some between, as evenly as can be
            count = max(self.most // 2, 4)
            sizes = [sizes[place * (len(sizes) - 1) // (count - 1)] for place in range(count)]
        return list(dict.fromkeys(sizes))

    def _joint_refusals(self):
        """Return what the program says where several sizes are others at once."""
        if len(self.base) < 2:
            return []
        draw, found = random.Random(0), []
        for _ in range(min(60, max(self.most // 4, 4))):
            sizes = {name: bounds.snapped(draw.choice((bounds.low, max(bounds.low, 2), self.base[name], 3, 17, 300)))
                     for name, bounds in self.bounds.items()}
            reason = self.refusal(sizes)
            if reason:
                found.append(reason)
        return list(dict.fromkeys(found))


def phantoms_at(inputs, sizes):
    """Return tensors without numbers like others, with some axes of other sizes.

    Parameters
    ----------
    inputs : Sequence[Tensor]
        The tensors.
    sizes : Dict[Tuple[int, int], int]
        {(tensor, axis): size}

    Returns
    -------
    List[Tensor]
        One for each.

    """
    return [_C.phantom_like(tensor, tuple(sizes.get((number, axis), size) for axis, size in enumerate(tensor.shape)))
            for number, tensor in enumerate(inputs)]
