"""The processes of `keras.distribution`: each computes its part of a batch, and together what one would compute."""
import contextlib

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
    reads_own : bool
        Whether each process reads batches of its own, rather than all of them the same, of which each takes a part.

    """

    is_spread = True
    is_elsewhere, local_count = False, 1

    def __init__(self, reads_own):
        self.reads_own, self._workers = reads_own, workers()
        self.memory = Memory(1, self._join, self.num_replicas_in_sync)
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

    def _note(self, variable):
        self.memory.note(variable)
        if strategies.local.replica is None:
            self._workers.make_equal(variable)

    @contextlib.contextmanager
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
        return self.team.run([lambda: function(*args)])[0]

    def reduce(self, kind, value):
        """Return the sum or mean of a value of all processes."""
        return tree.map_structure(lambda item: self._join(str(kind).lower(), [item]), value)

    def gather(self, value, axis):
        """Return the values of all processes one after the other."""
        return self._workers.gather(convert_to_tensor(value), axis)
