"""Optimizers by name."""
from dragon.vm.keras.core import registry
from dragon.vm.keras.optimizers import adam, adaptive, descent, muon, scaling, several
from dragon.vm.keras.optimizers.optimizer import Optimizer
from dragon.vm.tensorflow.core.letters import expect

TABLE = {cls.__name__.lower(): cls for cls in (
    Optimizer, adam.Adam, descent.SGD, adaptive.RMSprop, adaptive.Adadelta, adam.AdamW, adaptive.Adagrad, adam.Adamax,
    adaptive.Adafactor, muon.Muon, several.MultiOptimizer, several.OptimizerMap, adam.Nadam, descent.Ftrl,
    descent.Lion, adam.Lamb, scaling.LossScaleOptimizer, adam.ScheduleFreeAdamW)}


def serialize(optimizer):
    """Return the configuration of an optimizer."""
    return registry.serialize(optimizer)


def deserialize(config, custom_objects=None):
    """Return the optimizer that a configuration describes; names are known in any case of letters.

    Parameters
    ----------
    config : dict
        What `serialize` returned.
    custom_objects : Dict[str, Any], optional
        More things that are known by name.

    """
    if not isinstance(expect(config, dict, "deserialize", "config").get("class_name"), str):
        raise ValueError(f"deserialize: got config={config}, expected a dict with a class_name")
    if config["class_name"].lower() in TABLE:
        config = {**config, "class_name": config["class_name"].lower()}
    return registry.deserialize(config, TABLE, custom_objects)


def get(identifier):
    """Return an optimizer by its name, configuration, or as it is.

    Parameters
    ----------
    identifier : Optional[Union[str, dict, Optimizer]]
        What to look for.

    """
    if identifier is None:
        return None
    found = identifier
    if isinstance(identifier, str):
        found = deserialize({"class_name": identifier, "config": {}})
    elif isinstance(identifier, dict):
        found = deserialize(identifier)
    if isinstance(found, Optimizer):
        return found
    raise ValueError(f"Could not interpret optimizer identifier: {identifier}")
