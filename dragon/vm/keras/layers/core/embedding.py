"""Tables of vectors by number."""

from dragon.core import warnings
from dragon.vm.keras import quantizers
from dragon.vm.keras.core.convert import dense_of, is_parted, with_values
from dragon.vm.keras.core.keras_tensor import KerasTensor
from dragon.vm.keras.core.settings import store
from dragon.vm.keras.layers.core.quantized import FOUR_BITS, SMALL, Quantized
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.keras.ops.common import counted_places
from dragon.vm.keras.quantizers.configuration import QuantizationConfig, block_size_of
from dragon.vm.shared.tensors.tensor import ops

INDICES = ("int32", "int64")


def require_size(name, size):
    """Raise unless a size is a positive integer."""
    if not isinstance(size, int) or isinstance(size, bool) or size <= 0:
        raise ValueError(f"`{name}` must be a positive integer. Received: {name}={size} (of type "
                         f"{type(size).__name__}).")


class Embedding(Quantized, Layer):
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
    quantized_modes = SMALL
    step_axis = -1

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
        self.quantization_config = quantization_config
        if weights is not None:
            self.build()
            self.set_weights(weights if isinstance(weights, list) and len(weights) == 1 else [weights])

    def build(self, input_shape=None):
        """Make the table."""
        if self.built:
            return
        shape, mode = (self.input_dim, self.output_dim), self.quantization_mode
        if mode is not None:
            self.quantized_build(shape, mode, self.quantization_config)
        if mode not in SMALL:
            self._embeddings = self.add_weight(
                name="embeddings", shape=shape, initializer=self.embeddings_initializer,
                regularizer=self.embeddings_regularizer, constraint=self.embeddings_constraint)
        self.built = True
        if self.lora_rank:
            self.enable_lora(self.lora_rank)  # as Keras does: the scale given here is not handed on

    embeddings = property(lambda self: self.adapted(), doc="The table, with the low-rank product if there is one.")

    def call(self, inputs):
        if is_parted(inputs):
            return self.call(dense_of(inputs)) if hasattr(inputs, "dense_shape") else with_values(inputs, self.call)
        if inputs.dtype.name not in INDICES:
            inputs = ops.cast(inputs, "int32")
        table = self.adapted() if self.lora_enabled else self._embeddings.value
        made = ops.embedding(table, counted_places(inputs, self.input_dim))
        return made if made.dtype.name == self.compute_dtype else ops.cast(made, self.compute_dtype)

    def compute_output_spec(self, inputs):
        """Return the symbolic rows, ragged where the numbers are."""
        return KerasTensor(self.compute_output_shape(inputs.shape), dtype=self.compute_dtype, ragged=inputs.ragged)

    # --- quantized forms: a row has a step, or its blocks have

    def default_quantizer(self):
        return None

    def matrix_shape(self):
        return self.whole_shape[::-1]

    def as_matrix(self, weight):
        return ops.permute(weight, (1, 0))

    from_matrix = as_matrix

    def scale_shape(self):
        return self.whole_shape[:1]

    def packed_shapes(self, size):
        rows, columns = self.whole_shape
        return (rows, -(-columns // 2)), (rows,) if size is None else (rows, -(-columns // size))

    def to_integers(self, weight, mode, config):
        if mode == "int8" or block_size_of(self, config) is not None:
            return super().to_integers(weight, mode, config)
        quantizer = QuantizationConfig.weight_quantizer_or_default(
            config, quantizers.AbsMaxQuantizer(axis=-1, value_range=FOUR_BITS, output_dtype="int8"))
        numbers, scale = quantizer(weight, to_numpy=True)
        return quantizers.pack_int4(numbers, axis=-1)[0], ops.squeeze(scale, -1), None

    def pack(self, numbers, scale, zero):
        scale = scale if zero is None else ops.permute(scale, (1, 0))
        return (quantizers.pack_int4(ops.permute(numbers, (1, 0)), axis=-1)[0], scale,
                None if zero is None else ops.permute(zero, (1, 0)))

    def unpack(self, packed, scale, zero):
        numbers = ops.permute(quantizers.unpack_int4(packed, self.whole_shape[1], axis=-1), (1, 0))
        if zero is None:
            return numbers, scale, None
        return numbers, ops.permute(scale, (1, 0)), ops.permute(zero, (1, 0))

    def quantized_call(self, inputs, training=None):
        """Return the numbers that the integers of rows stand for."""
        self.check_mode()
        if inputs.dtype.name not in INDICES:
            inputs = ops.cast(inputs, "int32")
        places = ops.reshape(counted_places(inputs, self.input_dim), (-1,))
        made = self._float_rows(places)
        if self.lora_enabled:
            thin = ops.index_select(self.lora_embeddings_a.value, 0, places)
            more = ops.mul(ops.matmul(thin, self.lora_embeddings_b.value), self.lora_alpha / self.lora_rank)
            made = ops.cast(made + more, self.compute_dtype)
        return ops.reshape(made, (*inputs.shape, self.output_dim))

    def _float_rows(self, places):
        numbers, scale = (ops.index_select(weight.value, 0, places)
                          for weight in (self._embeddings, self.embeddings_scale))
        if self.quantization_mode == "int4":
            numbers = quantizers.unpack_int4(numbers, self.output_dim, axis=-1)
        numbers = ops.cast(numbers, self.compute_dtype)
        zero = getattr(self, "embeddings_zero", None)
        if zero is None:
            return ops.div(numbers, ops.unsqueeze(scale, -1))
        groups = ops.cast(self.g_idx.value, "int32")
        zero = ops.index_select(ops.index_select(zero.value, 0, places), 1, groups)
        return (numbers - ops.cast(zero, numbers.dtype)) * ops.index_select(scale, 1, groups)

    def compute_mask(self, inputs, mask=None):
        """Return where the numbers are not 0, if 0 stands for padding."""
        from dragon.vm.keras.ops import not_equal
        return not_equal(inputs, 0) if self.mask_zero else None

    def compute_output_shape(self, input_shape):
        return (*input_shape, self.output_dim)
