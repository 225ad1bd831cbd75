"""Whether work is worth handing to another thread: the first of it is done here, and timed."""
import time
from itertools import chain

from dragon.io.stages.failing import END, next_of, raised


class Trial:
    """Some timed calls, and what they say.

    Parameters
    ----------
    calls : int
        How many count.
    worthwhile : float
        The seconds from which on a call is worth handing to another thread.
    warm : int, optional, default=1
        How many calls are made before: they warm up what later ones find warm, or fill a buffer.

    """

    def __init__(self, calls, worthwhile, warm=1):
        self._calls, self._worthwhile, self._left, self._spent = calls, worthwhile, calls + warm, 0.0

    @property
    def over(self):
        """Whether enough calls were made."""
        return self._left <= 0

    @property
    def pays(self):
        """Whether the calls took long enough, as far as is known."""
        return self._spent >= self._worthwhile * self._calls

    def call(self, function, *args):
        """Return what a function returns, and time it."""
        begin = time.perf_counter()
        result = function(*args)
        if self._left <= self._calls:
            self._spent += time.perf_counter() - begin
        self._left -= 1
        return result


def tried(items, trial, ahead):
    """Return an iterator over the same items, those behind a trial made ahead if that pays.

    Parameters
    ----------
    items : Iterator
        The items.
    trial : Trial
        What times the first ones; several iterators may share it.
    ahead : Callable[[Iterator], Iterator]
        Makes items ahead.

    """
    def rest():
        return ahead(items) if trial.pays else items
    return rest() if trial.over else behind(trial, _Timed(trial, items), rest)


def behind(trial, first, make_rest):
    """Return an iterator over items that a trial times, and over the rest as soon as it is over.

    Parameters
    ----------
    trial : Trial
        What times the first items.
    first : Iterator
        Makes them.
    make_rest : Callable[[], Iterator]
        Makes the others, once it is known whether that pays.

    """
    return chain.from_iterable(_parts(trial, first, make_rest))


def _parts(trial, first, make_rest):
    """Yield an iterator over the first items, then that over the others."""
    ended = []
    yield raised(_first(trial, first, ended))
    if not ended:
        yield make_rest()


def _first(trial, items, ended):
    while not trial.over:
        item = next_of(items)
        if item is END:
            ended.append(True)
            return
        yield item
        del item  # nobody but the user holds it while the next one is made


class _Timed:
    """An iterator whose items a trial times; it goes on after an error."""

    def __init__(self, trial, items):
        self._trial, self._items = trial, items

    def __next__(self):
        return self._trial.call(next, self._items)
