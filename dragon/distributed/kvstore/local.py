"""Values in one process, pushed to by several devices."""

from dragon import ops
from dragon.core import files
from dragon.distributed.kvstore.base import KVStoreBase
from dragon.distributed.kvstore.compression import make_compression
from dragon.distributed.kvstore.rows import Rows, as_native, checked_indices, total
from dragon.distributed.kvstore.updaters import Updater


class LocalKVStore(KVStoreBase):
    """Values by key; what several devices push is added up.

    Without an optimizer a pushed sum takes the value's place; with one, it is the gradient of an update.

    Parameters
    ----------
    kind : str, optional, default="local"
        "local" adds up on the host, "device" on the device of the first tensor that comes.

    """

    def __init__(self, kind="local"):
        self._kind, self._values, self._updater, self._compression = kind, {}, None, None

    type = property(lambda self: self._kind, doc="str: the kind's name.")
    rank = property(lambda self: 0, doc="int: this worker's number.")
    num_workers = property(lambda self: 1, doc="int: how many workers there are.")

    @staticmethod
    def is_capable(capability):
        """Return whether a store can do something: run an optimizer."""
        if capability.lower() == KVStoreBase.OPTIMIZER:
            return True
        raise ValueError(f"is_capable: got {capability!r}, expected 'optimizer'")

    # --- keys and values as users give them

    def _pairs(self, key, value, who):
        """Return [(key, list of values)]: a key may come with one value or with one of each device, or be a list."""
        if not isinstance(key, (list, tuple)):
            return [(self._checked_key(key, who), self._listed(value))]
        if value is None:
            return [(self._checked_key(each, who), [None]) for each in key]
        if not isinstance(value, (list, tuple)) or len(value) != len(key):
            raise ValueError(f"{who}: got {len(key)} keys and {self._count(value)}, expected one value, or list of "
                             "values, for each key")
        return [(self._checked_key(each, who), self._listed(its)) for each, its in zip(key, value)]

    @staticmethod
    def _count(value):
        return f"{len(value)} values" if isinstance(value, (list, tuple)) else type(value).__name__

    @staticmethod
    def _listed(value):
        found = list(value) if isinstance(value, (list, tuple)) else [value]
        if not found:
            raise ValueError("kvstore: got no value for a key, expected one or more")
        return found

    @staticmethod
    def _checked_key(key, who):
        if isinstance(key, bool) or not isinstance(key, (int, str)):
            raise TypeError(f"{who}: got the key {key!r}, expected an integer or a string")
        return key

    def _stored(self, key, who):
        if key not in self._values:
            raise KeyError(f"{who}: got the key {key!r}, which `init` was not called with; expected one of "
                           f"{list(self._values)[:8]}")
        return self._values[key]

    def _merged(self, key, values, like, who):
        """Return the sum of what the devices have, checked."""
        values = [value if isinstance(value, Rows) else as_native(value, who) for value in values]
        for value in values:
            if isinstance(value, Rows):
                value.whole(like)
            elif tuple(value.shape) != tuple(like.shape):
                raise ValueError(f"{who}: got shape {tuple(value.shape)} for the key {key!r}, expected that of `init`, "
                                 f"{tuple(like.shape)}")
        if self._compression is not None and len(values) > 1:  # each device's gradient is what travels
            values = [value if isinstance(value, Rows) else self._compression.decode(
                self._compression.encode((key, number), value), value) for number, value in enumerate(values)]
        first = values[0].values if isinstance(values[0], Rows) else values[0]
        return total(values, like, first.device if "device" in self._kind else like.device)

    # --- what users call

    def init(self, key, value):
        """Give keys their first values.

        Parameters
        ----------
        key : Union[int, str, List[Union[int, str]]]
            A key that has none yet, or several.
        value : Union[Tensor, List[Tensor]]
            Its value, or theirs.

        """
        for each, values in self._pairs(key, value, "init"):
            if each in self._values:
                raise ValueError(f"init: got the key {each!r} a second time, expected a new one")
            self._values[each] = self._begin(each, ops.copy(as_native(values[0], "init")))

    def _begin(self, key, value):
        """Return what a key begins with, of what this worker says."""
        return value

    def push(self, key, value, priority=0):
        """Add up values and put the sum in the place of what was there, or have the optimizer take it.

        Parameters
        ----------
        key : Union[int, str, List[Union[int, str]]]
            The key, or several.
        value : Union[Tensor, Rows, List[Tensor]]
            Its value, one of each device, or a list of such for several keys.
        priority : int, optional, default=0
            Accepted: what is pushed is done at once.

        """
        for each, values in self._pairs(key, value, "push"):
            stored = self._stored(each, "push")
            self._apply(each, self._reduced(each, self._merged(each, values, stored, "push"), stored), stored)

    def _reduced(self, key, merged, stored):
        """Return the sum over all workers."""
        return merged

    def _apply(self, key, merged, stored):
        if self._updater is not None:
            self._updater(key, merged, stored)
        else:
            ops.copy(merged.whole(stored) if isinstance(merged, Rows) else merged, out=stored)

    def pull(self, key, out=None, priority=0):
        """Return the values of keys, or write them into tensors.

        Parameters
        ----------
        key : Union[int, str, List[Union[int, str]]]
            The key, or several.
        out : Union[Tensor, List[Tensor]], optional
            Tensors to be written into: one, one of each device, or a list of such for several keys.
        priority : int, optional, default=0
            Accepted: what is pulled is there at once.

        Returns
        -------
        Optional[Union[Tensor, List[Tensor]]]
            New tensors where no `out` was given.

        """
        found = []
        for each, outs in self._pairs(key, out, "pull"):
            value = self._fetch(each, "pull")
            for into in outs:
                found.append(ops.copy(value) if into is None else self._write(value, into, each))
        return None if out is not None else found if isinstance(key, (list, tuple)) else found[0]

    def _fetch(self, key, who):
        return self._stored(key, who)

    @staticmethod
    def _write(value, into, key):
        if tuple(into.shape) != tuple(value.shape):
            raise ValueError(f"pull: got a tensor of shape {tuple(into.shape)} for the key {key!r}, expected "
                             f"{tuple(value.shape)}")
        ops.copy(value, out=into.detach())

    def pushpull(self, key, value, out=None, priority=0):
        """Push, then pull into other tensors, or into those that were pushed. ..."""
        self.push(key, value, priority)
        self.pull(key, value if out is None else out, priority)

    def broadcast(self, key, value, out, priority=0):
        """Give keys their first values, those of the first worker, and write these into tensors of all. ..."""
        self.init(key, value)
        self.pull(key, out, priority)

    def row_sparse_pull(self, key, out=None, priority=0, row_ids=None):
        """Return some rows of a value, or write them into a tensor whose other rows become zero.

        Parameters
        ----------
        key : Union[int, str]
            The key.
        out : Tensor, optional
            A tensor of the value's shape.
        priority : int, optional, default=0
            Accepted: what is pulled is there at once.
        row_ids : Tensor
            The rows' numbers, in any order; those that are named twice are there once.

        Returns
        -------
        Rows
            The rows in ascending order.

        """
        if row_ids is None:
            raise ValueError("row_sparse_pull: got no row_ids, expected the numbers of the rows")
        key = self._checked_key(key, "row_sparse_pull")
        indices = ops.cast(ops.reshape(as_native(row_ids, "row_sparse_pull"), (-1,)), "int64")
        indices = ops.unique(indices)[0]
        rows = Rows(indices, self._fetch_rows(key, indices))
        if out is not None:
            self._write(rows.whole(out.detach()), out, key)
        return rows

    def _fetch_rows(self, key, indices):
        stored = self._stored(key, "row_sparse_pull")
        checked_indices(indices, stored)
        return ops.index_select(stored, 0, indices)

    def set_gradient_compression(self, compression_params):
        """Have gradients travel in two bits for each number; see `TwoBits`.

        Parameters
        ----------
        compression_params : Dict[str, Any]
            Such as `{"type": "2bit", "threshold": 0.5}`.

        """
        if self._kind == "local":
            raise ValueError("set_gradient_compression: got a store of kind 'local', expected 'device' or one of "
                             "several processes: nothing travels here")
        self._compression = make_compression(compression_params)

    def set_optimizer(self, optimizer):
        """Have what is pushed be gradients, with which an optimizer updates the values; see `Updater`."""
        self._set_updater(Updater(optimizer))

    def _set_updater(self, updater):
        """Have a function be called with a key, what is pushed and the value, which it changes in place."""
        self._updater = updater

    def _states(self, who):
        if not isinstance(self._updater, Updater):
            raise ValueError(f"{who}: got a store without an optimizer, expected `set_optimizer` before")
        return self._updater

    def save_optimizer_states(self, fname, dump_optimizer=False):
        """Write what the optimizer remembers to a file, with the optimizer itself if wanted."""
        files.write(fname, self._states("save_optimizer_states").get_states(dump_optimizer))

    def load_optimizer_states(self, fname):
        """Read what the optimizer remembers from a file."""
        self._states("load_optimizer_states").set_states(files.read_whole(fname))

    def barrier(self):
        """Return once all workers have called this."""

    def close(self):
        """Leave the store."""
