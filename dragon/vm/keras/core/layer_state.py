"""What a layer owns: weights, sublayers, losses; their order, their names, their numbers."""
import collections

from dragon.core.module import Module
from dragon.vm.keras.core import tree
from dragon.vm.keras.core.convert import is_tensor
from dragon.vm.keras.core.naming import to_snake_case
from dragon.vm.keras.core.scopes import get_stateless_scope, in_symbolic_scope


def unique(things):
    """Return things in their order, each once by identity."""
    return list({id(thing): thing for thing in things}.values())


class LayerState(Module):
    """The part of a layer that owns."""

    # --- variables

    @property
    def variables(self):
        """All variables: weights, and the states of random generators and metrics below."""
        found = unique(self._trainable_variables + self._non_trainable_variables)
        found += [generator.state for generator in self._seed_generators]
        for layer in self._layers:
            found += layer.variables
        return unique(found)

    @property
    def trainable_variables(self):
        """The variables that optimizers shall change."""
        return [variable for variable in self.variables if variable.trainable] if self.trainable else []

    @property
    def non_trainable_variables(self):
        """The variables that optimizers leave alone."""
        return [variable for variable in self.variables if not (self.trainable and variable.trainable)]

    @property
    def weights(self):
        """The variables of the layer and of layers in it, without those of metrics and random generators."""
        found = self._trainable_variables + self._non_trainable_variables
        for layer in self._layers:
            found = found + layer.weights
        return unique(found)

    @property
    def trainable_weights(self):
        """The weights that optimizers shall change."""
        return [weight for weight in self.weights if weight.trainable] if self.trainable else []

    @property
    def non_trainable_weights(self):
        """The weights that optimizers leave alone."""
        return [weight for weight in self.weights if not (self.trainable and weight.trainable)]

    @property
    def metrics(self):
        """The metrics of the layer and of layers in it."""
        found = list(self._metrics)
        for layer in self._layers:
            found += layer.metrics
        return found

    metrics_variables = property(lambda self: [variable for metric in self.metrics for variable in metric.variables],
                                 doc="The variables of all metrics.")

    @property
    def trainable(self):
        """Whether optimizers shall change the layer's weights, and those of layers in it."""
        return self._trainable

    @trainable.setter
    def trainable(self, value):
        value = bool(value)
        self.__dict__["_trainable"] = value
        for variable in self._trainable_variables:
            variable.trainable = value
        for layer in self._layers:
            layer.trainable = value

    def get_weights(self):
        """Return the weights as NumPy arrays."""
        return [weight.numpy() for weight in self.weights]

    def set_weights(self, weights):
        """Give the weights other numbers, in the order of `weights`."""
        own = self.weights
        if not hasattr(weights, "__len__") or not all(hasattr(value, "shape") for value in weights):
            raise TypeError(f"Layer {self.name}: got weights={weights!r}, expected a list of arrays")
        if len(own) != len(weights):
            raise ValueError(f"You called `set_weights(weights)` on layer '{self.name}' with a weight list of length "
                             f"{len(weights)}, but the layer was expecting {len(own)} weights.")
        for variable, value in zip(own, weights):
            if tuple(variable.shape) != tuple(value.shape):
                raise ValueError(f"Layer {self.name} weight shape {tuple(variable.shape)} is not compatible with "
                                 f"provided weight shape {tuple(value.shape)}.")
            variable.assign(value)

    def count_params(self):
        """Return how many numbers the weights have."""
        if not self.built:
            raise ValueError(f"You tried to call `count_params` on layer '{self.name}', but the layer isn't built. You "
                             "can build it manually via: `layer.build(input_shape)`.")
        from dragon.vm.keras.utils.summary import count_params
        return count_params(self.weights)

    def save_own_variables(self, store):
        """Put the layer's own variables into a mapping, under their numbers."""
        for number, variable in enumerate(self._trainable_variables + self._non_trainable_variables):
            store[str(number)] = variable

    def load_own_variables(self, store):
        """Take the layer's own variables out of a mapping."""
        self._check_load_own_variables(store)
        for number, variable in enumerate(self._trainable_variables + self._non_trainable_variables):
            variable.assign(store[str(number)])

    def _check_load_own_variables(self, store):
        """Raise unless a mapping has as many variables as the layer."""
        own = self._trainable_variables + self._non_trainable_variables
        if len(store.keys()) != len(own):
            if not own and not self.built:
                raise ValueError(f"Layer '{self.name}' was never built and thus it doesn't have any variables. However "
                                 f"the weights file lists {len(store.keys())} variables for this layer.\n"
                                 "In most cases, this error indicates that either:\n\n1. The layer is owned by a "
                                 "parent layer that implements a `build()` method, but calling the parent's `build()` "
                                 f"method did NOT create the state of the child layer '{self.name}'.\n\n2. You need to "
                                 f"implement the `def build_from_config(self, config)` method on layer '{self.name}', "
                                 "to specify how to rebuild it during loading.")
            raise ValueError(f"Layer '{self.name}' expected {len(own)} variables, but received {len(store.keys())} "
                             f"variables during loading. Expected: {[variable.name for variable in own]}")

    # --- the names that modules of all faces go by

    def _named(self, wanted):
        """Return a dict of the names of things: of the attributes that hold them, or their own."""
        places, names = {}, {}
        for attribute, value in self.__dict__.items():
            _enter(places, attribute, value)
        for thing in wanted:
            name = places.get(id(thing))
            if name is None or name.startswith("_"):
                name = getattr(thing, "name", None) or (name or "").lstrip("_") or to_snake_case(type(thing).__name__)
            number, free = 0, name
            while free in names:
                number += 1
                free = f"{name}_{number}"
            names[free] = thing
        return names

    @property
    def _parameters(self):
        return self._named(self._trainable_variables)

    @property
    def _buffers(self):
        states = {f"{name}.state": generator.state for name, generator in self._named(self._seed_generators).items()}
        return {**self._named(self._non_trainable_variables), **states}

    @property
    def _modules(self):
        return self._named(self._layers)

    # --- losses

    def add_loss(self, loss):
        """Add a loss, or several, to the one that training minimises; in `call`."""
        losses = tree.flatten(loss)
        for x in losses:
            if not is_tensor(x):
                raise ValueError("`add_loss()` can only be called from inside `build()` or `call()`, on a tensor. "
                                 f"Received invalid value: {x}")
        scope = get_stateless_scope()
        if scope is None:
            self._losses.extend(losses)
        elif scope.collect_losses:
            for x in losses:
                scope.add_loss(x)
                self._loss_ids.add(id(x))

    def _get_own_losses(self):
        scope = get_stateless_scope()
        if scope is None:
            return self._losses[:]
        return [loss for loss in scope.losses if id(loss) in self._loss_ids]

    def _get_regularization_losses(self):
        found = []
        for variable in self.trainable_weights:
            if variable.regularizer is not None:
                scope = None if in_symbolic_scope() else get_stateless_scope()
                value = variable if scope is None else scope.get_current_value(variable)
                found.append(variable.regularizer(variable if value is None else value))
        return found

    @property
    def losses(self):
        """The losses that the last call added, and those of weights' regularizers."""
        if self._losses_override:
            return self._losses_override
        found = self._get_own_losses()
        for layer in self._flatten_layers(include_self=False):
            found += layer._get_own_losses()
        return found + self._get_regularization_losses()

    def _clear_losses(self):
        scope = get_stateless_scope()
        if scope is not None and scope.collect_losses:
            scope.losses[:] = [loss for loss in scope.losses if id(loss) not in self._loss_ids]
        self._losses.clear()
        self._loss_ids.clear()
        for layer in self._layers:
            layer._clear_losses()

    def _flatten_layers(self, include_self=True, recursive=True):
        found, seen, waiting = [self] if include_self else [], set(), collections.deque(self._layers)
        while waiting:
            layer = waiting.popleft()
            if id(layer) in seen:
                continue
            seen.add(id(layer))
            found.append(layer)
            if recursive:
                waiting.extendleft(layer._layers)
        return found


def _enter(places, name, value):
    """Note under which name things are found in an attribute."""
    if isinstance(value, (list, tuple)):
        if name not in ("_trainable_variables", "_non_trainable_variables", "_layers", "_metrics", "_seed_generators"):
            for number, item in enumerate(value):
                _enter(places, f"{name}.{number}", item)
    elif isinstance(value, dict):
        for key, item in value.items():
            _enter(places, f"{name}.{key}", item)
    elif not name.startswith("_") or id(value) not in places:
        places[id(value)] = name
