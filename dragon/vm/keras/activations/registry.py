"""Activations by name: functions, of which none is `linear`."""
import types

from dragon.vm.keras.activations import activation as functions
from dragon.vm.keras.core.registry import Registry


class ActivationRegistry(Registry):
    """Functions that a configuration names by a word, and a user's own that it has to describe."""

    def serialize(self, activation):
        """Return the name of an activation, or the configuration of one that is not Keras's."""
        config = super().serialize(activation)
        if isinstance(config, str):
            return config
        if "config" not in config:
            raise ValueError("Activation cannot be serialized: it has no name that Keras knows, nor is it registered "
                             "with `@keras.saving.register_keras_serializable()`. Received: "
                             f"{activation} with config={config}")
        if not isinstance(activation, types.FunctionType):
            return config
        if isinstance(config["config"], str) and config["config"] not in {thing.__name__ for thing in self.things}:
            from dragon.vm.keras.saving.registration import get_registered_name

            return {**config, "config": get_registered_name(activation)}
        return config["config"]

    def get(self, identifier):
        """Return an activation by its name, configuration, or as it is; none is `linear`."""
        if identifier is None:
            return functions.linear
        found = identifier
        if isinstance(identifier, dict):
            found = self.deserialize(identifier)
        elif isinstance(identifier, str):
            found = self.table.get(identifier)
        if callable(found):
            return found
        raise self.unknown(identifier)


REGISTRY = ActivationRegistry(
    "activation function",
    [thing for thing in vars(functions).values() if getattr(thing, "__module__", "") == functions.__name__
     and not thing.__name__.startswith("_")],
    swish=functions.silu, hard_swish=functions.hard_silu)
