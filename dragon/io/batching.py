"""From samples to batches: which samples stand together, and how they become one."""
from bisect import bisect_right

from dragon.core.dtypes import NATIVE
from dragon.core.operators import operators
from dragon.io.block import current_arena
from dragon.io.stages.batching import lists

LAST = ("keep", "drop", "pad", "wrap")


class OddSamples(ValueError):
    """Samples do not go together: those at some places are unlike the first one."""

    def __init__(self, message, places):
        super().__init__(message)
        self.places = places

    def __reduce__(self):
        return type(self), (self.args[0], self.places)


class Batches:
    """Cut samples into lists, one after the other.

    Parameters
    ----------
    size : int
        Samples per batch.
    last : str, optional, default="keep"
        What becomes of the samples that are left over at the end: "keep" makes a smaller batch of them, "drop" none,
        "pad" repeats the last sample, "wrap" adds samples from the beginning.

    """

    def __init__(self, size, last="keep"):
        if size < 1:
            raise ValueError(f"Batches: got size={size}, expected at least 1")
        if last not in LAST:
            raise ValueError(f"Batches: got last={last!r}, expected one of {LAST}")
        self.size, self.last = int(size), last

    def __call__(self, entries, first=None):
        for batch in lists(entries, self.size):
            if first is None and self.last == "wrap":
                first = batch
            yield from complete(batch, self.size, self.last, first)

    def count(self, samples):
        """Return how many batches so many samples make."""
        return samples // self.size if self.last == "drop" else -(-samples // self.size)


def complete(batch, size, last, first=None):
    """Yield a batch as the policy for last ones has it, or nothing."""
    missing = size - len(batch)
    if missing and last == "drop":
        return
    if missing and last == "pad":
        batch = batch + batch[-1:] * missing
    elif missing and last == "wrap":
        batch = batch + [first[place % len(first)] for place in range(missing)]
    yield batch


class Buckets:
    """Put samples of similar length together, so that little is padded.

    Parameters
    ----------
    length : Union[Sequence[int], Callable]
        The length of each sample by its number, or a function: of the number where the source has numbers, of the
        sample where it has none.
    boundaries : Sequence[int]
        Rising lengths at which the next bucket begins.
    sizes : Union[int, Sequence[int]]
        Samples per batch, in each bucket: one more than boundaries.
    last : str, optional, default="keep"
        What becomes of samples that are left over in a bucket at the end, as for `Batches`.

    """

    def __init__(self, length, boundaries, sizes, last="keep"):
        self.length = length if callable(length) else length.__getitem__
        self.boundaries = [int(boundary) for boundary in boundaries]
        if sorted(set(self.boundaries)) != self.boundaries:
            raise ValueError(f"Buckets: got boundaries={boundaries!r}, expected rising numbers")
        sizes = [sizes] * (len(self.boundaries) + 1) if hasattr(sizes, "__index__") else list(sizes)
        if len(sizes) != len(self.boundaries) + 1 or min(sizes) < 1:
            raise ValueError(f"Buckets: got sizes={sizes!r} for {len(self.boundaries)} boundaries, expected one "
                             "positive size more than boundaries")
        if last not in LAST:
            raise ValueError(f"Buckets: got last={last!r}, expected one of {LAST}")
        self.sizes, self.last = sizes, last

    def __call__(self, entries):
        waiting, first = [[] for _ in self.sizes], [None] * len(self.sizes)
        for entry in entries:
            bucket = bisect_right(self.boundaries, self.length(entry if isinstance(entry, int) else entry[1]))
            waiting[bucket].append(entry)
            if len(waiting[bucket]) == self.sizes[bucket]:
                if first[bucket] is None and self.last == "wrap":
                    first[bucket] = waiting[bucket]
                yield waiting[bucket]
                waiting[bucket] = []
        for batch, size, whole in zip(waiting, self.sizes, first):
            if batch:
                yield from complete(batch, size, self.last, whole or batch)

    def count(self, samples):
        """Raise: how many batches there are depends on all lengths."""
        raise TypeError("Buckets: got a question for the number of batches, which depends on the length of each sample")


def allocate(nbytes):
    """Return memory for a batch: shared with the parent in a worker, so that nothing is copied on the way."""
    arena = current_arena()
    if arena is not None:
        return arena.allocate(nbytes)
    # The engine keeps memory that was let go of: new pages would cost as much as what is written into them.
    return memoryview(operators().empty((nbytes,), dtype=NATIVE["uint8"]))


def stack_samples(samples):
    """Return samples as a batch: arrays are stacked, in shared memory within a worker; structures keep their form.

    Text and bytes become a list.
    """
    return gather(samples, stack_arrays)


def gather(samples, join):
    """Return samples as one structure of what a function makes of the arrays in each place."""
    import numpy as np
    if not isinstance(samples, (list, tuple)):
        raise TypeError(f"stack_samples: got {type(samples).__name__}, expected a list of samples")
    first = samples[0]
    if isinstance(first, dict):
        _check_forms(samples, lambda sample: isinstance(sample, dict) and sample.keys() == first.keys())
        return {key: gather([sample[key] for sample in samples], join) for key in first}
    if isinstance(first, (tuple, list)):
        _check_forms(samples, lambda sample: isinstance(sample, (tuple, list)) and len(sample) == len(first))
        columns = [gather(list(column), join) for column in zip(*samples)]
        return type(first)(*columns) if hasattr(first, "_fields") else type(first)(columns)
    if isinstance(first, (str, bytes)) or first is None:
        return list(samples)
    return join([np.asarray(sample) for sample in samples])


def _check_forms(samples, fits):
    odd = [place for place, sample in enumerate(samples) if not fits(sample)]
    if odd:
        raise OddSamples(f"stack_samples: got {_form(samples[odd[0]])} at place {odd[0]} of the batch, expected "
                         f"{_form(samples[0])} as at place 0", odd)


def _form(sample):
    """Return a few words about the structure of a sample."""
    if isinstance(sample, dict):
        return f"a dict of {list(sample)}"
    if isinstance(sample, (tuple, list)):
        return f"a {type(sample).__name__} of {len(sample)}"
    return type(sample).__name__


def stack_arrays(arrays):
    """Return arrays of one shape as one array."""
    import numpy as np
    first = arrays[0]
    odd = [place for place, array in enumerate(arrays) if array.shape != first.shape]
    if odd:
        raise OddSamples(f"stack_samples: got shape {arrays[odd[0]].shape} at place {odd[0]} of the batch, expected "
                         f"{first.shape} as at place 0; PadSamples makes them equal", odd)
    if first.dtype.kind not in "biufc":
        return np.stack(arrays)
    dtype = np.result_type(*arrays) if any(array.dtype != first.dtype for array in arrays) else first.dtype
    return np.stack(arrays, out=_room((len(arrays), *first.shape), dtype))


def _room(shape, dtype):
    """Return an array to be filled, where a batch should lie."""
    import numpy as np
    count = int(np.prod(shape, dtype=np.int64))
    return np.frombuffer(allocate(count * dtype.itemsize), dtype, count).reshape(shape)


class PadSamples:
    """Make a batch of samples of unequal shapes: arrays are padded at their ends to the largest of the batch.

    Parameters
    ----------
    value : Union[int, float], optional, default=0
        What is written where a sample has nothing.
    multiple_of : int, optional, default=1
        Sizes become multiples of this.
    shape : Sequence[Optional[int]], optional
        Sizes that are the same for all batches; None where the largest of the batch counts.

    """

    def __init__(self, value=0, multiple_of=1, shape=None):
        if multiple_of < 1:
            raise ValueError(f"PadSamples: got multiple_of={multiple_of}, expected at least 1")
        self.value, self.multiple_of, self.shape = value, multiple_of, shape

    def __call__(self, samples):
        return gather(samples, self._pad)

    def _pad(self, arrays):
        import numpy as np
        rank = arrays[0].ndim
        if odd := [place for place, array in enumerate(arrays) if array.ndim != rank]:
            raise OddSamples(f"PadSamples: got {arrays[odd[0]].ndim} axes at place {odd[0]} of the batch, expected "
                             f"{rank} as at place 0", odd)
        if rank == 0 or arrays[0].dtype.kind not in "biufc":
            return stack_arrays(arrays)
        made = _room((len(arrays), *self._sizes(arrays)), np.result_type(*{array.dtype for array in arrays}))
        made[...] = self.value
        for place, array in enumerate(arrays):
            made[(place, *map(slice, array.shape))] = array
        return made

    def _sizes(self, arrays):
        sizes = [-(-max(column) // self.multiple_of) * self.multiple_of
                 for column in zip(*(array.shape for array in arrays))]
        if self.shape is None or len(self.shape) != len(sizes):
            return sizes
        fixed = [own if wanted is None else wanted for own, wanted in zip(sizes, self.shape)]
        if odd := [place for place, array in enumerate(arrays)
                   if any(own > wanted for own, wanted in zip(array.shape, fixed))]:
            raise OddSamples(f"PadSamples: got shape {arrays[odd[0]].shape} at place {odd[0]} of the batch, expected "
                             f"at most {tuple(fixed)}", odd)
        return fixed
