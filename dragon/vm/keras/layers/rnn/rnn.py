"""Recurrent layers of any cell: what LSTM, GRU and the others share."""

from dragon.core.capture.host_calls import is_writing
from dragon.core.modes import is_recording
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.registry import with_objects
from dragon.vm.keras.core.scopes import name_scope
from dragon.vm.keras.core.tracking import tracking_off
from dragon.vm.keras.core.variable import Variable
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.keras.layers.rnn import _loop
from dragon.vm.keras.layers.rnn._settings import cast
from dragon.vm.keras.layers.rnn.dropout_rnn_cell import DropoutRNNCell
from dragon.vm.keras.layers.rnn.stacked_rnn_cells import StackedRNNCells, first_state
from dragon.vm.shared import nest
from dragon.vm.shared.tensors.tensor import ops


class RNN(Layer):
    """A layer that runs a cell over the steps of its sequences.

    Parameters
    ----------
    cell : Union[Layer, Sequence[Layer]]
        An object with `call(inputs, states)` that returns an output and the next states, and `state_size`; a list of
        cells stands for all of them on each other.
    return_sequences : bool, optional, default=False
        Return the outputs of all steps in place of the last.
    return_state : bool, optional, default=False
        Return the last states too.
    go_backwards : bool, optional, default=False
        Begin with the last step; the outputs are in the order of the run.
    stateful : bool, optional, default=False
        Begin where the batch before ended.
    unroll : bool, optional, default=False
        Wants a fixed number of steps; steps are not shared in any case.
    zero_output_for_mask : bool, optional, default=False
        Outputs at masked steps are zeros in place of the outputs before.

    """

    _arguments = "... cell"

    def __init__(self, cell, return_sequences=False, return_state=False, go_backwards=False, stateful=False,
                 unroll=False, zero_output_for_mask=False, **kwargs):
        if isinstance(cell, (list, tuple)):
            cell = StackedRNNCells(cell)
        if "call" not in dir(cell):
            raise ValueError(f"Argument `cell` should have a `call` method. Received: cell={cell}")
        if "state_size" not in dir(cell):
            raise ValueError("The RNN cell should have a `state_size` attribute (an integer, or a list of integers, "
                             f"one for each state). Received: cell={cell}")
        super().__init__(**kwargs)
        self.zero_output_for_mask = zero_output_for_mask
        self.cell = cell
        self.return_sequences = return_sequences
        self.return_state = return_state
        self.go_backwards = go_backwards
        self.stateful = stateful
        self.unroll = unroll
        self.supports_masking = True
        self.input_spec = None
        self.states = None
        self._expected_batch_size = None
        size = cell.state_size
        if not isinstance(size, (list, tuple, int)):
            raise ValueError(f"`state_size` must be an integer, or a list or tuple of integers. Received: {size}")
        self.single_state = isinstance(size, int)
        self.state_size = [size] if self.single_state else list(size)

    def compute_output_shape(self, sequences_shape, initial_state_shape=None):
        """Return the shape of the output, and of the states where they are returned."""
        batch, steps = sequences_shape[0], sequences_shape[1]
        size = getattr(self.cell, "output_size", None)
        size = self.state_size[0] if size is None else size
        if not isinstance(size, int):
            raise ValueError(f"output_size must be an integer. Received: {size}")
        output = (batch, steps, size) if self.return_sequences else (batch, size)
        if not self.return_state:
            return output
        states = [[(batch, s) for s in size] if isinstance(size, (list, tuple)) else (batch, size)
                  for size in self.state_size]
        return output, *states

    def compute_mask(self, _, mask):
        """Return the mask of the output: that of the steps, where all are returned."""
        mask = nest.flatten(mask)[0]
        output = mask if self.return_sequences else None
        return [output] + [None] * len(self.state_size) if self.return_state else output

    def build(self, sequences_shape, initial_state_shape=None):
        """Build the cell, and the states of a stateful layer."""
        if isinstance(self.cell, Layer) and not self.cell.built:
            self.cell.build((sequences_shape[0],) + tuple(sequences_shape[2:]))
            self.cell.built = True
        if not self.stateful:
            return
        if self.states is not None:
            self.reset_state()
        elif sequences_shape[0] is None:
            raise ValueError("When using `stateful=True` in a RNN, the batch size must be static. Found dynamic batch "
                             f"size: sequence.shape={sequences_shape}")
        else:
            self._create_states(sequences_shape[0])
            self._expected_batch_size = sequences_shape[0]

    def _create_states(self, batch_size):
        # Neither weights nor a list that follows its items: users read and write them by name.
        with name_scope(self.name, caller=self), tracking_off():
            self.states = nest.map_structure(
                lambda value: Variable(value, trainable=False, dtype=self.variable_dtype, name="rnn_state"),
                self.get_initial_state(batch_size))

    def get_initial_state(self, batch_size):
        """Return the states that a batch of this size begins with, as a list."""
        initial = getattr(self.cell, "get_initial_state", None)
        if initial is None:
            return [ops.zeros((batch_size, size), dtype=_dtype(self.cell.compute_dtype)) for size in self.state_size]
        states = initial(batch_size=batch_size)
        return list(states) if isinstance(states, (list, tuple)) else [states]

    def reset_states(self):
        """Do what `reset_state` does, by its old name."""
        self.reset_state()

    def reset_state(self):
        """Set the states of a stateful layer to zeros."""
        for state in nest.flatten(self.states) if self.states is not None else ():
            state.assign(ops.zeros_like(state))

    def inner_loop(self, sequences, initial_state, mask, training=False):
        """Return the last output, all outputs and the last states of the cell over the sequences."""
        cell = self.cell
        states = list(initial_state) if isinstance(initial_state, (list, tuple)) else [initial_state]
        mask = nest.flatten(mask)[0] if mask is not None else None
        mask = _flat_mask(mask)
        options = {"mask": mask, "go_backwards": self.go_backwards, "all_outputs": self.return_sequences,
                   "zero_output_for_mask": self.zero_output_for_mask}
        if self._may_fuse(sequences, mask) and cell.fusible(training):
            return cell.run_sequence(sequences, states, training, options, self.return_state or self.stateful)
        return _loop.run_loop(self._step(training), sequences, states, **options)

    def _may_fuse(self, sequences, mask):
        cell = self.cell
        if is_writing() and is_recording():  # files of other formats have the gradient of a loop, and no other
            return False
        # A cell that somebody derived from ours may take its steps otherwise.
        known = "run_sequence" in vars(type(cell)) and getattr(self, "use_cudnn", "auto") is not False
        return known and len(sequences.shape) == 3 and 0 not in sequences.shape and (
            mask is None or len(mask.shape) == 2)

    def _step(self, training):
        cell = self.cell
        kwargs = {"training": training} if isinstance(cell, Layer) and cell._call_has_training_arg else {}

        def step(inputs, states):
            output, states = cell(inputs, states, **kwargs)
            return output, list(states) if isinstance(states, (list, tuple)) else [states]

        return step

    def call(self, sequences, initial_state=None, mask=None, training=False):
        """Run the cell over the sequences of shape `(batch, time, ...)`."""
        if self.unroll and sequences.shape[1] is None:
            raise ValueError("Cannot unroll a RNN if the time dimension is undefined: give `Input` a shape with it. "
                             f"Received: sequences.shape={sequences.shape}")
        if initial_state is None:
            initial_state = self.states if self.stateful else self.get_initial_state(batch_size=sequences.shape[0])
        expected, batch = self._expected_batch_size, sequences.shape[0]
        if self.stateful and expected is not None and batch is not None and batch != expected:
            raise ValueError("If an RNN is stateful, the batch size of the input sequences must be the same as the "
                             f"batch size of the initial state.\n- Expected batch size: {expected}\n"
                             f"- Received batch size: {batch}")
        initial_state = list(initial_state) if isinstance(initial_state, (list, tuple)) else [initial_state]
        initial_state = nest.map_structure(self._as_state, initial_state)
        # Masks are drawn before the first step, so that steps draw nothing.
        _draw_masks(self.cell, ops.select(sequences, 1, 0), initial_state)
        output, outputs, states = self.inner_loop(sequences=sequences, initial_state=initial_state, mask=mask,
                                                  training=training)
        _forget_masks(self.cell)
        states = nest.map_structure(lambda x: cast(x, self.compute_dtype), states)
        if self.stateful:
            for variable, state in zip(nest.flatten(self.states), nest.flatten(states)):
                variable.assign(cast(state, variable.dtype))
        result = cast(outputs if self.return_sequences else output, self.compute_dtype)
        return (result, *states) if self.return_state else result

    def _as_state(self, x):
        # The next states are written before gradients are asked for: these need the numbers of now.
        return cast(x.snapshot() if isinstance(x, Variable) else convert_to_tensor(x), self.cell.compute_dtype)

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = with_objects(config, "cell", custom_objects)
        return cls(config.pop("cell"), **config)


class CellRNN(RNN):
    """A layer that makes its cell of its own arguments."""

    _seed = property(lambda self: self.cell.seed, doc="Of the cell's dropout.")

    @classmethod
    def from_config(cls, config):
        return cls(**config)


def _dtype(name):
    from dragon.vm.shared.tensors.dtypes import as_dtype
    return as_dtype(name)


def _flat_mask(mask):
    """Return a mask as booleans of (batch, time), where its other axes are of size one."""
    if mask is None:
        return None
    mask = cast(mask, "bool")
    return ops.squeeze(mask, 2) if len(mask.shape) == 3 and mask.shape[2] == 1 else mask


def _draw_masks(cell, inputs, state):
    """Let cells draw their masks, those of a stack in its order, with inputs as each would get them."""
    if isinstance(cell, DropoutRNNCell):
        cell.get_dropout_mask(inputs)
        cell.get_recurrent_dropout_mask(first_state(state))
    if isinstance(cell, StackedRNNCells):
        for inner, inner_state in zip(cell.cells, state):
            _draw_masks(inner, inputs, inner_state)
            states = list(inner_state) if isinstance(inner_state, (list, tuple)) else [inner_state]
            inputs, _ = (inner if callable(inner) else inner.call)(inputs, states)


def _forget_masks(cell):
    if isinstance(cell, DropoutRNNCell):
        cell.reset_dropout_mask()
        cell.reset_recurrent_dropout_mask()
    for inner in cell.cells if isinstance(cell, StackedRNNCells) else ():
        _forget_masks(inner)
