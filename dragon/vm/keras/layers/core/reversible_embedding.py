"""A table of vectors that also scores vectors against its rows, as language models do at their end."""
from dragon.vm.keras import quantizers
from dragon.vm.keras.core.masking import set_keras_mask
from dragon.vm.keras.core.promotion import product
from dragon.vm.keras.layers.core.embedding import Embedding
from dragon.vm.keras.layers.core.quantized import FOUR_BITS, SMALL
from dragon.vm.keras.quantizers.configuration import QuantizationConfig, block_size_of
from dragon.vm.keras.quantizers.groups import dequantize_with_sz_map
from dragon.vm.shared.tensors.tensor import ops


class ReversibleEmbedding(Embedding):
    """Replace numbers by the rows of a table, or with `reverse=True` multiply vectors by the table's columns.

    Parameters
    ----------
    input_dim, output_dim : int
        How many rows the table has, and how long they are.
    tie_weights : bool, optional, default=True
        Whether one table serves both ways.
    embeddings_initializer, embeddings_regularizer, embeddings_constraint, mask_zero : optional
        As for `Embedding`.
    reverse_dtype : str, optional
        The dtype in which scores are computed.
    logit_soft_cap : float, optional
        Scores are bent by tanh to stay within this.

    """

    quantized_modes = SMALL

    def __init__(self, input_dim, output_dim, tie_weights=True, embeddings_initializer="uniform",
                 embeddings_regularizer=None, embeddings_constraint=None, mask_zero=False, reverse_dtype=None,
                 logit_soft_cap=None, **kwargs):
        super().__init__(input_dim, output_dim, embeddings_initializer=embeddings_initializer,
                         embeddings_regularizer=embeddings_regularizer, embeddings_constraint=embeddings_constraint,
                         mask_zero=mask_zero, **kwargs)
        self.tie_weights = tie_weights
        self.reverse_dtype = reverse_dtype
        self.logit_soft_cap = logit_soft_cap

    def build(self, input_shape=None):
        """Make the tables."""
        super().build(input_shape)
        if not self.tie_weights and self.quantization_mode not in SMALL:
            self.reverse_embeddings = self.add_weight(
                name="reverse_embeddings", shape=(self.output_dim, self.input_dim),
                initializer=self.embeddings_initializer)

    @property
    def variable_serialization_spec(self):
        spec = super().variable_serialization_spec
        if self.tie_weights:
            return spec
        own = ["reverse_embeddings", "reverse_embeddings_scale", "reverse_embeddings_zero"]
        count = {None: 1, "int8": 2, "int4": 3}
        return {mode: names + own[:count[mode]] for mode, names in spec.items()}

    def call(self, inputs, reverse=False):
        if not reverse:
            made, mask = super().call(inputs), super().compute_mask(inputs)
            if mask is not None:
                set_keras_mask(made, mask)
            return made
        table = self.adapted()
        kernel = ops.permute(table.value if table is self._embeddings else table, (1, 0)) if self.tie_weights else (
            self.reverse_embeddings.value)
        return self._score(inputs, kernel)

    def _score(self, inputs, kernel):
        if self.reverse_dtype is not None:
            wanted = self.reverse_dtype
            inputs, kernel = ops.cast(inputs, wanted), ops.cast(kernel, wanted)
        return self._bend(product(inputs, kernel))

    def _bend(self, scores):
        cap = self.logit_soft_cap
        return scores if cap is None else ops.mul(ops.tanh(ops.div(scores, cap)), cap)

    # --- quantized forms

    def default_quantizer(self):
        return quantizers.AbsMaxQuantizer(axis=-1)

    def build_integers(self, mode, config):
        super().build_integers(mode, config)
        self.inputs_quantizer = QuantizationConfig.activation_quantizer_or_default(config, self.default_quantizer())
        if self.tie_weights:
            return
        rows, columns = self.output_dim, self.input_dim
        size = block_size_of(self, config) if mode == "int4" else None
        packed = rows if mode == "int8" else -(-rows // 2)
        self._keep("reverse_embeddings", "reverse_embeddings", shape=(packed, columns), initializer="zeros",
                   dtype="int8", trainable=False)
        steps = (columns,) if size is None else (-(-rows // size), columns)
        self._keep("reverse_embeddings_scale", "reverse_embeddings_scale", shape=steps, initializer="ones",
                   trainable=False)
        if size is not None:
            self._keep("reverse_embeddings_zero", "reverse_embeddings_zero", shape=steps, initializer="zeros",
                       trainable=False)

    def to_stored(self, mode, config):
        stored = super().to_stored(mode, config)
        if self.tie_weights:
            return stored
        names = ("reverse_embeddings", "reverse_embeddings_scale", "reverse_embeddings_zero")
        return {**stored, **dict(zip(names, self._reversed(mode, config)))}

    def _reversed(self, mode, config):
        """Return integers, steps and zeros of the table of the way back."""
        size, table = block_size_of(self, config) if mode == "int4" else None, self.reverse_embeddings.value
        if size is not None:
            numbers, scale, zero = quantizers.abs_max_quantize_grouped_with_zero_point(
                table, block_size=size, to_numpy=True)
            return quantizers.pack_int4(numbers, axis=0)[0], scale, zero
        bits = {} if mode == "int8" else {"value_range": FOUR_BITS, "output_dtype": "int8"}
        quantizer = QuantizationConfig.weight_quantizer_or_default(
            config, quantizers.AbsMaxQuantizer(axis=0, **bits))
        numbers, scale = quantizer(table, axis=0, to_numpy=True)
        return numbers if mode == "int8" else quantizers.pack_int4(numbers, axis=0)[0], ops.squeeze(scale, 0), None

    def quantized_call(self, inputs, reverse=False):
        """Compute either way with the numbers that integers stand for."""
        self.check_mode()
        if reverse:
            kernel = ops.permute(self.float_weight(), (1, 0)) if self.tie_weights else self._float_reversed()
            return self._bend(product(self.quantized_inputs(inputs), kernel))
        made, mask = super().quantized_call(inputs), super().compute_mask(inputs)
        if mask is not None:
            set_keras_mask(made, mask)
        return made

    def _float_reversed(self):
        numbers, scale = self.reverse_embeddings.value, self.reverse_embeddings_scale.value
        if self.quantization_mode == "int4":
            numbers = quantizers.unpack_int4(numbers, self.output_dim, axis=0)
        zero = getattr(self, "reverse_embeddings_zero", None)
        if zero is None:
            return ops.div(ops.cast(numbers, self.compute_dtype), scale)
        made = dequantize_with_sz_map(numbers, scale, zero.value, self.g_idx.value, group_axis=0)
        return ops.cast(made, self.compute_dtype)

    def compute_mask(self, inputs, mask=None):
        """Return None: `call` sets the mask where there is one."""
        return None

    def compute_output_shape(self, input_shape, reverse=False):
        return (*input_shape[:-1], self.input_dim) if reverse else (*input_shape, self.output_dim)

    def compute_output_spec(self, inputs, reverse=False):
        from dragon.vm.keras.core.keras_tensor import KerasTensor
        return KerasTensor(self.compute_output_shape(inputs.shape, reverse), dtype=self.compute_dtype)
