"""`Wrapper`: the base of layers around another layer."""
from dragon.vm.keras.core.registry import with_objects
from dragon.vm.keras.layers.layer import Layer


class Wrapper(Layer):
    """A layer around another one.

    Parameters
    ----------
    layer : Layer
        The layer within.

    """

    def __init__(self, layer, **kwargs):
        if not isinstance(layer, Layer):
            raise ValueError(f"Layer {layer} supplied to Wrapper isn't a supported layer type. Please ensure wrapped "
                             f"layer is a valid Keras layer. Received: layer={layer} (of type {type(layer)})")
        super().__init__(**kwargs)
        self.layer = layer

    def build(self, input_shape=None):
        """Build the layer within."""
        if not self.layer.built:
            self.layer.build(input_shape)
            self.layer.built = True
        self.built = True

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """Make a layer of what `get_config` returned."""
        config = with_objects(config, "layer", custom_objects)
        return cls(config.pop("layer"), **config)
