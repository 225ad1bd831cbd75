"""Convolutions of every channel by itself."""
from dragon.vm.keras.core.settings import store
from dragon.vm.keras.layers.convolutional.sliding import Sliding, require_positive
from dragon.vm.shared.windows.convolution import convolve_each
from dragon.vm.shared.windows.geometry import sliding_shape


class BaseDepthwiseConv(Sliding):
    """A convolution of every channel by itself along `rank` axes.

    Parameters
    ----------
    depth_multiplier : int, optional, default=1
        How many channels come out of each.
    activation, use_bias, depthwise_initializer, bias_initializer : optional
        As for `Dense`.
    depthwise_regularizer, bias_regularizer, activity_regularizer, depthwise_constraint, bias_constraint : optional
        As for `Dense`.

    """

    _arguments = "depth_multiplier ... activity_regularizer depthwise_constraint bias_constraint"

    def __init__(self, kernel_size, strides=1, padding="valid", depth_multiplier=1, data_format=None, dilation_rate=1,
                 activation=None, use_bias=True, depthwise_initializer="glorot_uniform", bias_initializer="zeros",
                 depthwise_regularizer=None, bias_regularizer=None, activity_regularizer=None,
                 depthwise_constraint=None, bias_constraint=None, **kwargs):
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.prepare(kernel_size, strides, padding, data_format, dilation_rate)
        store(self, locals(), "depth_multiplier activation use_bias", "depthwise bias")
        require_positive("depth_multiplier", depth_multiplier)

    def build(self, input_shape):
        """Make the weights."""
        channels = self.fix_channels(input_shape)
        self.compute_output_shape(input_shape)
        self.kernel = self.add_named_weight("kernel", self.kernel_size + (channels, self.depth_multiplier),
                                            settings="depthwise")
        self.bias = self.add_named_weight("bias", (self.depth_multiplier * channels,)) if self.use_bias else None
        self.built = True

    def call(self, inputs):
        return self.activated(convolve_each(inputs, self.kernel.value, self.bias_value(), self.strides, self.padding,
                                            self.data_format, self.dilation_rate, self.inner_activation()))

    def compute_output_shape(self, input_shape):
        channels = input_shape[-1 if self.data_format == "channels_last" else 1]
        return sliding_shape(input_shape, self.depth_multiplier * channels, self.kernel_size, self.strides,
                             self.padding, self.data_format, self.dilation_rate)


class DepthwiseConv1D(BaseDepthwiseConv, rank=1):
    """Convolve every channel by itself along one axis; see `BaseDepthwiseConv` for the arguments."""


class DepthwiseConv2D(BaseDepthwiseConv, rank=2):
    """Convolve every channel by itself along two axes; see `BaseDepthwiseConv` for the arguments."""
