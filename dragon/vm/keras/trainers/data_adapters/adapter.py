"""The parts that sources of batches have in common."""


class DataAdapter:
    """Yield batches of tensors, epoch by epoch; a source of a user's own may be one."""

    num_batches = None  # how many an epoch has, None where nobody knows
    batch_size = None
    varies = True  # whether batches may differ in size
    has_partial_batch = None  # whether the last batch of an epoch is smaller, None where nobody knows
    partial_batch_size = None  # of how many samples that one is

    def __iter__(self):
        raise NotImplementedError(f"{type(self).__name__}: expected an `__iter__` that yields batches")

    def on_epoch_begin(self):
        """Know that an epoch begins."""

    def on_epoch_end(self):
        """Know that an epoch has ended."""

    def get_tf_dataset(self):
        """Return the batches as a `tf.data.Dataset`."""
        from dragon.vm.keras.trainers.data_adapters.views import BatchesOf
        return BatchesOf(self)

    def get_numpy_iterator(self):
        """Return an iterator over batches of NumPy arrays."""
        from dragon.vm.keras.trainers.data_adapters.views import numpy_batches
        return numpy_batches(self)
