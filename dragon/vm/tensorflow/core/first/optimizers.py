"""Optimizers of TensorFlow 1: steps along gradients, whole or by rows."""
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.slices import IndexedSlices
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.core.first.optimizer import Optimizer, RowOptimizer


class GradientDescentOptimizer(Optimizer):
    """Step against the gradient.

    Parameters
    ----------
    learning_rate : Union[float, Tensor, Callable]
        The length of steps.
    use_locking, name : Any, optional
        See `Optimizer`.

    """

    def __init__(self, learning_rate, use_locking=False, name="GradientDescent"):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate

    def _resource_apply_dense(self, grad, handle):
        handle.assign_sub(grad * self._setting(self._learning_rate, handle))

    def _resource_apply_sparse(self, grad, handle, indices):
        handle.scatter_sub(IndexedSlices(grad * self._setting(self._learning_rate, handle), indices))


class MomentumOptimizer(RowOptimizer):
    """Step against a sum of gradients in which older ones fade.

    Parameters
    ----------
    learning_rate, momentum : Union[float, Tensor, Callable]
        The length of steps, and how much of the sum stays.
    use_locking, name : Any, optional
        See `Optimizer`.
    use_nesterov : bool, optional, default=False
        Whether the step looks ahead.

    """

    SLOTS = (("momentum", 0),)

    def __init__(self, learning_rate, momentum, use_locking=False, name="Momentum", use_nesterov=False):
        super().__init__(use_locking, name)
        self._learning_rate, self._momentum, self._use_nesterov = learning_rate, momentum, use_nesterov

    def _step(self, value, grad, slots, get):
        rate, keep = get(self._learning_rate), get(self._momentum)
        total = slots[0] * keep + grad
        along = grad + total * keep if self._use_nesterov else total
        return value - rate * along, [total]


class AdagradOptimizer(RowOptimizer):
    """Step against the gradient over the root of all squares so far.

    Parameters
    ----------
    learning_rate : Union[float, Tensor, Callable]
        The length of steps.
    initial_accumulator_value : float, optional, default=0.1
        What the squares begin with.
    use_locking, name : Any, optional
        See `Optimizer`.

    """

    SLOTS = (("accumulator", None),)

    def __init__(self, learning_rate, initial_accumulator_value=0.1, use_locking=False, name="Adagrad"):
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate, self._start = learning_rate, initial_accumulator_value

    def _start_of(self, name):
        return self._start

    def _step(self, value, grad, slots, get):
        squares = slots[0] + grad * grad
        return value - get(self._learning_rate) * grad * ops.rsqrt(squares), [squares]


class AdadeltaOptimizer(RowOptimizer):
    """Step against the gradient, in units of earlier steps.

    Parameters
    ----------
    learning_rate, rho, epsilon : Union[float, Tensor, Callable], optional
        The length of steps, how much of the past stays, and what keeps quotients finite.
    use_locking, name : Any, optional
        See `Optimizer`.

    """

    SLOTS = (("accum", 0), ("accum_update", 0))

    def __init__(self, learning_rate=0.001, rho=0.95, epsilon=1e-8, use_locking=False, name="Adadelta"):
        super().__init__(use_locking, name)
        self._lr, self._rho, self._epsilon = learning_rate, rho, epsilon

    def _step(self, value, grad, slots, get):
        rate, keep, small = get(self._lr), get(self._rho), get(self._epsilon)
        squares = slots[0] * keep + grad * grad * (1 - keep)
        along = ops.sqrt(slots[1] + small) * ops.rsqrt(squares + small) * grad
        return value - rate * along, [squares, slots[1] * keep + along * along * (1 - keep)]


class RMSPropOptimizer(RowOptimizer):
    """Step against the gradient over the root of a running mean of squares.

    Parameters
    ----------
    learning_rate, decay, momentum, epsilon : Union[float, Tensor, Callable]
        The length of steps, how much of the mean stays, of the last step, and what keeps quotients finite.
    use_locking, name : Any, optional
        See `Optimizer`.
    centered : bool, optional, default=False
        Whether the square of the running mean is taken off.

    """

    SLOTS = (("rms", 1), ("momentum", 0), ("mg", 0))

    def __init__(self, learning_rate, decay=0.9, momentum=0.0, epsilon=1e-10, use_locking=False, centered=False,
                 name="RMSProp"):
        super().__init__(use_locking, name)
        self._learning_rate, self._decay, self._momentum = learning_rate, decay, momentum
        self._epsilon, self._centered = epsilon, centered
        self.SLOTS = RMSPropOptimizer.SLOTS if centered else RMSPropOptimizer.SLOTS[:2]

    def _step(self, value, grad, slots, get):
        keep, small = get(self._decay), get(self._epsilon)
        squares = slots[0] * keep + grad * grad * (1 - keep)
        means = [slots[2] * keep + grad * (1 - keep)] if self._centered else []
        spread = squares - means[0] * means[0] if means else squares
        step = slots[1] * get(self._momentum) + get(self._learning_rate) * grad * ops.rsqrt(spread + small)
        return value - step, [squares, step, *means]


class AdamOptimizer(Optimizer):
    """Step along running means of gradients over the roots of running means of squares.

    Parameters
    ----------
    learning_rate, beta1, beta2, epsilon : Union[float, Tensor, Callable], optional
        The length of steps, how much of both means stays, and what keeps quotients finite.
    use_locking, name, use_own_namescope_for_non_slot_vars : Any, optional
        See `Optimizer`.

    """

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, use_locking=False, name="Adam",
                 use_own_namescope_for_non_slot_vars=False):
        super().__init__(use_locking, name)
        self._lr, self._beta1, self._beta2, self._epsilon = learning_rate, beta1, beta2, epsilon

    def _create_slots(self, var_list):
        for name, beta in (("beta1_power", self._beta1), ("beta2_power", self._beta2)):
            self._create_non_slot_variable(ops.cast(convert_to_tensor(self._call_if_callable(beta)), "float32"), name,
                                           var_list[0])
        for variable in var_list:
            for slot in ("m", "v"):
                self._zeros_slot(variable, slot, self._name)

    def _resource_apply_dense(self, grad, handle):
        m, v = self.get_slot(handle, "m"), self.get_slot(handle, "v")
        first, second, rate, small = (self._setting(one, handle) for one in (self._beta1, self._beta2, self._lr,
                                                                             self._epsilon))
        powers = [ops.cast(self._others[name].value(), handle.dtype) for name in ("beta1_power", "beta2_power")]
        rate = rate * ops.sqrt(1 - powers[1]) / (1 - powers[0])
        m.assign(m.value() * first + grad * (1 - first))
        v.assign(v.value() * second + grad * grad * (1 - second))
        handle.assign_sub(rate * m.value() / (ops.sqrt(v.value()) + small))

    def _finish(self, update_ops, name_scope):
        for name, beta in (("beta1_power", self._beta1), ("beta2_power", self._beta2)):
            power = self._others[name]
            power.assign(power.value() * self._setting(beta, power))
