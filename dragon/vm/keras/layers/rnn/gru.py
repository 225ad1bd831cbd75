"""Gated recurrent units."""

from dragon.vm.keras import activations
from dragon.vm.keras.core.promotion import product
from dragon.vm.keras.layers.input_spec import InputSpec
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.keras.layers.rnn._fused import run_fused, swap_gates
from dragon.vm.keras.layers.rnn._settings import add_weights, arguments_of, as_computed, delegate, keep_settings
from dragon.vm.keras.layers.rnn.dropout_rnn_cell import DropoutRNNCell
from dragon.vm.keras.layers.rnn.lstm import check_use_cudnn
from dragon.vm.keras.layers.rnn.rnn import CellRNN
from dragon.vm.keras.random.seed_generator import SeedGenerator
from dragon.vm.shared.tensors.tensor import ops


class GRUCell(Layer, DropoutRNNCell):
    """A step of gated recurrent units; gates stand in the order update, reset, candidate.

    Parameters
    ----------
    activation, recurrent_activation : Optional[Union[str, callable]], optional
        Applied to the candidate and to gates, "tanh" and "sigmoid" by default.
    kernel_initializer, recurrent_initializer, bias_initializer : Union[str, Initializer], optional
        How the weights begin.
    reset_after : bool, optional, default=True
        Reset the state's part of the candidate after its product, in place of the state before it.

    """

    def __init__(self, units, activation="tanh", recurrent_activation="sigmoid", use_bias=True,
                 kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal", bias_initializer="zeros",
                 kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None, kernel_constraint=None,
                 recurrent_constraint=None, bias_constraint=None, dropout=0.0, recurrent_dropout=0.0,
                 reset_after=True, seed=None, **kwargs):
        given = dict(locals())
        implementation = kwargs.pop("implementation", 2)
        super().__init__(**kwargs)
        keep_settings(self, given)
        self.implementation = 1 if self.recurrent_dropout else implementation
        if self.implementation == 1:
            self.dropout_mask_count = 3
        self.seed_generator = SeedGenerator(seed=seed)
        self.state_size = self.output_size = units

    def build(self, input_shape):
        """Make the weights for inputs of this shape."""
        size = self.units * 3
        # Reset after its product, the state's part has a bias of its own.
        add_weights(self, (input_shape[-1], size), (self.units, size), (2, size) if self.reset_after else (size,))

    def _biases(self):
        """Return the bias of the inputs and that of the state; either may be None."""
        bias = as_computed(self, self.bias)
        if bias is None or not self.reset_after:
            return bias, None
        return ops.select(bias, 0, 0), ops.select(bias, 0, 1)

    def call(self, inputs, states, training=False):
        """Return the output and the next state."""
        nested = isinstance(states, (list, tuple))
        h = states[0] if nested else states
        kernels = ops.split(as_computed(self, self.kernel), self.units, 1)
        recurrents = ops.split(as_computed(self, self.recurrent_kernel), self.units, 1)
        biases = [[None] * 3 if bias is None else ops.split(bias, self.units, 0)
                  for bias in self._biases()]
        xs = self._dropped(inputs, self.get_dropout_mask, self.dropout, training, 3)
        rate = self.recurrent_dropout if self.implementation == 1 else 0.0
        hs = self._dropped(h, self.get_recurrent_dropout_mask, rate, training, 3)
        x_z, x_r, x_h = (_product(x, k, b) for x, k, b in zip(xs, kernels, biases[0]))
        z = self.recurrent_activation(x_z + _product(hs[0], recurrents[0], biases[1][0]))
        r = self.recurrent_activation(x_r + _product(hs[1], recurrents[1], biases[1][1]))
        if self.reset_after:
            h_h = r * _product(hs[2], recurrents[2], biases[1][2])
        else:
            h_h = product(r * hs[2], recurrents[2])
        h = z * h + (1 - z) * self.activation(x_h + h_h)
        return h, [h] if nested else h

    def fusible(self, training):
        """Tell whether whole sequences can run as one operator."""
        plain = self.activation is activations.tanh and self.recurrent_activation is activations.sigmoid
        dropped = training and (self.recurrent_dropout or self.dropout and self.implementation == 1)
        return plain and self.reset_after and not dropped

    def run_sequence(self, sequences, states, training, options, cells_wanted):
        """Run the cell over whole sequences; see `_fused.run_fused`."""
        if training and self.dropout:
            sequences = sequences * ops.unsqueeze(self.get_dropout_mask(ops.select(sequences, 1, 0)), 1)
        bias, recurrent_bias = (swap_gates(bias, 0) for bias in self._biases())
        recurrent = swap_gates(ops.transpose(as_computed(self, self.recurrent_kernel), 0, 1), 0)
        weights = swap_gates(as_computed(self, self.kernel), 1), recurrent, bias, recurrent_bias
        return run_fused("gru", sequences, states, weights, cells_wanted=cells_wanted, **options)

    def get_initial_state(self, batch_size=None):
        """Return zeros for a batch of this size, in a list."""
        from dragon.vm.shared.tensors.dtypes import as_dtype
        return [ops.zeros((batch_size, self.state_size), dtype=as_dtype(self.compute_dtype))]


def _product(x, kernel, bias):
    made = product(x, kernel)
    return made if bias is None else made + bias


@delegate(GRUCell)
class GRU(CellRNN):
    """Gated recurrent units over sequences.

    Parameters
    ----------
    units, activation, recurrent_activation, use_bias, dropout, recurrent_dropout, reset_after, seed
        See GRUCell, as for initializers, regularizers and constraints.
    use_cudnn : Union[bool, str], optional, default="auto"
        See LSTM.

    Examples
    --------
    >>> tuple(keras.layers.GRU(16)(np.zeros((8, 5, 4), "float32")).shape)
    (8, 16)

    """

    _arguments = "... activity_regularizer seed=_seed"
    _left_out = "cell use_cudnn"

    def __init__(self, units, activation="tanh", recurrent_activation="sigmoid", use_bias=True,
                 kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal", bias_initializer="zeros",
                 kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None, activity_regularizer=None,
                 kernel_constraint=None, recurrent_constraint=None, bias_constraint=None, dropout=0.0,
                 recurrent_dropout=0.0, seed=None, return_sequences=False, return_state=False, go_backwards=False,
                 stateful=False, unroll=False, reset_after=True, use_cudnn="auto", **kwargs):
        given = dict(locals())
        cell = GRUCell(**arguments_of(GRUCell, given), dtype=kwargs.get("dtype"),
                       trainable=kwargs.get("trainable", True), name="gru_cell",
                       implementation=kwargs.pop("implementation", 2))
        super().__init__(cell, return_sequences=return_sequences, return_state=return_state,
                         go_backwards=go_backwards, stateful=stateful, unroll=unroll,
                         activity_regularizer=activity_regularizer, **kwargs)
        self.input_spec = InputSpec(ndim=3)
        check_use_cudnn(use_cudnn)
        self.use_cudnn = use_cudnn
