"""Draws of a few classes of many, for losses that cannot look at all: TensorFlow's candidate samplers."""
from typing import NamedTuple

from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.seed import next_stream
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import int64
from dragon.vm.shared.tensors.tensor import ops

MOST_TRIES = 1 << 20  # draws for distinct classes, beyond which classes are too rare


class Sampled(NamedTuple):
    """Classes that were drawn, and how often each kind of class is to be expected among them.

    Attributes
    ----------
    sampled_candidates : Tensor
        The classes, int64.
    true_expected_count : Tensor
        For the true classes.
    sampled_expected_count : Tensor
        For those that were drawn.

    """

    sampled_candidates: object
    true_expected_count: object
    sampled_expected_count: object


def _true(true_classes, num_true):
    """Return the true classes as an array of int64, (batch, num_true)."""
    found = convert_to_tensor(true_classes).numpy().astype("int64")
    if found.ndim != 2 or found.shape[1] != num_true:
        raise invalid_argument(f"true_classes must be a matrix of num_true={num_true} columns. Received: shape "
                               f"{found.shape}")
    return found


def _draw(chances, count, unique, seed):
    """Return (classes drawn by their chances, how many draws it took)."""
    import numpy as np
    ends = np.cumsum(chances)
    ends /= ends[-1]

    def more(amount, number):
        own = None if seed is None else int(seed) + number
        stream = next_stream(own, ("uniform", "float64"), amount)
        places = ops.stateless_uniform(stream, (amount,), dtype="float64").numpy()
        return np.minimum(np.searchsorted(ends, places, side="right"), len(ends) - 1)
    if not unique:
        return more(count, 0), count
    found, tries, number = {}, 0, 0
    while len(found) < count:
        if tries > MOST_TRIES:
            raise invalid_argument(f"candidate sampler: {count} distinct classes were not found in {tries} draws")
        for one in more(max(2 * count, 64), number).tolist():
            tries += 1
            found.setdefault(one)
            if len(found) == count:
                break
        number += 1
    return np.fromiter(found, "int64", count), tries


def _expected(chances, tries, unique):
    """Return how often classes of some chances are expected among so many draws."""
    import numpy as np
    if not unique:
        return chances * tries
    return -np.expm1(tries * np.log1p(-chances))


def sample(who, chances, true_classes, num_true, num_sampled, unique, seed):
    """Return a draw by chances; see the samplers below.

    Parameters
    ----------
    who : str
        Who speaks in errors.
    chances : numpy.ndarray
        Of all classes; they sum to 1.
    true_classes, num_true, num_sampled, unique, seed : Any
        As of the samplers.

    Returns
    -------
    Sampled
        The classes and their expected counts.

    """
    import numpy as np
    true, count, size = _true(true_classes, int(num_true)), int(num_sampled), len(chances)
    if count < 1 or unique and count > np.count_nonzero(chances):
        raise invalid_argument(f"{who}: got num_sampled={count}, expected 1 to the number of classes, {size}")
    if true.size and (true.min() < 0 or true.max() >= size):
        raise invalid_argument(f"{who}: got classes {true.min()} to {true.max()}, expected 0 to {size - 1}")
    drawn, tries = _draw(chances, count, unique, seed)
    return Sampled(convert_to_tensor(drawn.astype("int64")),
                   convert_to_tensor(_expected(chances[true], tries, unique).astype("float32")),
                   convert_to_tensor(_expected(chances[drawn], tries, unique).astype("float32")))


def uniform_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None):
    """Return classes drawn with equal chances.

    Parameters
    ----------
    true_classes : Tensor
        int64, (batch, num_true): the classes that are right.
    num_true : int
        How many are right for each sample.
    num_sampled : int
        How many are drawn.
    unique : bool
        Whether all of them are different.
    range_max : int
        How many classes there are.
    seed : int, optional
        Of the draw.
    name : str, optional
        Accepted.

    Returns
    -------
    Sampled
        `sampled_candidates`, `true_expected_count` and `sampled_expected_count`.

    """
    import numpy as np
    return sample("uniform_candidate_sampler", np.full(int(range_max), 1 / int(range_max)), true_classes, num_true,
                  num_sampled, unique, seed)


def log_uniform_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None):
    """Return classes drawn with chances that fall as those of words by rank; see `uniform_candidate_sampler`."""
    import numpy as np
    ranks = np.arange(int(range_max), dtype="float64")
    chances = np.log((ranks + 2) / (ranks + 1)) / np.log(int(range_max) + 1)
    return sample("log_uniform_candidate_sampler", chances, true_classes, num_true, num_sampled, unique, seed)


def learned_unigram_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None):
    """Return classes drawn by how often they were right so far, in this call; see `uniform_candidate_sampler`."""
    import numpy as np
    counts = np.ones(int(range_max))
    np.add.at(counts, _true(true_classes, int(num_true)).reshape(-1), 1)
    return sample("learned_unigram_candidate_sampler", counts / counts.sum(), true_classes, num_true, num_sampled,
                  unique, seed)


def fixed_unigram_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, vocab_file="",
                                    distortion=1.0, num_reserved_ids=0, num_shards=1, shard=0, unigrams=(), seed=None,
                                    name=None):
    """Return classes drawn by counts to a power; see `uniform_candidate_sampler`.

    Parameters
    ----------
    vocab_file : str, optional
        A file whose lines end in a comma and a count.
    distortion : float, optional, default=1.0
        The power.
    num_reserved_ids : int, optional
        How many classes before the first line are never drawn.
    num_shards, shard : int, optional
        How many parts the classes have that take turns, and which of them is drawn from.
    unigrams : Sequence[float], optional
        The counts, where there is no file.

    """
    import numpy as np
    if bool(vocab_file) == bool(len(unigrams)):
        raise ValueError("fixed_unigram_candidate_sampler: got vocab_file and unigrams, or neither; expected one")
    if vocab_file:
        with open(vocab_file, encoding="utf-8") as file:
            unigrams = [float(line.rpartition(",")[2]) for line in file if line.strip()]
    weights = np.concatenate([np.zeros(int(num_reserved_ids)), np.asarray(unigrams, "float64") ** float(distortion)])
    if len(weights) != int(range_max):
        raise invalid_argument(f"fixed_unigram_candidate_sampler: got {len(weights)} counts, expected {range_max}")
    weights = np.where(np.arange(len(weights)) % int(num_shards) == int(shard), weights, 0.0)
    return sample("fixed_unigram_candidate_sampler", weights / weights.sum(), true_classes, num_true, num_sampled,
                  unique, seed)


def all_candidate_sampler(true_classes, num_true, num_sampled, unique, seed=None, name=None):
    """Return all classes, each of which is expected once; see `uniform_candidate_sampler`."""
    true = _true(true_classes, int(num_true))
    classes = ops.arange(0, int(num_sampled), 1, dtype=int64)
    return Sampled(classes, ops.ones(true.shape, dtype="float32"), ops.ones((int(num_sampled),), dtype="float32"))


def compute_accidental_hits(true_classes, sampled_candidates, num_true, seed=None, name=None):
    """Return (samples, places of the draw, weights) where a class that was drawn is right.

    The weights are the lowest numbers of float32, which added to logits take such classes out.
    """
    import numpy as np
    true = _true(true_classes, int(num_true))
    drawn = convert_to_tensor(sampled_candidates).numpy()
    rows, columns, places = np.nonzero(true[:, :, None] == drawn[None, None, :])
    order = np.lexsort((places, columns, rows))
    weights = np.full(len(rows), -np.finfo("float32").max, "float32")
    return (convert_to_tensor(rows[order].astype("int32")), convert_to_tensor(places[order].astype("int64")),
            convert_to_tensor(weights))
