"""Quantizers by name."""
import inspect

from dragon.vm.keras.core import registry
from dragon.vm.keras.core.naming import to_snake_case
from dragon.vm.keras.quantizers import configuration
from dragon.vm.keras.quantizers.quantizer import AbsMaxQuantizer, Quantizer

CLASSES = (Quantizer, AbsMaxQuantizer, configuration.QuantizationConfig, configuration.Int8QuantizationConfig,
           configuration.Int4QuantizationConfig, configuration.Float8QuantizationConfig, configuration.AWQConfig)
TABLE = {cls.__name__: cls for cls in CLASSES}
TABLE.update({to_snake_case(cls.__name__): cls for cls in CLASSES})


def serialize(initializer):
    """Return the configuration of a quantizer."""
    return registry.serialize(initializer)


def deserialize(config, custom_objects=None):
    """Return the quantizer that a configuration describes.

    Parameters
    ----------
    config : Union[str, dict]
        What `serialize` returned.
    custom_objects : Dict[str, Any], optional
        More things that are known by name.

    """
    return registry.deserialize(config, TABLE, custom_objects)


def get(identifier, **kwargs):
    """Return a quantizer by its name, configuration, class, or as it is.

    Parameters
    ----------
    identifier : Optional[Union[str, dict, Quantizer]]
        What to look for.
    **kwargs
        Arguments of a class.

    """
    if identifier is None:
        return None
    found = TABLE.get(identifier) if isinstance(identifier, str) else identifier
    if inspect.isclass(found):
        return found(**kwargs)
    return registry.resolve("quantizer", identifier, TABLE, deserialize)
