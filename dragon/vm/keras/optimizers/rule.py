"""What the optimizers known by name share: numbers of a step are made once, then a formula updates each variable."""
import inspect

from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.optimizers.memory import dtype_of, numbers_of
from dragon.vm.keras.optimizers.optimizer import Optimizer
from dragon.vm.shared.tensors.tensor import ops

_SHARED = [parameter for name, parameter in inspect.signature(Optimizer.__init__).parameters.items()
           if name not in ("self", "learning_rate")]


def with_shared_arguments(initialize):
    """Let a signature tell by name what `*shared` and `**named` stand for: the arguments all optimizers have."""
    own = [parameter for parameter in inspect.signature(initialize).parameters.values()
           if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
    given = {parameter.name for parameter in own}
    initialize.__signature__ = inspect.Signature(own + [other for other in _SHARED if other.name not in given])
    return initialize


def is_swept(variable):
    """Tell whether the engine's sweeps over many variables take this one; they read their numbers on the host."""
    return dtype_of(variable) in ("float32", "float64") and variable.device.type == "cpu"


class Rule(Optimizer):
    """Base of optimizers with a formula: subclasses write `_numbers` and `_change`, and take what is their own."""

    def build(self, variables):
        if not self.built:
            super().build(variables)
            self._add_states(variables)

    def _add_states(self, variables):
        """Make what the formula remembers of each variable."""

    def _numbers(self, rate, dtype):
        """Return what a step's formula needs that is the same for all variables of a dtype; the rate by default."""
        return (rate,)

    def _change(self, gradient, variable, value, index, *numbers):
        """Write the new value of a variable, and its states.

        Parameters
        ----------
        gradient : Tensor
            The gradient, of the variable's dtype.
        variable : Variable
            What is written to.
        value : Tensor
            What the variable is.
        index : int
            Where its states are.
        *numbers : Tensor
            What `_numbers` returned.

        """
        raise NotImplementedError(f"{type(self).__name__}: an optimizer with a formula needs a method _change")

    def _step(self, dtype, ahead=1):
        """Return the number of this update, or of one further ahead, as a float."""
        return ops.cast(numbers_of(self.iterations) + ahead, dtype)

    def update_step(self, gradient, variable, learning_rate):
        """Update one variable.

        Parameters
        ----------
        learning_rate : Union[Variable, Tensor, float]
            The rate of now.

        """
        self._update_one(gradient, variable, learning_rate, {})

    def _update_one(self, gradient, variable, learning_rate, numbers):
        dtype = dtype_of(variable)
        if dtype not in numbers:
            numbers[dtype] = self._numbers(numbers_of(convert_to_tensor(learning_rate, dtype=dtype)), dtype)
        self._change(convert_to_tensor(gradient, dtype=dtype), variable, numbers_of(variable),
                     self._get_variable_index(variable), *numbers[dtype])

    def _has_own_formula(self):
        """Tell whether no user's class stands in front of the formula."""
        return type(self).update_step is Rule.update_step

    _heeds_gate = _has_own_formula

    def _can_sweep(self, formula, variables):
        """Tell whether one call of the engine may do for all variables what a class's formula says."""
        return (self._gate is None and type(self)._change is formula and self._has_own_formula()
                and all(is_swept(variable) for variable in variables))

    def _backend_update_step(self, grads, variables, learning_rate):
        if not self._has_own_formula():
            return super()._backend_update_step(grads, variables, learning_rate)
        numbers = {}
        for gradient, variable in zip(grads, variables):
            self._update_one(gradient, variable, learning_rate, numbers)
        return None

    def _move(self, kept, towards, share):
        """Move a state a share of the way towards a value; return where it then is."""
        before = numbers_of(kept)
        moved = before + (towards - before) * share
        self._put(kept, moved)
        return moved
