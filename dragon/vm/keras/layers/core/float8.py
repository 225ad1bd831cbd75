"""Training with floats of eight bits: numbers are rounded to what these can hold, by scales that follow them."""
from dragon.vm.keras.core.dtype_policies import QuantizedFloat8DTypePolicy
from dragon.vm.keras.quantizers import rounding
from dragon.vm.shared.recording import gradient
from dragon.vm.shared.tensors.tensor import ops

PLACES = ("inputs", "kernel", "outputs_grad")
FORWARD, BACKWARD = "float8_e4m3fn", "float8_e5m2"


def _next(numbers, scale, history, kind):
    """Return the scale and the magnitudes of the next step, which the optimizer takes for gradients."""
    largest = rounding.FLOAT8[kind][2]
    return (rounding.compute_float8_scale(ops.amax(history, axis=0), scale, largest),
            rounding.compute_float8_amax_history(numbers, history))


class Float8:
    """The part of layers that can be trained so."""

    of_float8 = [f"{place}_{part}" for place in PLACES for part in ("scale", "amax_history")]

    def build_float8(self):
        """Make the scales of inputs, weight and gradients, and the magnitudes that they come from."""
        length = getattr(self._own_policy(), "amax_history_length",
                         QuantizedFloat8DTypePolicy.default_amax_history_length)
        for place in PLACES:
            for part, shape, first in (("scale", (), "ones"), ("amax_history", (length,), "zeros")):
                name = f"{place}_{part}"
                setattr(self, name, self.add_weight(
                    name=name, shape=shape, initializer=first, dtype="float32", trainable=True, autocast=False,
                    overwrite_with_gradient=True))

    def _scales_of(self, place):
        return (getattr(self, f"{place}_{part}").value for part in ("scale", "amax_history"))

    def rounded(self, x, place, training):
        """Return numbers rounded to floats of eight bits; their scale is written in training."""
        @gradient.custom_gradient
        def round_forward(x, scale, history):
            made = rounding.quantize_and_dequantize(x, scale, FORWARD, self.compute_dtype)
            following = _next(x, scale, history, FORWARD) if training else (None, None)

            def slope(*args, upstream=None, variables=None):
                return (args[0] if upstream is None else upstream, *following)
            return made, slope
        return round_forward(x, *self._scales_of(place))

    def with_rounded_gradient(self, outputs):
        """Return outputs as they are, whose gradients will be rounded to floats of eight bits."""
        @gradient.custom_gradient
        def round_backward(outputs, scale, history):
            def slope(*args, upstream=None, variables=None):
                upstream = args[0] if upstream is None else upstream
                made = rounding.quantize_and_dequantize(upstream, scale, BACKWARD, self.compute_dtype)
                return (made, *_next(upstream, scale, history, BACKWARD))
            return outputs, slope
        return round_backward(outputs, *self._scales_of("outputs_grad"))

    def float8_bias(self):
        """Return the bias in the precision that fused products have."""
        bias = self.bias.value
        return ops.cast(ops.cast(bias, "bfloat16"), bias.dtype) if self.compute_dtype == "float32" else bias
