"""Shapes of results where sizes of arguments are unknown: the program runs at several sizes, and nothing is guessed.

A size of a result is a number if it is the same wherever the program runs, and unknown otherwise. Where an unknown
size meets a number that leaves no choice (a sum of shapes (None,) and (5,)), it is that number, or 1.
"""
import collections
import re
import threading
import time

from dragon import _C
from dragon.core.interrupts import is_interrupt

LARGE = (960, 960960)  # can be halved often and cut in many ways; the other also by 7, 11 and 13
SMALL = (0, 2)  # what takes some of an axis takes less of these
MOST_RUNS, MOST_SECONDS = 64, 2.0  # spent on a call that fails at first
_local = threading.local()


def count_by_numbers(count):
    """Return `count()`, a size that numbers decide, or one that stands for it where they are not known.

    Parameters
    ----------
    count : Callable[[], int]
        Looks at the numbers.

    Returns
    -------
    int
        The size.

    """
    try:
        return count()
    except NotImplementedError:
        trial = getattr(_local, "trial", None)
        if trial is None:
            raise
        trial.is_asked = True
        return trial.fresh


class _Trial:
    """One run of the program, with numbers in the places of unknown sizes.

    Parameters
    ----------
    sizes : Dict[Tuple[int, int], int]
        By axis (tensor, axis).
    fresh : int
        For sizes that come about in the program.

    """

    def __init__(self, sizes, fresh):
        self.sizes, self.fresh = sizes, fresh
        self.is_asked = False
        self.error = self.result = self.shapes = None

    def run(self, inference):
        """Run the program; returns whether it took these sizes."""
        shapes = [tuple(self.sizes.get((number, axis), size) for axis, size in enumerate(shape))
                  for number, shape in enumerate(inference.shapes)]
        outer, _local.trial = getattr(_local, "trial", None), self
        before = _C.exchange_size_by_numbers(self.fresh)
        try:
            self.result = inference.call(shapes)
            self.shapes = inference.read(self.result)
        except Exception as error:  # it says what it does not take in many ways
            if is_interrupt(error):
                raise
            self.error = error
        finally:
            _local.trial = outer
            self.is_asked |= _C.exchange_size_by_numbers(*before)[1]
        return self.error is None

    def is_like(self, other):
        """Return whether the results are as many, and have as many axes."""
        return [len(shape) for shape in self.shapes] == [len(shape) for shape in other.shapes]


class _Inference:
    """What is asked, and which sizes have been found that the program takes."""

    def __init__(self, call, shapes, read):
        self.call, self.shapes, self.read = call, shapes, read
        self.axes = [(number, axis) for number, shape in enumerate(shapes) for axis, size in enumerate(shape)
                     if size is None]
        self.known = list(dict.fromkeys(size for shape in shapes for size in shape if size is not None))

    def try_sizes(self, bound, others, fresh):
        """Return the run in which some axes have numbers of their own."""
        trial = _Trial({axis: bound.get(axis, others[place]) for place, axis in enumerate(self.axes)}, fresh)
        trial.run(self)
        return trial

    def find_first(self):
        """Return a run that succeeds, and the numbers that axes had to have for it: {axis: (number, others)}."""
        first = self.try_sizes({}, [LARGE[0]] * len(self.axes), LARGE[0])
        if first.error is None or not self.axes and not first.is_asked:
            return first, {}
        until = time.monotonic() + MOST_SECONDS
        for large in LARGE:
            found = self._search(large, until)
            if found is not None:
                return found
        return first, {}

    def _search(self, large, until):
        """Try numbers that the program names when it fails, in few axes first."""
        waiting, left = collections.deque([({}, None)]), MOST_RUNS
        others = [large] * len(self.axes)
        while waiting and left and time.monotonic() < until:
            bound, message = waiting.popleft()
            left -= 1
            trial = self.try_sizes(bound, others, large)
            if trial.error is None:
                return trial, bound
            text = str(trial.error)
            if text == message:  # this number changed nothing
                continue
            numbers = self._candidates(text, large)
            waiting.extend(({**bound, axis: number}, text) for number in numbers for axis in self.axes
                           if axis not in bound)
        return None

    def _candidates(self, text, large):
        """Return numbers that unknown sizes might have to be, those that an error tells first."""
        told = list(dict.fromkeys(int(number) for number in re.findall(r"\d{1,9}", text)))
        plain = [number for number in told if number < large // 16]
        # Something that follows an unknown size, as half of it does, is to be a number.
        followed = [number * (large // part) for part in told if 1 < part < large and large % part == 0
                    and part >= large // 16 for number in plain if number > 1]
        followed += [number + large - part for part in told if 0 < abs(large - part) < large // 16
                     for number in plain]
        found = [*plain, *followed, *self.known]
        return [number for number in dict.fromkeys(found) if number >= 0][:8]

    def others(self, first, bound):
        """Yield further runs, at other sizes.

        Parameters
        ----------
        first : _Trial
            The run that succeeded.
        bound : Dict[Tuple[int, int], int]
            Axes that had to have numbers for it.

        """
        large = next(size for size in LARGE if size == first.fresh)
        count = len(self.axes)
        apart = self.try_sizes(bound, [large * (place + 2) for place in range(count)], large * (count + 2))
        yield apart
        if apart.error is not None:
            yield self.try_sizes(bound, [2 * large] * count, 2 * large)
        yield from self._smaller(bound, large)
        for axis in bound:
            for number in dict.fromkeys([1, 2 * large, *self.known]):
                if number != bound[axis]:
                    yield self.try_sizes({**bound, axis: number}, [large] * count, large)

    def _smaller(self, bound, large):
        count = len(self.axes)
        for small in SMALL:
            trial = self.try_sizes(bound, [small] * count, small)
            yield trial
            if trial.error is None:
                return
        for place in range(count if count > 1 else 0):
            for small in SMALL:
                trial = self.try_sizes(bound, [small if other == place else large for other in range(count)], large)
                yield trial
                if trial.error is None:
                    break


def infer_shapes(call, shapes, read):
    """Return a result of a call, and the shapes of the tensors in it for all sizes that are not known.

    Parameters
    ----------
    call : Callable[[List[tuple]], Any]
        Called with shapes in which every size is a number; makes no numbers, and is called several times.
    shapes : Sequence[tuple]
        Of the arguments; None is a size that is not known.
    read : Callable[[Any], List[tuple]]
        Returns the shapes of the tensors in a result.

    Returns
    -------
    tuple
        A result at some sizes; the shapes of its tensors, with None where sizes differ.

    """
    inference = _Inference(call, shapes, read)
    first, bound = inference.find_first()
    if first.error is not None:
        raise first.error
    found = [list(shape) for shape in first.shapes]
    if not inference.axes and not first.is_asked:
        return first.result, found
    for trial in inference.others(first, bound):
        if all(size is None for shape in found for size in shape):
            break
        if trial.error is not None:
            continue
        if trial.is_like(first):
            _widen(found, trial.shapes)
        elif min(trial.sizes.values(), default=trial.fresh) >= LARGE[0]:
            raise ValueError("The number of axes of the result depends on sizes that are not known. "
                             f"Received: {first.shapes[:8]} and {trial.shapes[:8]}")
    return first.result, found


def numbers_of_axes(call, shapes):
    """Return the numbers that axes whose sizes are not known must have for a call to succeed.

    Parameters
    ----------
    call : Callable[[List[tuple]], Any]
        Called with shapes in which every size is a number, several times.
    shapes : Sequence[tuple]
        Of the arguments; None is a size that is not known.

    Returns
    -------
    Dict[Tuple[int, int], int]
        By (argument, axis); nothing where it succeeds, or fails, whatever the sizes.

    """
    return _Inference(call, shapes, lambda result: []).find_first()[1]


def _widen(found, shapes):
    for known, shape in zip(found, shapes):
        for axis, size in enumerate(shape):
            if known[axis] != size:
                known[axis] = None
