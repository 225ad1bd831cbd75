"""`tf.nn.RNNCellDropoutWrapper` and its kin: cells of recurrent layers with something around them."""
import hashlib
import numbers

from dragon.vm.keras.layers.layer import Layer
from dragon.vm.keras.saving.serialization import deserialize_keras_object, serialize_keras_object
from dragon.vm.shared import nest
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.devices import device as on_device
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.tensor import ops


class CellWrapper(Layer):
    """What the wrappers of cells share: the cell within, its sizes and its beginning.

    Parameters
    ----------
    cell : Layer
        The cell: a layer with `state_size` and `output_size`.
    **kwargs : Any
        What layers take.

    """

    def __init__(self, cell, **kwargs):
        super().__init__(**kwargs)
        for name in ("call", "output_size", "state_size"):
            if not hasattr(cell, name):
                raise TypeError(f"{type(self).__name__}: got cell={cell!r}, which has no `{name}`, expected a cell of "
                                "a recurrent layer")
        self.cell = cell

    state_size = property(lambda self: self.cell.state_size, doc="Union[int, list]: the sizes of the cell's states.")
    output_size = property(lambda self: self.cell.output_size, doc="int: the size of the cell's output.")
    wrapped_cell = property(lambda self: self.cell, doc="Layer: the cell.")

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """Return the states that a batch begins with.

        Parameters
        ----------
        inputs : Tensor, optional
            Not used by cells here: the size of the batch tells all.
        batch_size : int, optional
            How many sequences there are; by default as many as the inputs.
        dtype : DType, optional
            Of the states; the cell's own by default.

        Returns
        -------
        Any
            In the form of `state_size`.

        """
        if batch_size is None:
            if inputs is None:
                raise ValueError(f"{type(self).__name__}.get_initial_state: got neither inputs nor batch_size")
            batch_size = inputs.shape[0]
        made = self.cell.get_initial_state(batch_size=batch_size) if hasattr(self.cell, "get_initial_state") else (
            nest.map_structure(lambda size: ops.zeros((batch_size, size), dtype="float32"), self.state_size))
        return made if dtype is None else nest.map_structure(lambda one: ops.cast(one, as_dtype(dtype)), made)

    def zero_state(self, batch_size, dtype):
        """Return the states that a batch begins with; see `get_initial_state`."""
        return self.get_initial_state(None, batch_size, dtype)

    def build(self, input_shape):
        """Build the cell."""
        if isinstance(self.cell, Layer) and not self.cell.built:
            self.cell.build(input_shape)
            self.cell.built = True

    def call(self, inputs, states, **kwargs):
        """Return the output and the next states."""
        return self._around(inputs, states, lambda *args: self.cell(*args, **kwargs))

    def get_config(self):
        """Return the cell, and what is around it."""
        return {**super().get_config(), "cell": serialize_keras_object(self.cell)}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """Return a wrapper made from its configuration."""
        config = {name: deserialize_keras_object(value, custom_objects=custom_objects)
                  if isinstance(value, dict) and "class_name" in value and name != "dtype" else value
                  for name, value in config.items()}
        return cls(config.pop("cell"), **config)


class RNNCellDeviceWrapper(CellWrapper):
    """A cell that runs on a device.

    Parameters
    ----------
    cell : Layer
        The cell.
    device : str
        The device.

    """

    def __init__(self, cell, device, **kwargs):
        super().__init__(cell, **kwargs)
        self._device = device

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """Return the states that a batch begins with, on the device."""
        with on_device(self._device):
            return super().get_initial_state(inputs, batch_size, dtype)

    def _around(self, inputs, states, run):
        with on_device(self._device):
            return run(inputs, states)

    def get_config(self):
        """Return the cell and the device."""
        return {**super().get_config(), "device": self._device}


class RNNCellResidualWrapper(CellWrapper):
    """A cell to whose output its input is added.

    Parameters
    ----------
    cell : Layer
        The cell.
    residual_fn : Callable, optional
        Makes one of the input and the output; by default their sum.

    """

    def __init__(self, cell, residual_fn=None, **kwargs):
        super().__init__(cell, **kwargs)
        self._residual_fn = residual_fn

    def _around(self, inputs, states, run):
        outputs, states = run(inputs, states)
        return (self._residual_fn or _sums)(inputs, outputs), states

    def get_config(self):
        """Return the cell and the function."""
        config = super().get_config()
        return config if self._residual_fn is None else {**config,
                                                         "residual_fn": serialize_keras_object(self._residual_fn)}


def _sums(inputs, outputs):
    nest.assert_same_structure(inputs, outputs)

    def add(x, y):
        if not TensorShape(x.shape).is_compatible_with(y.shape):
            raise ValueError(f"Shapes {tuple(x.shape)} and {tuple(y.shape)} are incompatible")
        return x + y
    return nest.map_structure(add, inputs, outputs)


class RNNCellDropoutWrapper(CellWrapper):
    """A cell with dropout before and behind it.

    Parameters
    ----------
    cell : Layer
        The cell.
    input_keep_prob, output_keep_prob, state_keep_prob : float, optional, default=1.0
        The shares of the input, the output and the states that are kept.
    variational_recurrent : bool, optional, default=False
        Whether all steps drop the same places; `dtype` must be given then.
    input_size : TensorShape, optional
        The sizes of the input behind the batch; needed where its dropped places are the same in all steps.
    dtype : DType, optional
        Of the numbers.
    seed : int, optional
        Of the noise.
    dropout_state_filter_visitor : Callable, optional
        Tells of a state, or of states in a structure, whether it is dropped at all.

    """

    def __init__(self, cell, input_keep_prob=1.0, output_keep_prob=1.0, state_keep_prob=1.0,
                 variational_recurrent=False, input_size=None, dtype=None, seed=None, dropout_state_filter_visitor=None,
                 **kwargs):
        super().__init__(cell, dtype=dtype, **kwargs)
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise TypeError("dropout_state_filter_visitor must be callable. Received: "
                            f"{dropout_state_filter_visitor!r}")
        self._filter = dropout_state_filter_visitor
        self._kept = {"input": input_keep_prob, "state": state_keep_prob, "output": output_keep_prob}
        for what, share in self._kept.items():
            if not 0 <= float(convert_to_tensor(share, "float32")) <= 1:
                raise ValueError(f"Parameter {what}_keep_prob must be between 0 and 1: {share}")
        self._variational, self._input_size, self._seed = variational_recurrent, input_size, seed
        self._noise = {}
        if variational_recurrent:
            self._fix_noise(dtype)

    def _fix_noise(self, dtype):
        if dtype is None:
            raise ValueError("When variational_recurrent=True, dtype must be provided")
        if self._drops("input"):
            if self._input_size is None:
                raise ValueError("When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, input_size "
                                 "must be provided")
            self._noise["input"] = self._noises("input", self._input_size, dtype)
        self._noise["state"] = self._noises("state", self.cell.state_size, dtype)
        self._noise["output"] = self._noises("output", self.cell.output_size, dtype)

    def _noises(self, what, sizes, dtype):
        from dragon.vm.tensorflow.random import uniform
        flat = [sizes] if isinstance(sizes, (int, TensorShape)) else nest.flatten(sizes)
        made = [uniform([1, *([size] if isinstance(size, int) else TensorShape(size).as_list())], dtype=dtype,
                        seed=self._salted(what, place)) for place, size in enumerate(flat)]
        return made[0] if isinstance(sizes, (int, TensorShape)) else nest.pack_sequence_as(sizes, made)

    def _salted(self, what, place):
        """Return the seed of one of several noises."""
        if self._seed is None:
            return None
        return int(hashlib.md5(f"{self._seed}{what}_{place}".encode()).hexdigest()[:8], 16) & 0x7FFFFFFF

    def _drops(self, what):
        return not isinstance(self._kept[what], numbers.Real) or self._kept[what] < 1

    def _dropped(self, what, values):
        """Return values, a tensor or a structure of them, of which a share is zero."""
        if not self._drops(what):
            return values
        from dragon.vm.tensorflow.nn.lookup import dropout
        kept, found = self._kept[what], []
        noises = nest.flatten(self._noise[what]) if self._variational else None
        wanted = _filtered(self._filter, values) if what == "state" and self._filter else None
        for place, value in enumerate(nest.flatten(values)):
            if wanted is not None and not wanted[place]:
                found.append(value)
            elif noises is None:
                found.append(dropout(value, 1.0 - kept, seed=self._salted(what, place)))
            else:
                found.append(value / kept * ops.floor(noises[place] + kept))
        return nest.pack_sequence_as(values, found)

    def _around(self, inputs, states, run):
        outputs, states = run(self._dropped("input", inputs), states)
        states = self._dropped("state", states)
        return self._dropped("output", outputs), states

    def get_config(self):
        """Return the cell and the shares."""
        config = {**super().get_config(), **{f"{what}_keep_prob": share for what, share in self._kept.items()},
                  "variational_recurrent": self._variational, "input_size": self._input_size, "seed": self._seed}
        if self._filter is not None:
            config["dropout_state_filter_visitor"] = serialize_keras_object(self._filter)
        return config


def _filtered(visitor, values):
    """Return for each tensor of a structure whether a function wants it dropped."""
    answer = visitor(values)
    if not nest.is_nested(values):
        return [bool(answer)]
    if not nest.is_nested(answer):
        return [found for one in nest.flatten(values) for found in _filtered(visitor, one)] if answer else (
            [False] * len(nest.flatten(values)))
    return [found for wanted, (_, one) in zip(nest.flatten(answer), nest.children(values))
            for found in ([bool(wanted)] * len(nest.flatten(one)))]
