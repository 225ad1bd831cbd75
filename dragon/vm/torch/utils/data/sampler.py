"""In which order samples are read."""
from itertools import chain, repeat
from typing import Generic, TypeVar

from dragon.io.stages.batching import lists
from dragon.vm import torch

_T_co = TypeVar("_T_co", covariant=True)


class Sampler(Generic[_T_co]):
    """Yield indices of a dataset; the base of samplers.

    Examples
    --------
    >>> class Backwards(torch.utils.data.Sampler):
    ...     def __init__(self, data):
    ...         self.data = data
    ...     def __iter__(self):
    ...         return iter(reversed(range(len(self.data))))
    >>> list(torch.utils.data.DataLoader([1, 2, 3], sampler=Backwards([1, 2, 3]), batch_size=3))
    [tensor([3, 2, 1])]

    """

    def __iter__(self):
        raise NotImplementedError

    # No __len__ here: `len(sampler)` shall raise TypeError where a subclass has none.


class SequentialSampler(Sampler[int]):
    """Yield the indices in order. ..."""

    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """Yield the indices in random order.

    Parameters
    ----------
    num_samples : int, optional
        How many to yield; the dataset's length by default.
    generator : torch.Generator, optional
        Where the numbers come from; one that the default stream seeds by default.

    """

    CHUNK = 32  # how many indices are drawn at a time with replacement

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        self.data_source, self.replacement = data_source, replacement
        self._num_samples, self.generator = num_samples, generator
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={self.num_samples}")

    num_samples = property(lambda self: len(self.data_source) if self._num_samples is None else self._num_samples,
                           doc="How many indices are yielded.")

    def __iter__(self):
        count, wanted = len(self.data_source), self.num_samples
        generator = self.generator
        if generator is None:
            generator = torch.Generator()
            generator.manual_seed(draw_seed(None))
        # PyTorch draws another time for the rest even where there is none; so the stream stays in step.
        if self.replacement:
            for size in chain(repeat(self.CHUNK, wanted // self.CHUNK), [wanted % self.CHUNK]):
                yield from torch.randint(high=count, size=(size,), dtype=torch.int64, generator=generator).tolist()
            return
        for size in chain(repeat(count, wanted // count), [wanted % count]):
            yield from numbers_of(torch.randperm(count, generator=generator)[:size])

    def __len__(self):
        return self.num_samples


def numbers_of(indices, count=4096):
    """Yield a tensor's numbers, some at a time: Python's numbers take five times a tensor's memory."""
    for start in range(0, len(indices), count):
        yield from indices[start:start + count].tolist()


def draw_seed(generator):
    """Return a seed from a generator, the default one if None."""
    return int(torch.empty((), dtype=torch.int64).random_(generator=generator).item())


class SubsetRandomSampler(Sampler[int]):
    """Yield given indices in random order.

    Parameters
    ----------
    indices : Sequence[int]
        The indices.
    generator : torch.Generator, optional
        Where the order comes from.

    """

    def __init__(self, indices, generator=None):
        self.indices, self.generator = indices, generator

    def __iter__(self):
        for place in numbers_of(torch.randperm(len(self.indices), generator=self.generator)):
            yield self.indices[place]

    def __len__(self):
        return len(self.indices)


def require_count(name, count):
    """Raise ValueError unless a count is a positive integer."""
    if not isinstance(count, int) or isinstance(count, bool) or count <= 0:
        raise ValueError(f"{name} should be a positive integer value, but got {name}={count}")


class WeightedRandomSampler(Sampler[int]):
    """Yield indices as likely as their weights say.

    Parameters
    ----------
    weights : Sequence[float]
        One weight for each index.
    num_samples : int
        How many to yield.
    generator : torch.Generator, optional
        Where the numbers come from.

    """

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        require_count("num_samples", num_samples)
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.weights = torch.as_tensor(weights, dtype=torch.float64)
        if self.weights.dim() != 1:
            raise ValueError("weights should be a 1d sequence but given weights have shape "
                             f"{tuple(self.weights.shape)}")
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self):
        yield from numbers_of(torch.multinomial(self.weights, self.num_samples, self.replacement,
                                                generator=self.generator))

    def __len__(self):
        return self.num_samples


class BatchSampler(Sampler[list]):
    """Yield lists of another sampler's indices.

    Parameters
    ----------
    sampler : Iterable
        The other sampler.
    batch_size : int
        How many per list.
    drop_last : bool
        Whether to leave out a last list that is shorter.

    """

    def __init__(self, sampler, batch_size, drop_last):
        require_count("batch_size", batch_size)
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self):
        return lists(self.sampler, self.batch_size, self.drop_last)

    def __len__(self):
        rest = 0 if self.drop_last else self.batch_size - 1
        return (len(self.sampler) + rest) // self.batch_size
