"""What holds for `quantize` of every layer, a user's too: its arguments are looked at, and weights may be made."""
import functools

from dragon.vm.keras.core.dtype_policies import QUANTIZATION_MODES
from dragon.vm.keras.quantizers.configuration import resolve


def quantizing(quantize):
    """Return a `quantize` that is given a mode with its configuration, and may make weights of a built layer.

    Parameters
    ----------
    quantize : Callable
        A class's own.

    Returns
    -------
    Callable
        To be the class's own.

    """
    if getattr(quantize, "_is_wrapped", False):
        return quantize

    @functools.wraps(quantize)
    def wrapper(self, mode=None, config=None, **kwargs):
        if self.__dict__.get("_is_quantizing"):  # a subclass calls its base's
            return quantize(self, mode=mode, config=config, **kwargs)
        config = resolve(mode, config)
        _check(self, config.mode)
        self._tracker.unlock()
        self.__dict__["_is_quantizing"] = True
        try:
            return quantize(self, mode=config.mode, config=config, **kwargs)
        finally:
            self.__dict__["_is_quantizing"] = False
            self._tracker.lock()
    wrapper._is_wrapped = True
    return wrapper


def _check(layer, mode):
    if not layer.built:
        raise ValueError(f"Cannot quantize a layer that isn't yet built. Layer '{layer.name}' (of type "
                         f"'{type(layer).__name__}') is not built yet.")
    if getattr(layer, "_is_quantized", False):
        raise ValueError(f"Layer '{layer.name}' is already quantized with dtype_policy='{layer.dtype_policy.name}'. "
                         f"Received: mode={mode}")
    if mode not in QUANTIZATION_MODES:
        raise ValueError(f"Invalid quantization mode. Expected one of {QUANTIZATION_MODES}. Received: mode={mode}")
    if mode == "int8" and layer.compute_dtype == "float16":
        raise ValueError(f"Quantization mode='{mode}' doesn't work well with compute_dtype='float16'. Consider loading "
                         "model/layer with another dtype policy such as 'mixed_bfloat16' or 'mixed_float16' before "
                         "calling `quantize()`.")
