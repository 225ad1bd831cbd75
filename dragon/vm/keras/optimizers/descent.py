"""Descent along the gradient: plain, with momentum, and by its sign."""
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.optimizers.memory import dtype_of, numbers_of, own_memory
from dragon.vm.keras.optimizers.rule import Rule, with_shared_arguments
from dragon.vm.shared.tensors.tensor import ops


class SGD(Rule):
    """Gradient descent, with momentum (Nesterov's or plain). ...

    Examples
    --------
    >>> weight = keras.Variable(1.0)
    >>> keras.optimizers.SGD(learning_rate=0.5).apply([np.float32(1.0)], [weight])
    >>> float(weight.value)
    0.5

    """

    @with_shared_arguments
    def __init__(self, learning_rate=0.01, momentum=0.0, nesterov=False, *shared, **named):
        super().__init__(learning_rate, *shared, **named)
        if not isinstance(momentum, float) or momentum < 0 or momentum > 1:
            raise ValueError(f"`momentum` must be a float between [0, 1]. Received: momentum={momentum}")
        self.momentum, self.nesterov = momentum, nesterov

    def _add_states(self, variables):
        self.momentums = self.add_optimizer_variables(variables, "momentum") if self.momentum != 0 else []

    def _backend_update_step(self, grads, variables, learning_rate):
        """Update all variables in one sweep of the engine, if there is momentum; else by the formula below."""
        if self.momentum == 0 or not self._can_sweep(SGD._change, variables):
            return super()._backend_update_step(grads, variables, learning_rate)
        rates = {dtype: numbers_of(convert_to_tensor(learning_rate, dtype=dtype)) for dtype in
                 {dtype_of(variable) for variable in variables}}
        grads = [convert_to_tensor(gradient, dtype=dtype_of(variable)) * rates[dtype_of(variable)]
                 for gradient, variable in zip(grads, variables)]
        momentums = [self.momentums[self._get_variable_index(variable)] for variable in variables]
        for variable in (*variables, *momentums):
            own_memory(variable)
        # The engine's momentum has no rate in it, Keras's has, with its sign: what is added at the next step.
        ops.sgd_step(variables, grads, momentums, lr=-1.0, momentum=self.momentum, nesterov=self.nesterov,
                     maximize=True)
        return None

    def _change(self, gradient, variable, value, index, rate):
        change = -(gradient * rate)
        if self.momentum != 0:
            kept = self.momentums[index]
            moved = numbers_of(kept) * self.momentum + change
            self._put(kept, moved)
            change = moved * self.momentum + change if self.nesterov else moved
        self._put(variable, value + change)


class Lion(Rule):
    """Descent by the sign of the momentum (Chen et al., 2023).

    Parameters
    ----------
    beta_1 : float, optional, default=0.9
        What share of the momentum goes into the sign.
    beta_2 : float, optional, default=0.99
        What share of the momentum is kept.

    """

    @with_shared_arguments
    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.99, *shared, **named):
        super().__init__(learning_rate, *shared, **named)
        self.beta_1, self.beta_2 = beta_1, beta_2
        if beta_1 <= 0 or beta_1 > 1:
            raise ValueError("Argument `beta_1` must be in the [0, 1] range. Otherwise, the optimizer degenerates to "
                             f"SignSGD. Received: beta_1={beta_1}.")

    def _add_states(self, variables):
        self._momentums = self.add_optimizer_variables(variables, "momentum")

    def _change(self, gradient, variable, value, index, rate):
        momentum = numbers_of(self._momentums[index])
        self._put(variable, value - rate * ops.sign(momentum * self.beta_1 + gradient * (1.0 - self.beta_1)))
        self._put(self._momentums[index], momentum * self.beta_2 + gradient * (1.0 - self.beta_2))


class Ftrl(Rule):
    """Follow the regularised leader (McMahan et al., 2013).

    Parameters
    ----------
    learning_rate_power : float, optional, default=-0.5
        How the rate falls with the squares so far; zero or less.
    l1_regularization_strength, l2_regularization_strength : float, optional, default=0.0
        Penalties of magnitudes and of squares.
    l2_shrinkage_regularization_strength : float, optional, default=0.0
        A penalty of squares of what is now, not of the solution.
    beta : float, optional, default=0.0
        As the paper has it.

    """

    @with_shared_arguments
    def __init__(self, learning_rate=0.001, learning_rate_power=-0.5, initial_accumulator_value=0.1,
                 l1_regularization_strength=0.0, l2_regularization_strength=0.0,
                 l2_shrinkage_regularization_strength=0.0, beta=0.0, *shared, **named):
        super().__init__(learning_rate, *shared, **named)
        if learning_rate_power > 0.0:
            raise ValueError("`learning_rate_power` needs to be negative or zero. Received: "
                             f"learning_rate_power={learning_rate_power}.")
        self.learning_rate_power, self.initial_accumulator_value = learning_rate_power, initial_accumulator_value
        self.l1_regularization_strength, self.beta = l1_regularization_strength, beta
        self.l2_regularization_strength = l2_regularization_strength
        self.l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength
        for name in ("initial_accumulator_value", "l1_regularization_strength", "l2_regularization_strength",
                     "l2_shrinkage_regularization_strength"):
            if getattr(self, name) < 0.0:
                raise ValueError(f"`{name}` needs to be positive or zero. Received: {name}={getattr(self, name)}.")

    def _add_states(self, variables):
        from dragon.vm.keras.initializers import Constant

        self._accumulators, self._linears = self.add_optimizer_variables(
            variables, ["accumulator", "linear"], [Constant(self.initial_accumulator_value), "zeros"])

    def _change(self, gradient, variable, value, index, rate):
        before, power = numbers_of(self._accumulators[index]), -self.learning_rate_power
        after = before + ops.square(gradient)
        slope = gradient + 2 * self.l2_shrinkage_regularization_strength * value
        grown = (ops.pow(after, power) - ops.pow(before, power)) / rate
        linear = numbers_of(self._linears[index]) + slope - grown * value
        self._put(self._linears[index], linear)
        quadratic = ops.pow(after, power) / rate + 2 * (self.l2_regularization_strength + self.beta / (2.0 * rate))
        limit = self.l1_regularization_strength
        self._put(variable, (ops.clamp(linear, -limit, limit) - linear) / quadratic)
        self._put(self._accumulators[index], after)
