"""The parts that all metrics share: variables that gather numbers over batches."""
from dragon.core.capture.rules import Rules
from dragon.vm.keras.core import dtype_policies, scopes
from dragon.vm.keras.core.stateless import StatelessScope
from dragon.vm.keras.core.config import floatx
from dragon.vm.keras.core.configuration import Configured
from dragon.vm.keras.core.naming import own_name
from dragon.vm.keras.core.variable import Variable
from dragon.vm.shared.tensors.tensor import ops


class Metric(Configured):
    """Base of metrics: subclasses write `update_state` and `result`.

    Parameters
    ----------
    dtype : Union[str, DTypePolicy], optional
        What it computes in; `keras.config.floatx()` by default.
    name : str, optional
        What it is called in logs; made from the class's name by default.

    Examples
    --------
    >>> class Count(keras.metrics.Metric):
    ...     def __init__(self):
    ...         super().__init__(name="count")
    ...         self.seen = self.add_weight(name="seen", initializer="zeros")
    ...     def update_state(self, y_true, y_pred, sample_weight=None):
    ...         self.seen.assign_add(float(len(y_true)))
    ...     def result(self):
    ...         return self.seen
    >>> metric = Count()
    >>> metric.update_state(np.ones(3), np.ones(3))
    >>> float(metric.result())
    3.0

    """

    def __init__(self, dtype=None, name=None):
        self.name = own_name(name, self)
        self._dtype_policy = dtype_policies.get(dtype or floatx())
        self._dtype = self._dtype_policy.compute_dtype
        self._metrics = []
        self._variables = []

    def _check_updated(self):
        """Raise before the first update of a metric whose variables depend on it."""
        if not self._built:
            raise ValueError(f"{type(self).__name__}.result: got no data yet, expected a call of update_state before")

    def __setattr__(self, name, value):
        """Keep a value; variables and metrics, also in a list or a dict, become part of the state."""
        if name not in ("_metrics", "_variables") and "_variables" in self.__dict__:
            self._track(value)
        object.__setattr__(self, name, value)

    def _track(self, value):
        if isinstance(value, Variable):
            kept = self._variables
        elif isinstance(value, Metric):
            kept = self._metrics
        else:
            parts = value.values() if isinstance(value, dict) else value
            for part in parts if isinstance(value, (list, tuple, dict)) else ():
                self._track(part)
            return
        if all(other is not value for other in kept):
            kept.append(value)

    def reset_state(self):
        """Set all variables to zero."""
        for variable in self.variables:
            variable.assign(ops.zeros(tuple(variable.shape), dtype=variable.dtype))

    def update_state(self, *args, **kwargs):
        """Gather the numbers of a batch; subclasses write it."""
        raise NotImplementedError(f"{type(self).__name__}: a metric needs a method update_state")

    def result(self):
        """Return the metric of what was gathered; subclasses write it."""
        raise NotImplementedError(f"{type(self).__name__}: a metric needs a method result")

    def _scope(self, values):
        if len(values) != len(self.variables):
            raise ValueError("Argument `metric_variables` must be a list of tensors corresponding 1:1 to "
                             f"{type(self).__name__}().variables. Received list with length {len(values)}, but "
                             f"expected {len(self.variables)} variables.")
        return StatelessScope(state_mapping=list(zip(self.variables, values)))

    def _values(self, scope):
        found = [scope.get_current_value(variable) for variable in self.variables]
        return [variable if value is None else value for variable, value in zip(self.variables, found)]

    def stateless_update_state(self, metric_variables, *args, **kwargs):
        """Return what the variables would be after a batch, and leave them as they are.

        Parameters
        ----------
        metric_variables : Sequence[Tensor]
            What the variables are.
        *args, **kwargs
            As `update_state` takes them.

        """
        with self._scope(metric_variables) as scope:
            self.update_state(*args, **kwargs)
        return self._values(scope)

    def stateless_result(self, metric_variables):
        """Return the metric of given variables."""
        with self._scope(metric_variables):
            return self.result()

    def stateless_reset_state(self):
        """Return what the variables start with, and leave them as they are."""
        with StatelessScope() as scope:
            self.reset_state()
        return self._values(scope)

    dtype = property(lambda self: self._dtype, doc="The name of the dtype it computes in.")

    def _obj_type(self):
        return "Metric"

    def add_variable(self, shape, initializer, dtype=None, aggregation="sum", name=None):
        """Return a new variable of the state.

        Parameters
        ----------
        shape : Sequence[int]
            Its shape.
        initializer : Union[str, Initializer, Callable]
            What it starts with.
        dtype : str, optional
            Its dtype.
        name : str, optional
            Its name.

        """
        from dragon.vm.keras import initializers

        self._check_super_called()
        with scopes.name_scope(self.name.replace("/", ">"), caller=self):
            variable = Variable(initializer=initializers.get(initializer), shape=tuple(shape), dtype=dtype,
                                trainable=False, aggregation=aggregation, synchronization="on_read", name=name)
        self._track(variable)
        return variable

    def add_weight(self, shape=(), initializer=None, dtype=None, name=None):
        """Return a new variable of the state; `add_variable` with another order of arguments."""
        return self.add_variable(shape=shape, initializer=initializer, dtype=dtype, name=name)

    @property
    def variables(self):
        """All variables of the state, those of metrics within last."""
        return [*self._variables, *(variable for metric in self._metrics for variable in metric.variables)]

    def __call__(self, *args, **kwargs):
        """Gather the numbers of a batch and return the metric of all so far."""
        self._check_super_called()
        self.update_state(*args, **kwargs)
        return self.result()

    def get_config(self):
        """Return the arguments that make the same metric again."""
        return {"name": self.name, "dtype": self.dtype}

    def _check_super_called(self):
        if "_variables" not in self.__dict__:
            raise RuntimeError("You forgot to call `super().__init__()` in the `__init__()` method. Go add it! "
                               f"Received: a {type(self).__name__} without it")

    def __repr__(self):
        return f"<{type(self).__name__} name={self.name}>"

    __str__ = __repr__


# Captured steps find the variables where the metric keeps them for use.
Rules.never[Metric] = frozenset(("_variables", "name"))
