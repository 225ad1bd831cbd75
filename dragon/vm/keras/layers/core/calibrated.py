"""Layers whose weight is kept as integers that data were run for: by GPTQ or AWQ."""
from dragon.core import warnings
from dragon.vm.keras import quantizers
from dragon.vm.keras.layers.core.quantized import SMALL, Quantized
from dragon.vm.keras.quantizers.configuration import CALIBRATED
from dragon.vm.keras.quantizers.groups import dequantize_with_sz_map
from dragon.vm.shared.tensors.tensor import ops

KEPT = SMALL + tuple(CALIBRATED)  # modes in which the weight is no float


class Calibrated(Quantized):
    """What dense layers share, beside the modes that want no data.

    `quantize` makes room for the integers; the layer goes on with the floats that it has until somebody fills it, which
    `quantizers.GPTQ` and `quantizers.AWQ` do. Integers lie with a row for each result, as genuine Keras lays them.
    """

    quantized_modes = (*Quantized.quantized_modes, *CALIBRATED)
    zero_name = "kernel_zero"
    is_gptq_calibrated = is_awq_calibrated = False
    watcher = None  # is shown what the layer is called with

    def calibrated_shape(self):
        """Return how many rows and columns the integers have, which lie the other way round."""
        if not hasattr(self, "whole_shape"):
            self.whole_shape = tuple(self._kernel.shape)
        return self.matrix_shape()

    def as_rows(self, weight):
        """Return a weight with a row for each result, as integers lie."""
        return ops.permute(ops.reshape(weight, self.calibrated_shape()), (1, 0))

    def _calibration(self, name, config=None):
        """Return what the configuration or the layer's policy says of its integers."""
        return getattr(self._own_policy() if config is None else config, name)

    @property
    def is_calibrated(self):
        """Whether the integers are there."""
        return self.is_gptq_calibrated or self.is_awq_calibrated

    # --- building

    def build_calibrated(self, mode, config):
        """Make the weights of integers that data are run for."""
        self.check_matrix(mode)
        rows, columns = self.calibrated_shape()
        bits, size = (self._calibration(name, config) for name in ("weight_bits", "group_size"))
        steps = (columns, 1 if size == -1 else -(-rows // size))
        bytes_of_column = -(-columns // 2) if bits == 4 else columns
        self._keep("quantized_kernel", "kernel", shape=(bytes_of_column, rows), initializer="zeros", dtype="uint8",
                   trainable=False)
        self._keep("kernel_scale", "kernel_scale", shape=steps, initializer="ones", trainable=False)
        self._keep("kernel_zero", self.zero_name, shape=steps, initializer="zeros", dtype="uint8", trainable=False)
        if mode == "awq":
            self._keep("awq_scales", "awq_scales", shape=(rows,), initializer="ones", trainable=False)
        self._keep("g_idx", "g_idx", shape=(rows,), initializer="zeros", dtype="float32", trainable=False)

    def check_matrix(self, mode):
        """Raise for a weight that is no matrix whose first axis is summed over."""

    def quantized_build(self, shape, mode, config=None):
        if mode not in CALIBRATED:
            return super().quantized_build(shape, mode, config)
        self.whole_shape = tuple(shape)
        self.build_calibrated(mode, config)
        self._is_quantized = True

    def policy_word(self, mode, config):
        return config.dtype_policy_string() if mode in CALIBRATED else super().policy_word(mode, config)

    # --- integers

    def take_integers(self, integers, scale, zero, g_idx, **more):
        """Keep integers in the place of floats.

        Parameters
        ----------
        integers : Tensor
            From 0 on, with a row for each result.
        scale, zero : Tensor
            The size of one step and the integer that stands for zero, by result and group.
        g_idx : Tensor
            Which group each row of the weight is of.
        **more : Tensor
            What else the mode keeps.

        """
        integers = ops.cast(integers, "uint8")
        if self._calibration("weight_bits") == 4:
            integers = quantizers.pack_int4(integers, axis=0, dtype="uint8")[0]
        for name, value in {"quantized_kernel": integers, "kernel_scale": scale, "kernel_zero": zero, "g_idx": g_idx,
                            **more}.items():
            getattr(self, name).assign(value)
        del self._kernel
        self._note_calibrated(True)

    def _note_calibrated(self, done):
        mode = self.quantization_mode
        self.is_gptq_calibrated, self.is_awq_calibrated = done and mode == "gptq", done and mode == "awq"

    def _integers(self):
        """Return the integers one by one, with a row for each result."""
        if self._calibration("weight_bits") != 4:
            return self.quantized_kernel
        return quantizers.unpack_int4(self.quantized_kernel.value, self.calibrated_shape()[1], axis=0, dtype="uint8")

    def float_weight(self):
        if self.quantization_mode not in CALIBRATED:
            return super().float_weight()
        if not self.is_calibrated:
            return self._kernel.value
        matrix = ops.permute(dequantize_with_sz_map(
            self._integers(), self.kernel_scale.value, self.kernel_zero.value, self.g_idx.value), (1, 0))
        if self.quantization_mode == "awq":
            matrix = matrix / ops.unsqueeze(self.awq_scales.value, 1)
        return ops.cast(ops.reshape(matrix, self.whole_shape), self.compute_dtype)

    def adapted(self):
        if self.quantization_mode not in CALIBRATED or not self.built:
            return super().adapted()
        if not self.is_calibrated:
            return super().adapted() if hasattr(self, "_kernel") else None
        return self._integers()

    def enable_lora(self, rank, lora_alpha=None, a_initializer="he_uniform", b_initializer="zeros"):
        if self.built and self.quantization_mode in CALIBRATED:
            raise NotImplementedError("lora is not currently supported with "
                                      f"{self.quantization_mode.upper()} quantization.")
        super().enable_lora(rank, lora_alpha, a_initializer, b_initializer)

    def watch(self, inputs):
        """Show what the layer is called with to who asked for it."""
        if self.watcher is not None:
            self.watcher(inputs)

    # --- files

    @property
    def variable_serialization_spec(self):
        """Dict[Optional[str], List[str]]: which weights files have in each mode, in order."""
        names = ["bias", "quantized_kernel", "kernel_scale", "kernel_zero"]
        return {**super().variable_serialization_spec, "gptq": [*names, "g_idx"],
                "awq": [*names, "awq_scales", "g_idx"]}

    def save_own_variables(self, store):
        """Write the weights, the low-rank product merged into the big one."""
        if self.built and self.quantization_mode in CALIBRATED and not self.is_calibrated:
            warnings.warn(f"{self.name}: the file will have no weight of this layer, which was to be quantized by "
                          f"'{self.quantization_mode}' and was in no block that data were run through; leave it out "
                          "with `quantize(filters=...)`.")
        super().save_own_variables(store)

    def load_own_variables(self, store):
        """Read the weights; a low-rank product begins again at zero."""
        super().load_own_variables(store)
        if self.built:
            self._note_calibrated(True)
