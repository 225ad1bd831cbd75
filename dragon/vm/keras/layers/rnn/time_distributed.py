"""One layer applied to every step of a sequence."""

from dragon.vm.keras.layers.core.wrapper import Wrapper
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.shared.tensors.tensor import ops


# Layers that treat every row of a batch alike and draw nothing: all steps may go through them at once.
ROW_BY_ROW = frozenset(
    """Dense EinsumDense Embedding Identity Activation ReLU LeakyReLU ELU PReLU Softmax Flatten Reshape Permute
    RepeatVector LayerNormalization UnitNormalization RMSNormalization GroupNormalization Rescaling Masking
    Conv1D Conv2D Conv3D Conv1DTranspose Conv2DTranspose Conv3DTranspose DepthwiseConv1D DepthwiseConv2D
    SeparableConv1D SeparableConv2D MaxPooling1D MaxPooling2D MaxPooling3D AveragePooling1D AveragePooling2D
    AveragePooling3D GlobalMaxPooling1D GlobalMaxPooling2D GlobalMaxPooling3D GlobalAveragePooling1D
    GlobalAveragePooling2D GlobalAveragePooling3D ZeroPadding1D ZeroPadding2D ZeroPadding3D Cropping1D Cropping2D
    Cropping3D UpSampling1D UpSampling2D UpSampling3D""".split())


def _takes_rows_alone(layer):
    from dragon.vm.keras.saving.public_names import find_inner_module
    kind = type(layer)
    return kind.__name__ in ROW_BY_ROW and (find_inner_module(kind) or "").startswith("layers.")


class TimeDistributed(Wrapper):
    """Apply a layer to every step of its inputs, whose second axis is time. ...

    Examples
    --------
    >>> layer = keras.layers.TimeDistributed(keras.layers.Dense(2))
    >>> tuple(layer(np.zeros((8, 5, 4), "float32")).shape)
    (8, 5, 2)

    """

    def __init__(self, layer, **kwargs):
        if not isinstance(layer, Layer):
            raise ValueError("Please initialize `TimeDistributed` layer with a `keras.layers.Layer` instance. "
                             f"Received: {layer}")
        super().__init__(layer, **kwargs)
        self.supports_masking = True

    def _step_shape(self, input_shape):
        if not isinstance(input_shape, (tuple, list)) or len(input_shape) < 3:
            raise ValueError("`TimeDistributed` Layer should be passed an `input_shape` with at least 3 dimensions, "
                             f"received: {input_shape}")
        return (input_shape[0], *input_shape[2:])

    def compute_output_shape(self, input_shape):
        """Return the shape of the layer's output with the time in it."""
        shape = self.layer.compute_output_shape(self._step_shape(input_shape))
        return (shape[0], input_shape[1], *shape[1:])

    def build(self, input_shape):
        """Build the layer for a step."""
        super().build(self._step_shape(input_shape))

    def call(self, inputs, training=None, mask=None):
        """Apply the layer to each step."""
        if not hasattr(inputs, "shape"):
            raise ValueError("`TimeDistributed` takes one tensor whose second axis is time. "
                             f"Received: inputs={inputs}")
        if mask is not None:
            _check_mask(mask.shape, inputs.shape)
        kwargs = {"training": training} if self.layer._call_has_training_arg else {}
        if mask is None and _takes_rows_alone(self.layer):
            batch, steps = inputs.shape[:2]
            made = self.layer.call(ops.flatten(inputs, 0, 1), **kwargs)
            return ops.unflatten(made, 0, (batch, steps))
        masked = self.layer._call_has_mask_arg and mask is not None
        outputs = []
        for i in range(inputs.shape[1]):
            if masked:
                kwargs["mask"] = ops.select(mask, 1, i)
            outputs.append(self.layer.call(ops.select(inputs, 1, i), **kwargs))
        return ops.stack(outputs, 1)


def _check_mask(mask, inputs):
    if len(mask) < 2:
        raise ValueError("The `mask` passed to the `TimeDistributed` layer must be at least 2D (batch and timesteps). "
                         f"Received: mask.shape={mask}")
    if tuple(mask[:2]) != tuple(inputs[:2]):
        raise ValueError("The `mask` passed to the `TimeDistributed` layer has a shape whose first two dimensions are "
                         f"not the input's, ({inputs[0]}, {inputs[1]}). Received: mask.shape={mask}, "
                         f"input.shape={inputs}")
