"""Quantizers: few bits for numbers."""
from dragon.vm.keras.quantizers.configuration import (
    AWQConfig, Float8QuantizationConfig, GPTQConfig, Int4QuantizationConfig, Int8QuantizationConfig,
    QuantizationConfig)
from dragon.vm.keras.quantizers.named import deserialize, get, serialize
from dragon.vm.keras.quantizers.quantizer import (
    AbsMaxQuantizer, Quantizer, abs_max_quantize, abs_max_quantize_grouped_with_zero_point, pack_int4, unpack_int4)
from dragon.vm.keras.quantizers.rounding import (
    compute_float8_amax_history, compute_float8_scale, fake_quant_with_min_max_vars, quantize_and_dequantize)
