"""What variables are to each replica: one memory for all, until replicas write different values into it.

A variable is one tensor of the engine whoever looks at it. As replicas take turns, a variable of which each has its own
value gets the memory of the one whose turn it is; between the turns it is what the program sees of all: the first
replica's value, or the sum or mean of all for variables that meet when they are read.
"""
from dragon.core import modes
from dragon.vm.shared.strategies import local
from dragon.vm.shared.tensors.tensor import IdentityDictionary, ops


def _word(value):
    """Return a rule, TensorFlow's or Keras's, in small letters."""
    return str(getattr(value, "name", value) or "none").lower()


def aggregation_of(variable):
    """Return what becomes of several values: "none", "mean", "sum" or "only_first_replica"."""
    return _word(getattr(variable, "aggregation", None))


def meets_when_read(variable):
    """Return whether replicas' values meet when the variable is read, rather than when it is written."""
    return _word(getattr(variable, "synchronization", None)) == "on_read"


class _Parts:
    """The memory of a variable for each replica."""

    def __init__(self, variable, count):
        self.values, self.shown = [variable.data] * count, None


class Memory:
    """The memories of a strategy's variables.

    Parameters
    ----------
    count : int
        How many replicas there are in this process.
    join : Callable[[str, List[Tensor]], Tensor]
        Makes one value of those of all replicas, here and elsewhere: "sum" or "mean".
    total : int
        How many replicas there are in all processes.

    """

    def __init__(self, count, join, total):
        self.count, self.join, self._total = count, join, total
        self._made, self._parts, self._turn = IdentityDictionary(), IdentityDictionary(), None

    def note(self, variable):
        """Remember a variable as the strategy's."""
        self._made.set(variable, True)

    def has(self, variable):
        """Return whether a variable is the strategy's."""
        return self._made.get(variable, False)

    def joins(self, variable):
        """Return whether what replicas write into a variable becomes one value at once."""
        return (self.has(variable) and aggregation_of(variable) != "none"
                and not meets_when_read(variable))

    def own(self, variable):
        """Have a variable be each replica's own from now on, if it is the strategy's."""
        if self.has(variable) and self._parts.get(variable) is None:
            self._parts.set(variable, _Parts(variable, self.count))

    def sum_all(self, lists):
        """Return the sums, over all replicas, of the first tensors, of the second ones, and so on."""
        return [self.join("sum", list(column)) for column in zip(*lists)]

    def write_together(self, variable, verb, value):
        """Write what becomes of all replicas' values, once, by a method of the variable; return what it is called with.

        Parameters
        ----------
        variable : Base
            A variable that `joins`.
        verb : str
            "assign", "assign_add" or "assign_sub".
        value : Tensor
            This replica's value.

        """
        def write(values):
            rule = aggregation_of(variable)
            joined = values[0] if rule == "only_first_replica" else self.join(rule, values)
            getattr(variable, verb)(joined)
            return [joined] * self.count
        return local.replica.merge(write, value)

    def parts(self, variable):
        """Return the value of each replica."""
        found = self._parts.get(variable)
        if found is None:
            return [variable] * self.count
        if self._turn is None:
            self._note_writes(variable, found)
        return list(found.values)

    def switch(self, turn):
        """Have variables be those of one replica, or with None those of all."""
        if turn == self._turn:
            return
        before, self._turn = self._turn, turn
        variables = self._parts.keys()
        if not variables:
            return
        recording = modes.set_recording(False)
        try:
            for variable in variables:
                parts = self._parts.get(variable)
                if before is not None:
                    parts.values[before] = variable.data
                else:
                    self._note_writes(variable, parts)
                if turn is not None:
                    self._put(variable, parts.values[turn])
                else:
                    parts.shown = self._seen(variable, parts)
                    self._put(variable, parts.shown)
        finally:
            modes.set_recording(recording)

    @staticmethod
    def _put(variable, value):
        asks = variable.requires_grad
        variable.data = value
        if asks != variable.requires_grad:
            variable.requires_grad = asks

    def _seen(self, variable, parts):
        """Return what the program sees of all values; a part itself where it is one of them."""
        rule = aggregation_of(variable)
        if not meets_when_read(variable) or rule in ("none", "only_first_replica"):
            return parts.values[0]
        return self.join(rule, parts.values)

    def _note_writes(self, variable, parts):
        """Give replicas what the program has written for all: each an equal part of what will be added up."""
        if parts.shown is None or parts.shown.storage_ptr == variable.storage_ptr:
            return
        value = variable.data
        if meets_when_read(variable) and aggregation_of(variable) == "sum":
            value = ops.cast(ops.div(value, self._total), value.dtype)
        parts.values, parts.shown = [value] * self.count, variable.data
