"""Cells upon each other, as one cell."""

from dragon.vm.keras.layers.layer import Layer
from dragon.vm.keras.saving.serialization import deserialize_keras_object
from dragon.vm.shared import nest
from dragon.vm.shared.tensors.tensor import ops


def first_state(state):
    """Return the first of a cell's states."""
    return state[0] if isinstance(state, (list, tuple)) else state


def _output_size(cell):
    size = getattr(cell, "output_size", None)
    return first_state(cell.state_size) if size is None else size


class StackedRNNCells(Layer):
    """A cell made of cells, each fed with the output of the one before.

    Parameters
    ----------
    cells : Sequence[Layer]
        The cells, from the input on.

    """

    def __init__(self, cells, **kwargs):
        super().__init__(**kwargs)
        for cell in cells:
            for name in ("call", "state_size"):
                if name not in dir(cell):
                    raise ValueError(f"All cells must have `{name}`. Received a cell without it: {cell}")
        self.cells = cells

    state_size = property(lambda self: [cell.state_size for cell in self.cells],
                          doc="list: the sizes of the states of each cell.")
    output_size = property(lambda self: _output_size(self.cells[-1]), doc="int: the size of the last cell's output.")

    def get_initial_state(self, batch_size=None):
        """Return the states that a batch of this size begins with, one entry for each cell."""
        return [self._initial_state_of(cell, batch_size) for cell in self.cells]

    def _initial_state_of(self, cell, batch_size):
        from dragon.vm.shared.tensors.dtypes import as_dtype
        if getattr(cell, "get_initial_state", None):
            return cell.get_initial_state(batch_size=batch_size)
        dtype = as_dtype(self.compute_dtype)
        if isinstance(cell.state_size, int):
            return ops.zeros((batch_size, cell.state_size), dtype=dtype)
        return [ops.zeros((batch_size, size), dtype=dtype) for size in cell.state_size]

    def call(self, inputs, states, training=False, **kwargs):
        """Return the last cell's output and the next states of all."""
        new_states = []
        for cell, state in zip(self.cells, states):
            nested = isinstance(state, (list, tuple))
            takes = isinstance(cell, Layer) and cell._call_has_training_arg
            options = {**kwargs, "training": training} if takes else kwargs
            inputs, made = (cell if callable(cell) else cell.call)(inputs, list(state) if nested else [state],
                                                                   **options)
            new_states.append(made[0] if len(made) == 1 and not nested else made)
        return inputs, new_states[0] if len(new_states) == 1 else new_states

    def build(self, input_shape):
        """Build the cells, each for the output of the one before."""
        for cell in self.cells:
            if isinstance(cell, Layer) and not cell.built:
                cell.build(input_shape)
                cell.built = True
            input_shape = (nest.flatten(input_shape)[0], _output_size(cell))

    def fusible(self, training):
        """Tell whether all cells can run whole sequences at once."""
        return len(self.cells) > 1 and all(
            "run_sequence" in vars(type(cell)) and cell.fusible(training) for cell in self.cells)

    def run_sequence(self, sequences, states, training, options, cells_wanted):
        """Run cell after cell over the whole sequences; see `_fused.run_fused`."""
        found, outputs = [], sequences
        for cell, state in zip(self.cells, states):
            given = {**options, "all_outputs": options["all_outputs"] or cell is not self.cells[-1]}
            state = list(state) if isinstance(state, (list, tuple)) else [state]
            output, outputs, made = cell.run_sequence(outputs, state, training, given, cells_wanted)
            found.append(made)
            if options["go_backwards"]:
                # What a cell returns stands in the order of its run, and so the next one runs forwards.
                mask = options["mask"]
                options = {**options, "go_backwards": False, "mask": mask if mask is None else ops.flip(mask, 1)}
        return output, outputs, found

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """Return a stack made from its configuration."""
        config = dict(config)
        cells = [deserialize_keras_object(cell, custom_objects=custom_objects) for cell in config.pop("cells")]
        return cls(cells, **config)
