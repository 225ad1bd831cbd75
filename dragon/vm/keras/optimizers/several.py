"""Several optimizers for the variables of one model, by their paths."""
import re
from collections.abc import MutableMapping

from dragon.vm.keras.core.configuration import Configured
from dragon.vm.keras.core.registry import serialize, with_objects
from dragon.vm.keras.optimizers.optimizer import Optimizer
from dragon.vm.keras.optimizers.scaling import LossScaleOptimizer
from dragon.vm.shared.tensors.slices import whole_all


class OptimizerMap(Configured, MutableMapping):
    """Which optimizer a variable has: patterns of whole paths, and a default.

    Parameters
    ----------
    default_optimizer : Optimizer
        The optimizer of what no pattern fits.
    optimizer_map : Optional[Dict[str, Optimizer]], optional
        Optimizers by pattern.

    """

    def __init__(self, default_optimizer, optimizer_map=None):
        if not isinstance(default_optimizer, Optimizer):
            raise TypeError(f"default_optimizer must be a Keras Optimizer instance. Received: {default_optimizer}")
        if optimizer_map is not None and not isinstance(optimizer_map, dict):
            raise TypeError(f"optimizer_map must be a dictionary. Received: {optimizer_map}")
        self._default_optimizer = default_optimizer
        self._optimizer_map = optimizer_map or {}

    default_optimizer = property(lambda self: self._default_optimizer, doc="The optimizer of what no pattern fits.")

    def __getitem__(self, key):
        if key in self._optimizer_map:
            return self._optimizer_map[key]
        fitting = [pattern for pattern in self._optimizer_map if re.fullmatch(pattern, key)]
        if len(fitting) > 1:
            raise ValueError(f"Multiple optimizers assigned to variable {key}. Received: patterns {fitting}")
        return self._optimizer_map[fitting[0]] if fitting else self._default_optimizer

    def __setitem__(self, key, optimizer):
        if key in self._optimizer_map:
            raise ValueError(f"'{key}' already exists in the OptimizerMap with value {self._optimizer_map[key]}. "
                             "Please make sure to not use duplicated keys.")
        if not isinstance(key, str):
            raise ValueError(f"key must be a string. Received: {key}")
        if not isinstance(optimizer, Optimizer):
            raise ValueError(f"optimizer must be a Keras Optimizer instance. Received: {optimizer}")
        if isinstance(optimizer, (LossScaleOptimizer, MultiOptimizer)):
            raise ValueError(f"optimizer cannot be {type(optimizer).__name__}. Received: {optimizer}")
        self._optimizer_map[key] = optimizer

    def __delitem__(self, key):
        del self._optimizer_map[key]

    def __len__(self):
        return len(self._optimizer_map)

    def __iter__(self):
        return iter(self._optimizer_map)

    def __call__(self, variable):
        """Return the optimizer of a variable."""
        return self[variable.path]

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """Return the map that `get_config` described."""
        config = with_objects(config, "default_optimizer optimizer_map", custom_objects)
        return cls(config["default_optimizer"], config["optimizer_map"])


class MultiOptimizer(Optimizer):
    """Several optimizers, each of which updates some of the variables.

    Parameters
    ----------
    optimizer_map : Union[OptimizerMap, Callable]
        Called with a variable; returns its optimizer.
    loss_scale_factor : Optional[float], optional
        What the loss is multiplied with, for all of them.
    name : str, optional
        What it is called in its variables' paths.

    """

    def __init__(self, optimizer_map, loss_scale_factor=None, name=None):
        super().__init__(learning_rate=0.0, loss_scale_factor=loss_scale_factor, name=name)
        object.__setattr__(self, "_optimizer_map", optimizer_map)
        self._inner_optimizers = []
        values = list(optimizer_map.values()) if hasattr(optimizer_map, "values") else []
        for optimizer in (*values, getattr(optimizer_map, "default_optimizer", None)):
            if optimizer is not None:
                self._include(optimizer)

    def _include(self, optimizer):
        """Return the place of an optimizer among the others."""
        for index, other in enumerate(self._inner_optimizers):
            if other is optimizer:
                return index
        optimizer.loss_scale_factor = self.loss_scale_factor
        self._inner_optimizers.append(optimizer)
        return len(self._inner_optimizers) - 1

    def build(self, var_list):
        """Make the states of variables, each in its optimizer."""
        if self.built:
            return
        self._var_to_optimizer_idx = {self._var_key(variable): self._include(self._optimizer_for(variable))
                                      for variable in var_list}
        for optimizer, variables in zip(self._inner_optimizers, self._divide(var_list)):
            if variables:
                optimizer.build(variables)
        super().build(var_list)

    def _optimizer_for(self, variable):
        optimizer = self._optimizer_map(variable)
        if not isinstance(optimizer, Optimizer):
            raise ValueError(f"Optimizer for variable {variable} is not an Optimizer instance. Received: {optimizer}")
        if isinstance(optimizer, (LossScaleOptimizer, MultiOptimizer)):
            raise ValueError(f"{type(optimizer).__name__} cannot be used inside an MultiOptimizer. "
                             f"Received: {optimizer}")
        return optimizer

    def _divide(self, variables, values=None):
        """Return what belongs to variables (they themselves by default), in a list for each optimizer."""
        parts = [[] for _ in self._inner_optimizers]
        for variable, value in zip(variables, variables if values is None else values):
            parts[self._var_to_optimizer_idx[self._var_key(variable)]].append(value)
        return parts

    def _heeds_gate(self):
        return True

    optimizers = property(lambda self: self._inner_optimizers, doc="The optimizers.")

    @property
    def variables(self):
        """Its own variables, then those of each optimizer."""
        return [*self._variables, *(variable for optimizer in self._inner_optimizers
                                    for variable in optimizer.variables)]

    @property
    def learning_rate(self):
        """Refused: each optimizer has its own."""
        raise AttributeError("Learning rate cannot be accessed on a MultiOptimizer. Access the learning rate on the "
                             "individual sub-optimizers instead.")

    @learning_rate.setter
    def learning_rate(self, value):
        raise AttributeError("Learning rate cannot be set on a MultiOptimizer. Set the learning rate on the individual "
                             f"sub-optimizers instead. Received: {value}")

    @property
    def loss_scale_factor(self):
        """What the loss is multiplied with."""
        return getattr(self, "_loss_scale_factor", None)

    @loss_scale_factor.setter
    def loss_scale_factor(self, value):
        self._loss_scale_factor = value
        for optimizer in getattr(self, "_inner_optimizers", ()):
            optimizer.loss_scale_factor = value

    iterations = property(lambda self: self._iterations, doc="How many steps there were.")

    def apply(self, grads, trainable_variables=None):
        """Update variables, each by its optimizer."""
        if len(grads) == 0:
            return
        grads = whole_all(grads)
        if trainable_variables is not None and not self.built:
            self.build(list(trainable_variables))  # outside of its own name: paths begin with the others'
        variables = self._variables_of(grads, trainable_variables)
        if len(grads) != len(self._trainable_variables):
            raise ValueError(f"Gradients must match trainable variables one-to-one. Received {len(grads)} gradients "
                             f"and {len(self._trainable_variables)} variables.")
        for optimizer, own, of in zip(self._inner_optimizers, self._divide(variables, grads), self._divide(variables)):
            if of:
                with optimizer._writing_if(self._gate):
                    optimizer.apply(own, of)
        self.assign_add(self._iterations, 1)

    def finalize_variable_values(self, var_list):
        """Put averages in the place of variables, where optimizers keep them."""
        for optimizer, variables in zip(self._inner_optimizers, self._divide(var_list)):
            if variables:
                optimizer.finalize_variable_values(variables)

    def get_config(self):
        return {"optimizer_map": serialize(self._optimizer_map), "loss_scale_factor": self.loss_scale_factor,
                "name": self.name}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**with_objects(config, "optimizer_map", custom_objects))
