"""Elman's recurrent layer."""

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


class SimpleRNNCell(Layer, DropoutRNNCell):
    """A step of Elman's recurrent layer, `h' = activation(x W + h U + b)`.

    Parameters
    ----------
    activation : Optional[Union[str, callable]], optional, default="tanh"
        Applied to the sum.
    kernel_initializer, recurrent_initializer, bias_initializer : Union[str, Initializer], optional
        How the weights begin.

    """

    def __init__(self, units, activation="tanh", use_bias=True, kernel_initializer="glorot_uniform",
                 recurrent_initializer="orthogonal", bias_initializer="zeros", kernel_regularizer=None,
                 recurrent_regularizer=None, bias_regularizer=None, kernel_constraint=None, recurrent_constraint=None,
                 bias_constraint=None, dropout=0.0, recurrent_dropout=0.0, seed=None, **kwargs):
        given = dict(locals())
        super().__init__(**kwargs)
        # Before the initializers, which draw their seeds from the same source.
        self.seed_generator = SeedGenerator(seed)
        keep_settings(self, given)
        self.state_size = self.output_size = units

    def build(self, input_shape):
        """Make the weights for inputs of this shape."""
        add_weights(self, (input_shape[-1], self.units), (self.units, self.units), (self.units,))

    def call(self, sequence, states, training=False):
        """Return the output and the next state."""
        nested = isinstance(states, (list, tuple))
        state = states[0] if nested else states
        mask, recurrent_mask = self.get_dropout_mask(sequence), self.get_recurrent_dropout_mask(state)
        sequence = sequence * mask if training and mask is not None else sequence
        state = state * recurrent_mask if training and recurrent_mask is not None else state
        h = product(sequence, as_computed(self, self.kernel))
        if self.bias is not None:
            h = h + as_computed(self, self.bias)
        output = h + product(state, as_computed(self, self.recurrent_kernel))
        output = output if self.activation is None else self.activation(output)
        return output, [output] if nested else output

    def fusible(self, training):
        """Tell whether whole sequences can run as one operator."""
        plain = self.activation is activations.tanh or self.activation is activations.relu
        return plain and not (training and self.recurrent_dropout)

    def run_sequence(self, sequences, states, training, options, cells_wanted):
        """Run the cell over whole sequences; see `_fused.run_fused`."""
        if training and self.dropout:
            sequences = sequences * ops.unsqueeze(self.get_dropout_mask(ops.select(sequences, 1, 0)), 1)
        kernel, recurrent, bias = (as_computed(self, w) for w in (self.kernel, self.recurrent_kernel, self.bias))
        weights = kernel, ops.transpose(recurrent, 0, 1), bias, None
        mode = "tanh" if self.activation is activations.tanh else "relu"
        return run_fused(mode, sequences, states, weights, cells_wanted=cells_wanted, **options)

    def get_initial_state(self, batch_size=None):
        """Return zeros for a batch of this size, in a list."""
        from dragon.vm.shared.tensors.dtypes import as_dtype
        return [ops.zeros((batch_size, self.state_size), dtype=as_dtype(self.compute_dtype))]


@delegate(SimpleRNNCell)
class SimpleRNN(CellRNN):
    """Elman's recurrent layer.

    Parameters
    ----------
    units, activation, use_bias, dropout, recurrent_dropout, seed
        See SimpleRNNCell, as for initializers, regularizers and constraints.

    """

    _arguments = "... activity_regularizer"
    _left_out = "cell seed"

    def __init__(self, units, activation="tanh", use_bias=True, kernel_initializer="glorot_uniform",
                 recurrent_initializer="orthogonal", bias_initializer="zeros", kernel_regularizer=None,
                 recurrent_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
                 recurrent_constraint=None, bias_constraint=None, dropout=0.0, recurrent_dropout=0.0,
                 return_sequences=False, return_state=False, go_backwards=False, stateful=False, unroll=False,
                 seed=None, **kwargs):
        given = dict(locals())
        cell = SimpleRNNCell(**arguments_of(SimpleRNNCell, given), dtype=kwargs.get("dtype"),
                             trainable=kwargs.get("trainable", True), name="simple_rnn_cell")
        super().__init__(cell, return_sequences=return_sequences, return_state=return_state,
                         go_backwards=go_backwards, stateful=stateful, unroll=unroll,
                         activity_regularizer=activity_regularizer, **kwargs)
        self.input_spec = [InputSpec(ndim=3)]
