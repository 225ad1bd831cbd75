"""Tables of vectors by number."""

from dragon.core import warnings
from dragon.vm.keras.core.settings import refuse_quantization, store
from dragon.vm.keras.layers.core.lowrank import LowRank
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.keras.ops.common import counted_places
from dragon.vm.shared.tensors.tensor import ops

INDICES = ("int32", "int64")


def require_size(name, size):
    """Raise unless a size is a positive integer."""
    if not isinstance(size, int) or isinstance(size, bool) or size <= 0:
        raise ValueError(f"`{name}` must be a positive integer. Received: {name}={size} (of type "
                         f"{type(size).__name__}).")


class Embedding(LowRank, Layer):
    """Replace numbers by the rows of a table.

    Parameters
    ----------
    input_dim : int
        How many rows the table has.
    output_dim : int
        How long a row is.
    embeddings_initializer : Union[str, Initializer], optional, default="uniform"
        What the table starts from.
    embeddings_regularizer, embeddings_constraint : optional
        As for `Dense`.
    mask_zero : bool, optional, default=False
        Whether 0 stands for padding, which layers that know masks leave out.
    weights : Union[ArrayLike, Sequence[ArrayLike]], optional
        The table to start from.

    Examples
    --------
    >>> layer = keras.layers.Embedding(input_dim=1000, output_dim=16)
    >>> tuple(layer(np.array([[4, 8, 15]])).shape)
    (1, 3, 16)

    """

    _arguments = ("input_dim output_dim embeddings_initializer embeddings_regularizer activity_regularizer ... "
                  "lora_rank=_told_rank? lora_alpha=_told_alpha?")
    _left_out = "weights"

    lora_target = "embeddings"

    def __init__(self, input_dim, output_dim, embeddings_initializer="uniform", embeddings_regularizer=None,
                 embeddings_constraint=None, mask_zero=False, weights=None, lora_rank=None, lora_alpha=None,
                 quantization_config=None, **kwargs):
        require_size("input_dim", input_dim)
        require_size("output_dim", output_dim)
        if kwargs.pop("input_length", None) is not None:
            warnings.warn("Argument `input_length` is deprecated. Just remove it.")
        super().__init__(**kwargs)
        store(self, locals(), "input_dim output_dim mask_zero", "embeddings")
        self.supports_masking, self.autocast = mask_zero, False
        self.prepare_lora(lora_rank, lora_alpha)
        refuse_quantization(self, quantization_config)
        if weights is not None:
            self.build()
            self.set_weights(weights if isinstance(weights, list) and len(weights) == 1 else [weights])

    def build(self, input_shape=None):
        """Make the table."""
        if self.built:
            return
        self._embeddings = self.add_weight(
            name="embeddings", shape=(self.input_dim, self.output_dim), initializer=self.embeddings_initializer,
            regularizer=self.embeddings_regularizer, constraint=self.embeddings_constraint)
        self.built = True
        if self.lora_rank:
            self.enable_lora(self.lora_rank)  # as Keras does: the scale given here is not handed on

    embeddings = property(lambda self: self.adapted(), doc="The table, with the low-rank product if there is one.")

    def call(self, inputs):
        if inputs.dtype.name not in INDICES:
            inputs = ops.cast(inputs, "int32")
        table = self.adapted() if self.lora_enabled else self._embeddings.value
        made = ops.embedding(table, counted_places(inputs, self.input_dim))
        return made if made.dtype.name == self.compute_dtype else ops.cast(made, self.compute_dtype)

    def compute_mask(self, inputs, mask=None):
        """Return where the numbers are not 0, if 0 stands for padding."""
        from dragon.vm.keras.ops import not_equal
        return not_equal(inputs, 0) if self.mask_zero else None

    def compute_output_shape(self, input_shape):
        return (*input_shape, self.output_dim)
