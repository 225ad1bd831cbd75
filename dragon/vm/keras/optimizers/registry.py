"""Optimizers by name, in any case of letters."""
from dragon.vm.keras.core.registry import Registry
from dragon.vm.keras.optimizers import adam, adaptive, descent, muon, scaling, several
from dragon.vm.keras.optimizers.optimizer import Optimizer
from dragon.vm.shared.letters import expect


class OptimizerRegistry(Registry):
    """Optimizers, whose names are known in any case of letters."""

    def deserialize(self, config, custom_objects=None):
        """Return the optimizer that a configuration describes.

        Parameters
        ----------
        config : dict
            What `serialize` returned.

        """
        if not isinstance(expect(config, dict, "deserialize", "config").get("class_name"), str):
            raise ValueError(f"deserialize: got config={config}, expected a dict with a class_name")
        if config["class_name"].lower() in self.table:
            config = {**config, "class_name": config["class_name"].lower()}
        return super().deserialize(config, custom_objects)

    def get(self, identifier):
        """Return an optimizer by its name, configuration, or as it is.

        Parameters
        ----------
        identifier : Optional[Union[str, dict, Optimizer]]
            What to look for.

        """
        if identifier is None:
            return None
        config = {"class_name": identifier, "config": {}} if isinstance(identifier, str) else identifier
        found = self.deserialize(config) if isinstance(config, dict) else config
        if isinstance(found, Optimizer):
            return found
        raise self.unknown(identifier)


CLASSES = (
    Optimizer, adam.Adam, descent.SGD, adaptive.RMSprop, adaptive.Adadelta, adam.AdamW, adaptive.Adagrad, adam.Adamax,
    adaptive.Adafactor, muon.Muon, several.MultiOptimizer, several.OptimizerMap, adam.Nadam, descent.Ftrl,
    descent.Lion, adam.Lamb, scaling.LossScaleOptimizer, adam.ScheduleFreeAdamW)
REGISTRY = OptimizerRegistry("optimizer", CLASSES, snake_case=False, **{cls.__name__.lower(): cls for cls in CLASSES})
