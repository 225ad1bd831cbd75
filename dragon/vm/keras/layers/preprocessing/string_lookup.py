"""Strings as numbers, by a vocabulary."""

from dragon.vm.keras.layers.preprocessing.index_lookup import IndexLookup


class StringLookup(IndexLookup):
    """Look up strings in a vocabulary.

    Parameters
    ----------
    max_tokens : Optional[int], optional
        The most numbers there may be, those of mask and unknown tokens among them.
    num_oov_indices : int, optional, default=1
        How many numbers unknown tokens have; among several, a hash chooses.
    mask_token : Optional[str], optional
        A token with number 0 that stands for nothing.
    oov_token : str, optional, default="[UNK]"
        What unknown numbers become where the layer is inverted.
    vocabulary : Optional[Union[Sequence[str], str]], optional
        The tokens, or a file of them; without it, `adapt` learns them.
    idf_weights : Optional[Sequence[float]], optional
        A weight for each token in mode "tf_idf".
    invert : bool, optional, default=False
        Turn numbers into tokens.
    output_mode : {"int", "one_hot", "multi_hot", "count", "tf_idf"}, optional, default="int"
        The form of the output.
    pad_to_max_tokens : bool, optional, default=False
        Outputs have room for `max_tokens`, however many there are.
    encoding : str, optional, default="utf-8"
        Of the tokens.
    salt : Optional[Union[int, Sequence[int]]], optional
        The key of the hash of unknown tokens.

    Examples
    --------
    >>> layer = keras.layers.StringLookup(vocabulary=["cat", "dog"])
    >>> np.asarray(layer(["dog", "bird"]))
    array([2, 0])

    """

    _left_out = "vocabulary_dtype"

    def __init__(self, max_tokens=None, num_oov_indices=1, mask_token=None, oov_token="[UNK]", vocabulary=None,
                 idf_weights=None, invert=False, output_mode="int", pad_to_max_tokens=False, sparse=False,
                 encoding="utf-8", name=None, salt=None, **kwargs):
        self.__dict__["encoding"] = encoding
        super().__init__(max_tokens=max_tokens, num_oov_indices=num_oov_indices, mask_token=mask_token,
                         oov_token=oov_token, vocabulary=vocabulary, idf_weights=idf_weights, invert=invert,
                         output_mode=output_mode, pad_to_max_tokens=pad_to_max_tokens, sparse=sparse, name=name,
                         salt=salt, vocabulary_dtype="string", **kwargs)
