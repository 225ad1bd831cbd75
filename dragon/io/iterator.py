"""Batches of transformed samples: the third of the three nouns of `dragon.io`."""
from itertools import islice

from dragon.io.block import current_arena
from dragon.io.failure import Failure
from dragon.io.pool import WorkerPool


def stack_samples(samples):
    """Return samples as a batch: arrays are stacked, in shared memory within a worker; structures keep their form."""
    import numpy as np
    if not isinstance(samples, (list, tuple)):
        raise TypeError(f"stack_samples: got {type(samples).__name__}, expected a list of samples")
    first = samples[0]
    if isinstance(first, dict):
        return {key: stack_samples([sample[key] for sample in samples]) for key in first}
    if isinstance(first, (tuple, list)):
        return type(first)(stack_samples(list(column)) for column in zip(*samples))
    arrays = [np.asarray(sample) for sample in samples]
    if arrays[0].dtype.kind not in "biufc" or current_arena() is None:
        return np.stack(arrays)
    shape = (len(arrays), *arrays[0].shape)
    memory = current_arena().allocate(sum(array.nbytes for array in arrays))
    return np.stack(arrays, out=np.frombuffer(memory, arrays[0].dtype).reshape(shape))


class Iterator:
    """Read samples, transform them in workers, and yield batches.

    Parameters
    ----------
    reader : Iterable
        Yields samples.
    transform : Callable, optional
        Called with each sample, in a worker if there are any.
    batch_size : int, optional, default=1
        Samples per batch.
    collate : Callable, optional, default=stack_samples
        Makes a batch of a list of samples.
    workers : int, optional, default=0
        How many processes transform; 0 does it here.
    prefetch : int, optional, default=2
        How many batches each worker has ahead.
    drop_last : bool, optional, default=False
        Whether to leave out a last batch that is smaller.
    in_order : bool, optional, default=True
        Whether batches keep the reader's order, or come as they are ready.
    timeout : float, optional
        Seconds to wait for a batch.
    context : multiprocessing.context.BaseContext, optional
        How workers are started.
    deliver : Callable, optional
        Called with each batch here, at the end: hands it to a device.

    """

    def __init__(self, reader, transform=None, batch_size=1, collate=stack_samples, workers=0, prefetch=2,
                 drop_last=False, in_order=True, timeout=None, context=None, deliver=None):
        self.reader, self.batch_size, self.drop_last, self.in_order = reader, batch_size, drop_last, in_order
        self.timeout, self.deliver = timeout, deliver or (lambda batch: batch)
        self._work, self._prefetch = _Work(transform, collate), prefetch
        self._pool = WorkerPool(workers, _Start(self._work), context, "Iterator") if workers else None

    def __iter__(self):
        batches = map(self._work, self._lists()) if self._pool is None else self._from_workers()
        return map(self.deliver, batches)

    def _lists(self):
        samples = iter(self.reader)
        while batch := list(islice(samples, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def _from_workers(self):
        tasks, done, outstanding, wanted = enumerate(self._lists()), {}, set(), 0
        count = len(self._pool.workers)

        def give(worker):
            for number, samples in islice(tasks, 1):
                outstanding.add(number)
                self._pool.put(worker, (id(tasks), number), samples)
        for turn in range(self._prefetch * count):
            give(turn % count)
        while outstanding or done:
            key = wanted if self.in_order else next(iter(done), None)
            if key not in done:
                worker, (run, number), batch = self._pool.get(self.timeout)
                if run == id(tasks):  # else of an earlier, abandoned run
                    outstanding.discard(number)
                    done[number] = batch
                    give(worker)
                continue
            wanted += 1
            batch = done.pop(key)
            if isinstance(batch, Failure):
                batch.reraise()
            yield batch

    def close(self):
        """End the workers."""
        if self._pool is not None:
            self._pool.close()


class _Work:
    """The steps that are done to a list of samples."""

    def __init__(self, transform, collate):
        self.transform, self.collate = transform, collate

    def __call__(self, samples):
        return self.collate(samples if self.transform is None else [self.transform(sample) for sample in samples])


class _Start:
    """Give a worker its work; a class, so that it can be pickled."""

    def __init__(self, work):
        self.work = work

    def __call__(self, index):
        return self.work
