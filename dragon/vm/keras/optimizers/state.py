"""The variables of an optimizer: which there are, how they are made, written, and kept in files."""

from dragon.core import warnings
from dragon.core.capture.rules import Rules
from dragon.core.capture.settings import is_capturing
from dragon.core.scopes import contextmanager
from dragon.vm.keras.core import scopes
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.variable import Variable
from dragon.vm.keras.optimizers.memory import numbers_of
from dragon.vm.shared.tensors.placing import is_plain
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.shared.tensors.variable import inferring

# Attributes that hold variables which are not the optimizer's own.
FOREIGN = frozenset(("_variables", "_trainable_variables", "_trainable_variables_indices"))


class State:
    """The part of optimizers that holds variables."""

    _looks_at_wholes = False  # whether the rule takes norms or products of variables, rather than number by number

    def _begin(self, name):
        object.__setattr__(self, "_variables", [])
        self.name = name
        self.built = False
        self._trainable_variables = []
        self._trainable_variables_indices = {}

    def __setattr__(self, name, value):
        """Keep a value; variables, also in a list or a dict, become part of the state."""
        if "_variables" not in self.__dict__:
            raise RuntimeError(f"In optimizer '{type(self).__name__}', you forgot to call `super().__init__()` as the "
                               f"first statement in the `__init__()` method. Go add it! Received: {name}={value}")
        if name not in FOREIGN:
            self._track(value)
        object.__setattr__(self, name, value)

    def _track(self, value):
        if isinstance(value, Variable):
            self._track_variable(value)
        elif isinstance(value, (list, tuple)):
            for part in value:
                self._track(part)
        elif isinstance(value, dict):
            for part in value.values():
                self._track(part)

    def _track_variable(self, variable):
        if all(other is not variable for other in self._variables):
            self._variables.append(variable)

    def _untrack_variable(self, variable):
        self._variables[:] = [other for other in self._variables if other is not variable]

    variables = property(lambda self: list(self._variables), doc="All variables of the state, in the order of files.")

    # --- making

    def build(self, variables):
        """Make the states of variables; subclasses add theirs.

        Parameters
        ----------
        variables : Sequence[Variable]
            What will be updated.

        """
        cut = [variable for variable in variables if getattr(variable, "cut", None) is not None]
        if cut and self._looks_at_wholes:
            raise NotImplementedError(f"{type(self).__name__}: got the variable {self._path(cut[0])!r}, which is cut "
                                      "between processes, expected whole ones: its rule looks at all numbers of a "
                                      "variable at once, that of Adam does not")
        if self.use_ema:
            self._model_variables_moving_average = self.add_optimizer_variables(variables, "average")
        self._trainable_variables_indices = {self._var_key(variable): i for i, variable in enumerate(variables)}
        if self.gradient_accumulation_steps:
            self._accumulated_gradients = [self.add_variable_from_reference(variable, name="gradient_accumulator")
                                           for variable in variables]
        self._trainable_variables = list(variables)
        self.built = True

    def _new_number(self, value, name, dtype):
        """Return a new variable of the state that is one number."""
        with scopes.name_scope(self.name, caller=self):
            variable = Variable(value, name=name, dtype=dtype, trainable=False, aggregation="only_first_replica")
        self._track_variable(variable)
        return variable

    def add_variable(self, shape, initializer="zeros", dtype=None, aggregation="none", layout=None, name=None):
        """Return a new variable of the state.

        Parameters
        ----------
        shape : Sequence[int]
            Its shape.
        dtype : str, optional
            Its dtype.
        layout : TensorLayout, optional
            How it is spread over devices.

        """
        from dragon.vm.keras import initializers

        with scopes.name_scope(self.name, caller=self):
            variable = Variable(initializer=initializers.get(initializer), shape=tuple(shape), dtype=dtype,
                                trainable=False, aggregation=aggregation, layout=layout, name=name)
        self._track_variable(variable)
        return variable

    def add_variable_from_reference(self, reference_variable, name=None, initializer="zeros"):
        """Return a new variable of the state that has the shape and dtype of another.

        Parameters
        ----------
        reference_variable : Variable
            The other one.
        name : str, optional
            What is put behind its path, to be the name.

        """
        path = self._path(reference_variable).replace("/", "_").replace(":", "_")
        return self.add_variable(shape=reference_variable.shape, initializer=initializer,
                                 dtype=reference_variable.dtype, layout=getattr(reference_variable, "_layout", None),
                                 name=f"{path}_{name or 'var'}")

    def add_optimizer_variables(self, trainable_variables, name, initializer="zeros"):
        """Return new variables of the state, one for each variable; a tuple of lists for several names.

        Parameters
        ----------
        trainable_variables : Sequence[Variable]
            What will be updated.
        name : Union[str, Sequence[str]]
            What is put behind their paths.
        initializer : Union[str, Initializer, Sequence], optional, default="zeros"
            What they start with: one for all names, or one for each.

        """
        names = [name] if isinstance(name, str) else list(name)
        starts = list(initializer) if isinstance(initializer, (list, tuple)) else [initializer] * len(names)
        if len(names) != len(starts):
            raise ValueError("The number of provided names must match the number of provided initializers. Received "
                             f"name='{name}', initializer='{initializer}'")
        made = tuple([] for _ in names)
        for variable in trainable_variables:
            skipped = getattr(variable, "overwrite_with_gradient", False)
            for kept, kind, start in zip(made, names, starts):
                kept.append(None if skipped else self.add_variable_from_reference(variable, kind, start))
        return made[0] if isinstance(name, str) else made

    # --- finding

    def _var_key(self, variable):
        return id(variable)

    def _path(self, variable):
        """Return what a variable of any frontend is called."""
        return str(getattr(variable, "path", None) or getattr(variable, "name", None) or "parameter")

    def __setstate__(self, state):
        """Take over what was copied or unpickled; the places of variables are found by who they are now."""
        self.__dict__.update(state)
        places = {before: self._var_key(self._trainable_variables[index])
                  for before, index in self._trainable_variables_indices.items()}
        for name in ("_trainable_variables_indices", "_var_to_optimizer_idx"):
            if name in state:
                self.__dict__[name] = {places[before]: index for before, index in state[name].items()}

    def _get_variable_index(self, variable):
        return self._trainable_variables_indices[self._var_key(variable)]

    def _check_variables_are_known(self, variables):
        for variable in variables:
            if self._var_key(variable) not in self._trainable_variables_indices:
                raise ValueError(f"Unknown variable: {variable}. This optimizer can only be called for the variables "
                                 "it was originally built with. When working with a new set of variables, you should "
                                 "recreate a new optimizer instance.")

    # --- writing

    @contextmanager
    def _writing_if(self, condition):
        """Have all writes within change something only where a condition, a tensor, holds; None always does."""
        before = self._gate
        if before is not None:
            condition = before if condition is None else ops.logical_and(before, condition)
        watched = () if condition is None or self._heeds_gate() else (*self._trainable_variables, *self._variables)
        kept = [(variable, ops.clone(numbers_of(variable))) for variable in watched]
        object.__setattr__(self, "_gate", condition)
        try:
            yield
        finally:
            object.__setattr__(self, "_gate", before)
        for variable, old in kept:
            self.assign(variable, ops.where(condition, numbers_of(variable), old))

    def _heeds_gate(self):
        """Tell whether all writes go by way of `assign`; what a user's class does may not."""
        return False

    def assign(self, variable, value):
        """Replace the numbers of a variable."""
        if self._gate is not None:
            current = numbers_of(variable)
            value = ops.where(self._gate, convert_to_tensor(value, dtype=current.dtype), current)
        if hasattr(variable, "assign"):
            variable.assign(value)
        else:  # a parameter of another frontend
            ops.copy(value, out=variable)

    def _put(self, variable, value):
        """Give a variable what a formula made: outside of graphs, the result's memory becomes the variable's."""
        is_there = is_plain[0] or value.device == variable.device
        if variable.__class__ is Variable and self._gate is None and is_there and not is_capturing():
            if not inferring.on:
                variable.data = value
        else:
            self.assign(variable, value)

    def assign_add(self, variable, value):
        """Add to the numbers of a variable."""
        self.assign(variable, numbers_of(variable) + value)

    def assign_sub(self, variable, value):
        """Subtract from the numbers of a variable."""
        self.assign(variable, numbers_of(variable) - value)

    def _overwrite_variables_directly_with_gradients(self, grads, variables):
        """Give variables that ask for it their gradient as value; return the others."""
        kept = []
        for gradient, variable in zip(grads, variables):
            if not getattr(variable, "overwrite_with_gradient", False):
                kept.append((gradient, variable))
            elif self.gradient_accumulation_steps:
                self._overwrite_with_largest(gradient, variable)
            else:
                self.assign(variable, gradient)
        return [gradient for gradient, _ in kept], [variable for _, variable in kept]

    def _overwrite_with_largest(self, gradient, variable):
        """Gather the largest of several steps' gradients, then give it to the variable."""
        due = ops.remainder(numbers_of(self._iterations) + 1, self.gradient_accumulation_steps) == 0
        gathered = self._accumulated_gradients[self._get_variable_index(variable)]
        largest = ops.maximum(gradient, numbers_of(gathered))
        self.assign(variable, ops.where(due, largest, numbers_of(variable)))
        self.assign(gathered, ops.where(due, 0, largest))

    # --- files

    def set_weights(self, weights):
        """Set all variables of the state.

        Parameters
        ----------
        weights : Sequence[Any]
            Their values, in the order of `variables`.

        """
        if not self.built:
            raise ValueError("You are calling `set_weights()` on an optimizer that has not yet been built. Please call "
                             "`optimizer.build(trainable_variables)` to create the optimizer weights before calling "
                             f"`set_weights()`. Received: {len(weights)} weights")
        for variable, weight in zip(self.variables, weights):
            if tuple(variable.shape) != tuple(weight.shape):
                raise ValueError(f"Optimizer variable {variable.path} has shape {tuple(variable.shape)} not compatible "
                                 f"with provided weight shape {tuple(weight.shape)}.")
            variable.assign(weight)

    def save_own_variables(self, store):
        """Write all variables of the state into a store, by number."""
        for index, variable in enumerate(self.variables):
            store[str(index)] = variable.numpy()

    def load_own_variables(self, store):
        """Read all variables of the state from a store; a store of another count of variables is left alone."""
        if not hasattr(store, "keys"):
            raise ValueError(f"Expected a store with a number for each variable as keys. Received: {store!r}")
        if len(store.keys()) != len(self.variables):
            built = "" if self.variables else " This is likely because the optimizer has not been called/built yet."
            warnings.warn(f"Skipping variable loading for optimizer '{self.name}', because it has "
                          f"{len(self.variables)} variables whereas the saved optimizer has {len(store.keys())} "
                          f"variables.{built}")
            return
        for index, variable in enumerate(self.variables):
            variable.assign(store[str(index)])

    def _obj_type(self):
        return "Optimizer"


# Captured steps find the variables where the optimizer keeps them for use.
Rules.never[State] = frozenset(("_variables", "_trainable_variables_indices"))
