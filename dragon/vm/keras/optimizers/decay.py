"""Weight decay, and what is left out of it."""
import re

from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.optimizers.memory import numbers_of


class WeightDecay:
    """The part of optimizers that takes a share of variables away."""

    def exclude_from_weight_decay(self, var_list=None, var_names=None):
        """Leave variables out of weight decay; to be called before the optimizer is built.

        Parameters
        ----------
        var_list : Optional[Sequence[Variable]], optional
            The variables.
        var_names : Optional[Sequence[str]], optional
            Patterns; a variable in whose name one is found is left out.

        """
        self._exclude_from_weight_decay = {self._var_key(variable) for variable in var_list or ()}
        self._exclude_from_weight_decay_pattern = re.compile("|".join(set(var_names))) if var_names else None

    def _use_weight_decay(self, variable):
        pattern = getattr(self, "_exclude_from_weight_decay_pattern", None)
        return (self._var_key(variable) not in getattr(self, "_exclude_from_weight_decay", ())
                and (pattern is None or pattern.search(variable.name) is None))

    def _decay_of(self, variable):
        """Return what share of a variable, times the rate, is taken away; None for nothing."""
        return self.weight_decay if self.weight_decay is not None and self._use_weight_decay(variable) else None

    def _apply_weight_decay(self, variables):
        for variable in variables:
            share = self._decay_of(variable)
            if share is not None:
                value = numbers_of(variable)
                rate = convert_to_tensor(self.learning_rate, dtype=value.dtype)
                self._put(variable, value - value * (share * rate))
