"""Regularizers by name."""
from dragon.vm.keras.core import registry
from dragon.vm.keras.core.naming import to_snake_case
from dragon.vm.keras.regularizers.regularizer import L1, L2, L1L2, OrthogonalRegularizer, Regularizer

CLASSES = (Regularizer, L1, L2, L1L2, OrthogonalRegularizer)
TABLE = {cls.__name__: cls for cls in CLASSES}
TABLE.update({to_snake_case(cls.__name__): cls for cls in CLASSES})


def serialize(regularizer):
    """Return the configuration of a regularizer."""
    return registry.serialize(regularizer)


def deserialize(config, custom_objects=None):
    """Return the regularizer that a configuration describes.

    Parameters
    ----------
    config : Union[str, dict]
        What `serialize` returned.
    custom_objects : Dict[str, Any], optional
        More things that are known by name.

    """
    return registry.deserialize(config, TABLE, custom_objects)


def get(identifier):
    """Return a regularizer by its name, configuration, class, or as it is."""
    return None if identifier is None else registry.resolve("regularizer", identifier, TABLE, deserialize)
