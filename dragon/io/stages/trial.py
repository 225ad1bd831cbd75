"""Whether work is worth handing to another thread: the first of it is done here, and timed."""
import time
from itertools import chain

END = object()


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
    if trial.over:
        return ahead(items) if trial.pays else items
    return chain.from_iterable(_in_two(items, trial, ahead))


def _in_two(items, trial, ahead):
    """Yield the iterator over what a trial takes, then that over the rest."""
    ended = []
    yield _timed(items, trial, ended)
    if not ended:
        yield ahead(items) if trial.pays else items


def _timed(items, trial, ended):
    while not trial.over:
        item = trial.call(next, items, END)
        if item is END:
            ended.append(True)
            return
        yield item
        del item  # nobody but the user holds it while the next one is made
