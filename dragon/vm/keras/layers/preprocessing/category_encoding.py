"""Categories as ones among zeros."""

from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.keras_tensor import KerasTensor
from dragon.vm.keras.layers.preprocessing.data_layer import DataLayer, encode


class CategoryEncoding(DataLayer):
    """Encode integers below a known number.

    Parameters
    ----------
    num_tokens : int
        How many categories there are.
    output_mode : {"multi_hot", "one_hot", "count"}, optional, default="multi_hot"
        Which ones a row has, a place for each, or how many of each.

    Examples
    --------
    >>> layer = keras.layers.CategoryEncoding(num_tokens=3, output_mode="one_hot")
    >>> np.asarray(layer(np.array([0, 2])))
    array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float32)

    """

    _left_out = "sparse"

    def __init__(self, num_tokens=None, output_mode="multi_hot", sparse=False, **kwargs):
        super().__init__(**kwargs)
        output_mode = "multi_hot" if output_mode == "binary" else output_mode
        if output_mode not in ("count", "one_hot", "multi_hot"):
            raise ValueError(f"Unknown arg for output_mode: {output_mode}")
        if num_tokens is None:
            raise ValueError("num_tokens must be set to use this layer. If the number of tokens is not known "
                             f"beforehand, use the IntegerLookup layer instead. Received: num_tokens={num_tokens}")
        if num_tokens < 1:
            raise ValueError(f"`num_tokens` must be >= 1. Received: num_tokens={num_tokens}.")
        self.num_tokens = num_tokens
        self.output_mode = output_mode
        self.sparse = sparse
        self._convert_input_args = False

    def call(self, inputs, count_weights=None):
        """Encode the inputs; in mode "count" each may have a weight."""
        if count_weights is not None:
            if self.output_mode != "count":
                raise ValueError("`count_weights` is not used when `output_mode` is not `'count'`. "
                                 f"Received `count_weights={count_weights}`.")
            count_weights = convert_to_tensor(count_weights, dtype=self.compute_dtype)
        return encode(convert_to_tensor(inputs), self.output_mode, self.num_tokens, self.compute_dtype, count_weights,
                      self.sparse)

    def compute_output_shape(self, input_shape):
        """Return the shape of the encoded input."""
        shape = tuple(input_shape)
        if not shape:
            return (self.num_tokens,)
        if self.output_mode == "one_hot" and (shape[-1] != 1 or len(shape) == 1):
            return shape + (self.num_tokens,)
        return shape[:-1] + (self.num_tokens,)

    def compute_output_spec(self, inputs, count_weights=None):
        return KerasTensor(self.compute_output_shape(inputs.shape), dtype=self.compute_dtype, sparse=self.sparse)
