"""Activations by name."""
import types

from dragon.vm.keras.activations import activation as functions
from dragon.vm.keras.core import registry

TABLE = {name: getattr(functions, name) for name in (
    "relu", "leaky_relu", "relu6", "softmax", "celu", "elu", "selu", "softplus", "softsign", "squareplus",
    "soft_shrink", "sparse_plus", "silu", "gelu", "glu", "tanh", "tanh_shrink", "threshold", "sigmoid",
    "sparse_sigmoid", "exponential", "hard_sigmoid", "hard_silu", "hard_tanh", "hard_shrink", "linear", "mish",
    "log_softmax", "log_sigmoid", "sparsemax")}
BUILT_IN = frozenset(TABLE)
TABLE.update(swish=functions.silu, hard_swish=functions.hard_silu)


def serialize(activation):
    """Return the name of an activation, or the configuration of one that is not Keras's."""
    config = registry.serialize(activation)
    if isinstance(config, str):
        return config
    if "config" not in config:
        raise ValueError(f"Activation cannot be serialized: it has no name that Keras knows, nor is it registered with "
                         f"`@keras.saving.register_keras_serializable()`. Received: {activation} with config={config}")
    if not isinstance(activation, types.FunctionType):
        return config
    if isinstance(config["config"], str) and config["config"] not in BUILT_IN:
        from dragon.vm.keras.saving.registration import get_registered_name

        return {**config, "config": get_registered_name(activation)}
    return config["config"]


def deserialize(config, custom_objects=None):
    """Return the activation that a configuration describes.

    Parameters
    ----------
    config : Union[str, dict]
        What `serialize` returned.
    custom_objects : Dict[str, Any], optional
        More things that are known by name.

    """
    return registry.deserialize(config, TABLE, custom_objects)


def get(identifier):
    """Return an activation by its name, configuration, or as it is; none is `linear`."""
    if identifier is None:
        return functions.linear
    found = identifier
    if isinstance(identifier, dict):
        found = deserialize(identifier)
    elif isinstance(identifier, str):
        found = TABLE.get(identifier)
    if callable(found):
        return found
    raise ValueError(f"Could not interpret activation function identifier: {identifier}")
