"""Newswires of Reuters: 11228 texts about 46 topics."""
import json

from dragon.vm.keras.datasets.sources import BASE, fetch, load_objects, mixed
from dragon.vm.keras.datasets.words import as_array, limit, shift, short_ones

HASH = "d6586e694ee56d7a4e65172e12b3e987c03096cb01eab99753921ef915959916"


def load_data(path="reuters.npz", num_words=None, skip_top=0, maxlen=None, test_split=0.2, seed=113, start_char=1,
              oov_char=2, index_from=3):
    """Return the texts and their topics; the arguments are those of `imdb.load_data`, and `test_split`, a share."""
    import numpy as np
    arrays = load_objects(fetch(path, HASH, BASE + "reuters.npz"))
    texts, labels = mixed(seed, arrays["x"], arrays["y"])
    texts = shift(texts, start_char, index_from)
    texts, labels = short_ones(maxlen, texts, labels) if maxlen else (texts, labels)
    texts, labels = as_array(limit(texts, num_words, skip_top, oov_char)), np.array(labels)
    end = int(len(texts) * (1 - test_split))
    return (texts[:end], labels[:end]), (texts[end:], labels[end:])


def get_word_index(path="reuters_word_index.json"):
    """Return the numbers of words, the most frequent one is 1."""
    with open(fetch(path, "4d44cc38712099c9e383dc6e5f11a921", BASE + "reuters_word_index.json"),
              encoding="utf-8") as file:
        return json.load(file)


def get_label_names():
    """Return the names of the topics, in the order of their numbers."""
    return tuple("""cocoa grain veg-oil earn acq wheat copper housing money-supply coffee sugar trade reserves ship
        cotton carcass crude nat-gas cpi money-fx interest gnp meal-feed alum oilseed gold tin strategic-metal
        livestock retail ipi iron-steel rubber heat jobs lei bop zinc orange pet-chem dlr gas silver wpi hog
        lead""".split())
