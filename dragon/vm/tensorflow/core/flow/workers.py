"""The processes of a strategy: told by the environment variable TF_CONFIG, met in shared memory."""
import json
import os

from dragon.distributed.group import ProcessGroup
from dragon.distributed.stores.tcp import TCPStore
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.tensor import ops

ORDER = ("chief", "master", "worker")  # of jobs that train, the first task first
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

    def _call(self, operator, *args):
        return operator(args[0], self.group.number, *args[1:])

    def sum(self, value):
        """Return the sum of all processes' values."""
        return self._call(ops.all_reduce, ops.contiguous(value), "sum")

    def gather(self, value, axis):
        """Return all processes' values one after the other along an axis; they may differ in its size."""
        if self.size == 1:
            return value
        rows = ops.contiguous(ops.movedim(value, axis, 0))
        sizes = self._call(ops.all_gather, convert_to_tensor([int(rows.shape[0])])).numpy().tolist()
        missing = max(sizes) - int(rows.shape[0])
        padding = ops.zeros((missing, *map(int, rows.shape[1:])), dtype=rows.dtype)
        together = self._call(ops.all_gather, ops.cat([rows, padding]))
        parts = [together[number * max(sizes):number * max(sizes) + size] for number, size in enumerate(sizes)]
        return ops.movedim(ops.cat(parts), 0, axis)

    def make_equal(self, variable):
        """Give a variable the value that the first process has."""
        value = self._call(ops.broadcast_from, ops.contiguous(variable.data), 0)
        if self.index:
            variable.assign(value)


def _meet(addresses, index):
    if (addresses, index) not in _groups:
        host, _, port = addresses[0].rpartition(":")
        store = TCPStore(host.strip("[]"), int(port), index == 0, 300.0)
        _groups[addresses, index] = ProcessGroup(store, index, len(addresses))
    return _groups[addresses, index]


def told(resolver=None):
    """Return (addresses of all that train, which one this process is, the kind of its task), as a cluster is told.

    Parameters
    ----------
    resolver : ClusterResolver, optional
        Who tells it; the environment variable `TF_CONFIG` by default.

    """
    if resolver is not None:
        cluster = resolver.cluster_spec().as_dict()
        kind, number = resolver.task_type, resolver.task_id
    else:
        try:
            config = json.loads(os.environ.get("TF_CONFIG") or "{}")
        except ValueError as error:
            raise ValueError(f"TF_CONFIG: got {os.environ['TF_CONFIG']!r}, expected JSON ({error})") from None
        cluster, task = config.get("cluster", {}), config.get("task", {})
        kind, number = task.get("type"), task.get("index", 0)
    places = [(job, index, address) for job in ORDER for index, address in enumerate(cluster.get(job, ()))]
    if len(places) < 2:
        return [address for _, _, address in places], 0, kind
    mine = [at for at, (job, index, _) in enumerate(places) if (job, index) == (kind, int(number or 0))]
    if not mine:
        raise ValueError(f"TF_CONFIG: got the task {kind!r} {number!r}, expected one of the cluster's that train: "
                         f"{[(job, index) for job, index, _ in places]}")
    return [address for _, _, address in places], mine[0], kind
