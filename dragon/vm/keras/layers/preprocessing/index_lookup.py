"""Tokens as numbers, by a vocabulary that is given or learnt: what StringLookup and IntegerLookup share."""

import collections
import itertools

from dragon.core import files
from dragon.core.capture.host_calls import is_writing
from dragon.vm.keras.core.config import floatx
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.keras_tensor import KerasTensor
from dragon.vm.keras.layers.preprocessing.data_layer import (
    HostLayer, as_host, as_strings, batches_of, check_choice, encode)
from dragon.vm.keras.layers.preprocessing.written import look_up_written
from dragon.vm.shared.hashing import buckets
from dragon.vm.shared.tensors.strings import as_bytes
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.shared.written.nodes import is_tensor, is_written

MODES = ("int", "one_hot", "multi_hot", "count", "tf_idf")
OLD_MODES = {"binary": "multi_hot", "tf-idf": "tf_idf"}
# Where a hidden token goes in modes with a place for each: out of all bounds.
NOWHERE = 2 ** 63 - 1


def as_list(x):
    """Return a vocabulary or weights as a list, None as None."""
    x = x.numpy() if hasattr(x, "numpy") else x
    return x.tolist() if hasattr(x, "tolist") else x


def as_salt(salt, who):
    """Return a salt as two numbers."""
    if salt is None:
        return None
    if isinstance(salt, (tuple, list)) and len(salt) == 2:
        return list(salt)
    if isinstance(salt, int):
        return [salt, salt]
    raise ValueError(f"The `salt` argument for `{who}` can only be a tuple of size 2 integers, or a single integer. "
                     f"Received: salt={salt}.")


class IndexLookup(HostLayer):
    """The parts that lookups share; see StringLookup for the parameters."""

    encoding = "utf-8"

    def __init__(self, max_tokens, num_oov_indices, mask_token, oov_token, vocabulary_dtype, vocabulary=None,
                 idf_weights=None, invert=False, output_mode="int", sparse=False, pad_to_max_tokens=False,
                 oov_method="floormod", name=None, salt=None, **kwargs):
        output_mode = OLD_MODES.get(output_mode, output_mode)
        _check(max_tokens, num_oov_indices, pad_to_max_tokens, output_mode, invert, sparse, idf_weights)
        check_choice(oov_method, ("floormod", "farmhash"), type(self).__name__, "oov_method")
        check_choice(output_mode, MODES, type(self).__name__, "output_mode")
        if salt is not None and vocabulary_dtype != "string" and oov_method != "farmhash":
            raise ValueError(f"`salt` can only be used when `oov_method='farmhash'`. Received: oov_method={oov_method}")
        super().__init__(name=name)
        self.invert = invert
        self.max_tokens = max_tokens
        self.num_oov_indices = num_oov_indices
        self.mask_token = mask_token
        self.oov_token = oov_token
        self.output_mode = output_mode
        self.sparse = sparse
        self.pad_to_max_tokens = pad_to_max_tokens
        self.vocabulary_dtype = vocabulary_dtype
        self.oov_method = oov_method
        self.salt = as_salt(salt, type(self).__name__)
        self._frozen_vocab_size = kwargs.pop("vocabulary_size", None)
        self.input_vocabulary = None if isinstance(vocabulary, str) else vocabulary
        self.input_idf_weights = idf_weights
        self._has_input_vocabulary = kwargs.pop("has_input_vocabulary", vocabulary is not None)
        for ignored in ("trainable", "dtype"):
            kwargs.pop(ignored, None)
        if kwargs:
            raise ValueError(f"Unrecognized keyword argument(s): {kwargs}")
        self._take_tokens([])
        self.idf_weights = self.idf_weights_const = None
        self.reset_state()
        if output_mode == "tf_idf" and vocabulary is not None and idf_weights is None:
            raise ValueError("When specifying the `vocabulary` argument, in TF-IDF output mode, the `idf_weights` "
                             f"argument must also be provided. Received: idf_weights={idf_weights}")
        if vocabulary is not None:
            self.set_vocabulary(vocabulary, idf_weights)

    # --- the vocabulary

    def _take_tokens(self, tokens):
        """Make the table of tokens, each as bytes or an integer."""
        start = self._token_start_index()
        table = {token: start + i for i, token in enumerate(tokens)}
        if self.mask_token is not None:
            table[self._key(self.mask_token)] = 0 if self.output_mode == "int" else NOWHERE
        # In one assignment, and out of the reach of the layer's tracking: vocabularies are long.
        self.__dict__.update(_tokens=tokens, _table=table, _sorted=None)

    _is_text = property(lambda self: self.vocabulary_dtype == "string", doc="Whether tokens are strings.")

    def _key(self, token):
        """Return a token as the table has it."""
        return as_bytes(token) if self._is_text else int(token)

    def _shown(self, token):
        """Return a token of the table as users see it: as NumPy's, by which learnt ones differ from special ones."""
        import numpy as np
        return np.str_(token.decode(self.encoding)) if self._is_text else np.int64(token)

    def _oov_start_index(self):
        return 1 if self.mask_token is not None and self.output_mode == "int" else 0

    def _token_start_index(self):
        return self._oov_start_index() + self.num_oov_indices

    def get_vocabulary(self, include_special_tokens=True):
        """Return the tokens in the order of their numbers; mask and unknown tokens first, if they are wanted."""
        tokens = [self._shown(token) for token in self._tokens]
        if not include_special_tokens:
            return tokens
        special = [self.mask_token] * self._oov_start_index() + [self.oov_token] * self.num_oov_indices
        return special + tokens

    def vocabulary_size(self):
        """Return how many numbers there are, with those of mask and unknown tokens."""
        return len(self._tokens) + self._token_start_index()

    def set_vocabulary(self, vocabulary, idf_weights=None):
        """Take a vocabulary, and weights of its tokens in mode "tf_idf".

        Parameters
        ----------
        vocabulary : Union[Sequence, numpy.ndarray, Tensor, str]
            The tokens, with or without mask and unknown tokens; or a file with one in each line.
        idf_weights : Optional[Sequence[float]], optional
            A weight for each.

        """
        import numpy as np
        if self.output_mode == "tf_idf" and idf_weights is None:
            raise ValueError("`idf_weights` must be set if output_mode is 'tf_idf'. "
                             f"Received: idf_weights={idf_weights}")
        if self.output_mode != "tf_idf" and idf_weights is not None:
            raise ValueError("`idf_weights` should only be set if output_mode is `'tf_idf'`. Received: "
                             f"output_mode={self.output_mode} and idf_weights={idf_weights}")
        if isinstance(vocabulary, str):
            vocabulary = self._read_file(vocabulary)
        given = list(as_list(as_host(vocabulary)))
        if not given:
            raise ValueError(f"Cannot set an empty vocabulary. Received: vocabulary={vocabulary}")
        given = [self._key(token) for token in given]
        special = [token if token is None else self._key(token) for token in
                   [self.mask_token] * self._oov_start_index() + [self.oov_token] * self.num_oov_indices]
        found = special == given[:len(special)]
        tokens = given[len(special):] if found else given
        self._check_tokens(tokens, given, special)
        self._take_tokens(tokens)
        self._record_vocabulary_size()
        if self.output_mode == "tf_idf":
            weights = np.asarray(as_list(idf_weights), "float32")
            if len(weights) != len(given):
                raise ValueError("`idf_weights` must be the same length as vocabulary. len(idf_weights) is "
                                 f"{len(weights)}; len(vocabulary) is {len(given)}")
            self._take_weights(weights, not found)

    def _take_weights(self, weights, pad_front):
        """Keep weights, with the mean for unknown tokens in front and zeros up to the most tokens behind."""
        import numpy as np
        if weights.ndim != 1:
            raise ValueError(f"TF-IDF data must be a 1-index array. Received: an array of shape {weights.shape}")
        if pad_front:
            weights = np.pad(weights, (self._token_start_index(), 0), constant_values=weights.mean())
        if self.pad_to_max_tokens:
            weights = np.pad(weights, (0, self.max_tokens - len(weights)))
        self.__dict__["idf_weights"] = self.__dict__["idf_weights_const"] = convert_to_tensor(weights, dtype=floatx())

    def _check_tokens(self, tokens, given, special):
        name = type(self).__name__
        if len(set(tokens)) != len(tokens):
            repeated = [self._shown(token) for token, count in collections.Counter(tokens).items() if count > 1]
            raise ValueError("The passed vocabulary has at least one repeated term. Please uniquify your dataset. The "
                             f"repeated terms are: {repeated}")
        reserved = [("mask", self.mask_token)] + ([("OOV", self.oov_token)] if self.invert else [])
        for what, token in reserved:
            if token is not None and self._key(token) in tokens:
                raise ValueError(f"Found reserved {what} token at unexpected location in `vocabulary` of {name}. "
                                 "Either remove all mask and OOV tokens, or include them only at the start of the "
                                 f"vocabulary in precisely this order: {special}. Received: {token} at vocabulary "
                                 f"index {given.index(self._key(token))}")
        size = self._token_start_index() + len(tokens)
        if self.max_tokens is not None and size > self.max_tokens:
            raise ValueError("Attempted to set a vocabulary larger than the maximum vocab size. Received vocabulary "
                             f"size is {size}; `max_tokens` is {self.max_tokens}.")

    def _read_file(self, path):
        import os
        from dragon.vm.keras.saving.serialization import in_safe_mode
        if in_safe_mode():
            raise ValueError("Requested the loading of a vocabulary file outside of the model archive, which may read "
                             "any file. If you trust the source, pass `safe_mode=False` to the loading function. "
                             f"Vocabulary file: '{path}'")
        if not os.path.exists(path):
            raise ValueError(f"Vocabulary file {path} does not exist.")
        if self.output_mode == "tf_idf":
            raise ValueError("output_mode `'tf_idf'` does not support loading a vocabulary from file. "
                             f"Received: {path}")
        with open(path, encoding="utf-8") as lines:
            files.check_end(lines)
            return [self._key(line) for line in lines.read().splitlines()]

    def _record_vocabulary_size(self):
        free = self.output_mode == "int" or self.pad_to_max_tokens
        size, frozen = self.vocabulary_size(), self._frozen_vocab_size
        if not free and frozen is not None and frozen != size:
            raise RuntimeError(f"When using `output_mode={self.output_mode}` and `pad_to_max_tokens=False`, the "
                               "vocabulary size cannot be changed after the layer is called. Old vocab size is "
                               f"{frozen}, new vocab size is {size}")
        self._frozen_vocab_size = size

    # --- learning

    def adapt(self, data, steps=None):
        """Learn the vocabulary from data.

        Parameters
        ----------
        data : Union[Sequence, numpy.ndarray, Tensor, Dataset, Iterable]
            Tokens, or batches of them.

        """
        self.reset_state()
        batches = batches_of(data, steps)
        if batches is None:
            data = data if hasattr(data, "row_lengths") else as_host(data)
            batches = [data.reshape(-1, 1) if getattr(data, "ndim", 2) == 1 and not hasattr(data, "row_lengths")
                       else data]
        for batch in batches:
            self.update_state(batch)
        self.finalize_state()

    def update_state(self, data):
        """Count the tokens of a batch."""
        if self._has_input_vocabulary:
            raise ValueError(f"Cannot adapt layer '{self.name}' after setting a static vocabulary via `vocabulary` "
                             f"argument or `set_vocabulary()` method. Received: {data}")
        rows = self._rows(data)
        counts = self.__dict__["_counts"]
        for row in rows:
            counts.update(row)
        if self.output_mode == "tf_idf":
            for row in rows:
                self.__dict__["_document_counts"].update(set(row))
            self.__dict__["_documents"] += len(rows)

    def _rows(self, data):
        """Return data as one list of tokens for each document."""
        if isinstance(data, list) and data and isinstance(data[0], list):
            return data
        if hasattr(data, "row_lengths"):
            flat = self._keys(as_host(data.flat_values))
            ends = as_host(data.row_splits).tolist()
            return [flat[a:b] for a, b in zip(ends, ends[1:])]
        array = as_host(data)
        array = array.reshape(1, -1) if array.ndim < 2 else array
        return [self._keys(row) for row in array]

    def _keys(self, array):
        """Return an array's tokens as a flat list of what the table has."""
        if self._is_text:
            return as_strings(array, type(self).__name__).reshape(-1).tolist()
        if array.dtype.kind not in "iubf":
            raise TypeError(f"{type(self).__name__} takes integers. Received: an array of {array.dtype} and of shape "
                            f"{array.shape}")
        return array.reshape(-1).astype("int64").tolist()

    def finalize_state(self):
        """Make the vocabulary of what was counted: frequent tokens first."""
        import numpy as np
        counts = self.__dict__["_counts"]
        if self._has_input_vocabulary or not counts:
            self._record_vocabulary_size()
            return
        for token in (self.mask_token, self.oov_token):
            if token is not None:
                counts.pop(self._key(token), None)
        tokens = sorted(counts, key=lambda token: (counts[token], token), reverse=True)
        if self.max_tokens:
            tokens = tokens[:self.max_tokens - self._token_start_index()]
        self._take_tokens(tokens)
        if self.output_mode == "tf_idf":
            seen = np.array([self.__dict__["_document_counts"][token] for token in tokens])
            self._take_weights(np.log(1 + self.__dict__["_documents"] / (1 + seen)).astype(floatx()), True)
        self.reset_state()
        self._record_vocabulary_size()

    def reset_state(self):
        """Forget what was counted."""
        self.__dict__.update(_counts=collections.Counter(), _document_counts=collections.Counter(), _documents=0)

    # --- looking up

    def build(self, input_shape=None):
        """Do nothing: a vocabulary has no weights."""

    def get_build_config(self):
        """Return nothing to build with."""
        return {}

    def build_from_config(self, config):
        """Mark the layer as built."""
        self.build(None)

    compute_dtype = property(lambda self: self.vocabulary_dtype, doc="str: the dtype of the tokens.")
    variable_dtype = property(lambda self: self.vocabulary_dtype, doc="str: the dtype of the tokens.")

    def compute_output_shape(self, input_shape):
        if self.output_mode == "int":
            return input_shape
        shape, depth = tuple(input_shape), self._depth()
        if self.output_mode == "one_hot":
            return (shape[:-1] if len(shape) > 1 and shape[-1] == 1 else shape) + (depth,)
        return shape[:-1] + (depth,)

    def compute_output_spec(self, inputs):
        dtype = "int64" if self.output_mode == "int" else floatx()
        return KerasTensor(self.compute_output_shape(inputs.shape), dtype=dtype)

    def _depth(self):
        return self.max_tokens if self.pad_to_max_tokens else self._frozen_vocab_size

    def call(self, inputs):
        """Return the numbers of tokens, or the tokens of numbers where the layer is inverted."""
        if self.output_mode != "int" and not self.pad_to_max_tokens and self._frozen_vocab_size is None:
            raise RuntimeError(f"When using `output_mode={self.output_mode}` and `pad_to_max_tokens=False`, you must "
                               "set the layer's vocabulary before calling it. Either pass a `vocabulary` argument to "
                               "the layer, or call `adapt` with some sample data.")
        if hasattr(inputs, "with_flat_values"):
            return self._encoded(inputs.with_flat_values(self._looked_up(inputs.flat_values)))
        if hasattr(inputs, "dense_shape"):
            return self._encoded(inputs.with_values(self._looked_up(inputs.values)))
        return self._encoded(self._looked_up(inputs))

    def _encoded(self, found):
        """Return numbers in the form of the output mode."""
        if self.output_mode == "int":
            return found
        mode = "count" if self.output_mode == "tf_idf" else self.output_mode
        made = encode(found, mode, self._depth(), "int64", sparse=self.sparse)
        if self.output_mode != "tf_idf":
            return made
        return ops.mul(ops.cast(made, self.idf_weights_const.dtype), self.idf_weights_const)

    def _looked_up(self, inputs):
        """Return the numbers of tokens in a dense tensor, an array or a list; or tokens of numbers."""
        if is_writing() and (is_written(inputs) or is_tensor(inputs)):
            return look_up_written(self, inputs)
        array = as_host(inputs)
        if self.invert:
            return self._inverted(array)
        return convert_to_tensor(self._numbers(self._keys(array)).reshape(array.shape))

    def _tokens_by_number(self):
        known = dict(enumerate(self._tokens, self._token_start_index()))
        if self.mask_token is not None:
            known[0] = self._key(self.mask_token)
        return known

    def _inverted(self, array):
        import numpy as np
        known, oov = self._tokens_by_number(), self._key(self.oov_token)
        flat = [known.get(number, oov) for number in array.reshape(-1).tolist()]
        made = np.empty(len(flat), object if self._is_text else "int64")
        made[:] = flat
        return convert_to_tensor(made.reshape(array.shape))

    def _numbers(self, keys):
        """Return the numbers of a list of tokens as an array."""
        import numpy as np
        oov = self._oov_start_index()
        unknown = oov if self.num_oov_indices == 1 else -1
        # All in C: tokens come by the million.
        found = np.fromiter(map(self._table.get, keys, itertools.repeat(unknown)), np.int64, len(keys))
        if unknown == -1:
            places = np.flatnonzero(found == -1)
            if len(places):
                found[places] = np.asarray(self._unknown([keys[i] for i in places])) + oov
        return found

    def _unknown(self, keys):
        """Return for unknown tokens which of the numbers for such they get."""
        if not self.num_oov_indices:
            from dragon.vm.shared.errors import invalid_argument
            raise invalid_argument("When `num_oov_indices=0` all inputs should be in vocabulary, found OOV values "
                                   f"{keys}, consider setting `num_oov_indices=1`.")
        if not self._is_text and self.oov_method != "farmhash":
            return [key % self.num_oov_indices for key in keys]
        texts = keys if self._is_text else [str(key).encode() for key in keys]
        return buckets(texts, self.num_oov_indices, self.salt).tolist()

    # --- files

    def save_own_variables(self, store):
        """Put the weights of tokens into a file."""
        if self.output_mode == "tf_idf":
            store["idf_weights"] = self.idf_weights_const.numpy()

    def load_own_variables(self, store):
        """Take the weights of tokens from a file."""
        if self.output_mode == "tf_idf":
            self._take_weights(as_host(store["idf_weights"][:]), False)

    def save_assets(self, dir_path):
        """Write a learnt vocabulary into a folder, a token in each line."""
        import os
        if self.input_vocabulary is not None:
            return
        lines = [str(token) for token in self.get_vocabulary()]
        files.write(os.path.join(dir_path, "vocabulary.txt"), "\n".join(lines))

    def load_assets(self, dir_path):
        """Read a vocabulary that `save_assets` wrote."""
        import os
        if self.input_vocabulary is not None:
            return
        with open(os.path.join(dir_path, "vocabulary.txt"), encoding="utf-8") as file:
            lines = file.read().splitlines()
        while lines and not lines[-1]:
            lines.pop()
        weights = self.idf_weights_const.numpy() if self.output_mode == "tf_idf" else None
        self.set_vocabulary([self._key(line) for line in lines], idf_weights=weights)

    def get_config(self):
        names = ("invert", "max_tokens", "num_oov_indices", "oov_token", "mask_token", "output_mode", "sparse",
                 "pad_to_max_tokens", "vocabulary_dtype", "oov_method", "salt")
        return {**super().get_config(), **{name: getattr(self, name) for name in names},
                "idf_weights": as_list(self.input_idf_weights), "vocabulary": as_list(self.input_vocabulary),
                "vocabulary_size": self._frozen_vocab_size}


def _check(max_tokens, num_oov_indices, pad_to_max_tokens, output_mode, invert, sparse, idf_weights):
    """Raise for arguments that do not go together."""
    if max_tokens is not None and max_tokens <= 1:
        raise ValueError(f"If set, `max_tokens` must be greater than 1. Received: max_tokens={max_tokens}")
    if pad_to_max_tokens and max_tokens is None:
        raise ValueError("If pad_to_max_tokens is True, must set `max_tokens`. "
                         f"Received: max_tokens={max_tokens}")
    if num_oov_indices < 0:
        raise ValueError("`num_oov_indices` must be greater than or equal to 0. "
                         f"Received: num_oov_indices={num_oov_indices}")
    if invert and output_mode != "int":
        raise ValueError("`output_mode` must be `'int'` when `invert` is true. "
                         f"Received: output_mode={output_mode}")
    if sparse and output_mode == "int":
        raise ValueError("`sparse` may only be true if `output_mode` is `'one_hot'`, `'multi_hot'`, `'count'` or "
                         f"`'tf_idf'`. Received: sparse={sparse} and output_mode={output_mode}")
    if idf_weights is not None and output_mode != "tf_idf":
        raise ValueError("`idf_weights` should only be set if `output_mode` is `'tf_idf'`. "
                         f"Received: idf_weights={idf_weights} and output_mode={output_mode}")
