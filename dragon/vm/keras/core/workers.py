"""Processes that each have a replica, or several, and meet in shared memory, or by MPI."""
from dragon.distributed.carrying import find_carry
from dragon.distributed.group import ProcessGroup
from dragon.distributed.stores.prefix import PrefixStore
from dragon.distributed.stores.tcp import TCPStore
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.tensor import ops

_groups = {}  # a process meets the others once, whatever strategies it makes


class Workers:
    """This process alone, or several.

    Parameters
    ----------
    addresses : Sequence[str], optional
        The addresses of all, in order; the first one's port is where they meet.
    index : int, optional, default=0
        Which one this is.

    """

    def __init__(self, addresses=(), index=0):
        self.size, self.index = max(len(addresses), 1), index
        self.group = _meet(tuple(addresses), index) if self.size > 1 else None
        self._parts = {}  # groups of some of the processes, by who they are

    def _call(self, operator, *args):
        return operator(args[0], self.group.number, *args[1:])

    def sum(self, value):
        """Return the sum of all processes' values."""
        return self._call(ops.all_reduce, ops.contiguous(value), "sum")

    def group_of(self, ranks):
        """Return the group of some of the processes, among which this one is; all of them ask for it at once."""
        key = tuple(ranks)
        if key == tuple(range(self.size)):
            return self.group
        if key not in self._parts:
            store = PrefixStore(f"part {' '.join(map(str, key))}/", self.group.store)
            self._parts[key] = ProcessGroup(store, key.index(self.index), len(key), ranks=key, carry=self.group.carry)
        return self._parts[key]

    def gather(self, value, axis, order=None):
        """Return all processes' values along an axis, in the order of processes or another; sizes may differ."""
        if self.size == 1:
            return value
        rows = ops.contiguous(ops.movedim(value, axis, 0))
        sizes = self._call(ops.all_gather, convert_to_tensor([int(rows.shape[0])])).numpy().tolist()
        missing = max(sizes) - int(rows.shape[0])
        padding = ops.zeros((missing, *map(int, rows.shape[1:])), dtype=rows.dtype)
        together = self._call(ops.all_gather, ops.cat([rows, padding]))
        parts = [together[number * max(sizes):number * max(sizes) + size] for number, size in enumerate(sizes)]
        return ops.movedim(ops.cat(parts if order is None else [parts[number] for number in order]), 0, axis)

    def make_equal(self, variable):
        """Give a variable the value that the first process has."""
        value = self.of_first(variable.data)
        if self.index:
            variable.assign(value)

    def of_first(self, value):
        """Return the value that the first process has."""
        return self._call(ops.broadcast_from, ops.contiguous(value), 0)


def _meet(addresses, index):
    if (addresses, index) not in _groups:
        host, _, port = addresses[0].rpartition(":")
        store = TCPStore(host.strip("[]"), int(port), index == 0, 300.0)
        carry = find_carry(store, index, len(addresses), store.host)
        _groups[addresses, index] = ProcessGroup(store, index, len(addresses), carry=carry)
    return _groups[addresses, index]
