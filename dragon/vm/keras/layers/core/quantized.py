"""Layers whose big weight is kept as small integers, or is rounded to eight-bit floats while it is trained."""
from dragon.vm.keras import quantizers
from dragon.vm.keras.core import dtype_policies
from dragon.vm.keras.layers.core.float8 import Float8
from dragon.vm.keras.layers.core.lowrank import LowRank
from dragon.vm.keras.layers.quantizing import quantizing
from dragon.vm.keras.quantizers.configuration import QuantizationConfig, block_size_of
from dragon.vm.keras.quantizers.groups import dequantize_with_sz_map
from dragon.vm.shared.tensors.tensor import ops

SMALL = ("int8", "int4")  # modes whose weights are small integers
FOUR_BITS = (-8, 7)


class Quantized(Float8, LowRank):
    """What layers with quantized forms share; `lora_target` names the weight, as for `LowRank`.

    Integers lie as genuine Keras lays them, so that files are read in both directions. The layer computes with the
    numbers that they stand for; where inputs become integers too, gradients go through as if they had not.
    """

    quantized_modes = ("int8", "int4", "float8")
    step_axis = 0  # of the weight: what has one step for all of its numbers
    inputs_quantizer = None

    # --- what layers say of themselves

    def matrix_shape(self):
        """Return the shape of the weight as a matrix whose first axis is summed over."""
        return self.whole_shape

    def as_matrix(self, weight):
        """Return the weight as that matrix."""
        return weight

    def from_matrix(self, matrix):
        """Return the weight of a matrix that `as_matrix` gave."""
        return matrix

    def scale_shape(self):
        """Return the shape of the steps of eight-bit weights."""
        return self.whole_shape[1:]

    def to_outputs(self, scale):
        """Return the steps of eight-bit weights as files have them, of the weight's axes."""
        return ops.squeeze(scale, self.step_axis)

    def from_outputs(self, scale):
        """Return the steps as axes of the weight, of those that files have."""
        return ops.unsqueeze(scale, self.step_axis)

    def default_quantizer(self):
        """Return what makes integers of inputs where no configuration says it, in eight bits."""
        return quantizers.AbsMaxQuantizer()

    # --- names and shapes

    def _name(self, part):
        return f"{self.lora_target}_{part}"

    def _keep(self, attribute, name, **settings):
        setattr(self, attribute, self.add_weight(name=name, **settings))

    # --- building

    def quantized_build(self, shape, mode, config=None):
        """Make the weights of a mode."""
        self.whole_shape = tuple(shape)
        if mode == "float8" and mode in self.quantized_modes:
            self.build_float8()
        elif mode in SMALL:
            self.build_integers(mode, config)
        else:
            raise self._quantization_mode_error(mode)
        self._is_quantized = True

    def build_integers(self, mode, config):
        """Make the weights of small integers and their steps."""
        default = self.default_quantizer() if mode == "int8" else None
        self.inputs_quantizer = QuantizationConfig.activation_quantizer_or_default(config, default)
        target = self.lora_target
        if mode == "int8":
            self._keep("_" + target, target, shape=self.whole_shape, initializer="zeros", dtype="int8", trainable=False)
            self._keep(self._name("scale"), self._name("scale"), shape=self.scale_shape(), initializer="ones",
                       trainable=False)
            return
        size = block_size_of(self, config)
        self._int4_block_size = size if config is None else config.block_size
        packed, steps = self.packed_shapes(size)
        self._keep("_" + target, target, shape=packed, initializer="zeros", dtype="int8", trainable=False)
        self._keep(self._name("scale"), self._name("scale"), shape=steps, initializer="ones", trainable=False)
        if size is None:
            return
        self._keep(self._name("zero"), self._name("zero"), shape=steps, initializer="zeros", dtype="int8",
                   trainable=False)
        rows = self.matrix_shape()[0]
        self._keep("g_idx", "g_idx", shape=(rows,), initializer="zeros", dtype="float32", trainable=False)
        self.g_idx.assign(ops.floor_divide(ops.arange(0, rows, 1, dtype="float32"), float(size)))

    def packed_shapes(self, size):
        """Return the shapes of four-bit weights, two in a byte, and of their steps."""
        rows, columns = self.matrix_shape()
        return (rows, -(-columns // 2)), (columns,) if size is None else (-(-rows // size), columns)

    # --- from floats to integers, and back

    def to_integers(self, weight, mode, config):
        """Return what files hold of a weight: integers, their steps, and which integer is zero, if it is not 0."""
        if mode == "int8":
            quantizer = QuantizationConfig.weight_quantizer_or_default(
                config, quantizers.AbsMaxQuantizer(axis=self.step_axis))
            numbers, scale = quantizer(weight, to_numpy=True)
            return numbers, self.to_outputs(scale), None
        matrix, size = self.as_matrix(weight), block_size_of(self, config)
        if size is None:
            quantizer = QuantizationConfig.weight_quantizer_or_default(
                config, quantizers.AbsMaxQuantizer(axis=0, value_range=FOUR_BITS, output_dtype="int8"))
            numbers, scale = quantizer(matrix, to_numpy=True)
            scale, zero = ops.squeeze(scale, 0), None
        else:
            numbers, scale, zero = quantizers.abs_max_quantize_grouped_with_zero_point(
                matrix, block_size=size, to_numpy=True)
        return self.pack(numbers, scale, zero)

    def pack(self, numbers, scale, zero):
        """Return the four-bit integers of a matrix as files hold them."""
        return quantizers.pack_int4(numbers, axis=-1)[0], scale, zero

    def unpack(self, packed, scale, zero):
        """Return the matrix that `pack` was given, its steps and zeros."""
        return quantizers.unpack_int4(packed, self.matrix_shape()[1], axis=-1), scale, zero

    def float_weight(self):
        """Return the numbers that the integers stand for, in the dtype that is computed in."""
        numbers = getattr(self, "_" + self.lora_target).value
        scale = getattr(self, self._name("scale")).value
        if self.quantization_mode == "int8":
            return ops.div(ops.cast(numbers, self.compute_dtype), self.from_outputs(scale))
        zero = getattr(self, self._name("zero"), None)
        numbers, scale, zero = self.unpack(numbers, scale, None if zero is None else zero.value)
        if zero is None:
            matrix = ops.div(ops.cast(numbers, self.compute_dtype), scale)
        else:
            matrix = dequantize_with_sz_map(numbers, scale, zero, self.g_idx.value, group_axis=0)
        return self.from_matrix(ops.cast(matrix, self.compute_dtype))

    # --- what callers ask for

    @quantizing
    def quantize(self, mode=None, type_check=True, config=None):
        """Make integers of the weight, or have it trained as eight-bit floats.

        Parameters
        ----------
        mode : str
            "int8", "int4" or "float8".
        type_check : bool, optional, default=True
            Refuse classes below Keras's own.
        config : QuantizationConfig, optional
            What makes integers of weights and of inputs.

        """
        if type_check and "quantized_modes" not in vars(type(self)):  # a class below may compute otherwise
            raise self._not_implemented_error(self.quantize)
        if mode not in self.quantized_modes:
            raise self._quantization_mode_error(mode)
        self.quantization_config = config
        self.whole_shape = tuple(getattr(self, "_" + self.lora_target).shape)
        made = self.to_stored(mode, config) if mode in SMALL else {}
        for name in made:
            if hasattr(self, name):
                delattr(self, name)
        self.quantized_build(self.whole_shape, mode, config)
        for name, value in made.items():
            if value is not None:
                getattr(self, name).assign(value)
        if self.dtype_policy.quantization_mode is None:
            self.dtype_policy = dtype_policies.get(f"{self.policy_word(mode, config)}_from_{self.dtype_policy.name}")

    def policy_word(self, mode, config):
        """Return how a policy names a mode."""
        return f"int4/{block_size_of(self, config) or -1}" if mode == "int4" else mode

    def to_stored(self, mode, config):
        """Return {attribute: what files hold} of the weights that become integers."""
        names = ("_" + self.lora_target, self._name("scale"), self._name("zero"))
        return dict(zip(names, self.to_integers(getattr(self, "_" + self.lora_target).value, mode, config)))

    def check_mode(self):
        """Raise for a policy whose mode the layer has no form for."""
        if self.quantization_mode not in self.quantized_modes:
            raise self._quantization_mode_error(self.quantization_mode)

    def _quantization_mode_error(self, mode):
        return NotImplementedError(f"Invalid quantization mode. Expected one of {self.quantized_modes}. "
                                   f"Received: quantization_mode={mode}")

    def quantized_inputs(self, inputs, axis=-1):
        """Return inputs as the integers say that stand for them; gradients go to the inputs as they were."""
        if self.inputs_quantizer is None:
            return inputs
        numbers, scale = self.inputs_quantizer(inputs, axis=axis)
        return inputs + (ops.cast(ops.div(ops.cast(numbers, scale.dtype), scale), inputs.dtype) - inputs).detach()

    def low_rank_product(self):
        """Return the product that is added to the weight, or None without one."""
        if not self.lora_enabled:
            return None
        first, second = (getattr(self, self._lora_name(part)).value for part in "ab")
        return ops.mul(ops.matmul(first, second), self.lora_alpha / self.lora_rank)

    def adapted_shape(self):
        return self.whole_shape if self.quantization_mode in SMALL else super().adapted_shape()

    def adapted(self):
        """Return the weight as it is kept, with the low-rank product if there is one; four-bit integers one by one."""
        if self.quantization_mode != "int4" or not self.built:
            return super().adapted()
        numbers = self.from_matrix(self.unpack(getattr(self, "_" + self.lora_target).value, None, None)[0])
        return ops.cast(numbers + self.low_rank_product(), self.compute_dtype) if self.lora_enabled else numbers

    # --- files

    @classmethod
    def from_config(cls, config):
        """Make a layer of what `get_config` returned. ..."""
        from dragon.vm.keras.saving.serialization import deserialize_keras_object
        told = config.get("quantization_config")
        told = deserialize_keras_object(told) if isinstance(told, dict) else told
        return super().from_config({**config, "quantization_config": told})

    @property
    def variable_serialization_spec(self):
        """Dict[Optional[str], List[str]]: which weights files have in each mode, in order."""
        plain = [self.lora_target, *([] if self.lora_target == "embeddings" else ["bias"])]
        of_steps = [*plain, self._name("scale")]
        spec = {None: plain, "int8": of_steps, "int4": [*of_steps, self._name("zero"), "g_idx"]}
        return {**spec, "float8": plain + self.of_float8} if "float8" in self.quantized_modes else spec

    def saved_weights(self):
        spec = self.variable_serialization_spec
        if self.quantization_mode not in spec:
            raise self._quantization_mode_error(self.quantization_mode)
        names = ["_" + name if name == self.lora_target else name for name in spec[self.quantization_mode]]
        return [name for name in names if getattr(self, name, None) is not None]

    def merged(self):
        """Return {attribute: value} of what a low-rank product changes in files."""
        if not self.lora_enabled:
            return {}
        if self.quantization_mode not in SMALL:
            return {"_" + self.lora_target: self.adapted()}
        names = ("_" + self.lora_target, self._name("scale"), self._name("zero"))
        whole = self.float_weight() + self.low_rank_product()
        return dict(zip(names, self.to_integers(whole, self.quantization_mode, self.quantization_config)))
