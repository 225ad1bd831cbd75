"""Losses of half precision, scaled so that gradients do not vanish."""
import math

from dragon.core.capture.settings import is_capturing
from dragon.core.modes import no_grad
from dragon.vm.keras.core import scopes
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.dtypes import standardize_dtype
from dragon.vm.keras.core.registry import serialize, with_objects
from dragon.vm.keras.optimizers.optimizer import SHARED, Optimizer
from dragon.vm.shared import strategies
from dragon.vm.shared.letters import expect
from dragon.vm.shared.tensors.slices import whole_all
from dragon.vm.shared.tensors.tensor import ops


class LossScaleOptimizer(Optimizer):
    """Another optimizer, with a scale of the loss that adapts: halved by gradients that overflow, else doubled.

    Parameters
    ----------
    inner_optimizer : Optimizer
        What updates the variables, of steps whose gradients are finite.
    initial_scale : float, optional, default=32768.0
        What the loss is first multiplied with.
    dynamic_growth_steps : int, optional, default=2000
        After how many steps without overflow the scale is doubled.
    name : str, optional
        What it is called in its variables' paths.

    """

    def __init__(self, inner_optimizer, initial_scale=2.0 ** 15, dynamic_growth_steps=2000, name=None, **kwargs):
        if not kwargs.pop("dynamic", True):
            raise ValueError("LossScaleOptimizer no longer supports `dynamic=False`. Instead, simply set "
                             "`loss_scale_factor` directly on the `inner_optimizer`. Received: dynamic=False")
        for argument, default in SHARED.items():
            if argument in kwargs and (value := kwargs.pop(argument)) != default:
                raise ValueError(f"LossScaleOptimizer does not support `{argument}`. Instead, set `{argument}` on the "
                                 f"`inner_optimizer`. Received: {argument}={value}")
        if kwargs:
            raise ValueError(f"LossScaleOptimizer does not support arguments: `{'`, `'.join(kwargs)}`. "
                             f"Received: {kwargs}")
        super().__init__(learning_rate=0.0, name=name)
        self.inner_optimizer = expect(inner_optimizer, Optimizer, "LossScaleOptimizer", "inner_optimizer")
        self.initial_scale, self.dynamic_growth_steps = initial_scale, dynamic_growth_steps
        self.inner_optimizer.loss_scale_factor = None

    def build(self, var_list):
        """Make the scale, and the inner optimizer's states."""
        from dragon.vm.keras.initializers import Constant

        self.step_counter = self.add_variable(shape=(), dtype="int", initializer="zeros", name="step_counter")
        self.dynamic_scale = self.add_variable(shape=(), dtype="float32", initializer=Constant(self.initial_scale),
                                               name="dynamic_scale")
        self.inner_optimizer.build(var_list)
        super().build(var_list)

    def _heeds_gate(self):
        return True

    variables = property(lambda self: [*self._variables, *self.inner_optimizer.variables],
                         doc="The scale and its count of steps, then the inner optimizer's variables.")

    def apply(self, grads, trainable_variables=None):
        """Update variables where all gradients are finite; then the scale."""
        if not self.built:
            with scopes.name_scope(self.name, caller=self):
                self.build(list(trainable_variables))
            self.built = True
        with no_grad():
            grads = whole_all(grads)
            finite = _agreed(self.check_finite(grads))
            variables = trainable_variables or self._trainable_variables
            scale = self.dynamic_scale.value
            grads = [gradient if gradient is None or getattr(variable, "overwrite_with_gradient", False)
                     else gradient / ops.cast(scale, gradient.dtype) for gradient, variable in zip(grads, variables)]
            inner = self.inner_optimizer
            if is_capturing():
                with inner._writing_if(finite):
                    inner.apply(grads, trainable_variables)
            elif bool(finite):
                inner.apply(grads, trainable_variables)
            self._update_scale(finite)

    def _update_scale(self, finite):
        grown = self.step_counter.value == self.dynamic_growth_steps - 1
        scale = self.dynamic_scale.value
        self.assign(self.dynamic_scale, scale * ops.where(finite, ops.where(grown, 2.0, 1.0), 0.5))
        ends = ops.logical_or(grown, ops.logical_not(finite))
        self.assign(self.step_counter, ops.where(ends, 0, self.step_counter.value + 1))

    def check_finite(self, grads):
        """Return whether all numbers of gradients are finite, as a tensor."""
        kinds = {}
        for gradient in grads:
            if gradient is not None:
                gradient = convert_to_tensor(gradient)
                kinds.setdefault(standardize_dtype(gradient.dtype), []).append(gradient)
        # The largest magnitudes of all gradients come from one sweep, and are as finite as the gradients.
        finite = [ops.all(ops.isfinite(ops.foreach_norm(tensors, math.inf))) for tensors in kinds.values()]
        return finite[0] if len(finite) == 1 else ops.all(ops.stack(finite)) if finite else convert_to_tensor(True)

    @property
    def learning_rate(self):
        """The inner optimizer's rate."""
        return self.inner_optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, learning_rate):
        self.inner_optimizer.learning_rate = learning_rate

    iterations = property(lambda self: self.inner_optimizer.iterations, doc="The inner optimizer's count of updates.")

    def scale_loss(self, loss):
        """Return a loss times the scale."""
        return loss * (self.dynamic_scale.value if self.built else self.initial_scale)

    def finalize_variable_values(self, var_list):
        """Put the inner optimizer's averages in the place of variables, if it keeps them."""
        self.inner_optimizer.finalize_variable_values(var_list)

    def get_config(self):
        return {"name": self.name, "inner_optimizer": serialize(self.inner_optimizer),
                "initial_scale": self.initial_scale, "dynamic_growth_steps": self.dynamic_growth_steps}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = with_objects(config, "inner_optimizer", custom_objects)
        return cls(config.pop("inner_optimizer"), **config)


def _agreed(finite):
    """Return whether gradients are finite in all processes that compute as one: none of them steps alone."""
    if not strategies.as_one():
        return finite
    return strategies.local.replica.memory.join("sum", [ops.cast(ops.logical_not(finite), "int32")]) == 0
