"""What variables are to each replica: one memory for all, until replicas write different values into it.

A variable is one tensor of the engine whoever looks at it. As replicas take turns, a variable of which each has its own
value gets the memory of the one whose turn it is; between the turns it is what the program sees of all: the first
replica's value, or the sum or mean of all for variables that meet when they are read. Where replicas are on devices of
different memories, all other variables have a copy on each, which is made anew when the first device's has changed.
"""
from dragon.core import modes
from dragon.core.scopes import ExitStack
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


def _state(value):
    """Return what differs once a tensor that is held has been written."""
    return value.storage_ptr, value._version


class _Parts:
    """The memory of a variable for each replica."""

    def __init__(self, values):
        self.values, self.shown = values, None
        self.begun = None  # what there was when the turn began


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
    devices : Sequence[Device], optional
        The device of each replica; one for all by default.

    """

    def __init__(self, count, join, total, devices=None):
        self.count, self.join, self._total = count, join, total
        self._devices = list(devices) if devices and len(set(devices)) > 1 else None
        self._homes, self._copies = IdentityDictionary(), {}  # what the first device has; what others have of it
        # Whether what a turn has not written is seen to be as it was, and not joined: graphs write unseen. Of models
        # that nobody holds, the variables are gone in one process sooner than in another.
        self.sees_writes = False
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
            self._homes.set(variable, None)
            self._parts.set(variable, _Parts(self._for_each(variable.data)))

    def placed(self, value, number):
        """Return a value on the device of a replica."""
        if self._devices is None or value.device == self._devices[number]:
            return value
        return ops.to_device(value, self._devices[number].engine_name)

    def _for_each(self, value):
        return [self.placed(value, number) for number in range(self.count)]

    def sum_all(self, lists, variables=()):
        """Return the sums, over all replicas, of the first tensors, of the second ones, and so on.

        Parameters
        ----------
        lists : Sequence[Sequence[Tensor]]
            The tensors of each replica.
        variables : Sequence[Variable], optional
            Whose gradients they are: those of variables that are cut are added up by who has the same part.

        """
        cuts = [getattr(variable, "cut", None) for variable in variables] or [None] * len(lists[0])
        return [self.join("sum", list(column)) if cut is None else cut.sum_alike(column[0])
                for cut, column in zip(cuts, zip(*lists))]

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
            return [variable] * self.count if self._devices is None else self._for_each(variable)
        if self._turn is None:
            self._note_writes(variable, found)
        return list(found.values)

    def switch(self, turn):
        """Have variables be those of one replica, or with None those of all."""
        if turn == self._turn:
            return
        before, self._turn = self._turn, turn
        variables = self._parts.keys()
        if not variables and self._devices is None:
            return
        with ExitStack() as exits:
            exits.switch(modes.set_recording, False)
            if self._devices is not None:
                self._travel(turn or 0)
            for variable in variables:
                parts = self._parts.get(variable)
                if before is not None:
                    parts.values[before] = variable.data
                else:
                    self._note_writes(variable, parts)
                if turn is not None:
                    self._put(variable, parts.values[turn])
                    parts.begun = _state(variable)
                else:
                    if not self.sees_writes or parts.shown is None or parts.begun != _state(variable):
                        parts.shown = self._seen(variable, parts)
                    self._put(variable, parts.shown)

    def _travel(self, number):
        """Have variables of which all replicas have one value be on the device of a replica."""
        for variable in self._made.keys():
            if self._parts.get(variable) is not None:
                continue
            home = self._homes.get(variable)
            if home is not None:  # it is away
                self._put(variable, home)
                self._homes.set(variable, None)
            if variable.device == self._devices[number]:
                continue
            self._homes.set(variable, variable.data)
            self._put(variable, self._copy(variable, number))

    def _copy(self, variable, number):
        """Return the numbers of a variable on the device of a replica."""
        key = id(variable), self._devices[number].engine_name
        home = variable.data
        state = _state(home)
        if key not in self._copies or self._copies[key][0] != state:
            self._copies[key] = state, home, self.placed(home, number)  # while it is held, nobody else is at its place
        return self._copies[key][2]

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
        return self.join(rule, parts.values)  # where the first replica is

    def _note_writes(self, variable, parts):
        """Give replicas what the program has written for all: each an equal part of what will be added up."""
        if parts.shown is None or parts.shown.storage_ptr == variable.storage_ptr:
            return
        value = variable.data
        if meets_when_read(variable) and aggregation_of(variable) == "sum":
            value = ops.cast(ops.div(value, self._total), value.dtype)
        parts.values, parts.shown = self._for_each(value), variable.data
