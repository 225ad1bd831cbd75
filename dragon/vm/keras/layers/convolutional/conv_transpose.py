"""The adjoints of convolutions: what makes images larger."""
from dragon.vm.keras.core.settings import int_tuple, store
from dragon.vm.keras.layers.convolutional.sliding import Sliding, require_positive
from dragon.vm.shared.windows.convolution import convolve_transposed
from dragon.vm.shared.windows.geometry import transposed_shape


class BaseConvTranspose(Sliding):
    """The adjoint of a convolution along `rank` axes.

    Parameters
    ----------
    strides, padding, data_format, dilation_rate : optional
        As for `Conv2D`, of the convolution whose adjoint it is.
    output_padding : Union[int, Sequence[int]], optional
        How many places the result is longer than it has to be; chosen by the strides if None.

    """

    _arguments = "... activity_regularizer kernel_constraint bias_constraint"

    def __init__(self, filters, kernel_size, strides=1, padding="valid", output_padding=None, data_format=None,
                 dilation_rate=1, activation=None, use_bias=True, kernel_initializer="glorot_uniform",
                 bias_initializer="zeros", kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None,
                 kernel_constraint=None, bias_constraint=None, **kwargs):
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.prepare(kernel_size, strides, padding, data_format, dilation_rate)
        store(self, locals(), "filters activation use_bias", "kernel bias")
        require_positive("filters", filters)
        self.output_padding = None if output_padding is None else int_tuple(
            output_padding, self.rank, "output_padding", allow_zero=True)
        if output_padding is not None and any(
                more >= stride for more, stride in zip(self.output_padding, self.strides)):
            raise ValueError("`output_padding` must be strictly less than `strides` for all dimensions. Received: "
                             f"output_padding={self.output_padding}, strides={self.strides}")
        self.refuse_strided_dilation()

    def build(self, input_shape):
        """Make the weights."""
        channels = self.fix_channels(input_shape)
        self.kernel = self.add_named_weight("kernel", self.kernel_size + (self.filters, channels))
        self.bias = self.add_named_weight("bias", (self.filters,)) if self.use_bias else None
        self.built = True

    def call(self, inputs):
        return self.activated(convolve_transposed(
            inputs, self.kernel.value, self.bias_value(), self.strides, self.padding, self.output_padding,
            self.data_format, self.dilation_rate, self.inner_activation()))

    def compute_output_shape(self, input_shape):
        return transposed_shape(input_shape, self.filters, self.kernel_size, self.strides, self.padding,
                                self.output_padding, self.data_format, self.dilation_rate)


class Conv1DTranspose(BaseConvTranspose, rank=1):
    """The adjoint of a convolution along one axis; see `BaseConvTranspose` for the arguments."""


class Conv2DTranspose(BaseConvTranspose, rank=2):
    """The adjoint of a convolution along two axes: `(N, H, W, C)` becomes `(N, H', W', filters)`. ...

    Examples
    --------
    >>> layer = keras.layers.Conv2DTranspose(3, 4, strides=2, padding="same")
    >>> tuple(layer(np.zeros((8, 16, 16, 32))).shape)
    (8, 32, 32, 3)

    """


class Conv3DTranspose(BaseConvTranspose, rank=3):
    """The adjoint of a convolution along three axes; see `BaseConvTranspose` for the arguments."""

    def __init__(self, filters, kernel_size, strides=1, padding="valid", data_format=None, output_padding=None, *args,
                 **kwargs):
        # Keras has the two in another order here.
        super().__init__(filters, kernel_size, strides, padding, output_padding, data_format, *args, **kwargs)
