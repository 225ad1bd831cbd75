"""Adam and its relatives: momentum over the root of the mean square."""
from dragon.vm.keras.core.config import floatx
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.dtypes import standardize_dtype
from dragon.vm.keras.core.variable import Variable
from dragon.vm.keras.optimizers.memory import dtype_of, numbers_of, own_memory
from dragon.vm.keras.optimizers.rule import Rule, with_shared_arguments
from dragon.vm.shared.tensors.tensor import ops


def power(base, exponent):
    """Return a number to the power of a tensor."""
    return ops.pow(convert_to_tensor(base, dtype=exponent.dtype), exponent)


def adam_rate(rate, step, beta_1, beta_2):
    """Return the rate that makes up for moments which began at zero."""
    return rate * ops.sqrt(1 - power(beta_2, step)) / (1 - power(beta_1, step))


class Moments(Rule, states=("momentum", "velocity")):
    """Base of rules with two moments. ..."""

    @with_shared_arguments
    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, *shared, **named):
        super().__init__(learning_rate, *shared, **named)
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon

    def _add_states(self, variables):
        self._momentums, self._velocities = self.add_optimizer_variables(variables, self.states)

    def _moments(self, gradient, index):
        """Return both moments, moved towards the gradient and its square."""
        return (self._move(self._momentums[index], gradient, 1 - self.beta_1),
                self._move(self._velocities[index], ops.square(gradient), 1 - self.beta_2))


class Adam(Moments):
    """Adam (Kingma and Ba, 2014).

    Parameters
    ----------
    amsgrad : bool, optional, default=False
        Divide by the largest second moment so far.

    Examples
    --------
    >>> weight = keras.Variable(1.0)
    >>> keras.optimizers.Adam(learning_rate=0.1).apply([np.float32(5.0)], [weight])
    >>> round(float(weight.value), 4)
    0.9

    """

    @with_shared_arguments
    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, amsgrad=False, *shared, **named):
        super().__init__(learning_rate, beta_1, beta_2, epsilon, *shared, **named)
        self.amsgrad = amsgrad

    def _add_states(self, variables):
        super()._add_states(variables)
        if self.amsgrad:
            self._velocity_hats = self.add_optimizer_variables(variables, "velocity_hat")

    def _numbers(self, rate, dtype):
        return (adam_rate(rate, self._step(dtype), self.beta_1, self.beta_2),)

    def _update(self, grads, variables):
        """Update all variables in one sweep of the engine, where it has one; else by the formula below."""
        if not self._can_sweep(Adam._change, variables):
            return super()._update(grads, variables)
        grads, rate, groups = self._clip_gradients(grads, variables), convert_to_tensor(self.learning_rate), {}
        for gradient, variable in zip(grads, variables):
            key = dtype_of(variable), self._decay_of(variable)
            groups.setdefault(key, []).append((gradient, variable, self._get_variable_index(variable)))
        for (dtype, share), rows in groups.items():
            self._sweep(rows, numbers_of(convert_to_tensor(rate, dtype=dtype)), dtype, share)
        return None

    def _sweep(self, rows, rate, dtype, share):
        """Update the variables of one dtype whose weights decay alike."""
        grads, variables, places = zip(*rows)
        states = [[kept[place] for place in places] for kept in
                  (self._momentums, self._velocities, *([self._velocity_hats] if self.amsgrad else []))]
        for variable in (*variables, *(state for kept in states for state in kept)):
            own_memory(variable)
        left = 1 - rate * share if share else ops.ones((), dtype=dtype)
        ops.adam_scaled_step(variables, [convert_to_tensor(gradient, dtype=dtype) for gradient in grads], *states[:2],
                             states[2] if self.amsgrad else [], *self._numbers(rate, dtype), left, beta1=self.beta_1,
                             beta2=self.beta_2, eps=self.epsilon, amsgrad=self.amsgrad)

    def _change(self, gradient, variable, value, index, rate):
        mean, square = self._moments(gradient, index)
        if self.amsgrad:
            square = ops.maximum(numbers_of(self._velocity_hats[index]), square)
            self._put(self._velocity_hats[index], square)
        self._put(variable, value - mean * rate / (ops.sqrt(square) + self.epsilon))


class AdamW(Adam):
    """Adam with weight decay; `weight_decay` is 0.004 by default. ...

    Examples
    --------
    >>> weight = keras.Variable(1.0)
    >>> keras.optimizers.AdamW(learning_rate=0.1, weight_decay=0.5).apply([np.float32(5.0)], [weight])
    >>> round(float(weight.value), 4)
    0.85

    """

    @with_shared_arguments
    def __init__(self, learning_rate=0.001, weight_decay=0.004, beta_1=0.9, beta_2=0.999, epsilon=1e-7, amsgrad=False,
                 *shared, **named):
        super().__init__(learning_rate, beta_1, beta_2, epsilon, amsgrad, weight_decay, *shared, **named)
        if weight_decay is None:
            raise ValueError("Argument `weight_decay` must be a float. Received: weight_decay=None")


class Adamax(Moments, states=("momentum", "norm")):
    """Adam with the largest gradient in place of the mean square; arguments as `Adam` has them, without `amsgrad`."""

    def _numbers(self, rate, dtype):
        return rate, 1 - power(self.beta_1, self._step(dtype))

    def _change(self, gradient, variable, value, index, rate, correction):
        mean = self._move(self._momentums[index], gradient, 1 - self.beta_1)
        largest = ops.maximum(self.beta_2 * numbers_of(self._velocities[index]), ops.abs(gradient))
        self._put(self._velocities[index], largest)
        self._put(variable, value - rate * mean / (correction * (largest + self.epsilon)))


class Nadam(Moments):
    """Adam with Nesterov's momentum (Dozat, 2015); arguments as `Adam` has them, without `amsgrad`."""

    falling = 0.96  # how fast the momentum's schedule rises to beta_1

    def _add_states(self, variables):
        super()._add_states(variables)
        dtype = standardize_dtype(variables[0].dtype) if variables else floatx()
        self._u_product = Variable(1.0, dtype=dtype)

    def _warm(self, dtype, ahead):
        """Return the momentum of a step."""
        return self.beta_1 * (1.0 - 0.5 * power(self.falling, self._step(dtype, ahead)))

    def _backend_update_step(self, grads, variables, learning_rate):
        dtype = standardize_dtype(self._u_product.dtype)
        self.assign(self._u_product, numbers_of(self._u_product) * self._warm(dtype, 1))
        super()._backend_update_step(grads, variables, learning_rate)

    def _numbers(self, rate, dtype):
        now, then = self._warm(dtype, 1), self._warm(dtype, 2)
        product = convert_to_tensor(self._u_product, dtype=dtype)
        return (rate, then / (1 - product * then), (1 - now) / (1 - product), 1 - power(self.beta_2, self._step(dtype)))

    def _change(self, gradient, variable, value, index, rate, of_mean, of_gradient, correction):
        mean, square = self._moments(gradient, index)
        ahead = of_mean * mean + of_gradient * gradient
        self._put(variable, value - ahead * rate / (ops.sqrt(square / correction) + self.epsilon))


class Lamb(Moments):
    """Adam for large batches (You et al., 2019): a step is as long as its variable, times the rate.

    Arguments are as `Adam` has them, without `amsgrad`.
    """

    _looks_at_wholes = True

    def _numbers(self, rate, dtype):
        step = self._step(dtype)
        return rate, 1.0 - power(self.beta_1, step), 1.0 - power(self.beta_2, step)

    def _change(self, gradient, variable, value, index, rate, first, second):
        mean, square = self._moments(gradient, index)
        update = mean / first / (ops.sqrt(square / second) + self.epsilon)
        length, step = (ops.sqrt(ops.sum(ops.square(x))) for x in (value, update))
        known = ops.logical_and(length > 0, step > 0)
        ratio = ops.where(known, length / ops.where(known, step, 1), 1.0)
        self._put(variable, value - ratio * rate * update)


class ScheduleFreeAdamW(Moments):
    """Adam that needs no schedule: it averages the iterates itself (Defazio et al., 2024).

    Parameters
    ----------
    beta_1 : float, optional, default=0.9
        What share of the average is in the point where gradients are taken.
    beta_2 : float, optional, default=0.999
        What share of the mean square is kept.
    warmup_steps : int, optional, default=0
        For how many steps the rate rises.

    """

    @with_shared_arguments
    def __init__(self, learning_rate=0.0025, beta_1=0.9, beta_2=0.999, epsilon=1e-8, warmup_steps=0, *shared, **named):
        super().__init__(learning_rate, beta_1, beta_2, epsilon, *shared, **named)
        self.warmup_steps = warmup_steps

    def _add_states(self, variables):
        """Make the states of variables; the iterates begin where the variables are."""
        super()._add_states(variables)
        for iterate, variable in zip(self._momentums, variables):
            if iterate is not None:
                self.assign(iterate, variable)

    def _numbers(self, rate, dtype):
        step = self._step(dtype)
        if self.warmup_steps > 0:
            rate = rate * ops.minimum(step / self.warmup_steps, 1.0)
        return rate, 1.0 / step, 1 - power(self.beta_2, step)

    def _change(self, gradient, variable, value, index, rate, weight, correction):
        square = self._move(self._velocities[index], ops.square(gradient), 1 - self.beta_2)
        iterate = numbers_of(self._momentums[index]) - rate * gradient / (ops.sqrt(square / correction) + self.epsilon)
        # The paper has the iterate of before here; Keras on TensorFlow has that of after, so its runs go on alike.
        average = (value - (1 - self.beta_1) * iterate) / self.beta_1
        average = (1 - weight) * average + weight * iterate
        self._put(self._momentums[index], iterate)
        self._put(variable, (1 - self.beta_1) * iterate + self.beta_1 * average)
