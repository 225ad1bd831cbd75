"""Within which sizes a program is the same: found by asking it, near and far."""
FARTHEST = 1 << 16  # sizes beyond are taken to be like this one
STEPS = (1, 2, 5, 13, 30, 67, 259, 1024, 8195, FARTHEST)


class Bounds:
    """The sizes around a given one at which a program is the same.

    Parameters
    ----------
    low : int
        The smallest.
    high : Optional[int]
        The largest; None where there is none.
    multiple : int
        They are multiples of it.

    """

    __slots__ = ("low", "high", "multiple")

    def __init__(self, low=0, high=None, multiple=1):
        self.low, self.high, self.multiple = low, high, multiple

    is_open = property(lambda self: self.low == 0 and self.high is None and self.multiple == 1,
                       doc="bool: whether any size will do.")

    def __contains__(self, size):
        return self.low <= size and (self.high is None or size <= self.high) and size % self.multiple == 0

    def near(self, size, distances):
        """Return other sizes at these distances from one, counted in multiples, and those at the ends.

        Parameters
        ----------
        size : int
            A size within the bounds.
        distances : Sequence[int]
            How far away. Where that is out of bounds, the other sizes are spread over what there is.

        Returns
        -------
        List[int]
            Above the size where there is one, else below; no two alike.

        """
        places = [size + distance * self.multiple for distance in distances]
        if self.high is not None:
            count = (self.high - self.low) // self.multiple
            places = [place for place in places if place in self]
            spread = len(distances) + 12
            places += [self.low + count * turn // spread * self.multiple for turn in range(spread + 1)]
        if self.low or self.high is not None:
            places.append(self.low)
        return [place for place in dict.fromkeys(places) if place != size]

    @property
    def ends(self):
        """Tuple[int, int]: the smallest and the largest size, or one far away where there is none."""
        return max(self.low, self.multiple), self.far if self.high is None else self.high

    far = property(lambda self: self.low + FARTHEST * self.multiple, doc="int: a size that is large indeed.")

    def __repr__(self):
        text = f"{self.low} and more" if self.high is None else f"{self.low} to {self.high}"
        return text if self.multiple == 1 else f"{text}, multiples of {self.multiple}"


def find_bounds(holds, size):
    """Return between which sizes a program is the same as at one.

    Sizes are tried at growing distances from the given one; between the last that will do and the first that will not
    lies the bound, which is found by halving.

    Parameters
    ----------
    holds : Callable[[int], bool]
        Whether the program is the same at a size.
    size : int
        Where it is.

    Returns
    -------
    Optional[Bounds]
        None where it is the same at no other size.

    """
    known = {size: True}

    def is_same(other):
        if other not in known:
            known[other] = holds(other)
        return known[other]
    multiple = next((step for step in range(1, size + 1) if size % step == 0 and
                     any(is_same(other) for other in (size + step, size - step) if other > 0) and
                     is_same(size + 2 * step) == is_same(size + step)), None)
    if multiple is None:
        return None
    low, high = _last(is_same, size, -multiple), _last(is_same, size, multiple)
    return None if low == high else Bounds(low, None if high > FARTHEST else high, multiple)


def _last(is_same, size, step):
    """Return the farthest size in one direction up to which a program is the same."""
    good, places = 0, size // -step if step < 0 else 2 * FARTHEST
    for distance in STEPS:
        distance = min(distance, places)
        if distance <= good:
            break
        if is_same(size + distance * step):
            good = distance
            continue
        while distance - good > 1:
            middle = (good + distance) // 2
            good, distance = (middle, distance) if is_same(size + middle * step) else (good, middle)
        break
    return size + good * step
