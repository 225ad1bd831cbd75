"""How much is made ahead of its use, found out by what happens."""
BUDGET_BYTES = 1 << 29  # that items made ahead may take where nobody says otherwise
SETTLED_AFTER = 64  # items in a row that nobody waited for, after which there may be fewer ahead


class Depth:
    """How many items are made ahead.

    It doubles where the user has to wait although there had been no room before: what comes in bursts wants a larger
    store. It shrinks where nothing has been waited for in a long time. A store that was never full is no reason for a
    wait: who makes the items is slow, and a larger one no help.

    Parameters
    ----------
    size : int, optional, default=4
        How many at first.
    least, most : int, optional
        The bounds of that.
    size_of : Callable[[Any], int], optional
        Gives the bytes of an item.
    budget : int, optional
        How many bytes all may take.

    """

    def __init__(self, size=4, least=1, most=64, size_of=None, budget=None):
        self.size, self._least, self._most = size, least, max(most, least)
        self._size_of, self._budget, self._largest = size_of, budget or BUDGET_BYTES, 1
        self._was_full, self._calm = False, 0

    def weigh(self, item):
        """Note the bytes of an item."""
        if self._size_of is not None:
            self._largest = max(self._largest, self._size_of(item))

    def learn(self, waited, full, plenty):
        """Note how an item was taken, and return by how much the size has grown.

        Parameters
        ----------
        waited : bool
            Whether it was not there when it was asked for.
        full : bool
            Whether there was no room for more before.
        plenty : bool
            Whether there were many.

        """
        before = self.size
        self._was_full = self._was_full or full
        self._calm = self._calm + 1 if plenty and not waited else 0
        if waited and self._was_full:
            self.size, self._was_full = 2 * self.size, False
        elif self._calm >= SETTLED_AFTER:
            self.size, self._calm = self.size - 1, 0
        most = max(min(self._budget // self._largest, self._most), self._least)
        self.size = max(min(self.size, most), self._least)
        return self.size - before
