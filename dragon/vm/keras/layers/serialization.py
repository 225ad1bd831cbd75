"""Layers as data, and back."""


def serialize(layer):
    """Return a layer as data. ..."""
    from dragon.vm.keras.saving.serialization import serialize_keras_object
    return serialize_keras_object(layer)


def deserialize(config, custom_objects=None):
    """Return the layer that data describe.

    Parameters
    ----------
    config : dict
        What `serialize` returned.
    custom_objects : Dict[str, object], optional
        Classes that have no public name.

    """
    from dragon.vm.keras.layers.layer import Layer
    from dragon.vm.keras.saving.serialization import deserialize_keras_object
    made = deserialize_keras_object(config, custom_objects=custom_objects)
    if not isinstance(made, Layer):
        raise ValueError("`keras.layers.deserialize` was passed a `config` object that is not a `keras.layers.Layer`. "
                         f"Received: {config}")
    return made
