"""Layers that prepare data, one after another."""

from dragon.vm.keras.core import tree
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.keras.saving.serialization import deserialize_keras_object, serialize_keras_object
from dragon.vm.shared.letters import expect


class Pipeline(Layer):
    """Apply layers in turn, in a pipeline of data as well as in a model.

    Parameters
    ----------
    layers : Sequence[Layer]
        The layers, the first one first.

    """

    def __init__(self, layers, name=None):
        super().__init__(name=name)
        for layer in expect(layers, (list, tuple), "Pipeline", "layers"):
            expect(layer, Layer, "Pipeline", "a layer")
        self._pipeline_layers = layers
        self._convert_input_args = False
        self._allow_non_tensor_positional_args = True

    layers = property(lambda self: self._pipeline_layers, doc="list: the layers.")

    def call(self, inputs, training=True, mask=None):
        """Apply the layers, each to what the one before returned."""
        for layer in self._pipeline_layers:
            kwargs = {"mask": mask} if layer._call_has_mask_arg else {}
            if layer._call_has_training_arg and training is not None:
                kwargs["training"] = training
            inputs = layer(inputs, **kwargs)
            mask = tree.map_structure(lambda x: getattr(x, "_keras_mask", None), inputs)
        return inputs

    @classmethod
    def from_config(cls, config):
        """Return a pipeline made from its configuration."""
        layers = config.get("layers")
        if not isinstance(layers, (list, tuple)):
            raise ValueError("`Pipeline` config must contain a `layers` key mapping to a list of serialized layers. "
                             f"Received config with layers={layers}.")
        return cls(**{**config, "layers": [deserialize_keras_object(layer) for layer in layers]})

    def get_config(self):
        """Return the arguments that make an equal pipeline."""
        return {"layers": serialize_keras_object(list(self._pipeline_layers)), "name": self.name}
