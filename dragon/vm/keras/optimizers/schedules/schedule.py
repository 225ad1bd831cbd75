"""Learning rates that depend on the step."""
import math

from dragon.vm.keras.core.config import floatx
from dragon.vm.keras.core.configuration import Configured, unwritten
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.shared.tensors.tensor import ops


class LearningRateSchedule(Configured):
    """Base of schedules: called with the count of steps so far, they return the learning rate as a tensor."""

    def __call__(self, step):
        """Return the learning rate at a step; subclasses write it."""
        raise NotImplementedError(f"Learning rate schedule '{type(self).__name__}' must override "
                                  "`__call__(self, step)`.")

    @unwritten
    def get_config(self):
        """Return the arguments that make the same schedule again; subclasses write it."""
        raise NotImplementedError(f"Learning rate schedule '{type(self).__name__}' must override `get_config()` in "
                                  "order to be serializable.")


def _check_steps(name, value):
    if value <= 0:
        raise ValueError(f"Argument `{name}` must be > 0. Received: {name}={value}")
    return value


def _rate_and_step(rate, step):
    """Return a rate and the step as float tensors of one dtype."""
    rate = convert_to_tensor(rate)
    if rate.dtype.is_integer:
        rate = convert_to_tensor(rate, dtype=floatx())
    return rate, convert_to_tensor(step, dtype=rate.dtype)


class ExponentialDecay(LearningRateSchedule):
    """`initial_learning_rate * decay_rate ** (step / decay_steps)`.

    Parameters
    ----------
    decay_steps : int
        How many steps make one decay.
    decay_rate : float
        What a decay multiplies with.
    staircase : bool, optional, default=False
        Only whole decays.

    Examples
    --------
    >>> schedule = keras.optimizers.schedules.ExponentialDecay(0.1, decay_steps=100, decay_rate=0.5)
    >>> round(float(schedule(0)), 4), round(float(schedule(200)), 4)
    (0.1, 0.025)

    """

    def __init__(self, initial_learning_rate, decay_steps, decay_rate, staircase=False, name="ExponentialDecay"):
        self.initial_learning_rate, self.decay_rate = initial_learning_rate, decay_rate
        self.decay_steps, self.staircase, self.name = _check_steps("decay_steps", decay_steps), staircase, name

    def _decays(self, step):
        decays = step / self.decay_steps
        return ops.floor(decays) if self.staircase else decays

    def __call__(self, step):
        rate, step = _rate_and_step(self.initial_learning_rate, step)
        return rate * ops.pow(convert_to_tensor(self.decay_rate, dtype=rate.dtype), self._decays(step))


class InverseTimeDecay(ExponentialDecay):
    """`initial_learning_rate / (1 + decay_rate * step / decay_steps)`; arguments as `ExponentialDecay` has them."""

    def __init__(self, initial_learning_rate, decay_steps, decay_rate, staircase=False, name="InverseTimeDecay"):
        super().__init__(initial_learning_rate, decay_steps, decay_rate, staircase, name)

    def __call__(self, step):
        rate, step = _rate_and_step(self.initial_learning_rate, step)
        return rate / (1 + self.decay_rate * self._decays(step))


class PiecewiseConstantDecay(LearningRateSchedule):
    """One of several rates, by between which boundaries the step is.

    Parameters
    ----------
    boundaries : Sequence[int]
        Steps, ascending; the first rate is used up to the first of them.
    values : Sequence[float]
        Rates: one more than there are boundaries.

    """

    def __init__(self, boundaries, values, name="PiecewiseConstant"):
        if len(boundaries) != len(values) - 1:
            raise ValueError("The length of boundaries should be 1 less than the length of values. Received: "
                             f"boundaries={boundaries} of length {len(boundaries)}, and values={values} of length "
                             f"{len(values)}.")
        self.boundaries, self.values, self.name = boundaries, values, name

    def __call__(self, step):
        values = [convert_to_tensor(value) for value in self.values]
        step = convert_to_tensor(step)
        rate = values[0]
        for boundary, value in zip(self.boundaries, values[1:]):
            rate = ops.where(step > convert_to_tensor(boundary, dtype=step.dtype), value, rate)
        return rate


class PolynomialDecay(LearningRateSchedule):
    """From one rate to another within some steps, along a power of what is left.

    Parameters
    ----------
    decay_steps : int
        How many steps it takes.
    end_learning_rate : float, optional, default=0.0001
        The rate at the end.
    power : float, optional, default=1.0
        The power: 1 is a line.
    cycle : bool, optional, default=False
        Beyond the end, begin again over a longer time.

    """

    def __init__(self, initial_learning_rate, decay_steps, end_learning_rate=0.0001, power=1.0, cycle=False,
                 name="PolynomialDecay"):
        self.initial_learning_rate, self.end_learning_rate = initial_learning_rate, end_learning_rate
        self.decay_steps, self.power = _check_steps("decay_steps", decay_steps), power
        self.cycle, self.name = cycle, name

    def __call__(self, step):
        rate, step = _rate_and_step(self.initial_learning_rate, step)
        length = self.decay_steps
        if self.cycle:
            length = length * ops.where(step == 0, 1.0, ops.ceil(step / length))
        else:
            step = ops.minimum(step, length)
        return (rate - self.end_learning_rate) * ops.pow(1 - step / length, self.power) + self.end_learning_rate


class CosineDecay(LearningRateSchedule):
    """Along half a cosine, after a line up to where it begins.

    Parameters
    ----------
    decay_steps : int
        How many steps the cosine takes.
    warmup_target : Optional[float], optional
        Where the line leads; none for no line.
    warmup_steps : int, optional, default=0
        How many steps the line takes.

    Examples
    --------
    >>> schedule = keras.optimizers.schedules.CosineDecay(0.1, decay_steps=100)
    >>> round(float(schedule(0)), 4), round(float(schedule(50)), 4), round(float(schedule(100)), 4)
    (0.1, 0.05, 0.0)

    """

    def __init__(self, initial_learning_rate, decay_steps, alpha=0.0, name="CosineDecay", warmup_target=None,
                 warmup_steps=0):
        self.initial_learning_rate, self.alpha, self.name = initial_learning_rate, alpha, name
        self.decay_steps = _check_steps("decay_steps", decay_steps)
        self.warmup_target, self.warmup_steps = warmup_target, warmup_steps

    def _cosine(self, step, rate):
        share = 0.5 * (1.0 + ops.cos(math.pi * (step / self.decay_steps)))
        return rate * ((1 - self.alpha) * share + self.alpha)

    def __call__(self, step):
        rate, step = _rate_and_step(self.initial_learning_rate, step)
        if self.warmup_target is None:
            return self._cosine(ops.minimum(step, self.decay_steps), rate)
        step = ops.minimum(step, self.decay_steps + self.warmup_steps)
        after = self._cosine(step - self.warmup_steps, self.warmup_target)
        if not self.warmup_steps:
            return after
        rising = (self.warmup_target - rate) * (step / self.warmup_steps) + rate
        return ops.where(step < self.warmup_steps, rising, after)


class CosineDecayRestarts(LearningRateSchedule):
    """Along half a cosine again and again, each time longer and lower (Loshchilov and Hutter, 2016).

    Parameters
    ----------
    first_decay_steps : int
        How many steps the first cosine takes.
    t_mul : float, optional, default=2.0
        How many times longer each is than the one before.
    m_mul : float, optional, default=1.0
        How many times higher each begins than the one before.

    """

    def __init__(self, initial_learning_rate, first_decay_steps, t_mul=2.0, m_mul=1.0, alpha=0.0, name="SGDRDecay"):
        self.initial_learning_rate, self.alpha, self.name = initial_learning_rate, alpha, name
        self.first_decay_steps = _check_steps("first_decay_steps", first_decay_steps)
        self._t_mul, self._m_mul = t_mul, m_mul

    def __call__(self, step):
        rate, step = _rate_and_step(self.initial_learning_rate, step)
        done, growth = step / self.first_decay_steps, self._t_mul
        if growth == 1.0:
            restarts = ops.floor(done)
            done = done - restarts
        else:  # the lengths are a geometric series
            restarts = ops.floor(ops.log(1.0 - done * (1.0 - growth)) / math.log(growth))
            length = ops.pow(convert_to_tensor(growth, dtype=rate.dtype), restarts)
            done = (done - (1.0 - length) / (1.0 - growth)) / length
        height = ops.pow(convert_to_tensor(self._m_mul, dtype=rate.dtype), restarts)
        share = 0.5 * height * (1.0 + ops.cos(math.pi * done))
        return rate * ((1 - self.alpha) * share + self.alpha)
