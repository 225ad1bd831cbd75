"""The parts that all convolutions share: the checks of their arguments, the bias's place, the shape of the result."""
from dragon.vm.keras import activations
from dragon.vm.keras.core.config import standardize_data_format
from dragon.vm.keras.core.settings import int_tuple, padding_name
from dragon.vm.keras.layers.input_spec import InputSpec
from dragon.vm.keras.layers.layer import Layer

# What sees one element at a time, and leaves nothing behind for losses, as sigmoid and softmax do.
JOINED = frozenset(
    getattr(activations, name) for name in "elu gelu leaky_relu relu relu6 selu silu softplus tanh".split())


def require_positive(name, value):
    """Raise for a number that is given and not above zero."""
    if value is not None and value <= 0:
        raise ValueError(f"Invalid value for argument `{name}`. Expected a strictly positive value. Received "
                         f"{name}={value}.")


class Sliding(Layer):
    """A layer whose windows slide over the `rank` spatial axes of its input."""

    rank = None
    paddings = ()

    def prepare(self, kernel_size, strides, padding, data_format, dilation_rate):
        """Check and take what all convolutions are given."""
        rank = self.rank
        self.kernel_size = int_tuple(kernel_size, rank, "kernel_size")
        self.strides = int_tuple(strides, rank, "strides")
        self.dilation_rate = int_tuple(dilation_rate, rank, "dilation_rate")
        self.padding = padding_name(padding, *self.paddings)
        self.data_format = standardize_data_format(data_format)
        self.input_spec = InputSpec(min_ndim=rank + 2)

    def refuse_strided_dilation(self):
        """Raise for windows that have gaps and leave out places."""
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise ValueError("`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: "
                             f"strides={self.strides} and dilation_rate={self.dilation_rate}")

    def fix_channels(self, input_shape):
        """Return the number of channels, which later inputs have to have too."""
        axis = -1 if self.data_format == "channels_last" else 1
        self.input_spec = InputSpec(min_ndim=self.rank + 2, axes={axis: input_shape[axis]})
        return input_shape[axis]

    def add_named_weight(self, name, shape, settings=None):
        """Add a weight with the initializer, the regularizer and the constraint whose names begin with `settings`."""
        settings = name if settings is None else settings
        return self.add_weight(
            name=name, shape=shape, initializer=getattr(self, f"{settings}_initializer"),
            regularizer=getattr(self, f"{settings}_regularizer"), constraint=getattr(self, f"{settings}_constraint"),
            trainable=True, dtype=self.dtype)

    def bias_value(self):
        """Return the bias for a call, or None."""
        return self.bias.value if self.use_bias else None

    def inner_activation(self):
        """Return the activation if it may be joined to the convolution, else None; see `activated`."""
        return self.activation if self.activation in JOINED else None

    def activated(self, made):
        """Return a result with the activation applied, unless the convolution has done that."""
        return made if self.activation is None or self.activation in JOINED else self.activation(made)
