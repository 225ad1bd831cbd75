"""The layer that most nets are made of."""
from dragon.vm.keras.core.convert import is_parted, with_values
from dragon.vm.keras.core.promotion import alike
from dragon.vm.keras.core.settings import store
from dragon.vm.keras.layers.core.calibrated import KEPT, Calibrated
from dragon.vm.keras.layers.input_spec import InputSpec
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.shared.tensors.tensor import ops

_linear, _permute, _addmm, _mm = ops.linear, ops.permute, ops.addmm, ops.mm


def _apply(x, kernel, bias):
    """Return x @ kernel + bias; of rows, so that the kernel's gradient comes in the kernel's own order."""
    if x.ndim != 2:
        # The engine's weights are (out, in): a view.
        return _linear(x, _permute(kernel, (1, 0)), bias)
    return _mm(x, kernel) if bias is None else _addmm(bias, x, kernel)


class Dense(Calibrated, Layer):
    """Multiply by a matrix, add a vector, apply an activation: `activation(inputs @ kernel + bias)`.

    Parameters
    ----------
    units : int
        The size of the result's last axis.
    use_bias : bool, optional, default=True
        Whether a vector is added.
    kernel_initializer, bias_initializer : Union[str, Initializer], optional
        What the weights start from.
    kernel_regularizer, bias_regularizer, activity_regularizer : Union[str, Regularizer], optional
        Penalties on the weights and on the result.
    kernel_constraint, bias_constraint : Union[str, Constraint], optional
        What the weights are brought back to after each step.
    lora_rank : int, optional
        The rank of a trained product that is added to the frozen kernel.
    lora_alpha : float, optional
        The product is scaled by `lora_alpha / lora_rank`.
    quantization_config : QuantizationConfig, optional
        What makes integers of the weight, where the dtype policy says that it is kept as such.

    Examples
    --------
    >>> layer = keras.layers.Dense(2, kernel_initializer="ones", bias_initializer="ones")
    >>> np.asarray(layer(np.array([[1.0, 2.0, 3.0]], "float32")))
    array([[7., 7.]], dtype=float32)

    """

    quantized_modes = Calibrated.quantized_modes
    _arguments = "... lora_rank=_told_rank? lora_alpha=_told_alpha?"

    def __init__(self, units, activation=None, use_bias=True, kernel_initializer="glorot_uniform",
                 bias_initializer="zeros", kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None,
                 kernel_constraint=None, bias_constraint=None, lora_rank=None, lora_alpha=None,
                 quantization_config=None, **kwargs):
        if not isinstance(units, int) or units <= 0:
            raise ValueError("Received an invalid value for `units`, expected a positive integer. Received: "
                             f"units={units}")
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        store(self, locals(), "units activation use_bias", "kernel bias")
        self.prepare_lora(lora_rank, lora_alpha)
        self.quantization_config = quantization_config
        self.input_spec = InputSpec(min_ndim=2)
        self.supports_masking = True

    def build(self, input_shape):
        """Make the weights."""
        shape, mode = (input_shape[-1], self.units), self.quantization_mode
        if mode is not None:
            self.quantized_build(shape, mode, self.quantization_config)
        if mode not in KEPT:
            self._kernel = self.add_weight(
                name="kernel", shape=shape, initializer=self.kernel_initializer, regularizer=self.kernel_regularizer,
                constraint=self.kernel_constraint)
        self.bias = self.add_weight(
            name="bias", shape=(self.units,), initializer=self.bias_initializer, regularizer=self.bias_regularizer,
            constraint=self.bias_constraint) if self.use_bias else None
        self.input_spec = InputSpec(min_ndim=2, axes={-1: input_shape[-1]})
        self.built = True
        if self.lora_rank:
            self.enable_lora(self.lora_rank)  # as Keras does: the scale given here is not handed on

    kernel = property(lambda self: self.adapted(), doc="The matrix, with the low-rank product if there is one.")

    def call(self, inputs, training=None):
        kernel = self.adapted() if self.lora_enabled else self._kernel.value
        bias = self.bias
        if is_parted(inputs):
            return self._call_parted(inputs, kernel, bias)
        inputs, kernel = alike(inputs, kernel)
        made = _apply(inputs, kernel, None if bias is None else bias.value)
        return made if self.activation is None else self.activation(made)

    def _call_parted(self, inputs, kernel, bias):
        """Compute with a ragged tensor, within its ragged axes, or with a sparse one."""
        if not hasattr(inputs, "dense_shape"):
            return with_values(inputs, self.call)
        from dragon.vm.keras.ops import matmul
        made = matmul(inputs, kernel)
        made = made if bias is None else made + bias.value
        return made if self.activation is None else self.activation(made)

    def quantized_call(self, inputs, training=None):
        """Compute with the numbers that integers stand for, or with eight-bit floats."""
        self.check_mode()
        self.watch(inputs)
        if self.quantization_mode == "float8":
            return self._float8_call(inputs, training)
        made = _apply(*alike(self.quantized_inputs(inputs), self.float_weight()), None)
        return self._finish(made, inputs, None if self.bias is None else self.bias.value)

    def _float8_call(self, inputs, training):
        if self.lora_enabled:
            raise NotImplementedError("Currently, `_float8_call` doesn't support LoRA")
        kernel = self.rounded(self._kernel.value, "kernel", training)
        made = self.with_rounded_gradient(_apply(self.rounded(inputs, "inputs", training), kernel, None))
        return self._finish(made, inputs, None if self.bias is None else self.float8_bias())

    def _finish(self, made, inputs, bias):
        product = self.low_rank_product()
        if product is not None:
            made = ops.cast(made + _apply(inputs, ops.cast(product, inputs.dtype), None), self.compute_dtype)
        made = made if bias is None else made + bias
        return made if self.activation is None else self.activation(made)

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self.units)
