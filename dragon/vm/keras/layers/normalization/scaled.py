"""The scale and the shift that follow most normalizations."""
from dragon.vm.keras.core.promotion import cast_to, dtype_of
from dragon.vm.keras.core.settings import require_axes, store
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.shared.tensors.tensor import ops


def wide(x):
    """Return a tensor in a float dtype of at least 32 bits: means of smaller ones would be too coarse."""
    return x if dtype_of(x) in ("float32", "float64") else ops.cast(x, "float32")


def like(weight, x):
    """Return a weight, or None, in the dtype of a tensor."""
    return None if weight is None else cast_to(weight.value, dtype_of(x))


def moved(x, source, target):
    """Return a tensor with an axis at another place, without a copy."""
    order = list(range(x.ndim))
    order.insert(target, order.pop(source))
    return ops.permuted(x, order)


class Scaled(Layer):
    """A normalization with a scale `gamma` and a shift `beta`, of which either may be missing."""

    def prepare(self, axis, epsilon, center, scale, beta_initializer, gamma_initializer, beta_regularizer,
                gamma_regularizer, beta_constraint, gamma_constraint):
        """Take what all normalizations are given."""
        store(self, locals(), "axis epsilon center scale", "beta gamma")
        self.gamma = self.beta = None
        self.supports_masking = True

    def add_scale(self, shape, center=None):
        """Make the scale and the shift that are asked for."""
        for name, wanted in (("gamma", self.scale), ("beta", self.center if center is None else center)):
            if wanted:
                setattr(self, name, self.add_weight(
                    name=name, shape=shape, initializer=getattr(self, f"{name}_initializer"),
                    regularizer=getattr(self, f"{name}_regularizer"),
                    constraint=getattr(self, f"{name}_constraint"), trainable=True, autocast=False))

    def compute_output_shape(self, input_shape):
        require_axes(self.axis, input_shape)
        return input_shape
