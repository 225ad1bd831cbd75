"""Texts as numbers: words split by signs, counted, and numbered by how frequent they are."""
import collections
import json
import math

from dragon.core import warnings

SIGNS = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'
MODES = ("binary", "count", "freq", "tfidf")


def text_to_word_sequence(input_text, filters=SIGNS, lower=True, split=" "):
    """Return the words of a text.

    Parameters
    ----------
    input_text : str
        The text.
    filters : str, optional
        Signs that separate words.
    lower : bool, optional, default=True
        Whether letters are made small first.
    split : str, optional, default=" "
        What stands between words.

    Returns
    -------
    List[str]
        The words, none of them empty.

    Examples
    --------
    >>> keras.preprocessing.text.text_to_word_sequence("The fox, the dog!")
    ['the', 'fox', 'the', 'dog']

    """
    text = input_text.lower() if lower else input_text
    return [word for word in text.translate(str.maketrans(dict.fromkeys(filters, split))).split(split) if word]


def one_hot(input_text, n, filters=SIGNS, lower=True, split=" ", analyzer=None):
    """Return a number from 1 to n - 1 for each word of a text, by Python's `hash`; several words may share one."""
    return hashing_trick(input_text, n, hash, filters, lower, split, analyzer)


def hashing_trick(text, n, hash_function=None, filters=SIGNS, lower=True, split=" ", analyzer=None):
    """Return a number from 1 to n - 1 for each word of a text; several words may share one.

    Parameters
    ----------
    text : str
        The text.
    n : int
        One more than the largest number.
    hash_function : Union[Callable, str], optional
        What makes a number of a word: "md5" for the same ones in every process; Python's `hash` by default.
    filters, lower, split : optional
        As of `text_to_word_sequence`.
    analyzer : Callable, optional
        What splits a text in their place.

    Returns
    -------
    List[int]
        The numbers.

    """
    if hash_function == "md5":
        hash_function = _md5
    words = text_to_word_sequence(text, filters, lower, split) if analyzer is None else analyzer(text)
    return [(hash_function or hash)(word) % (n - 1) + 1 for word in words]


def _md5(word):
    import hashlib
    return int(hashlib.md5(word.encode(), usedforsecurity=False).hexdigest(), 16)


class Tokenizer:
    """Number words by how frequent they are, from 1; 0 stands for none.

    Parameters
    ----------
    num_words : int, optional
        Only the most frequent words get through: those whose number is less than this.
    filters, lower, split : optional
        As of `text_to_word_sequence`.
    char_level : bool, optional, default=False
        Number characters in the place of words.
    oov_token : str, optional
        A word that stands for all that are unknown, number 1; unknown words are left out by default.
    analyzer : Callable, optional
        What splits a text into words.

    Examples
    --------
    >>> tokenizer = keras.preprocessing.text.Tokenizer(oov_token="?")
    >>> tokenizer.fit_on_texts(["the fox", "the dog"])
    >>> tokenizer.texts_to_sequences(["the cat"])
    [[2, 1]]

    """

    def __init__(self, num_words=None, filters=SIGNS, lower=True, split=" ", char_level=False, oov_token=None,
                 analyzer=None, **kwargs):
        if "nb_words" in kwargs:
            warnings.warn("The `nb_words` argument in `Tokenizer` has been renamed `num_words`.")
            num_words = kwargs.pop("nb_words")
        self.document_count = kwargs.pop("document_count", 0)
        if kwargs:
            raise TypeError(f"Unrecognized keyword arguments: {kwargs}")
        self.num_words, self.filters, self.lower, self.split = num_words, filters, lower, split
        self.char_level, self.oov_token, self.analyzer = char_level, oov_token, analyzer
        self.word_counts = collections.OrderedDict()
        self.word_docs, self.index_docs = collections.defaultdict(int), collections.defaultdict(int)
        self.word_index, self.index_word = {}, {}

    def _words_of(self, text):
        """Return the words of a text; a list is one of words, and in it only the size of letters changes."""
        if isinstance(text, list):
            return [word.lower() for word in text] if self.lower else text
        if self.char_level:
            return text.lower() if self.lower else text
        if self.analyzer is not None:
            return self.analyzer(text)
        return text_to_word_sequence(text, self.filters, self.lower, self.split)

    def fit_on_texts(self, texts):
        """Count the words of texts, and number them.

        Parameters
        ----------
        texts : Iterable[Union[str, List[str]]]
            Texts, or their words.

        """
        for text in texts:
            self.document_count += 1
            words = self._words_of(text)
            for word in words:
                self.word_counts[word] = self.word_counts.get(word, 0) + 1
            for word in set(words):
                self.word_docs[word] += 1
        ranked = sorted(self.word_counts, key=self.word_counts.get, reverse=True)
        known = ranked if self.oov_token is None else [self.oov_token, *ranked]
        self.word_index = {word: number for number, word in enumerate(known, 1)}
        self.index_word = {number: word for word, number in self.word_index.items()}
        for word, count in self.word_docs.items():
            self.index_docs[self.word_index[word]] = count

    def fit_on_sequences(self, sequences):
        """Count in how many sequences numbers are, for `sequences_to_matrix` without texts."""
        self.document_count += len(sequences)
        for sequence in sequences:
            for number in set(sequence):
                self.index_docs[number] += 1

    def texts_to_sequences(self, texts):
        """Return the numbers of the words of each text."""
        return list(self.texts_to_sequences_generator(texts))

    def texts_to_sequences_generator(self, texts):
        """Yield the numbers of the words of each text."""
        unknown = self.word_index.get(self.oov_token)
        for text in texts:
            numbers = [self._within(self.word_index.get(word), unknown) for word in self._words_of(text)]
            yield [number for number in numbers if number is not None]

    def _within(self, number, unknown):
        """Return a number, or that of unknown words for none and for one that is not frequent enough."""
        too_rare = number is None or self.num_words and number >= self.num_words
        return unknown if too_rare else number

    def sequences_to_texts(self, sequences):
        """Return the words of each list of numbers, with spaces between them."""
        return list(self.sequences_to_texts_generator(sequences))

    def sequences_to_texts_generator(self, sequences):
        """Yield the words of each list of numbers, with spaces between them."""
        unknown = self.index_word.get(self.word_index.get(self.oov_token))
        for sequence in sequences:
            words = [unknown if self.index_word.get(number) is None or self.num_words and number >= self.num_words
                     else self.index_word[number] for number in sequence]
            yield " ".join(word for word in words if word is not None)

    def texts_to_matrix(self, texts, mode="binary"):
        """Return a row for each text and a column for each word."""
        return self.sequences_to_matrix(self.texts_to_sequences(texts), mode=mode)

    def sequences_to_matrix(self, sequences, mode="binary"):
        """Return a row for each list of numbers and a column for each number.

        Parameters
        ----------
        sequences : Sequence[Sequence[int]]
            The lists.
        mode : str, optional, default="binary"
            "binary", "count", "freq" for parts of the list, "tfidf" for counts by how rare words are.

        Returns
        -------
        numpy.ndarray
            The matrix.

        """
        import numpy
        if not self.num_words and not self.word_index:
            raise ValueError("Specify a dimension (`num_words` argument), or fit on some text data first.")
        if mode == "tfidf" and not self.document_count:
            raise ValueError("Fit the Tokenizer on some data before using tfidf mode.")
        width = self.num_words or len(self.word_index) + 1
        made = numpy.zeros((len(sequences), width))
        for row, sequence in enumerate(sequences):
            for number, count in collections.Counter(number for number in sequence if number < width).items():
                made[row][number] = self._weigh(number, count, len(sequence), mode)
        return made

    def _weigh(self, number, count, length, mode):
        if mode not in MODES:
            raise ValueError(f"Unknown vectorization mode: {mode!r}, expected one of {MODES}")
        if mode == "tfidf":
            return (1 + math.log(count)) * math.log(1 + self.document_count / (1 + self.index_docs.get(number, 0)))
        return {"binary": 1, "count": count, "freq": count / length}[mode]

    def get_config(self):
        """Return the settings and the counts; counts are JSON."""
        config = {name: getattr(self, name) for name in (
            "num_words", "filters", "lower", "split", "char_level", "oov_token", "document_count")}
        return {**config, **{name: json.dumps(getattr(self, name)) for name in (
            "word_counts", "word_docs", "index_docs", "index_word", "word_index")}}

    def to_json(self, **kwargs):
        """Return settings and counts as JSON; arguments go to `json.dumps`."""
        return json.dumps({"class_name": type(self).__name__, "config": self.get_config()}, **kwargs)


def tokenizer_from_json(json_string):
    """Return the tokenizer that `to_json` wrote.

    Parameters
    ----------
    json_string : str
        What it returned.

    Returns
    -------
    Tokenizer
        With the same numbers for words.

    """
    config = json.loads(json_string).get("config")
    counts = {name: json.loads(config.pop(name)) for name in (
        "word_counts", "word_docs", "index_docs", "word_index", "index_word")}
    made = Tokenizer(**config)
    for name, value in counts.items():
        by_number = name.startswith("index_")  # JSON has made texts of numbers that are keys
        setattr(made, name, {int(key): item for key, item in value.items()} if by_number else value)
    return made
