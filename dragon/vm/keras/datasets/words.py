"""The parts that data sets of texts have in common: words as numbers, the frequent ones first."""


def short_ones(maxlen, texts, labels):
    """Return texts of less than so many words, and their labels."""
    kept = [(text, label) for text, label in zip(texts, labels) if len(text) < maxlen]
    return [text for text, _ in kept], [label for _, label in kept]


def shift(texts, start_char, index_from):
    """Return texts whose numbers leave room for marks, with a mark at the start."""
    start = [] if start_char is None else [start_char]
    return [start + [word + (index_from or 0) for word in text] for text in texts]


def limit(texts, num_words, skip_top, oov_char):
    """Return texts of some of their words: the others give way to a mark, or are left out."""
    most = num_words or max(max(text) for text in texts)
    if oov_char is None:
        return [[word for word in text if skip_top <= word < most] for text in texts]
    return [[word if skip_top <= word < most else oov_char for word in text] for text in texts]


def as_array(texts):
    """Return lists as an array of objects."""
    import numpy as np
    made = np.empty(len(texts), dtype=object)
    made[:] = texts
    return made
