"""`tf.data.Dataset`: methods that make one out of several elements."""
from dragon.vm.shared.data import kinds


class Combining:
    """The methods of `tf.data.Dataset` that put elements together, take them apart, or end a pipeline."""

    def batch(self, batch_size, drop_remainder=False, num_parallel_calls=None, deterministic=None, name=None):
        """Return a dataset of consecutive elements, stacked.

        Parameters
        ----------
        batch_size : int
            How many elements make a batch.
        drop_remainder : bool, optional, default=False
            Whether to leave out a last batch that is smaller.
        num_parallel_calls : int, optional
            How many batches are made at a time.
        deterministic : bool, optional
            Whether batches keep their order, as they always do here.
        name : str, optional
            Accepted.

        Returns
        -------
        Dataset
            Of elements with an axis more in front.

        Examples
        --------
        >>> [batch.numpy().tolist() for batch in tf.data.Dataset.range(5).batch(2)]
        [[0, 1], [2, 3], [4]]

        """
        return kinds.Batch(self, batch_size, drop_remainder)

    def padded_batch(self, batch_size, padded_shapes=None, padding_values=None, drop_remainder=False, name=None):
        """Return a dataset of consecutive elements, padded to equal shapes and stacked.

        Parameters
        ----------
        batch_size : int
            How many elements make a batch.
        padded_shapes : Any, optional
            The structure of shapes; None or -1 in a shape stands for the largest size in the batch.
        padding_values : Any, optional
            The structure of scalars to pad with; 0, False and "" by default.
        drop_remainder : bool, optional, default=False
            Whether to leave out a last batch that is smaller.

        """
        return kinds.PaddedBatch(self, batch_size, padded_shapes, padding_values, drop_remainder)

    def ragged_batch(self, batch_size, drop_remainder=False, row_splits_dtype="int64", name=None):
        """Return a dataset of consecutive elements as ragged tensors."""
        return kinds.RaggedBatch(self, batch_size, drop_remainder, row_splits_dtype)

    def sparse_batch(self, batch_size, row_shape, name=None):
        """Raise: batches of dense elements as sparse tensors are not made."""
        raise NotImplementedError("Dataset.sparse_batch: batches of dense elements as sparse tensors are not made; "
                                  "`ragged_batch` and `padded_batch` are")

    def unbatch(self, name=None):
        """Return a dataset of the slices of each element along its first axis."""
        return kinds.Unbatch(self)

    def rebatch(self, batch_size, drop_remainder=False, name=None):
        """Return a dataset of the same rows in batches of another size, or of a cycle of sizes."""
        return kinds.Rebatch(self, batch_size, drop_remainder)

    def window(self, size, shift=None, stride=1, drop_remainder=False, name=None):
        """Return a dataset of datasets, each of `size` elements.

        Parameters
        ----------
        size : int
            How many elements a window has.
        shift : int, optional, default=size
            How far the next window starts from the last one.
        stride : int, optional, default=1
            How far two elements of a window are apart.
        drop_remainder : bool, optional, default=False
            Whether to leave out last windows that are smaller.

        """
        return kinds.Window(self, size, shift, stride, drop_remainder)

    def group_by_window(self, key_func, reduce_func, window_size=None, window_size_func=None, name=None):
        """Return a dataset of what a function makes of windows of elements with the same key.

        Parameters
        ----------
        key_func : Callable
            Gives the int64 key of an element.
        reduce_func : Callable
            Gives a dataset for a key and a dataset of elements that have it.
        window_size : int, optional
            How many elements make a window.
        window_size_func : Callable, optional
            Gives that number for a key.

        """
        return kinds.GroupByWindow(self, key_func, reduce_func, window_size, window_size_func)

    def bucket_by_sequence_length(self, element_length_func, bucket_boundaries, bucket_batch_sizes,
                                  padded_shapes=None, padding_values=None, pad_to_bucket_boundary=False,
                                  no_padding=False, drop_remainder=False, name=None):
        """Return a dataset of padded batches of elements of similar length.

        Parameters
        ----------
        element_length_func : Callable
            Gives the length of an element.
        bucket_boundaries : Sequence[int]
            Lengths where the buckets meet.
        bucket_batch_sizes : Sequence[int]
            The size of the batches of each bucket: one more than boundaries.
        padded_shapes : Any, optional
            As for `padded_batch`.
        padding_values : Any, optional
            As for `padded_batch`.
        pad_to_bucket_boundary : bool, optional, default=False
            Whether to pad to the bucket's boundary less one rather than to the longest element.
        no_padding : bool, optional, default=False
            Whether elements are stacked as they are.
        drop_remainder : bool, optional, default=False
            Whether to leave out last batches that are smaller.

        """
        return kinds.bucket_by_sequence_length(
            self, element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes, padding_values,
            pad_to_bucket_boundary, no_padding, drop_remainder)

    def rejection_resample(self, class_func, target_dist, initial_dist=None, seed=None, name=None):
        """Return a dataset of (class, element) whose classes come as often as a distribution says."""
        return kinds.rejection_resample(self, class_func, target_dist, initial_dist, seed)

    def reduce(self, initial_state, reduce_func, name=None):
        """Return the state after a function has been called with it and each element in turn."""
        from dragon.vm.shared.data.structure import call, check_same, to_element, to_result
        first = state = to_element(initial_state)
        for element in self._iterate():
            state = to_result(call(reduce_func, (state, element)))
            check_same(first, state, "reduce")
        return state

    def save(self, path, compression=None, shard_func=None, checkpoint_args=None):
        """Write all elements into a folder, from which `tf.data.Dataset.load` reads them."""
        kinds.save(self, path, compression, shard_func, checkpoint_args)

    def snapshot(self, path, compression="AUTO", reader_func=None, shard_func=None, name=None):
        """Return a dataset that writes its elements into files when they are first made, and reads them then.

        Parameters
        ----------
        path : str
            The folder. Programs that make the elements in the same way share what is in it.
        compression : Optional[str], optional, default="AUTO"
            "GZIP", "ZLIB", "AUTO" or None.
        reader_func : Callable, optional
            Makes one dataset of a dataset of those that the files hold; by default all are read in turns.
        shard_func : Callable, optional
            Tells of an element the number of the file that it goes into.

        """
        return kinds.Snapshot(self, path, compression, reader_func, shard_func)
