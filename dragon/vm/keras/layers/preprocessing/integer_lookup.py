"""Integers as numbers from zero on, by a vocabulary."""

from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.layers.preprocessing.index_lookup import NOWHERE, IndexLookup
from dragon.vm.shared.tensors.tensor import ops


class IntegerLookup(IndexLookup):
    """Look up integers in a vocabulary.

    Parameters
    ----------
    max_tokens, num_oov_indices, mask_token, vocabulary, idf_weights, invert, output_mode, sparse, pad_to_max_tokens
        See StringLookup.
    oov_token : int, optional, default=-1
        What unknown numbers become where the layer is inverted.
    vocabulary_dtype : str, optional, default="int64"
        Nothing else.
    oov_method : {"floormod", "farmhash"}, optional, default="floormod"
        What chooses among several numbers for unknown tokens.
    salt : Optional[Union[int, Sequence[int]]], optional
        The key of the hash.

    Examples
    --------
    >>> layer = keras.layers.IntegerLookup(vocabulary=[10, 20])
    >>> np.asarray(layer(np.array([20, 99])))
    array([2, 0])

    """

    def __init__(self, max_tokens=None, num_oov_indices=1, mask_token=None, oov_token=-1, vocabulary=None,
                 vocabulary_dtype="int64", idf_weights=None, invert=False, output_mode="int", sparse=False,
                 pad_to_max_tokens=False, oov_method="floormod", salt=None, name=None, **kwargs):
        if vocabulary_dtype != "int64":
            raise ValueError("Only `vocabulary_dtype='int64'` is supported at this time. "
                             f"Received: vocabulary_dtype={vocabulary_dtype}")
        super().__init__(max_tokens=max_tokens, num_oov_indices=num_oov_indices, mask_token=mask_token,
                         oov_token=oov_token, vocabulary=vocabulary, vocabulary_dtype=vocabulary_dtype,
                         idf_weights=idf_weights, invert=invert, output_mode=output_mode, sparse=sparse,
                         pad_to_max_tokens=pad_to_max_tokens, oov_method=oov_method, salt=salt, name=name, **kwargs)

    def _looked_up(self, inputs):
        if self.invert or self.num_oov_indices == 0 or self.oov_method == "farmhash" or not self._tokens:
            return super()._looked_up(inputs)
        # By operators, so that a captured step may look up too.
        keys, numbers = self._sorted_tokens()
        inputs = ops.cast(convert_to_tensor(inputs), "int64")
        places = ops.clamp(ops.searchsorted(keys, inputs), None, keys.shape[0] - 1)
        known = ops.eq(ops.take(keys, places), inputs)
        start = self._oov_start_index()
        oov = start if self.num_oov_indices == 1 else ops.add(ops.remainder(inputs, self.num_oov_indices), start)
        found = ops.where(known, ops.take(numbers, places), oov)
        if self.mask_token is None:
            return found
        nothing = 0 if self.output_mode == "int" else NOWHERE
        return ops.where(ops.eq(inputs, int(self.mask_token)), nothing, found)

    def _sorted_tokens(self):
        """Return the tokens in order, and their numbers, as tensors."""
        if self._sorted is None:
            import numpy as np
            tokens = np.array(self._tokens, np.int64)
            order = np.argsort(tokens)
            made = convert_to_tensor(tokens[order]), convert_to_tensor(order + self._token_start_index())
            self.__dict__["_sorted"] = made
        return self._sorted

    def get_config(self):
        config = super().get_config()
        for name in ("oov_token", "mask_token"):
            config[name] = None if config[name] is None else int(config[name])
        if config["vocabulary"] is not None:
            config["vocabulary"] = [int(token) for token in config["vocabulary"]]
        return config
