"""Convolutions of every channel by itself, followed by a mix of the channels."""
from dragon.vm.keras.core.settings import store
from dragon.vm.keras.layers.convolutional.sliding import Sliding, require_positive
from dragon.vm.shared.windows.convolution import convolve_separable
from dragon.vm.shared.windows.geometry import sliding_shape


class BaseSeparableConv(Sliding):
    """A convolution of every channel by itself along `rank` axes, then a mix of the channels at each place.

    Parameters
    ----------
    depth_multiplier : int, optional, default=1
        How many channels come out of each before the mix.
    activation, use_bias, bias_initializer, bias_regularizer, bias_constraint, activity_regularizer : optional
        As for `Dense`.
    depthwise_initializer, depthwise_regularizer, depthwise_constraint : optional
        Of the windows, as for `Dense`.
    pointwise_initializer, pointwise_regularizer, pointwise_constraint : optional
        Of the mix, as for `Dense`.

    """

    _arguments = "depth_multiplier ... activity_regularizer depthwise_constraint pointwise_constraint bias_constraint"

    def __init__(self, filters, kernel_size, strides=1, padding="valid", data_format=None, dilation_rate=1,
                 depth_multiplier=1, activation=None, use_bias=True, depthwise_initializer="glorot_uniform",
                 pointwise_initializer="glorot_uniform", bias_initializer="zeros", depthwise_regularizer=None,
                 pointwise_regularizer=None, bias_regularizer=None, activity_regularizer=None,
                 depthwise_constraint=None, pointwise_constraint=None, bias_constraint=None, **kwargs):
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.prepare(kernel_size, strides, padding, data_format, dilation_rate)
        store(self, locals(), "depth_multiplier filters activation use_bias", "depthwise pointwise bias")
        require_positive("depth_multiplier", depth_multiplier)
        require_positive("filters", filters)

    def build(self, input_shape):
        """Make the weights."""
        channels = self.fix_channels(input_shape)
        self.compute_output_shape(input_shape)
        self.depthwise_kernel = self.add_named_weight(
            "depthwise_kernel", self.kernel_size + (channels, self.depth_multiplier), settings="depthwise")
        self.pointwise_kernel = self.add_named_weight(
            "pointwise_kernel", (1,) * self.rank + (self.depth_multiplier * channels, self.filters),
            settings="pointwise")
        self.bias = self.add_named_weight("bias", (self.filters,)) if self.use_bias else None
        self.built = True

    def call(self, inputs):
        return self.activated(convolve_separable(
            inputs, self.depthwise_kernel.value, self.pointwise_kernel.value, self.bias_value(), self.strides,
            self.padding, self.data_format, self.dilation_rate, self.inner_activation()))

    def compute_output_shape(self, input_shape):
        return sliding_shape(input_shape, self.filters, self.kernel_size, self.strides, self.padding,
                             self.data_format, self.dilation_rate)


class SeparableConv1D(BaseSeparableConv, rank=1):
    """Convolve channels by themselves along one axis and mix them; see `BaseSeparableConv` for the arguments."""


class SeparableConv2D(BaseSeparableConv, rank=2):
    """Convolve channels by themselves along two axes and mix them; see `BaseSeparableConv` for the arguments."""
