"""Collections of samples, and collections made of others."""
import bisect
import math
from itertools import accumulate
from typing import Generic, Iterable, TypeVar

from dragon.core import warnings
from dragon.vm import torch

_T_co = TypeVar("_T_co", covariant=True)
_default = object()


class Dataset(Generic[_T_co]):
    """Samples by index: a subclass defines `__getitem__`, most also `__len__`, some `__getitems__` for a batch.

    Examples
    --------
    >>> class Squares(torch.utils.data.Dataset):
    ...     def __len__(self):
    ...         return 4
    ...     def __getitem__(self, index):
    ...         return index, index ** 2
    >>> Squares()[3]
    (3, 9)

    """

    def __getitem__(self, index):
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other):
        return ConcatDataset([self, other])

    # No __len__ here: samplers and users ask for it with `len`, and a TypeError is the right answer without one.


class IterableDataset(Dataset[_T_co], Iterable[_T_co]):
    """Samples as they come: a subclass defines `__iter__`.

    Examples
    --------
    >>> class Countdown(torch.utils.data.IterableDataset):
    ...     def __iter__(self):
    ...         return iter([3, 2, 1])
    >>> list(torch.utils.data.DataLoader(Countdown(), batch_size=2))
    [tensor([3, 2]), tensor([1])]

    """

    def __add__(self, other):
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple]):
    """Take samples from tensors along their first axis.

    Parameters
    ----------
    *tensors : Tensor
        All of one length.

    Examples
    --------
    >>> dataset = torch.utils.data.TensorDataset(torch.tensor([[1.0], [2.0]]), torch.tensor([0, 1]))
    >>> len(dataset), dataset[1]
    (2, (tensor([2.]), tensor(1)))

    """

    def __init__(self, *tensors):
        if any(tensor.size(0) != tensors[0].size(0) for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self):
        return self.tensors[0].size(0)


class StackDataset(Dataset):
    """Take samples of several datasets together: as tuples, or as dicts if the datasets have names.

    Parameters
    ----------
    args : Dataset
        Datasets for tuples.
    kwargs : Dataset
        Datasets for dicts.

    """

    def __init__(self, *args, **kwargs):
        if args and kwargs:
            raise ValueError("Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like "
                             "input/output, but both types are given.")
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets = args or kwargs
        lengths = {len(dataset) for dataset in args or kwargs.values()}
        if len(lengths) > 1:
            raise ValueError("Size mismatch between datasets")
        self._length = lengths.pop()

    def _join(self, columns):
        """Return samples from one list of items per dataset."""
        if isinstance(self.datasets, dict):
            return [dict(zip(self.datasets, items)) for items in zip(*columns)]
        return list(zip(*columns))

    def __getitem__(self, index):
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __getitems__(self, indices):
        columns = []
        for dataset in self.datasets.values() if isinstance(self.datasets, dict) else self.datasets:
            items = get_items(dataset, indices)
            if len(items) != len(indices):
                raise ValueError(f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(items)}")
            columns.append(items)
        return self._join(columns)

    def __len__(self):
        return self._length


def get_items(dataset, indices):
    """Return a dataset's samples of these indices, by its own `__getitems__` if it has one."""
    whole = getattr(dataset, "__getitems__", None)
    return whole(indices) if callable(whole) else [dataset[index] for index in indices]


class ConcatDataset(Dataset[_T_co]):
    """Take the samples of one dataset after those of another.

    Parameters
    ----------
    datasets : Iterable[Dataset]
        The datasets, which have lengths.

    """

    @staticmethod
    def cumsum(sequence):
        """Return where each dataset ends."""
        return list(accumulate(len(dataset) for dataset in sequence))

    def __init__(self, datasets):
        super().__init__()
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    def __len__(self):
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx):
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        which = bisect.bisect_right(self.cumulative_sizes, idx)
        return self.datasets[which][idx - (self.cumulative_sizes[which - 1] if which else 0)]

    @property
    def cummulative_sizes(self):
        """The old spelling of `cumulative_sizes`."""
        warnings.warn("`cummulative_sizes` attribute is renamed to `cumulative_sizes`", FutureWarning)
        return self.cumulative_sizes


class ChainDataset(IterableDataset):
    """Yield the samples of one iterable dataset after those of another.

    Parameters
    ----------
    datasets : Iterable[IterableDataset]
        The datasets.

    """

    def __init__(self, datasets):
        super().__init__()
        self.datasets = datasets

    def _checked(self):
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield dataset

    def __iter__(self):
        for dataset in self._checked():
            yield from dataset

    def __len__(self):
        return sum(map(len, self._checked()))


class Subset(Dataset[_T_co]):
    """Take some of a dataset's samples.

    Parameters
    ----------
    indices : Sequence[int]
        Which samples.

    Examples
    --------
    >>> dataset = torch.utils.data.TensorDataset(torch.arange(5) * 10)
    >>> torch.utils.data.Subset(dataset, [4, 0])[0]
    (tensor(40),)

    """

    def __init__(self, dataset, indices):
        self.dataset, self.indices = dataset, indices
        kind = type(self)
        if kind.__getitem__ is not Subset.__getitem__ and kind.__getitems__ is Subset.__getitems__:
            raise NotImplementedError(
                f"{kind.__name__} overrides __getitem__ but not __getitems__: DataLoader would not see the override. "
                "Define too: def __getitems__(self, indices): return [self.__getitem__(idx) for idx in indices]")

    def __getitem__(self, idx):
        if isinstance(idx, list):
            return self.dataset[[self.indices[place] for place in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices):
        return get_items(self.dataset, [self.indices[place] for place in indices])

    def __len__(self):
        return len(self.indices)


def random_split(dataset, lengths, generator=_default):
    """Return subsets of a dataset that share nothing, drawn at random.

    Parameters
    ----------
    lengths : Sequence[Union[int, float]]
        The subsets' lengths, or fractions that sum up to 1.
    generator : torch.Generator, optional
        Where the order comes from; the default stream by default.

    Returns
    -------
    List[Subset]
        One for each length.

    Examples
    --------
    >>> train, test = torch.utils.data.random_split(range(10), [0.8, 0.2])
    >>> len(train), len(test)
    (8, 2)

    """
    total = len(dataset)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = lengths_of(lengths, total)
    if sum(lengths) != total:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = torch.randperm(total, generator=None if generator is _default else generator).tolist()
    return [Subset(dataset, order[end - length:end]) for end, length in zip(accumulate(lengths), lengths)]


def lengths_of(fractions, total):
    """Return the lengths that fractions stand for; what is left over goes to the first ones, one each."""
    for place, fraction in enumerate(fractions):
        if not 0 <= fraction <= 1:
            raise ValueError(f"Fraction at index {place} is not between 0 and 1")
    lengths = [math.floor(total * fraction) for fraction in fractions]
    for turn in range(total - sum(lengths)):
        lengths[turn % len(lengths)] += 1
    for place, length in enumerate(lengths):
        if length == 0:
            warnings.warn(f"Length of split at index {place} is 0. This might result in an empty dataset.")
    return lengths
