"""Long short-term memory."""

from dragon.vm.keras import activations
from dragon.vm.keras.core.promotion import product
from dragon.vm.keras.layers.input_spec import InputSpec
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.keras.layers.rnn._fused import run_fused
from dragon.vm.keras.layers.rnn._settings import add_weights, arguments_of, as_computed, delegate, keep_settings
from dragon.vm.keras.layers.rnn.dropout_rnn_cell import DropoutRNNCell
from dragon.vm.keras.layers.rnn.rnn import CellRNN
from dragon.vm.keras.random.seed_generator import SeedGenerator
from dragon.vm.shared.tensors.tensor import ops


class LSTMCell(Layer, DropoutRNNCell):
    """A step of long short-term memory; gates stand in the order input, forget, cell, output.

    Parameters
    ----------
    units : int
        Size of output, state and cells.
    activation, recurrent_activation : Optional[Union[str, callable]], optional
        Applied to cells and to gates, "tanh" and "sigmoid" by default.
    kernel_initializer, recurrent_initializer, bias_initializer : Union[str, Initializer], optional
        How the weights begin.
    unit_forget_bias : bool, optional, default=True
        The forget gate's bias begins with ones.

    """

    _arguments = "units activation recurrent_activation use_bias unit_forget_bias ..."

    def __init__(self, units, activation="tanh", recurrent_activation="sigmoid", use_bias=True,
                 kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal", bias_initializer="zeros",
                 unit_forget_bias=True, kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None,
                 kernel_constraint=None, recurrent_constraint=None, bias_constraint=None, dropout=0.0,
                 recurrent_dropout=0.0, seed=None, **kwargs):
        given = dict(locals())
        implementation = kwargs.pop("implementation", 2)
        super().__init__(**kwargs)
        keep_settings(self, given)
        self.implementation = 1 if self.recurrent_dropout else implementation
        if self.implementation == 1:
            self.dropout_mask_count = 4
        self.seed_generator = SeedGenerator(seed=seed)
        self.state_size = [units, units]
        self.output_size = units

    def build(self, input_shape):
        """Make the weights for inputs of this shape."""
        add_weights(self, (input_shape[-1], self.units * 4), (self.units, self.units * 4), (self.units * 4,))

    def call(self, inputs, states, training=False):
        """Return the output and the next states: output and cells."""
        h, c = states
        kernel, recurrent = as_computed(self, self.kernel), as_computed(self, self.recurrent_kernel)
        xs = self._dropped(inputs, self.get_dropout_mask, self.dropout, training, 4)
        rate = self.recurrent_dropout if self.implementation == 1 else 0.0
        hs = self._dropped(h, self.get_recurrent_dropout_mask, rate, training, 4)
        if self.implementation == 1:
            pairs = zip(xs, ops.split(kernel, self.units, 1), hs, ops.split(recurrent, self.units, 1))
            sums = ops.cat([product(x, k) + product(h, u) for x, k, h, u in pairs], 1)
        else:
            sums = product(xs[0], kernel) + product(hs[0], recurrent)
        if self.bias is not None:
            sums = sums + as_computed(self, self.bias)
        i, f, g, o = ops.split(sums, self.units, 1)
        c = self.recurrent_activation(f) * c + self.recurrent_activation(i) * self.activation(g)
        h = self.recurrent_activation(o) * self.activation(c)
        return h, [h, c]

    def fusible(self, training):
        """Tell whether whole sequences can run as one operator."""
        plain = self.activation is activations.tanh and self.recurrent_activation is activations.sigmoid
        return plain and not (training and (self.recurrent_dropout or self.dropout and self.implementation == 1))

    def run_sequence(self, sequences, states, training, options, cells_wanted):
        """Run the cell over whole sequences; see `_fused.run_fused`."""
        if training and self.dropout:
            sequences = sequences * ops.unsqueeze(self.get_dropout_mask(ops.select(sequences, 1, 0)), 1)
        kernel, recurrent, bias = (as_computed(self, w) for w in (self.kernel, self.recurrent_kernel, self.bias))
        weights = kernel, ops.transpose(recurrent, 0, 1), bias, None
        return run_fused("lstm", sequences, states, weights, cells_wanted=cells_wanted, **options)

    def get_initial_state(self, batch_size=None):
        """Return zeros for a batch of this size, output and cells."""
        from dragon.vm.shared.tensors.dtypes import as_dtype
        return [ops.zeros((batch_size, size), dtype=as_dtype(self.compute_dtype)) for size in self.state_size]


def check_use_cudnn(value):
    """Raise unless the argument is one that Keras takes."""
    if value not in ("auto", True, False):
        raise ValueError("Invalid value received for argument `use_cudnn`. Expected one of {'auto', True, False}. "
                         f"Received: use_cudnn={value}")


@delegate(LSTMCell)
class LSTM(CellRNN):
    """Long short-term memory over sequences.

    Parameters
    ----------
    units, activation, recurrent_activation, use_bias, unit_forget_bias, dropout, recurrent_dropout, seed
        See LSTMCell, as for initializers, regularizers and constraints.
    use_cudnn : Union[bool, str], optional, default="auto"
        False takes the steps one by one; otherwise the whole sequence is one operator wherever activations and
        dropout allow it.

    Examples
    --------
    >>> layer = keras.layers.LSTM(16)
    >>> tuple(layer(np.zeros((8, 5, 4), "float32")).shape)
    (8, 16)
    >>> tuple(keras.layers.LSTM(16, return_sequences=True)(np.zeros((8, 5, 4), "float32")).shape)
    (8, 5, 16)

    """

    _arguments = "units activation recurrent_activation use_bias unit_forget_bias ... activity_regularizer seed=_seed"
    _left_out = "cell use_cudnn"

    def __init__(self, units, activation="tanh", recurrent_activation="sigmoid", use_bias=True,
                 kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal", bias_initializer="zeros",
                 unit_forget_bias=True, kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None, recurrent_constraint=None, bias_constraint=None,
                 dropout=0.0, recurrent_dropout=0.0, seed=None, return_sequences=False, return_state=False,
                 go_backwards=False, stateful=False, unroll=False, use_cudnn="auto", **kwargs):
        given = dict(locals())
        cell = LSTMCell(**arguments_of(LSTMCell, given), dtype=kwargs.get("dtype"),
                        trainable=kwargs.get("trainable", True), name="lstm_cell",
                        implementation=kwargs.pop("implementation", 2))
        super().__init__(cell, return_sequences=return_sequences, return_state=return_state,
                         go_backwards=go_backwards, stateful=stateful, unroll=unroll,
                         activity_regularizer=activity_regularizer, **kwargs)
        self.input_spec = InputSpec(ndim=3)
        check_use_cudnn(use_cudnn)
        self.use_cudnn = use_cudnn
