"""The parts that sources of batches have in common."""


class DataAdapter:
    """Yield batches of tensors, epoch by epoch; a source of a user's own may be one."""

    num_batches = None  # how many an epoch has, None where nobody knows
    batch_size = None
    varies = True  # whether batches may differ in size

    def __iter__(self):
        raise NotImplementedError(f"{type(self).__name__}: expected an `__iter__` that yields batches")

    def on_epoch_begin(self):
        """Know that an epoch begins."""

    def on_epoch_end(self):
        """Know that an epoch has ended."""
