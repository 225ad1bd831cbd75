"""Readers that keep their place: epochs of samples or of batches."""
import contextlib

import numpy as np

from dragon.vm.dali.core.dynamic.calls import get_default_rng
from dragon.vm.dali.core.dynamic.values import Batch, Tensor
from dragon.vm.dali.core.execution import Waiting
from dragon.vm.dali.core.faces import NAMES
from dragon.vm.dali.core.atonce import THREADS
from dragon.vm.dali.core.refusals import got
from dragon.vm.dali.core.schema import COMMON, HINTS, OPERATORS


class Reader:
    """Samples of files, an epoch after the other.

    Parameters
    ----------
    batch_size : int, optional
        Samples of a batch, unless an epoch says so.
    arguments : Any
        Those of the reader of pipelines.

    """

    operator = None

    def __init__(self, batch_size=None, name=None, device="cpu", enable_checkpointing=False, **arguments):
        who = type(self).__name__
        for key in arguments:
            if key not in self.operator.list_keywords():
                raise TypeError(f"{who}() got an unexpected keyword argument {key!r}")
        self._batch_size, self._size, self._style, self._told = batch_size, None, None, enable_checkpointing
        seed = arguments.get("seed")
        known = {key: value for key, value in arguments.items() if key in self.operator.arguments
                 and key not in COMMON and key not in HINTS and value is not None}
        self._features = list(known.get("features", ()))
        self._source = self.operator.function(**known, seed=get_default_rng()() if seed in (None, -1) else seed)

    def get_metadata(self):
        """Return how many samples an epoch has, and whose they are."""
        return self._source.meta()

    def get_state(self, *, cuda_stream=None):
        """Return how far the reader is, as text; it may be set before the first epoch."""
        if not self._told:
            raise RuntimeError(got(f"{type(self).__name__}.get_state", "a reader without checkpoints",
                                   "one made with enable_checkpointing=True"))
        return f"{self._size or 1}:{self._source.state()}:{self._shard}"

    def set_state(self, state):
        """Go on from where a reader was."""
        if self._style is not None:
            raise RuntimeError(got(f"{type(self).__name__}.set_state", "a reader that has begun", "a new one"))
        size, taken, shard = map(int, str(state).split(":"))
        self._size, self._told, self._place = size, True, shard
        self._source.load(taken, size)

    @property
    def _shard(self):
        return self.__dict__.setdefault("_place", self._source.meta()["shard_id"])

    def _samples(self):
        """Return how many samples the epoch of the shard has that is read now."""
        meta = self._source.meta()
        whole, shards, shard = meta["epoch_size_padded"], meta["number_of_shards"], self._shard
        return (shard + 1) * whole // shards - shard * whole // shards

    def next_epoch(self, batch_size=None, ctx=None, capture=False):
        """Return an iterator over the next epoch: of tuples of batches, or of tensors where no size is told.

        Parameters
        ----------
        batch_size : int, optional
            Samples of a batch.
        ctx : EvalContext, optional
            Says how many threads there are.
        capture : bool, optional
            Whether the loop may be made a pipeline; it is run as it is.

        """
        size = batch_size or self._batch_size
        style = "samples" if size is None else "batches"
        if self._style not in (None, style):
            raise RuntimeError("Cannot mix `samples`, `batches` and `_run`/`__call__` on the same reader.")
        if self._size not in (None, size or 1):
            raise ValueError(got("next_epoch", f"batch_size={size}", f"{self._size}, as before"))
        self._style, self._size = style, size or 1
        return self._epoch(size, ctx)

    def _epoch(self, size, ctx):
        given, count = 0, self._samples()
        while given < count:
            rows = self._source.next(size or 1, None)
            values = [None] * len(rows)

            def read(place):
                row = rows[place]
                values[place] = row.read(None) if isinstance(row, Waiting) else row
            with ctx or contextlib.nullcontext():
                THREADS.run(read, range(len(rows)))
            given += len(rows)
            results = [self._result([np.asarray(value.arrays[column]) for value in values],
                                    values[0].layouts[column], size) for column in range(len(values[0].arrays))]
            yield dict(zip(self._features, results)) if self._features else tuple(results)
        if not self._source.meta()["stick_to_shard"]:
            self._place = (self._shard + 1) % self._source.meta()["number_of_shards"]

    @staticmethod
    def _result(arrays, layout, size):
        return Tensor(arrays[0], layout=layout) if size is None else Batch(arrays, layout=layout)


def readers_of(module):
    """Return {name: class} of all readers of files."""
    made = {}
    for name, operator in OPERATORS.items():
        room, _, last = name.rpartition(".")
        if room == "readers":
            named = NAMES.get(last, operator.class_name)
            made[named] = type(named, (Reader,), {
                "operator": operator, "__doc__": operator.doc, "__module__": module, "list_keywords": staticmethod(
                    lambda operator=operator: [*operator.list_keywords(), "batch_size", "enable_checkpointing"])})
    return made
