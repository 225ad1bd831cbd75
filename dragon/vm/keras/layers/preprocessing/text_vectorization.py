"""Texts as numbers of their words."""

import itertools
import re

from dragon.core.capture.host_calls import is_writing
from dragon.vm.keras.core.config import floatx
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.keras_tensor import KerasTensor
from dragon.vm.keras.layers.preprocessing.data_layer import HostLayer, as_host, as_strings, batches_of
from dragon.vm.keras.layers.preprocessing.index_lookup import MODES, OLD_MODES, as_list
from dragon.vm.keras.layers.preprocessing.string_lookup import StringLookup
from dragon.vm.keras.layers.preprocessing.written import look_up_written
from dragon.vm.keras.saving.serialization import deserialize_keras_object
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.shared.written import texts
from dragon.vm.shared.written.nodes import is_written

PUNCTUATION = b"!\"#$%&()*+,-./:;<=>?@[\\]^_`{|}~'"
STANDARDS = {
    "lower_and_strip_punctuation": lambda text: text.lower().translate(None, PUNCTUATION),
    "lower": bytes.lower,
    "strip_punctuation": lambda text: text.translate(None, PUNCTUATION),
}
SPLITS = {
    "whitespace": bytes.split,
    "character": lambda text: [letter.encode() for letter in text.decode("utf-8", "replace")],
}


class TextVectorization(HostLayer):
    """Standardize texts, split them into tokens, and look these up in a vocabulary.

    Parameters
    ----------
    max_tokens : Optional[int], optional
        The most numbers there may be.
    standardize : Optional[Union[str, callable]], optional, default="lower_and_strip_punctuation"
        That, "lower", "strip_punctuation", or a function of a string tensor.
    split : Optional[Union[str, callable]], optional, default="whitespace"
        That, "character", or a function of a string tensor that returns a ragged one.
    ngrams : Optional[Union[int, Tuple[int, ...]]], optional
        Tokens are runs of up to so many words, or of just these numbers of words.
    output_mode : {"int", "multi_hot", "count", "tf_idf"}, optional, default="int"
        Numbers in order, or a place for each token.
    output_sequence_length : Optional[int], optional
        Cut or pad sequences to this length.
    pad_to_max_tokens, vocabulary, idf_weights, sparse, encoding
        See StringLookup.
    ragged : bool, optional, default=False
        Return sequences of their own lengths.

    Examples
    --------
    >>> layer = keras.layers.TextVectorization(output_sequence_length=3)
    >>> layer.adapt(["the cat sat", "the cat"])
    >>> layer.get_vocabulary()
    ['', '[UNK]', np.str_('the'), np.str_('cat'), np.str_('sat')]
    >>> np.asarray(layer(["the dog sat"]))
    array([[2, 1, 4]])

    """

    def __init__(self, max_tokens=None, standardize="lower_and_strip_punctuation", split="whitespace", ngrams=None,
                 output_mode="int", output_sequence_length=None, pad_to_max_tokens=False, vocabulary=None,
                 idf_weights=None, sparse=False, ragged=False, encoding="utf-8", name=None, **kwargs):
        output_mode = OLD_MODES.get(output_mode, output_mode)
        _check(standardize, split, ngrams, output_mode, output_sequence_length, ragged)
        self.__dict__.update(
            _standardize=standardize, _split=split, _ngrams_arg=ngrams, _ragged=ragged, _output_mode=output_mode,
            _ngrams=tuple(range(1, ngrams + 1)) if isinstance(ngrams, int) else ngrams,
            _output_sequence_length=output_sequence_length, _encoding=encoding)
        self._has_input_vocabulary = given = kwargs.pop("has_input_vocabulary", vocabulary is not None)
        size = kwargs.pop("vocabulary_size", None)
        super().__init__(name=name, **kwargs)
        self._lookup_layer = StringLookup(
            max_tokens=max_tokens, vocabulary=vocabulary, idf_weights=idf_weights, mask_token="", sparse=sparse,
            pad_to_max_tokens=pad_to_max_tokens, output_mode=output_mode, has_input_vocabulary=given,
            encoding=encoding, vocabulary_size=size)

    compute_dtype = property(lambda self: "string", doc="str: the dtype of the texts.")
    variable_dtype = property(lambda self: "string", doc="str: the dtype of the texts.")

    def build(self, input_shape=None):
        """Do nothing: a vocabulary has no weights."""

    def compute_output_shape(self, input_shape):
        if self._output_mode == "int":
            return (input_shape[0], self._output_sequence_length)
        shape = tuple(input_shape)
        if self._split is not None:
            shape += (None,)
        elif len(shape) <= 1:
            shape += (1,)
        return self._lookup_layer.compute_output_shape(shape)

    def compute_output_spec(self, inputs):
        dtype = "int64" if self._output_mode == "int" else floatx()
        return KerasTensor(self.compute_output_shape(inputs.shape), dtype=dtype)

    # --- the vocabulary

    def adapt(self, data, batch_size=None, steps=None):
        """Learn the vocabulary from texts.

        Parameters
        ----------
        data : Union[Sequence[str], numpy.ndarray, Tensor, Dataset, Iterable]
            The texts, or batches of them.
        batch_size : Optional[int], optional
            Accepted, without effect.

        """
        self.reset_state()
        batches = batches_of(data, steps)
        if batches is None:
            array = as_host(data)
            batches = [array.reshape(-1, 1) if array.ndim == 1 else array]
        for batch in batches:
            self.update_state(batch)
        self.finalize_state()

    def update_state(self, data):
        """Count the tokens of a batch of texts."""
        tokens = self._tokens_of(data)
        single = isinstance(tokens, list) and tokens and isinstance(tokens[0], bytes)
        self._lookup_layer.update_state([tokens] if single else tokens)

    def finalize_state(self):
        """Make the vocabulary of what was counted."""
        self._lookup_layer.finalize_state()

    def reset_state(self):
        """Forget what was counted."""
        self._lookup_layer.reset_state()

    def get_vocabulary(self, include_special_tokens=True):
        """Return the tokens in the order of their numbers."""
        return self._lookup_layer.get_vocabulary(include_special_tokens)

    def vocabulary_size(self):
        """Return how many numbers there are."""
        return self._lookup_layer.vocabulary_size()

    def set_vocabulary(self, vocabulary, idf_weights=None):
        """Take a vocabulary, and weights of its tokens in mode "tf_idf"."""
        self._lookup_layer.set_vocabulary(vocabulary, idf_weights=idf_weights)

    # --- texts

    def _standardized(self, inputs):
        """Return texts as an array of bytes."""
        from dragon.vm.shared.tensors.strings import StringTensor
        if callable(self._standardize):
            return as_host(self._standardize(StringTensor(as_host(inputs))))
        array = as_strings(inputs, "TextVectorization")
        function = STANDARDS.get(self._standardize)
        if function is None:
            return array
        made = array.copy()
        made.reshape(-1)[:] = [function(text) for text in array.reshape(-1)]
        return made

    def _tokens_of(self, inputs):
        """Return one list of tokens for each text, a list of tokens for a single text, or an unsplit array."""
        texts = self._standardized(inputs)
        if self._split is None:
            return texts if self._ngrams is None else [self._joined(row) for row in _at_least_rows(texts)]
        if texts.ndim > 1:
            if texts.shape[-1] != 1:
                raise ValueError("When using `TextVectorization` to tokenize strings, the input rank must be 1 or the "
                                 f"last shape dimension must be 1. Received: inputs.shape={texts.shape} with "
                                 f"rank={texts.ndim}")
            texts = texts[..., 0]
        if callable(self._split):
            rows = self._split_by_user(texts)
        elif texts.ndim == 0:
            rows = SPLITS[self._split](texts[()])
        else:
            function = SPLITS[self._split]
            rows = [function(text) for text in texts.reshape(-1)]
        if self._ngrams is None:
            return rows
        return self._joined(rows) if texts.ndim == 0 else [self._joined(row) for row in rows]

    def _split_by_user(self, texts):
        from dragon.vm.shared.tensors.strings import StringTensor
        made = self._split(StringTensor(texts))
        if hasattr(made, "row_splits"):
            flat, ends = as_host(made.flat_values).tolist(), as_host(made.row_splits).tolist()
            return [flat[a:b] for a, b in zip(ends, ends[1:])]
        return as_host(made).tolist()

    def _joined(self, tokens):
        """Return the runs of tokens of all wanted lengths."""
        tokens = list(tokens)
        return [b" ".join(tokens[i:i + width]) for width in self._ngrams for i in range(len(tokens) - width + 1)]

    def call(self, inputs):
        """Return the numbers of the texts' tokens, in the form of the output mode."""
        import numpy as np
        if is_writing() and is_written(inputs):
            return self._written(inputs)
        tokens = self._tokens_of(inputs)
        lookup = self._lookup_layer
        if isinstance(tokens, np.ndarray):
            found = lookup.call(tokens)
            return found if self._output_mode != "int" else self._cut(found)
        single = not tokens or isinstance(tokens[0], bytes)
        rows = [tokens] if single and as_host(inputs).ndim == 0 else tokens
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        flat = lookup._numbers(list(itertools.chain.from_iterable(rows)))
        if self._output_mode != "int":
            # What pads short rows lies behind the last place, hence nowhere.
            made = convert_to_tensor(_padded(flat, lengths, None, lookup._depth()))
            return lookup._encoded(made[0] if rows is not tokens else made)
        if self._ragged:
            return self._ragged_rows(flat, lengths)
        made = convert_to_tensor(_padded(flat, lengths, self._output_sequence_length, 0))
        return made[0] if rows is not tokens else made

    def _written(self, inputs):
        """Return the numbers of tokens that come when the function of a file runs."""
        lookup, found = self._lookup_layer, self._written_tokens(inputs)
        if not hasattr(found, "row_splits"):
            found = lookup.call(found)
            return found if self._output_mode != "int" or self._output_sequence_length is None else (
                self._cut_written(found))
        numbers = found.with_flat_values(look_up_written(lookup, found.flat_values))
        if self._output_mode != "int":
            # What pads short rows lies behind the last place, hence nowhere.
            return lookup._encoded(numbers.to_tensor(default_value=lookup._depth()))
        if self._ragged and self._output_sequence_length is None:
            return numbers
        return numbers.to_tensor(shape=(None, self._output_sequence_length))

    def _written_tokens(self, inputs):
        if callable(self._standardize):
            inputs = self._standardize(inputs)
        elif self._standardize is not None:
            inputs = texts.lower(inputs) if "lower" in self._standardize else inputs
            if "strip_punctuation" in self._standardize:
                inputs = texts.regex_replace(inputs, f"[{re.escape(PUNCTUATION.decode())}]", "")
        if self._split is None:
            return inputs
        if inputs.ndim > 1:
            inputs = inputs[..., 0]
        if callable(self._split):
            made = self._split(inputs)
        else:
            made = texts.split(inputs) if self._split == "whitespace" else texts.unicode_split(inputs, "UTF-8")
        return made if self._ngrams is None else texts.ngrams(made, self._ngrams)

    def _cut_written(self, found):
        """Return numbers with their last axis cut or padded to the wanted length."""
        wanted = self._output_sequence_length
        found = found[..., :wanted]
        return ops.pad(found, [(0, 0)] * (found.ndim - 1) + [(0, wanted - found.shape[-1])])

    def _ragged_rows(self, flat, lengths):
        import numpy as np
        from dragon.vm.shared.ragged.tensor import RaggedTensor
        if self._output_sequence_length is not None:
            places = np.arange(len(flat)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
            flat, lengths = flat[places < self._output_sequence_length], np.minimum(lengths,
                                                                                    self._output_sequence_length)
        return RaggedTensor.from_row_lengths(convert_to_tensor(flat), convert_to_tensor(lengths))

    def _cut(self, found):
        """Return numbers with their last axis cut or padded to the wanted length."""
        import numpy as np
        wanted = self._output_sequence_length
        if wanted is None:
            return found
        array = as_host(found)[..., :wanted]
        pads = [(0, 0)] * (array.ndim - 1) + [(0, wanted - array.shape[-1])]
        return convert_to_tensor(np.pad(array, pads))

    # --- configurations and files

    def get_config(self):
        lookup = self._lookup_layer
        return {**super().get_config(), "max_tokens": lookup.max_tokens, "standardize": self._standardize,
                "split": self._split, "ngrams": self._ngrams_arg, "output_mode": self._output_mode,
                "output_sequence_length": self._output_sequence_length,
                "pad_to_max_tokens": lookup.pad_to_max_tokens, "sparse": lookup.sparse, "ragged": self._ragged,
                "vocabulary": as_list(lookup.input_vocabulary), "idf_weights": as_list(lookup.input_idf_weights),
                "encoding": self._encoding, "vocabulary_size": self.vocabulary_size()}

    @classmethod
    def from_config(cls, config):
        config = dict(config)
        for name in ("standardize", "split"):
            if not isinstance(config[name], str):
                config[name] = deserialize_keras_object(config[name])
        if isinstance(config["ngrams"], list):
            config["ngrams"] = tuple(config["ngrams"])
        return cls(**config)

    def save_own_variables(self, store):
        """Put the weights of tokens into a file."""
        self._lookup_layer.save_own_variables(store)

    def load_own_variables(self, store):
        """Take the weights of tokens from a file."""
        self._lookup_layer.load_own_variables(store)

    def save_assets(self, dir_path):
        """Write a learnt vocabulary into a folder."""
        self._lookup_layer.save_assets(dir_path)

    def load_assets(self, dir_path):
        """Read a vocabulary that `save_assets` wrote."""
        self._lookup_layer.load_assets(dir_path)


def _at_least_rows(texts):
    return texts.reshape(1, -1) if texts.ndim < 2 else texts


def _padded(flat, lengths, width, filler):
    """Return rows of these lengths as a matrix, cut or filled up to a width."""
    import numpy as np
    longest = int(lengths.max(initial=0))
    made = np.full((len(lengths), longest), filler, np.int64)
    made[np.arange(longest) < lengths[:, None]] = flat
    if width is None or width == longest:
        return made
    return made[:, :width] if width < longest else np.pad(made, ((0, 0), (0, width - longest)),
                                                          constant_values=filler)


def _check(standardize, split, ngrams, output_mode, length, ragged):
    """Raise for arguments that Keras does not take."""
    for name, value, choices in (("standardize", standardize, STANDARDS), ("split", split, SPLITS)):
        if value is not None and not callable(value) and value not in choices:
            raise ValueError(f"Unknown value for argument `{name}` of layer TextVectorization. Expected one of "
                             f"{tuple(choices)}, `None` or a callable. Received: {name}={value}")
    if output_mode not in MODES:
        raise ValueError("Unknown value for argument `output_mode` of layer TextVectorization. Expected one of "
                         f"{MODES}. Received: output_mode={output_mode}")
    if not (ngrams is None or isinstance(ngrams, int) or
            isinstance(ngrams, tuple) and all(isinstance(width, int) for width in ngrams)):
        raise ValueError(f"`ngrams` must be None, an integer, or a tuple of integers. Received: ngrams={ngrams}")
    if output_mode == "int" and not (length is None or isinstance(length, int)):
        raise ValueError("`output_sequence_length` must be either None or an integer when `output_mode` is 'int'. "
                         f"Received: output_sequence_length={length}")
    if output_mode != "int" and length is not None:
        raise ValueError("`output_sequence_length` must not be set if `output_mode` is not 'int'. "
                         f"Received output_sequence_length={length}.")
    if ragged and output_mode != "int":
        raise ValueError("`ragged` must not be true unless `output_mode` is `'int'`. "
                         f"Received: ragged={ragged} and output_mode={output_mode}")
