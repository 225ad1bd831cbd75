"""From indices to batches, for the two kinds of datasets."""


class _BaseDatasetFetcher:
    """Fetch batches of a dataset."""

    def __init__(self, dataset, auto_collation, collate_fn, drop_last):
        self.dataset, self.auto_collation = dataset, auto_collation
        self.collate_fn, self.drop_last = collate_fn, drop_last

    def fetch(self, possibly_batched_index):
        """Return the batch of a list of indices, or the sample of one index where there is no batching."""
        raise NotImplementedError


class _IterableDatasetFetcher(_BaseDatasetFetcher):
    """Fetch the next samples, whatever the indices."""

    def __init__(self, dataset, auto_collation, collate_fn, drop_last):
        super().__init__(dataset, auto_collation, collate_fn, drop_last)
        self.dataset_iter, self.ended = iter(dataset), False

    def fetch(self, possibly_batched_index):
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.dataset_iter))
        # One by one: a dataset that has ended is not asked again.
        wanted = len(possibly_batched_index)
        samples = []
        while len(samples) < wanted and not self.ended:
            try:
                samples.append(next(self.dataset_iter))
            except StopIteration:
                self.ended = True
        if not samples or (self.drop_last and len(samples) < wanted):
            raise StopIteration
        return self.collate_fn(samples)


class _MapDatasetFetcher(_BaseDatasetFetcher):
    """Fetch samples by index, a batch at once where the dataset can."""

    def fetch(self, possibly_batched_index):
        if not self.auto_collation:
            return self.collate_fn(self.dataset[possibly_batched_index])
        whole = getattr(self.dataset, "__getitems__", None)
        if whole:
            return self.collate_fn(whole(possibly_batched_index))
        return self.collate_fn([self.dataset[index] for index in possibly_batched_index])
