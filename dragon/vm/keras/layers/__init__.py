"""Layers."""
from dragon.vm.keras.layers.core.identity import Identity
from dragon.vm.keras.layers.core.input_layer import Input, InputLayer
from dragon.vm.keras.layers.core.wrapper import Wrapper
from dragon.vm.keras.layers.input_spec import InputSpec
from dragon.vm.keras.layers.layer import Layer


def serialize(layer):
    """Return a layer as plain data."""
    from dragon.vm.keras.saving.serialization import serialize_keras_object
    return serialize_keras_object(layer)


def deserialize(config, custom_objects=None):
    """Return the layer of plain data.

    Parameters
    ----------
    config : Dict[str, Any]
        What `serialize` returned.
    custom_objects : Dict[str, Any], optional
        Classes and functions by name.

    """
    from dragon.vm.keras.saving.serialization import deserialize_keras_object
    made = deserialize_keras_object(config, custom_objects=custom_objects)
    if not isinstance(made, Layer):
        raise ValueError("`keras.layers.deserialize` was passed a `config` object that is not a `keras.layers.Layer`. "
                         f"Received: {config}")
    return made
