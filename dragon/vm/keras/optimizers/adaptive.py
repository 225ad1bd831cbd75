"""Rates of their own for all numbers of a variable, from the squares of gradients."""
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.variable import Variable
from dragon.vm.keras.optimizers.memory import numbers_of
from dragon.vm.keras.optimizers.rule import Rule, with_shared_arguments
from dragon.vm.shared.tensors.tensor import ops


class RMSprop(Rule):
    """The gradient over the root of its mean square.

    Parameters
    ----------
    rho : float, optional, default=0.9
        What share of the mean square is kept.
    centered : bool, optional, default=False
        Divide by the deviation in place of the mean square.

    Examples
    --------
    >>> weight = keras.Variable(1.0)
    >>> keras.optimizers.RMSprop(learning_rate=0.01).apply([np.float32(2.0)], [weight])
    >>> round(float(weight.value), 4)
    0.9684

    """

    @with_shared_arguments
    def __init__(self, learning_rate=0.001, rho=0.9, momentum=0.0, epsilon=1e-7, centered=False, *shared, **named):
        super().__init__(learning_rate, *shared, **named)
        self.rho, self.momentum, self.epsilon, self.centered = rho, momentum, epsilon, centered

    def _add_states(self, variables):
        self._velocities = self.add_optimizer_variables(variables, "velocity")
        self._momentums = self.add_optimizer_variables(variables, "momentum") if self.momentum > 0 else []
        self._average_gradients = self.add_optimizer_variables(variables, "average_gradient") if self.centered else []

    def _change(self, gradient, variable, value, index, rate):
        square = self._move(self._velocities[index], ops.square(gradient), 1 - self.rho)
        if self.centered:
            square = square - ops.square(self._move(self._average_gradients[index], gradient, 1 - self.rho))
        change = rate * gradient / ops.sqrt(square + self.epsilon)
        if self.momentum > 0:
            change = self.momentum * numbers_of(self._momentums[index]) + change
            self._put(self._momentums[index], change)
        self._put(variable, value - change)


class Adagrad(Rule):
    """The gradient over the root of all squares so far (Duchi et al., 2011). ...

    Examples
    --------
    >>> weight = keras.Variable(1.0)
    >>> keras.optimizers.Adagrad(learning_rate=0.1, initial_accumulator_value=0.0).apply([np.float32(2.0)], [weight])
    >>> round(float(weight.value), 4)
    0.9

    """

    @with_shared_arguments
    def __init__(self, learning_rate=0.001, initial_accumulator_value=0.1, epsilon=1e-7, *shared, **named):
        super().__init__(learning_rate, *shared, **named)
        self.initial_accumulator_value, self.epsilon = initial_accumulator_value, epsilon

    def _add_states(self, variables):
        from dragon.vm.keras.initializers import Constant

        self._accumulators = self.add_optimizer_variables(variables, "accumulator",
                                                          Constant(self.initial_accumulator_value))

    def _change(self, gradient, variable, value, index, rate):
        squares = numbers_of(self._accumulators[index]) + ops.square(gradient)
        self._put(self._accumulators[index], squares)
        self._put(variable, value - rate * gradient / ops.sqrt(squares + self.epsilon))


class Adadelta(Rule):
    """The gradient in units of earlier changes (Zeiler, 2012).

    Parameters
    ----------
    learning_rate : Union[float, LearningRateSchedule, Callable], optional, default=0.001
        The rate; 1 is the paper's.
    rho : float, optional, default=0.95
        What share of mean squares is kept.
    epsilon : float, optional, default=1e-7
        What keeps roots from zero.

    """

    @with_shared_arguments
    def __init__(self, learning_rate=0.001, rho=0.95, epsilon=1e-7, *shared, **named):
        super().__init__(learning_rate, *shared, **named)
        self.rho, self.epsilon = rho, epsilon

    def _add_states(self, variables):
        self._accumulated_grads, self._accumulated_delta_vars = self.add_optimizer_variables(
            variables, ["accumulated_grad", "accumulated_delta_var"])

    def _change(self, gradient, variable, value, index, rate):
        square = self._move(self._accumulated_grads[index], ops.square(gradient), 1 - self.rho)
        changes = self._accumulated_delta_vars[index]
        change = ops.sqrt(numbers_of(changes) + self.epsilon) * gradient / ops.sqrt(square + self.epsilon)
        self._move(changes, ops.square(change), 1 - self.rho)
        self._put(variable, value - rate * change)


class Adafactor(Rule):
    """Adam whose mean squares of a matrix are kept by rows and columns (Shazeer and Stern, 2018).

    Parameters
    ----------
    beta_2_decay : float, optional, default=-0.8
        How the share of mean squares that is kept grows with steps.
    epsilon_1 : float, optional, default=1e-30
        What keeps squares from zero.
    epsilon_2 : float, optional, default=1e-3
        The least size of a variable that counts.
    clip_threshold : float, optional, default=1.0
        The most the root mean square of a change may be.
    relative_step : bool, optional, default=True
        The rate falls with the root of steps.

    """

    _looks_at_wholes = True

    @with_shared_arguments
    def __init__(self, learning_rate=0.001, beta_2_decay=-0.8, epsilon_1=1e-30, epsilon_2=1e-3, clip_threshold=1.0,
                 relative_step=True, *shared, **named):
        super().__init__(learning_rate, *shared, **named)
        self.beta_2_decay, self.epsilon_1, self.epsilon_2 = beta_2_decay, epsilon_1, epsilon_2
        self.clip_threshold, self.relative_step = clip_threshold, relative_step

    def _add_states(self, variables):
        """Make the states of variables; vectors have placeholders for rows and columns, as files have them."""
        rows, columns, squares = [], [], []
        for variable in variables:
            shape, skipped = tuple(variable.shape), getattr(variable, "overwrite_with_gradient", False)
            shapes = (shape[:-1], shape[:-2] + shape[-1:])
            for kept, part in zip((rows, columns), shapes):
                kept.append(self._placeholder(variable) if len(shape) < 2 else None if skipped else
                            self.add_variable(part, dtype=variable.dtype, name=variable.name))
            squares.append(None if skipped else self.add_variable_from_reference(variable, "velocity"))
        self._r, self._c, self._v = rows, columns, squares

    def _placeholder(self, variable):
        made = Variable(0, name=variable.name, trainable=False)
        self._track_variable(made)
        return made

    def _numbers(self, rate, dtype):
        step = self._step(dtype)
        falling = 1 / ops.sqrt(step)
        rate = ops.minimum(rate, falling)  # also what `relative_step` would do
        return rate, 1 - ops.pow(step, convert_to_tensor(self.beta_2_decay, dtype=dtype))

    def _change(self, gradient, variable, value, index, rate, kept):
        square = ops.square(gradient) + self.epsilon_1
        if len(gradient.shape) >= 2:
            rows = self._move(self._r[index], ops.mean(square, axis=-1), 1 - kept)
            columns = self._move(self._c[index], ops.mean(square, axis=-2), 1 - kept)
            rows = rows / ops.mean(rows, axis=-1, keepdims=True)
            square = ops.unsqueeze(rows, -1) * ops.unsqueeze(columns, -2)
            self._put(self._v[index], square)
        else:
            square = self._move(self._v[index], square, 1 - kept)
        change = gradient / ops.sqrt(square)
        change = change / ops.maximum(_size(change) / self.clip_threshold, 1.0)
        self._put(variable, value - ops.maximum(_size(value), self.epsilon_2) * rate * change)


def _size(x):
    return ops.sqrt(ops.mean(ops.square(x)))
