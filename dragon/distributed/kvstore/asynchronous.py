"""Values that are each kept by one process: what is pushed is taken as it comes, and nobody waits for others."""
import atexit
import pickle
import zlib

from dragon.core import files
from dragon.distributed.errors import DistributedError
from dragon.distributed.group import ProcessGroup
from dragon.distributed.kvstore.compression import TwoBits
from dragon.distributed.kvstore.local import LocalKVStore
from dragon.distributed.kvstore.messages import Client, Server
from dragon.distributed.kvstore.rows import Rows
from dragon.distributed.kvstore.synchronous import group_of
from dragon.distributed.kvstore.updaters import Updater, dump_optimizer
from dragon.distributed.stores.prefix import PrefixStore

_made = [0]  # stores, of which each has a group of its own; all processes make them in the same order


class Keeper(LocalKVStore):
    """The values that one process keeps, as others ask for them."""

    def push_bits(self, key, data, threshold):
        """Take a gradient of two bits for each number."""
        self.push(key, TwoBits(threshold).decode(data, self._stored(key, "push")))

    def take_optimizer(self, data):
        """Have an optimizer of another process update the values."""
        self._set_updater(Updater(pickle.loads(data)))

    def get_states(self, with_optimizer):
        """Return what the optimizer remembers."""
        return self._states("save_optimizer_states").get_states(with_optimizer)

    def set_states(self, data):
        """Go on with what an optimizer remembered."""
        self._states("load_optimizer_states").set_states(data)


class AsynchronousKVStore(LocalKVStore):
    """Values by key, shared out among processes; each keeps its own, in a thread that serves all.

    Parameters
    ----------
    kind : str, optional, default="dist_async"
        The kind's name.
    group : ProcessGroup, optional
        The processes; those of the world by default.

    """

    def __init__(self, kind="dist_async", group=None):
        super().__init__(kind)
        outer = group_of(group)
        _made[0] += 1
        # Messages of its own group meet nobody else's; who waits for a question may wait for ever.
        self.group = ProcessGroup(PrefixStore(f"kvstore {_made[0]}/", outer.store), outer.rank, outer.size, -1.0)
        self._server = Server(self.group, Keeper("local"))
        self._client = Client(self.group, self._server)
        atexit.register(self.close)

    rank = property(lambda self: self.group.rank, doc="int: this worker's number.")
    num_workers = property(lambda self: self.group.size, doc="int: how many workers there are.")

    def _ask(self, rank, action, *args):
        if self._client is None:
            raise DistributedError(f"kvstore: got a call of {action} after `close`, expected none")
        return self._client.ask(rank, action, *args)

    def _ask_keeper(self, key, action, *args):
        return self._ask(zlib.crc32(repr(key).encode()) % self.group.size, action, key, *args)

    def _begin(self, key, value):
        if self.group.rank == 0:
            self._ask_keeper(key, "init", value)
        self.barrier()
        return value  # whose shape and dtype later calls are checked by

    def _apply(self, key, merged, stored):
        if self._compression is None or isinstance(merged, Rows):
            self._ask_keeper(key, "push", merged)
        else:
            self._ask_keeper(key, "push_bits", self._compression.encode(key, merged), self._compression.threshold)

    def _fetch(self, key, who):
        self._stored(key, who)
        return self._ask_keeper(key, "pull")

    def _fetch_rows(self, key, indices):
        self._stored(key, "row_sparse_pull")
        return self._ask_keeper(key, "row_sparse_pull", None, 0, indices).values

    def set_optimizer(self, optimizer):
        """Have what is pushed be gradients, with which an optimizer updates the values where they are kept.

        All workers call it; the first one's optimizer is taken. See `Updater`.

        """
        Updater(optimizer)  # which refuses what is none
        data = dump_optimizer(optimizer)
        if self.group.rank == 0:
            for rank in range(self.group.size):
                self._ask(rank, "take_optimizer", data)
        self.barrier()

    def _set_updater(self, updater):
        raise NotImplementedError(f"_set_updater: got {updater!r} for a store of kind {self.type!r}, expected an "
                                  "object that can be sent to other processes: call `set_optimizer`")

    def save_optimizer_states(self, fname, dump_optimizer=False):
        """Write what the optimizers of all processes remember to a file, with the optimizer itself if wanted."""
        parts = [self._ask(rank, "get_states", dump_optimizer) for rank in range(self.group.size)]
        files.write(fname, pickle.dumps(parts))

    def load_optimizer_states(self, fname):
        """Have the optimizers of all processes go on with what a file remembers; one worker calls this."""
        parts = pickle.loads(files.read_whole(fname))
        if len(parts) != self.group.size:
            raise ValueError(f"load_optimizer_states: got a file of {len(parts)} processes, expected "
                             f"{self.group.size}")
        for rank, part in enumerate(parts):
            self._ask(rank, "set_states", part)

    def barrier(self):
        """Return once all workers have called this."""
        self.group.barrier()

    def close(self):
        """Leave the store once all workers do: what one keeps, the others may still want."""
        atexit.unregister(self.close)
        client, self._client = self._client, None
        if client is None:
            return
        try:
            self.barrier()
            self._server.end()
        except DistributedError:  # another one has ended before
            pass
        self.group.close()
