"""`tf.train.ExponentialMovingAverage`: averages of variables beside them."""
from dragon.core.modes import no_grad
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.tensor import IdentityDictionary, ops
from dragon.vm.shared.tensors.variable import Variable
from dragon.vm.tensorflow.core.checkpoint.trackable import is_variable


class ExponentialMovingAverage:
    """Averages in which older values fade.

    Parameters
    ----------
    decay : float
        How much of the average stays at each step.
    num_updates : int, optional
        With so many updates so far, less may stay: (1 + n) / (10 + n).
    zero_debias : bool, optional, default=False
        Must be False.
    name : str, optional, default="ExponentialMovingAverage"
        What the averages' names end in.

    """

    def __init__(self, decay, num_updates=None, zero_debias=False, name="ExponentialMovingAverage"):
        if zero_debias:
            raise NotImplementedError("ExponentialMovingAverage: zero_debias is not supported. Received: "
                                      f"zero_debias={zero_debias}")
        self._decay, self._updates, self._name = decay, num_updates, name
        self._averages = IdentityDictionary()

    name = property(lambda self: self._name, doc="str: what the averages' names end in.")

    def apply(self, var_list=None):
        """Take the variables' values into their averages."""
        if var_list is None:
            raise ValueError("ExponentialMovingAverage.apply: var_list must be given when executing eagerly. Received: "
                             "var_list=None")
        decay = convert_to_tensor(self._decay, "float32")
        if self._updates is not None:
            count = ops.cast(convert_to_tensor(self._updates), "float32")
            decay = ops.minimum(decay, (1.0 + count) / (10.0 + count))
        with no_grad():
            for variable in var_list:
                if not is_variable(variable):
                    raise TypeError(f"The variables must be variables when executing eagerly. Received: {variable!r}")
                average = self._averages.get(variable)
                if average is None:
                    average = Variable(variable, trainable=False, name=f"{variable._name}/{self._name}")
                    self._averages.set(variable, average)
                average.assign_sub((average - variable) * ops.cast(1.0 - decay, variable.dtype))

    def average(self, var):
        """Return the variable with a variable's average, or None."""
        return self._averages.get(var)

    def average_name(self, var):
        """Return the name of a variable's average."""
        return f"{var._name}/{self._name}"

    def variables_to_restore(self, moving_avg_variables=None):
        """Return {name of the average: variable}."""
        return {self.average_name(variable): variable for variable in self._averages.keys()}
