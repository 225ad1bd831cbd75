"""Variables that are read from, and written to, elsewhere than in themselves."""
from dragon.core.scopes import Scope
from dragon.vm.keras.core import global_state
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.variable import Variable


class StatelessScope(Scope):
    """Read variables from a mapping and write them to it, and leave the variables themselves alone.

    Parameters
    ----------
    state_mapping : Sequence[Tuple[Variable, Tensor]], optional
        Pairs of a variable and what it shall be.
    collect_losses : bool, optional, default=False
        Whether losses that layers add are kept in `losses`.
    initialize_variables : bool, optional, default=True
        Accepted; variables made within have their values at once.

    """

    def __init__(self, state_mapping=None, collect_losses=False, initialize_variables=True):
        self.collect_losses, self.initialize_variables = collect_losses, initialize_variables
        self.losses, self.state_mapping = [], {}
        for variable, value in state_mapping or ():
            if not isinstance(variable, Variable):
                raise ValueError("Invalid reference variable in StatelessScope: all keys in argument `mapping` must be "
                                 f"Variable instances. Received instead: {variable}")
            value = convert_to_tensor(value, dtype=variable._dtype)
            if variable.shape != tuple(value.shape):
                raise ValueError("Invalid variable value in StatelessScope: all values in argument `mapping` must be "
                                 "tensors with a shape that matches the corresponding variable shape. For variable "
                                 f"{variable}, received invalid value {value} with shape {tuple(value.shape)}.")
            self.state_mapping[id(variable)] = value

    def _enter_scope(self, exits):
        """Hold values from now on."""
        global_state.set_within(exits, "stateless_scope", self)
        return self

    def add_loss(self, loss):
        """Keep a loss."""
        self.losses.append(loss)

    def add_update(self, update):
        """Take a pair of a variable and its new value."""
        variable, value = update
        self.state_mapping[id(variable)] = value

    def get_current_value(self, variable):
        """Return what a variable is within the scope, or None if the scope knows nothing of it."""
        return self.state_mapping.get(id(variable))
