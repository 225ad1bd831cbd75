"""An epoch's batches, with their numbers, from a source that may end early, late or never."""

from dragon.core import warnings
from dragon.vm.keras.core import global_state
from dragon.vm.keras.trainers.data_adapters import get_data_adapter


class EpochIterator:
    """Yield (first step, last step, batches of one execution), epoch by epoch.

    Parameters
    ----------
    steps_per_epoch : int, optional
        Batches in an epoch; without it, all that the source has.
    steps_per_execution : int, optional, default=1
        Batches that are run at once.
    **data
        As `get_data_adapter` takes it.

    """

    def __init__(self, steps_per_epoch=None, steps_per_execution=1, **data):
        self.steps_per_epoch, self._together = steps_per_epoch, steps_per_execution
        self.source = get_data_adapter(steps_per_epoch=steps_per_epoch, **data)
        self._known = None  # how many batches the source had, once it has ended
        self._batches, self._seen = None, 0

    num_batches = property(lambda self: self.steps_per_epoch or self.source.num_batches or self._known,
                           doc="Optional[int]: how many steps an epoch has, as far as known.")

    def __reduce__(self):
        return type(None), ()  # a copy of the model, and a worker's, makes its own

    def reset(self):
        """Begin with the source's first batch again."""
        self._batches, self._seen = None, 0

    def __iter__(self):
        before = global_state.get_global_attribute("batches_vary")
        global_state.set_global_attribute("batches_vary", self.source.varies)
        try:
            yield from self._epoch()
        finally:
            global_state.set_global_attribute("batches_vary", before)

    def enumerate_epoch(self):
        """Yield the same."""
        return iter(self)

    def _epoch(self):
        self.source.on_epoch_begin()
        steps, count = self.num_batches, self.source.num_batches
        if self._batches is None or self.steps_per_epoch is None:
            self._batches, self._seen = iter(self.source), 0
        step = 0
        while steps is None or step < steps:
            if count and self._seen >= count:
                if self.steps_per_epoch:
                    self._warn(6)
                break
            together = self._take(self._together)
            if not together:
                self._end_early(step)
                break
            # Steps are counted by whole executions, the last of an epoch too, as Keras's callbacks see them.
            self._seen += self._together
            step += self._together
            yield step - self._together, step - 1, together
        if count and self._seen >= count:
            self._batches = None
        self.source.on_epoch_end()

    def _take(self, count):
        if count == 1:
            for batch in self._batches:
                return (batch,)
            return ()
        return [batch for _, batch in zip(range(count), self._batches)]

    def _end_early(self, step):
        """Note how many batches there were; say so where more were asked for."""
        self._batches = None
        if self._known is None and self.steps_per_epoch is None and step:
            self._known = step
            if self.source.num_batches is None:
                return
        self._warn(7)

    @staticmethod
    def _warn(level):
        warnings.warn("Your input ran out of data; interrupting training. Make sure that your dataset or generator can "
                      "generate at least `steps_per_epoch * epochs` batches. You may need to use the `.repeat()` "
                      "function when building your dataset.")
