"""Counting batches over the ends of epochs, for what is saved every so many of them."""


class BatchCounter:
    """Know when a number of batches has passed.

    Parameters
    ----------
    frequency : Union[str, int]
        How many; "epoch" never comes.

    """

    def __init__(self, frequency):
        self.frequency = frequency
        self.last = None
        self._passed = 0

    def is_full(self, batch):
        """Count up to a batch of the present epoch; return whether enough have passed since the last time."""
        if self.frequency == "epoch":
            return False
        new_epoch = self.last is None or batch <= self.last
        self._passed += batch + 1 if new_epoch else batch - self.last
        self.last = batch
        if self._passed < self.frequency:
            return False
        self._passed = 0
        return True
