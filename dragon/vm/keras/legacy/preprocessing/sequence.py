"""Windows over a series, and pairs of words that stand near each other."""
import json
import random

from dragon.vm.keras.trainers.data_adapters.py_dataset import PyDataset
from dragon.vm.keras.utils.sequence import pad_sequences  # noqa: F401

EULER_MASCHERONI = 0.577


class TimeseriesGenerator(PyDataset):
    """Batches of windows over a series, each with the target of the step behind it.

    Parameters
    ----------
    data : Sequence
        The series; its first axis is time.
    targets : Sequence
        As many.
    length : int
        Over how many steps a window goes.
    sampling_rate : int, optional, default=1
        Which steps of them it has: each, each second, ...
    stride : int, optional, default=1
        How many steps lie between windows.
    start_index, end_index : int, optional
        The part of the series that is looked at.
    shuffle : bool, optional, default=False
        Draw windows at random places.
    reverse : bool, optional, default=False
        Whether the last step comes first.
    batch_size : int, optional, default=128
        How many windows a batch has.
    **kwargs : Any
        Of `PyDataset`.

    Examples
    --------
    >>> series = np.arange(6)
    >>> x, y = keras.preprocessing.sequence.TimeseriesGenerator(series, series, length=3, batch_size=2)[0]
    >>> x.tolist(), y.tolist()
    ([[0, 1, 2], [1, 2, 3]], [3, 4])

    """

    def __init__(self, data, targets, length, sampling_rate=1, stride=1, start_index=0, end_index=None, shuffle=False,
                 reverse=False, batch_size=128, **kwargs):
        super().__init__(**kwargs)
        if len(data) != len(targets):
            raise ValueError(f"Data and targets have to be of same length. Data length is {len(data)} while target "
                             f"length is {len(targets)}")
        self.data, self.targets, self.length = data, targets, length
        self.sampling_rate, self.stride, self.batch_size = sampling_rate, stride, batch_size
        self.shuffle, self.reverse = shuffle, reverse
        self.start_index = start_index + length
        self.end_index = len(data) - 1 if end_index is None else end_index
        if self.start_index > self.end_index:
            raise ValueError(f"`start_index+length={self.start_index} > end_index={self.end_index}` is disallowed, as "
                             "no part of the sequence would be left to be used as current step.")

    def __len__(self):
        step = self.batch_size * self.stride
        return (self.end_index - self.start_index + step) // step

    def __getitem__(self, index):
        import numpy
        if self.shuffle:
            rows = numpy.random.randint(self.start_index, self.end_index + 1, size=self.batch_size)
        else:
            step = self.batch_size * self.stride
            first = self.start_index + step * index
            rows = range(first, min(first + step, self.end_index + 1), self.stride)
        samples = numpy.array([self.data[row - self.length:row:self.sampling_rate] for row in rows])
        targets = numpy.array([self.targets[row] for row in rows])
        return samples[:, ::-1, ...] if self.reverse else samples, targets

    def get_config(self):
        """Return the arguments; the series and its targets are JSON."""
        names = "length sampling_rate stride start_index end_index shuffle reverse batch_size".split()
        return {"data": _to_json("Data", self.data), "targets": _to_json("Targets", self.targets),
                **{name: getattr(self, name) for name in names}}

    def to_json(self, **kwargs):
        """Return the arguments as JSON; more of them go to `json.dumps`."""
        return json.dumps({"class_name": type(self).__name__, "config": self.get_config()}, **kwargs)


def _to_json(what, values):
    try:
        return json.dumps(values.tolist() if hasattr(values, "tolist") else values)
    except TypeError as error:
        raise TypeError(f"{what} not JSON Serializable: {values}") from error


def make_sampling_table(size, sampling_factor=1e-5):
    """Return how probably words are kept, by how frequent they are, so that frequent ones come up less often.

    Parameters
    ----------
    size : int
        How many words there are.
    sampling_factor : float, optional, default=1e-05
        The frequency from which on words are left out.

    Returns
    -------
    numpy.ndarray
        Of the most frequent word first, where frequencies follow Zipf's law.

    """
    import numpy
    rank = numpy.arange(size)
    rank[:1] = 1
    # One over the frequency of a rank, if the frequencies of all are 1 / rank times one over their sum.
    inverse = rank * (numpy.log(rank) + EULER_MASCHERONI) + 0.5 - 1.0 / (12.0 * rank)
    scaled = sampling_factor * inverse
    return numpy.minimum(1.0, scaled / numpy.sqrt(scaled))


def skipgrams(sequence, vocabulary_size, window_size=4, negative_samples=1.0, shuffle=True, categorical=False,
              sampling_table=None, seed=None):
    """Return pairs of words that stand near each other, and of words that are drawn, with labels.

    Parameters
    ----------
    sequence : Sequence[int]
        Numbers of words; 0 is none.
    vocabulary_size : int
        One more than the largest number.
    window_size : int, optional, default=4
        How far words may be from each other.
    negative_samples : float, optional, default=1.0
        How many pairs are drawn, for each that stands there.
    shuffle : bool, optional, default=True
        Whether pairs change their order.
    categorical : bool, optional, default=False
        Labels of two numbers, in the place of 1 for neighbours and 0 for what was drawn.
    sampling_table : numpy.ndarray, optional
        How probably each word is kept, as of `make_sampling_table`.
    seed : int, optional
        Of the shuffle.

    Returns
    -------
    Tuple[List[List[int]], List]
        Pairs and labels.

    """
    yes, no = ([0, 1], [1, 0]) if categorical else (1, 0)
    pairs = []
    for place, word in enumerate(sequence):
        if not word or sampling_table is not None and sampling_table[word] < random.random():
            continue
        for other in range(max(0, place - window_size), min(len(sequence), place + window_size + 1)):
            if other != place and sequence[other]:
                pairs.append([word, sequence[other]])
    labels = [yes] * len(pairs)
    if negative_samples > 0:
        words = [pair[0] for pair in pairs]
        random.shuffle(words)
        drawn = int(len(labels) * negative_samples)
        pairs += [[words[i % len(words)], random.randint(1, vocabulary_size - 1)] for i in range(drawn)]
        labels += [no] * drawn
    if shuffle:
        seed = random.randint(0, 10_000_000) if seed is None else seed
        for several in (pairs, labels):  # both in the same order
            random.seed(seed)
            random.shuffle(several)
    return pairs, labels
