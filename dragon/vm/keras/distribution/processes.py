"""The processes of `keras.distribution`: each computes its part of a batch, and together what one would compute."""
import contextlib

from dragon.core.capture import settings
from dragon.core.scopes import contextmanager
from dragon.vm.keras.core import global_state, tree
from dragon.vm.keras.core.variable import Variable
from dragon.vm.shared import strategies
from dragon.vm.shared.replicas.memory import Memory
from dragon.vm.shared.replicas.turns import Team
from dragon.vm.keras.core.workers import Workers
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.tensor import as_tensor, ops

WORKERS = "distribution_workers"


def workers():
    """Return the processes that `initialize` has made this one a part of, or None."""
    return global_state.get_global_attribute(WORKERS)


def join(addresses, number):
    """Meet the other processes at the first one's address; returns when all are there."""
    global_state.set_global_attribute(WORKERS, Workers(addresses, number))


class Together:
    """A replica in each process, as steps of models see them.

    Parameters
    ----------
    rules : Distribution
        Where variables and data lie.
    grid : Grid
        Which process has which part of the mesh; None where each has devices here and there.

    """

    is_spread = True
    is_elsewhere, local_count = False, 1

    def __init__(self, rules, grid):
        self._rules, self._grid, self._workers, self._cuts = rules, grid, workers(), False
        self.reads_own = not rules.auto_shard_dataset  # rather than all of them the same, of which each takes a part
        self.memory = Memory(1, self._join, self.num_replicas_in_sync)
        # Processes meet for what a step has written, not for what is alive: garbage goes at times of their own.
        self.memory.sees_writes = True
        self.team = Team(1, self.memory, lambda: contextlib.nullcontext)
        with strategies.unwatched():
            self._share = Variable(1.0 / self.num_replicas_in_sync, dtype="float32", trainable=False, name="share")

    num_replicas_in_sync = property(lambda self: self._workers.size, doc="int: how many processes there are.")
    worker_count = num_replicas_in_sync
    worker_index = property(lambda self: self._workers.index, doc="int: this process's number.")

    def _join(self, kind, parts):
        """Return the sum or mean of the values of all processes."""
        total = self._workers.sum(as_tensor(convert_to_tensor(parts[0])))
        if kind == "sum":
            return total
        is_exact = total.dtype.is_floating or total.dtype.is_complex
        return ops.div(total if is_exact else ops.cast(total, "float64"), self.num_replicas_in_sync)

    def weigh(self, batch):
        """Note how large this process's part of a batch is; losses of all add up to the mean over the whole."""
        sizes = [int(leaf.shape[0]) for leaf in tree.flatten(batch) if leaf is not None and len(leaf.shape)]
        mine = sizes[0] if sizes else 0
        everybody = int(self._workers.sum(convert_to_tensor([mine])).numpy()[0])
        self._share.assign(mine / max(everybody, 1))  # graphs read it when they run

    def share_of(self, loss):
        """Return the part that this process's samples are of all, in a loss's dtype."""
        return ops.cast(self._share, loss.dtype)

    def whole_of(self, loss):
        """Return a loss as it was before it was multiplied with the share; of no samples, nothing."""
        share = self.share_of(loss)
        return ops.where(share == 0, ops.zeros_like(loss), loss / share)

    def _note(self, variable):
        self.memory.note(variable)
        if strategies.local.replica is None and getattr(variable, "cut", None) is None:
            self._workers.make_equal(variable)

    @contextmanager
    def scope(self):
        """Have variables that are made in a `with` block be all processes'."""
        before, strategies.chosen[0] = strategies.chosen[0], self
        watcher, strategies.local.watcher = strategies.local.watcher, self._note
        try:
            yield self
        finally:
            strategies.chosen[0], strategies.local.watcher = before, watcher

    def use(self):
        """Have it so until another one is used."""
        strategies.chosen[0], strategies.local.watcher = self, self._note

    @staticmethod
    def stop():
        """Have variables and models be this process's alone from now on."""
        strategies.chosen[0] = strategies.local.watcher = None

    def run(self, function, args=()):
        """Return what a function returns, called as this process's replica."""
        # A graph that one process alone makes anew, for a part of another size, would meet the others too often.
        with settings.eager() if self._cuts else contextlib.nullcontext():
            return self.team.run([lambda: function(*args)])[0]

    def reduce(self, kind, value):
        """Return the sum or mean of a value of all processes."""
        return tree.map_structure(lambda item: self._join(str(kind).lower(), [item]), value)

    def gather(self, value, axis):
        """Return the values of all processes one after the other: those of one shard of the data side by side."""
        order = None
        if self.reads_own and self._grid is not None:
            batch = self._rules.batch_dim_name
            order = sorted(range(self._workers.size), key=lambda rank: (self._grid.place_of(rank, batch), rank))
        return self._workers.gather(convert_to_tensor(value), axis, order)

    @property
    def sharers(self):
        """Sequence[int]: the processes that read one shard of the data, and compute a part of it each."""
        if self._grid is None:
            return [self._workers.index]
        return sorted(self._grid.ranks([name for name in self._grid.shape if name != self._rules.batch_dim_name]))

    def layout_of(self, path, shape, layout):
        """Return how a new variable lies over devices, and how it is cut between processes."""
        return self._rules._layout_of(path, shape, layout)

    def hold(self, cls, cut, value):
        """Return a variable that holds this process's part of a value."""
        self._cuts = True
        return cut.hold(cls, self._workers.of_first(value))
