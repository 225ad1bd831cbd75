"""Constraints by name."""
from dragon.vm.keras.constraints.constraint import Constraint, MaxNorm, MinMaxNorm, NonNeg, UnitNorm
from dragon.vm.keras.core import registry
from dragon.vm.keras.core.naming import to_snake_case

CLASSES = (Constraint, MaxNorm, MinMaxNorm, NonNeg, UnitNorm)
TABLE = {cls.__name__: cls for cls in CLASSES}
TABLE.update({to_snake_case(cls.__name__): cls for cls in CLASSES})


def serialize(constraint):
    """Return the configuration of a constraint."""
    return registry.serialize(constraint)


def deserialize(config, custom_objects=None):
    """Return the constraint that a configuration describes.

    Parameters
    ----------
    config : Union[str, dict]
        What `serialize` returned.
    custom_objects : Dict[str, Any], optional
        More things that are known by name.

    """
    return registry.deserialize(config, TABLE, custom_objects)


def get(identifier):
    """Return a constraint by its name, configuration, class, or as it is."""
    return None if identifier is None else registry.resolve("constraint", identifier, TABLE, deserialize)
