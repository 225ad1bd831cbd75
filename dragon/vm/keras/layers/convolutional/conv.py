"""Convolutions along one, two and three axes."""
from dragon.vm.keras.core.settings import store
from dragon.vm.keras.layers.convolutional.sliding import Sliding, require_positive
from dragon.vm.keras.layers.core.lowrank import LowRank
from dragon.vm.shared.windows.convolution import convolve
from dragon.vm.shared.windows.geometry import sliding_shape


class BaseConv(LowRank, Sliding):
    """A convolution along `rank` axes.

    Parameters
    ----------
    strides, dilation_rate : Union[int, Sequence[int]], optional, default=1
        The steps of the window, and those inside it; one of them has to be 1.
    padding : str, optional, default="valid"
        "valid", "same", or along one axis "causal".
    data_format : str, optional
        "channels_last" or "channels_first"; `keras.config.image_data_format()` if None.
    groups : int, optional, default=1
        How many parts the channels fall into.

    """

    _arguments = ("... activity_regularizer kernel_constraint bias_constraint "
                  "lora_rank=_told_rank? lora_alpha=_told_alpha?")

    def __init__(self, filters, kernel_size, strides=1, padding="valid", data_format=None, dilation_rate=1, groups=1,
                 activation=None, use_bias=True, kernel_initializer="glorot_uniform", bias_initializer="zeros",
                 kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
                 bias_constraint=None, lora_rank=None, lora_alpha=None, **kwargs):
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.prepare(kernel_size, strides, padding, data_format, dilation_rate)
        store(self, locals(), "filters groups activation use_bias", "kernel bias")
        self.prepare_lora(lora_rank, lora_alpha)
        require_positive("filters", filters)
        if groups <= 0:
            raise ValueError(f"The number of groups must be a positive integer. Received: groups={groups}.")
        if filters is not None and filters % groups:
            raise ValueError("The number of filters must be evenly divisible by the number of groups. Received: "
                             f"groups={groups}, filters={filters}.")
        self.refuse_strided_dilation()

    def build(self, input_shape):
        """Make the weights."""
        channels = self.fix_channels(input_shape)
        if channels % self.groups:
            raise ValueError("The number of input channels must be evenly divisible by the number of groups. Received "
                             f"groups={self.groups}, but the input has {channels} channels (full input shape is "
                             f"{input_shape}).")
        self.compute_output_shape(input_shape)
        self._kernel = self.add_named_weight(
            "kernel", self.kernel_size + (channels // self.groups, self.filters))
        self.bias = self.add_named_weight("bias", (self.filters,)) if self.use_bias else None
        self.built = True
        if self.lora_rank:
            self.enable_lora(self.lora_rank, lora_alpha=self.lora_alpha)

    kernel = property(lambda self: self.adapted(), doc="The windows, with the low-rank product if there is one.")

    def convolution_op(self, inputs, kernel):
        """Convolve without bias: for layers that change the kernel on its way."""
        return convolve(inputs, kernel, None, self.strides, self.padding, self.data_format, self.dilation_rate)

    def call(self, inputs):
        kernel = self.adapted() if self.lora_enabled else self._kernel.value
        if type(self).convolution_op is not BaseConv.convolution_op:
            made = self._biased(self.convolution_op(inputs, kernel))
            return made if self.activation is None else self.activation(made)
        return self.activated(convolve(inputs, kernel, self.bias_value(), self.strides, self.padding,
                                       self.data_format, self.dilation_rate, self.inner_activation()))

    def _biased(self, made):
        """Return a result of the user's own convolution with the bias added."""
        if not self.use_bias:
            return made
        shape = (-1,) if self.data_format == "channels_last" else (-1, *(1,) * self.rank)
        from dragon.vm.shared.tensors.tensor import ops
        return ops.add(made, ops.reshape(self.bias.value, shape))

    def compute_output_shape(self, input_shape):
        return sliding_shape(input_shape, self.filters, self.kernel_size, self.strides, self.padding,
                             self.data_format, self.dilation_rate)


class Conv1D(BaseConv, rank=1, paddings=("causal",)):
    """Convolve along one axis: `(N, L, C)` becomes `(N, L', filters)`. ...

    Examples
    --------
    >>> layer = keras.layers.Conv1D(8, 3, padding="same")
    >>> tuple(layer(np.zeros((2, 100, 4))).shape)
    (2, 100, 8)

    """


class Conv2D(BaseConv, rank=2):
    """Convolve along two axes: `(N, H, W, C)` becomes `(N, H', W', filters)`. ...

    Examples
    --------
    >>> layer = keras.layers.Conv2D(16, 3, strides=2, padding="same", activation="relu")
    >>> tuple(layer(np.zeros((8, 32, 32, 3))).shape)
    (8, 16, 16, 16)
    >>> tuple(layer.kernel.shape)
    (3, 3, 3, 16)

    """


class Conv3D(BaseConv, rank=3):
    """Convolve along three axes; see `BaseConv` for the arguments."""
