"""Optimizers of TensorFlow 1 that draw values to 0 as well."""
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.core.first.optimizer import Optimizer, RowOptimizer, shrunk
from dragon.vm.tensorflow.core.first.optimizers import AdagradOptimizer


class ProximalGradientDescentOptimizer(RowOptimizer):
    """Step against the gradient, then towards 0.

    Parameters
    ----------
    learning_rate, l1_regularization_strength, l2_regularization_strength : Union[float, Tensor, Callable]
        The length of steps, and how strongly values are drawn to 0.
    use_locking, name : Any, optional
        See `Optimizer`.

    """

    def __init__(self, learning_rate, l1_regularization_strength=0.0, l2_regularization_strength=0.0,
                 use_locking=False, name="ProximalGradientDescent"):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _step(self, value, grad, slots, get):
        rate = get(self._learning_rate)
        return shrunk(value - rate * grad, rate * get(self._l1)) / (1 + rate * get(self._l2)), []


class ProximalAdagradOptimizer(AdagradOptimizer):
    """Step as Adagrad does, then towards 0.

    Parameters
    ----------
    learning_rate, l1_regularization_strength, l2_regularization_strength : Union[float, Tensor, Callable]
        The length of steps, and how strongly values are drawn to 0.
    initial_accumulator_value : float, optional, default=0.1
        What the squares begin with.
    use_locking, name : Any, optional
        See `Optimizer`.

    """

    def __init__(self, learning_rate, initial_accumulator_value=0.1, l1_regularization_strength=0.0,
                 l2_regularization_strength=0.0, use_locking=False, name="ProximalAdagrad"):
        super().__init__(learning_rate, initial_accumulator_value, use_locking, name)
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _step(self, value, grad, slots, get):
        squares = slots[0] + grad * grad
        rate = get(self._learning_rate) * ops.rsqrt(squares)
        return shrunk(value - rate * grad, rate * get(self._l1)) / (1 + rate * get(self._l2)), [squares]


class FtrlOptimizer(RowOptimizer):
    """Follow the regularized leader.

    Parameters
    ----------
    learning_rate : Union[float, Tensor, Callable]
        The length of steps.
    learning_rate_power : float, optional, default=-0.5
        How steps grow shorter.
    initial_accumulator_value : float, optional, default=0.1
        What the squares begin with.
    l1_regularization_strength, l2_regularization_strength, l2_shrinkage_regularization_strength, beta : float
        How strongly values are drawn to 0.
    use_locking, name, accum_name, linear_name : Any, optional
        See `Optimizer`; the names are accepted.

    """

    SLOTS = (("accum", None), ("linear", 0))

    def __init__(self, learning_rate, learning_rate_power=-0.5, initial_accumulator_value=0.1,
                 l1_regularization_strength=0.0, l2_regularization_strength=0.0, use_locking=False, name="Ftrl",
                 accum_name=None, linear_name=None, l2_shrinkage_regularization_strength=0.0, beta=None):
        for value, word in ((initial_accumulator_value, "initial_accumulator_value"),
                            (l1_regularization_strength, "l1_regularization_strength"),
                            (l2_regularization_strength, "l2_regularization_strength"),
                            (l2_shrinkage_regularization_strength, "l2_shrinkage_regularization_strength")):
            if value < 0.0:
                raise ValueError(f"{word} {value} needs to be positive or zero")
        if learning_rate_power > 0.0:
            raise ValueError(f"learning_rate_power {learning_rate_power} needs to be negative or zero")
        super().__init__(use_locking, name)
        self._learning_rate, self._power, self._start = learning_rate, learning_rate_power, initial_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength
        self._shrinkage, self._beta = l2_shrinkage_regularization_strength, beta or 0.0

    def _start_of(self, name):
        return self._start if name == "accum" else 0

    def _step(self, value, grad, slots, get):
        rate, power = get(self._learning_rate), -float(self._power)
        drawn = grad + value * (2 * float(self._shrinkage))
        squares = slots[0] + grad * grad
        new, old = squares ** power, slots[0] ** power
        linear = slots[1] + drawn - (new - old) / rate * value
        strong = new / rate + 2 * (get(self._l2) + get(self._beta) / (2 * rate))
        found = -shrunk(linear, get(self._l1)) / strong
        return found, [squares, linear]


class AdagradDAOptimizer(Optimizer):
    """Adagrad with dual averaging: values follow from all gradients so far.

    Parameters
    ----------
    learning_rate : Union[float, Tensor, Callable]
        The length of steps.
    global_step : Variable
        How many steps there were.
    initial_gradient_squared_accumulator_value : float, optional, default=0.1
        What the squares begin with.
    l1_regularization_strength, l2_regularization_strength : float, optional
        How strongly values are drawn to 0.
    use_locking, name : Any, optional
        See `Optimizer`.

    """

    def __init__(self, learning_rate, global_step, initial_gradient_squared_accumulator_value=0.1,
                 l1_regularization_strength=0.0, l2_regularization_strength=0.0, use_locking=False, name="AdagradDA"):
        if initial_gradient_squared_accumulator_value <= 0.0:
            raise ValueError("initial_gradient_squared_accumulator_value must be positive: "
                             f"{initial_gradient_squared_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate, self._count = learning_rate, global_step
        self._start = initial_gradient_squared_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _create_slots(self, var_list):
        for variable in var_list:
            self._zeros_slot(variable, "gradient_accumulator", self._name)
            start = ops.full(tuple(variable.shape), float(self._start), dtype=variable.dtype)
            self._get_or_make_slot(variable, start, "gradient_squared_accumulator", self._name)

    def _resource_apply_dense(self, grad, handle):
        total = self.get_slot(handle, "gradient_accumulator")
        squares = self.get_slot(handle, "gradient_squared_accumulator")
        rate, count = self._setting(self._learning_rate, handle), self._setting(self._count, handle) + 1
        total.assign_add(grad)
        squares.assign_add(grad * grad)
        drawn = shrunk(total.value(), count * self._setting(self._l1, handle))
        strong = count * rate * self._setting(self._l2, handle) + ops.sqrt(squares.value())
        handle.assign(-rate * drawn / strong)
