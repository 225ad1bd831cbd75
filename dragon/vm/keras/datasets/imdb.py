"""Reviews of films: 25000 texts, good or bad, and as many for tests."""
import json

from dragon.vm.keras.datasets.sources import BASE, fetch, load_objects
from dragon.vm.keras.datasets.words import as_array, limit, shift, short_ones

HASH = "69664113be75683a8fe16e3ed0ab59fda8886cb3cd7ada244f7d9544e4676b9f"


def load_data(path="imdb.npz", num_words=None, skip_top=0, maxlen=None, seed=113, start_char=1, oov_char=2,
              index_from=3, **kwargs):
    """Return the texts and whether they are good.

    Parameters
    ----------
    num_words : int, optional
        How many of the most frequent words count; all by default.
    skip_top : int, optional, default=0
        How many of the most frequent words do not count.
    maxlen : int, optional
        Texts of so many words are left out.
    seed : int, optional, default=113
        Decides the order of the texts.
    start_char : int, optional, default=1
        What marks the start.
    oov_char : int, optional, default=2
        What takes the place of words that do not count.
    index_from : int, optional, default=3
        By how much numbers of words are moved.

    Returns
    -------
    Tuple[Tuple[numpy.ndarray, numpy.ndarray], Tuple[numpy.ndarray, numpy.ndarray]]
        (x, y) for training, (x, y) for tests; x holds lists.

    """
    import numpy as np
    if kwargs:
        raise TypeError(f"Unrecognized keyword arguments. Received: {kwargs}")
    arrays, random = load_objects(fetch(path, HASH, BASE + "imdb.npz")), np.random.RandomState(seed)
    texts, labels, counts = [], [], []
    for part in ("train", "test"):
        order = np.arange(len(arrays[f"x_{part}"]))
        random.shuffle(order)
        own, marks = shift(arrays[f"x_{part}"][order], start_char, index_from), list(arrays[f"y_{part}"][order])
        own, marks = short_ones(maxlen, own, marks) if maxlen else (own, marks)
        if not own:
            raise ValueError("After filtering, no sequence was kept. Increase maxlen. "
                             f"Received: maxlen={maxlen}")
        texts, labels, counts = texts + own, labels + marks, [*counts, len(own)]
    texts, end = as_array(limit(texts, num_words, skip_top, oov_char)), counts[0]
    labels = np.array(labels)
    return (texts[:end], labels[:end]), (texts[end:], labels[end:])


def get_word_index(path="imdb_word_index.json"):
    """Return the numbers of words, the most frequent one is 1."""
    with open(fetch(path, "bfafd718b763782e994055a2d397834f", BASE + "imdb_word_index.json"),
              encoding="utf-8") as file:
        return json.load(file)
