"""Quantizers: few bits for numbers."""
import inspect

from dragon.vm.keras.core.registry import Registry
from dragon.vm.keras.quantizers.configuration import (
    AWQConfig, Float8QuantizationConfig, GPTQConfig, Int4QuantizationConfig, Int8QuantizationConfig,
    QuantizationConfig)
from dragon.vm.keras.quantizers.quantizer import (
    AbsMaxQuantizer, Quantizer, abs_max_quantize, abs_max_quantize_grouped_with_zero_point, pack_int4, unpack_int4)
from dragon.vm.keras.quantizers.rounding import (
    compute_float8_amax_history, compute_float8_scale, fake_quant_with_min_max_vars, quantize_and_dequantize)

REGISTRY = Registry("quantizer", (Quantizer, AbsMaxQuantizer, QuantizationConfig, Int8QuantizationConfig,
                                  Int4QuantizationConfig, Float8QuantizationConfig, AWQConfig))
serialize, deserialize = REGISTRY.serialize, REGISTRY.deserialize


def get(identifier, **kwargs):
    """Return a quantizer by its name, configuration, class, or as it is.

    Parameters
    ----------
    identifier : Optional[Union[str, dict, Quantizer]]
        What to look for.
    **kwargs
        Arguments of a class.

    """
    found = REGISTRY.table.get(identifier) if isinstance(identifier, str) else identifier
    return found(**kwargs) if inspect.isclass(found) else REGISTRY.get(identifier)
