"""Long short-term memory whose products are convolutions, over sequences of signals, images or volumes."""

from dragon.vm.keras import ops as keras_ops
from dragon.vm.keras.core.config import image_data_format
from dragon.vm.keras.layers.input_spec import InputSpec
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.keras.layers.rnn._settings import add_weights, arguments_of, as_computed, delegate, keep_settings
from dragon.vm.keras.layers.rnn.dropout_rnn_cell import DropoutRNNCell
from dragon.vm.keras.layers.rnn.rnn import CellRNN
from dragon.vm.keras.random.seed_generator import SeedGenerator
from dragon.vm.shared import nest
from dragon.vm.shared.tensors.tensor import ops

CONFIGURATION = ("filters kernel_size strides padding data_format dilation_rate activation recurrent_activation "
                 "use_bias unit_forget_bias ...")


def _sizes(value, rank, name, least=1):
    """Return an argument as one integer for each spatial axis."""
    sizes = (value,) * rank if isinstance(value, int) else tuple(value)
    if len(sizes) != rank or not all(isinstance(size, int) and size >= least for size in sizes):
        raise ValueError(f"The `{name}` argument must be {rank} integers of at least {least}. Received: {value}")
    return sizes


def _extent(size, kernel, stride, dilation, padding):
    """Return the size of a convolution's output along an axis."""
    if padding == "same":
        return -(-size // stride)
    return (size - dilation * (kernel - 1) - 1) // stride + 1


class ConvLSTMCell(Layer, DropoutRNNCell):
    """A step of a convolutional LSTM; see ConvLSTM1D for the parameters."""

    _arguments = CONFIGURATION
    _left_out = "rank"

    def __init__(self, rank, filters, kernel_size, strides=1, padding="valid", data_format=None, dilation_rate=1,
                 activation="tanh", recurrent_activation="sigmoid", use_bias=True,
                 kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal", bias_initializer="zeros",
                 unit_forget_bias=True, kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None,
                 kernel_constraint=None, recurrent_constraint=None, bias_constraint=None, dropout=0.0,
                 recurrent_dropout=0.0, seed=None, **kwargs):
        given = dict(locals())
        super().__init__(**kwargs)
        # Before the initializers, which draw their seeds from the same source.
        self.seed_generator = SeedGenerator(seed=seed)
        keep_settings(self, given)
        self.rank = rank
        self.filters = filters
        self.kernel_size = _sizes(kernel_size, rank, "kernel_size")
        self.strides = _sizes(strides, rank, "strides")
        self.padding = str(padding).lower()
        self.data_format = data_format or image_data_format()
        self.dilation_rate = _sizes(dilation_rate, rank, "dilation_rate")
        if self.padding not in ("valid", "same"):
            raise ValueError(f"The `padding` argument must be one of 'valid', 'same'. Received: {padding}")
        if self.data_format not in ("channels_first", "channels_last"):
            raise ValueError("The `data_format` argument must be one of 'channels_first', 'channels_last'. "
                             f"Received: {data_format}")
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise ValueError("Specifying `strides > 1` is not compatible with `dilation_rate > 1`. "
                             f"Received: strides={self.strides} and dilation_rate={self.dilation_rate}")
        self.dropout_mask_count = 4
        self.input_spec = InputSpec(ndim=rank + 2)
        self.state_size = -1  # Not a number: shapes of states are asked of get_initial_state.

    def build(self, inputs_shape, states_shape=None):
        """Make the weights for inputs of this shape."""
        first = self.data_format == "channels_first"
        self.spatial_dims = tuple(inputs_shape[2:] if first else inputs_shape[1:-1])
        self.input_dim = inputs_shape[1 if first else -1]
        if None in self.spatial_dims:
            raise ValueError("ConvLSTM layers only support static input shapes for the spatial dimension. "
                             f"Received invalid input shape: input_shape={inputs_shape}")
        if self.input_dim is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found None. "
                             f"Full input shape received: input_shape={inputs_shape}")
        self.input_spec = InputSpec(ndim=self.rank + 2, shape=(None, *inputs_shape[1:]))
        outputs = self.filters * 4
        add_weights(self, (*self.kernel_size, self.input_dim, outputs), (*self.kernel_size, self.filters, outputs),
                    (outputs,))

    def _convolve(self, xs, kernel, shared, **options):
        """Return the sums of all gates, by one convolution where they share their input."""
        options["data_format"] = self.data_format
        axis = 1 if self.data_format == "channels_first" else -1
        if shared:
            return keras_ops.conv(xs[0], kernel, **options)
        kernels = ops.split(kernel, self.filters, self.rank + 1)
        return ops.cat([keras_ops.conv(x, part, **options) for x, part in zip(xs, kernels)], axis)

    def call(self, inputs, states, training=False):
        """Return the output and the next states: output and cells."""
        h, c = states
        xs = self._dropped(inputs, self.get_dropout_mask, self.dropout, training, 4)
        hs = self._dropped(h, self.get_recurrent_dropout_mask, self.recurrent_dropout, training, 4)
        sums = self._convolve(xs, as_computed(self, self.kernel), xs[0] is xs[1], strides=self.strides,
                              padding=self.padding, dilation_rate=self.dilation_rate)
        sums = sums + self._convolve(hs, as_computed(self, self.recurrent_kernel), hs[0] is hs[1], strides=1,
                                     padding="same")
        axis = 1 if self.data_format == "channels_first" else len(sums.shape) - 1
        if self.bias is not None:
            shape = tuple(-1 if i == axis else 1 for i in range(len(sums.shape)))
            sums = sums + ops.reshape(as_computed(self, self.bias), shape)
        i, f, g, o = ops.split(sums, self.filters, axis)
        c = self.recurrent_activation(f) * c + self.recurrent_activation(i) * self.activation(g)
        h = self.recurrent_activation(o) * self.activation(c)
        return h, [h, c]

    def compute_output_shape(self, inputs_shape, states_shape=None):
        """Return the shapes of the output and of both states."""
        first = self.data_format == "channels_first"
        spatial = inputs_shape[2:] if first else inputs_shape[1:-1]
        spatial = tuple(size if size is None else _extent(size, *rest, self.padding) for size, *rest in zip(
            spatial, self.kernel_size, self.strides, self.dilation_rate))
        shape = (inputs_shape[0], self.filters, *spatial) if first else (inputs_shape[0], *spatial, self.filters)
        return shape, [shape, shape]

    def get_initial_state(self, batch_size=None):
        """Return zeros for a batch of this size, output and cells."""
        from dragon.vm.shared.tensors.dtypes import as_dtype
        first = self.data_format == "channels_first"
        inputs = (self.input_dim, *self.spatial_dims) if first else (*self.spatial_dims, self.input_dim)
        shape = self.compute_output_shape((batch_size, *inputs))[0]
        return [ops.zeros(shape, dtype=as_dtype(self.compute_dtype)) for _ in range(2)]


@delegate(ConvLSTMCell)
class ConvLSTM(CellRNN):
    """The parts that convolutional LSTMs of all ranks share; see ConvLSTM1D for the parameters."""

    _arguments = CONFIGURATION + " activity_regularizer seed=_seed"
    _left_out = "cell"
    _rank = None

    def __init__(self, filters, kernel_size, strides=1, padding="valid", data_format=None, dilation_rate=1,
                 activation="tanh", recurrent_activation="sigmoid", use_bias=True,
                 kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal", bias_initializer="zeros",
                 unit_forget_bias=True, kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None, recurrent_constraint=None, bias_constraint=None,
                 dropout=0.0, recurrent_dropout=0.0, seed=None, return_sequences=False, return_state=False,
                 go_backwards=False, stateful=False, **kwargs):
        rank = kwargs.pop("rank", None) if self._rank is None else self._rank  # the parts alone are told theirs
        if rank not in (1, 2, 3):
            raise ValueError(f"The `rank` argument must be 1, 2 or 3. Received: rank={rank}")
        cell = ConvLSTMCell(**arguments_of(ConvLSTMCell, dict(locals())), name="conv_lstm_cell",
                            dtype=kwargs.get("dtype"))
        super().__init__(cell, return_sequences=return_sequences, return_state=return_state, go_backwards=go_backwards,
                         stateful=stateful, activity_regularizer=activity_regularizer, **kwargs)
        self.input_spec = InputSpec(ndim=rank + 3)

    def compute_output_shape(self, sequences_shape, initial_state_shape=None):
        batch, steps = sequences_shape[:2]
        state = self.cell.compute_output_shape((batch, *sequences_shape[2:]))[0]
        output = (batch, steps, *state[1:]) if self.return_sequences else state
        return (output, state, state) if self.return_state else output

    def compute_mask(self, _, mask):
        mask = nest.flatten(mask)[0] if self.return_sequences else None
        return [mask, None, None] if self.return_state else mask


class ConvLSTM1D(ConvLSTM, _rank=1):
    """A convolutional LSTM over sequences of signals.

    Parameters
    ----------
    filters : int
        Channels of the output.
    kernel_size, strides, dilation_rate : Union[int, Sequence[int]]
        Of the inputs' convolution; that of the state has the same kernel size and keeps the size.
    padding : {"valid", "same"}, optional
        Of the inputs' convolution.
    activation, recurrent_activation, use_bias, unit_forget_bias, dropout, recurrent_dropout, seed
        See LSTM, as for initializers, regularizers and constraints.
    return_sequences, return_state, go_backwards, stateful
        See RNN.

    """


class ConvLSTM2D(ConvLSTM, _rank=2):
    """A convolutional LSTM over sequences of images; see ConvLSTM1D for the parameters."""


class ConvLSTM3D(ConvLSTM, _rank=3):
    """A convolutional LSTM over sequences of volumes; see ConvLSTM1D for the parameters."""
