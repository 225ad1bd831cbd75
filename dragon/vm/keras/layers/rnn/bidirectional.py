"""A recurrent layer and its mirror image side by side."""

from dragon.vm.keras.core.registry import with_objects
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.keras.layers.rnn._settings import cast
from dragon.vm.keras.saving.serialization import deserialize_keras_object, serialize_keras_object
from dragon.vm.shared.tensors.tensor import ops

MERGES = {"concat": lambda y, back: ops.cat([y, back], -1), "sum": lambda y, back: y + back,
          "ave": lambda y, back: (y + back) / 2, "mul": lambda y, back: y * back, None: lambda y, back: (y, back)}
COMMON = ("stateful", "return_sequences", "return_state")


def _copy(layer, direction, **changes):
    """Return a fresh layer of the same settings, named after its direction."""
    config = serialize_keras_object(layer)
    name = layer.name.removeprefix(direction + "_")
    config["config"].update(name=f"{direction}_{name}", **changes)
    return deserialize_keras_object(config)


class Bidirectional(Layer):
    """Run a recurrent layer forwards, another backwards, and merge what they return.

    Parameters
    ----------
    layer : Layer
        A recurrent layer; a fresh one of its settings runs forwards.
    merge_mode : {"concat", "sum", "ave", "mul", None}, optional, default="concat"
        How the two outputs are merged; with None both are returned.
    weights : Optional[list], optional
        Values with which the weights begin, those of the forward layer first.
    backward_layer : Optional[Layer], optional
        The layer that runs backwards, by default another of the same settings.

    Examples
    --------
    >>> layer = keras.layers.Bidirectional(keras.layers.LSTM(16))
    >>> tuple(layer(np.zeros((8, 5, 4), "float32")).shape)
    (8, 32)

    """

    _arguments = "merge_mode layer=forward_layer backward_layer"

    def __init__(self, layer, merge_mode="concat", weights=None, backward_layer=None, **kwargs):
        if not isinstance(layer, Layer):
            raise ValueError("Please initialize `Bidirectional` layer with a `keras.layers.Layer` instance. "
                             f"Received: {layer}")
        if backward_layer is not None and not isinstance(backward_layer, Layer):
            raise ValueError("`backward_layer` need to be a `keras.layers.Layer` instance. "
                             f"Received: {backward_layer}")
        if merge_mode not in MERGES:
            raise ValueError('Merge mode should be one of {"sum", "mul", "ave", "concat", None}. '
                             f"Received: {merge_mode}")
        super().__init__(**kwargs)
        self.forward_layer = _copy(layer, "forward")
        if backward_layer is None:
            backward_layer = _copy(layer, "backward", go_backwards=True)
        self.backward_layer = backward_layer
        for inner in (self.forward_layer, self.backward_layer):
            if hasattr(layer, "use_cudnn"):
                inner.use_cudnn = layer.use_cudnn
        self._check_layers()
        for inner in (self.forward_layer, self.backward_layer):
            if getattr(inner, "zero_output_for_mask", None) is not None:
                inner.zero_output_for_mask = inner.return_sequences
        self.merge_mode = merge_mode
        if weights:
            half = len(weights) // 2
            self.forward_layer.initial_weights = weights[:half]
            self.backward_layer.initial_weights = weights[half:]
        for name in COMMON:
            setattr(self, name, getattr(layer, name))
        self.supports_masking = True
        self.input_spec = layer.input_spec

    def _check_layers(self):
        forward, backward = self.forward_layer, self.backward_layer
        if forward.go_backwards == backward.go_backwards:
            raise ValueError("Forward layer and backward layer should have different `go_backwards` value. Received: "
                             f"forward_layer.go_backwards={forward.go_backwards}, "
                             f"backward_layer.go_backwards={backward.go_backwards}")
        for name in COMMON:
            here, there = getattr(forward, name), getattr(backward, name)
            if here != there:
                raise ValueError("Forward layer and backward layer are expected to have the same value for attribute "
                                 f'"{name}", got "{here}" for forward layer and "{there}" for backward layer')

    def compute_output_shape(self, sequences_shape, initial_state_shape=None):
        """Return the shape of the output, or shapes where there are more."""
        output, states = self.forward_layer.compute_output_shape(sequences_shape), ()
        if self.return_state:
            output, states = output[0], tuple(output[1:])
        if self.merge_mode == "concat":
            output = (*output[:-1], output[-1] * 2)
        outputs = (output, output) if self.merge_mode is None else (output,)
        if self.return_state:
            return outputs + states + states
        return list(outputs) if self.merge_mode is None else tuple(output)

    def call(self, sequences, initial_state=None, mask=None, training=None):
        """Run both layers; the second half of the initial state is the backward layer's."""
        forward, backward = self.forward_layer, self.backward_layer
        kwargs = {"training": training} if forward._call_has_training_arg else {}
        if forward._call_has_mask_arg:
            kwargs["mask"] = mask
        half = 0 if initial_state is None else len(initial_state) // 2
        states = (initial_state[:half], initial_state[half:]) if half else (None, None)
        y = forward(sequences, initial_state=states[0], **kwargs)
        back = backward(sequences, initial_state=states[1], **kwargs)
        last = ()
        if self.return_state:
            last = tuple(y[1:]) + tuple(back[1:])
            y, back = y[0], back[0]
        y, back = cast(y, self.compute_dtype), cast(back, self.compute_dtype)
        if self.return_sequences:
            back = ops.flip(back, 1)
        output = MERGES[self.merge_mode](y, back)
        if not self.return_state:
            return output
        return (output if self.merge_mode is None else (output,)) + last

    def reset_states(self):
        """Do what `reset_state` does, by its old name."""
        self.reset_state()

    def reset_state(self):
        """Set the states of both layers to zeros."""
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        self.forward_layer.reset_state()
        self.backward_layer.reset_state()

    @property
    def states(self):
        """Optional[tuple]: the states of both layers, if they keep any."""
        forward, backward = self.forward_layer.states, self.backward_layer.states
        return tuple(forward + backward) if forward and backward else None

    def build(self, sequences_shape, initial_state_shape=None):
        """Build both layers."""
        for layer in (self.forward_layer, self.backward_layer):
            if not layer.built:
                layer.build(sequences_shape)
                layer.built = True

    def compute_mask(self, _, mask):
        """Return the mask of the outputs: that of the steps, where all are returned."""
        mask = mask[0] if isinstance(mask, list) else mask
        mask = mask if self.return_sequences else None
        mask = (mask, mask) if self.merge_mode is None else mask
        if not self.return_state or self.states is None:
            return mask
        return (mask,) + (None,) * len(self.states)

    @classmethod
    def from_config(cls, config, custom_objects=None):
        names = " ".join(name for name in ("layer", "backward_layer") if name in config)
        return cls(**with_objects(config, names, custom_objects))
