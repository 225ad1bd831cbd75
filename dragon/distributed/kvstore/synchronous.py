"""Values that all processes have: a push waits for those of all, so that all apply the same sum."""
from dragon import ops
from dragon.distributed.group import default_group
from dragon.distributed.kvstore.local import LocalKVStore
from dragon.distributed.kvstore.rows import Rows
from dragon.distributed.meeting import join_world, world
from dragon.tensor import tensor


def group_of(group):
    """Return the group that is meant, the world's by default, which is joined if nobody has."""
    return group or default_group() or world() or join_world()


class SynchronousKVStore(LocalKVStore):
    """Values by key in several processes; each holds all of them, and pulls cost nothing.

    The sum over the processes has the same bits in all of them, so an optimizer that draws no random numbers leaves
    the same values everywhere. All processes push the same keys in the same order; who does not is told by name.

    Parameters
    ----------
    kind : str, optional, default="dist_sync"
        The kind's name; with "device" in it, sums are made where the first tensor is.
    group : ProcessGroup, optional
        The processes; those of the world by default.

    """

    def __init__(self, kind="dist_sync", group=None):
        super().__init__(kind)
        self.group = group_of(group)

    rank = property(lambda self: self.group.rank, doc="int: this worker's number.")
    num_workers = property(lambda self: self.group.size, doc="int: how many workers there are.")

    def _together(self, operator, *args):
        return operator(args[0], self.group.number, *args[1:])

    def _begin(self, key, value):
        return self._together(ops.broadcast_from, value, 0)

    def _reduced(self, key, merged, stored):
        if self.group.size == 1 and self._compression is None:
            return merged
        dense = self._together(ops.all_reduce, tensor([int(not isinstance(merged, Rows))]), "sum")
        if int(dense[0]) == 0:
            return self._gathered(merged)
        merged = merged.whole(stored) if isinstance(merged, Rows) else merged
        if self._compression is None:
            return self._together(ops.all_reduce, ops.contiguous(merged), "sum")
        data = self._compression.encode(key, merged)
        parts = ops.reshape(self._together(ops.all_gather, data), (self.group.size, -1))
        found = self._compression.decode(parts[0], stored)
        for rank in range(1, self.group.size):
            found = ops.add(found, self._compression.decode(parts[rank], stored))
        return found

    def _gathered(self, rows):
        """Return the rows of all processes, which may be more in one than in another."""
        counts = self._together(ops.all_gather, tensor([len(rows.indices)])).tolist()
        missing = max(counts) - len(rows.indices)
        shape = tuple(rows.values.shape[1:])
        indices = ops.cat([rows.indices, ops.full((missing,), 0, dtype="int64")])
        values = ops.cat([rows.values, ops.full((missing, *shape), 0, dtype=rows.values.dtype)])
        indices = ops.reshape(self._together(ops.all_gather, indices), (len(counts), -1))
        values = ops.reshape(self._together(ops.all_gather, values), (len(counts), max(counts), *shape))
        return Rows(ops.cat([indices[rank][:count] for rank, count in enumerate(counts)]),
                    ops.cat([values[rank][:count] for rank, count in enumerate(counts)])).merged()

    def barrier(self):
        """Return once all workers have called this."""
        self.group.barrier()
