"""Iterators over pipelines: how long an epoch is, and what becomes of its last batch."""
import json
import math
from enum import Enum

from dragon.core import warnings
from dragon.vm.dali.core.refusals import got


class LastBatchPolicy(Enum):
    """What becomes of the samples that are left over at an epoch's end."""

    FILL = 0
    DROP = 1
    PARTIAL = 2


class Epoch:
    """How far an epoch is, counted in samples that readers gave.

    Parameters
    ----------
    metas : Sequence[dict]
        What the readers of all pipelines tell.
    batch_size : int
        Samples per batch of one pipeline.
    policy : LastBatchPolicy
        What becomes of the last batch.

    """

    def __init__(self, metas, batch_size, policy):
        for key in ("epoch_size", "number_of_shards", "pad_last_batch", "stick_to_shard"):
            if len({meta[key] for meta in metas}) > 1:
                raise AssertionError(got("reader_name", f"readers of several {key}", "the same in all pipelines"))
        meta = metas[0]
        self.count, self.shards = meta["epoch_size"], meta["number_of_shards"]
        self.padded, self.stick = bool(meta["pad_last_batch"]), bool(meta["stick_to_shard"])
        self.batch_size, self.policy = batch_size, policy
        self.shard_of = [one["shard_id"] for one in metas]
        starts = [self.count * shard // self.shards for shard in range(self.shards + 1)]
        self.shares = [end - start for start, end in zip(starts, starts[1:])]  # that each shard has, told once
        self.due, self.ahead = list(self.shares), [0] * self.shards  # what the epoch's shards have, and had before
        self.counter = 0
        if policy is LastBatchPolicy.DROP:
            self.size = self.count // self.shards
        elif self.padded:
            self.size = meta["epoch_size_padded"] // self.shards
        else:
            self.size = self._whole(math.ceil(self.count / self.shards))

    def _whole(self, samples):
        return math.ceil(samples / self.batch_size) * self.batch_size

    def batches(self):
        """Return how many batches the epoch has."""
        share = self.size / self.batch_size
        return math.floor(share) if self.policy is LastBatchPolicy.DROP else math.ceil(share)

    def must_drop(self):
        """Return whether the batch that comes is not whole, and so is dropped."""
        counter = self.counter + self.batch_size
        return self.policy is LastBatchPolicy.DROP and any(
            ahead + counter > due for ahead, due in zip(self.ahead, self.due))

    def left(self):
        """Return how many samples of the batch that was just counted are each pipeline's own."""
        if self.policy is not LastBatchPolicy.PARTIAL:
            return [self.batch_size] * len(self.shard_of)
        return [min(self.batch_size, max(0, self.batch_size - (self.counter - self.shares[shard])))
                for shard in self.shard_of]

    def is_over(self):
        """Return whether all samples were given."""
        return self.counter >= self.size

    def restart(self):
        """Begin the next epoch: samples that filled the last batch up belong to it already."""
        carried = self.policy is LastBatchPolicy.FILL and not self.padded
        if carried:
            self.counter -= min(self.ahead)
            self.ahead = [ahead + self.counter - due for ahead, due in zip(self.ahead, self.due)]
            self.counter = min(self.ahead)
        else:
            self.counter = 0
        if not self.stick:
            self.shard_of = [(shard + 1) % self.shards for shard in self.shard_of]
        if carried:
            if not self.stick:
                self.due = self.due[-1:] + self.due[:-1]
            self.size = self._whole(max(due - ahead for due, ahead in zip(self.due, self.ahead)))
            if self.size == 0:
                self.ahead, self.counter = [0] * self.shards, 0
                self.due = self.due[-1:] + self.due[:-1]
                self.size = self._whole(max(self.due))


class Samples:
    """How far an epoch of a size that the program tells is; a negative one means: until a source ends."""

    def __init__(self, size, pipelines, batch_size, policy, padded):
        self.size, self.pipelines, self.batch_size, self.padded = size, pipelines, batch_size, padded
        self.policy, self.counter = (policy if size > 0 else LastBatchPolicy.FILL), 0

    def batches(self):
        """Return how many batches the epoch has."""
        share = self.size / (self.pipelines * self.batch_size)
        return math.floor(share) if self.policy is LastBatchPolicy.DROP else math.ceil(share)

    def must_drop(self):
        """Return whether the batch that comes is not whole, and so is dropped."""
        counter = self.counter + self.pipelines * self.batch_size
        return self.policy is LastBatchPolicy.DROP and counter > self.size

    def left(self):
        """Return how many samples of the batch that was just counted are each pipeline's own."""
        over = self.counter - self.size
        if self.policy is not LastBatchPolicy.PARTIAL or over <= 0:
            return [self.batch_size] * self.pipelines
        # Samples are dealt out pipeline by pipeline; the last ones get what is left.
        whole = self.pipelines * self.batch_size - over
        return [min(self.batch_size, max(0, whole - place * self.batch_size)) for place in range(self.pipelines)]

    def is_over(self):
        """Return whether all samples were given."""
        return 0 < self.size <= self.counter

    def restart(self):
        """Begin the next epoch: samples that filled the last batch up belong to it already."""
        carried = self.policy is LastBatchPolicy.FILL and not self.padded and self.size > 0
        self.counter = self.counter % self.size if carried else 0


class IteratorBase:
    """Batches of one pipeline, or of several side by side, epoch by epoch.

    Parameters
    ----------
    pipelines : Union[Pipeline, Sequence[Pipeline]]
        The pipelines.
    size : int, optional, default=-1
        Samples of an epoch; -1 asks the reader, or goes on until a source ends.
    reader_name : str, optional
        The reader that tells how long an epoch is.
    auto_reset : Union[bool, str], optional, default=False
        Whether the next epoch begins by itself.
    fill_last_batch : bool, optional
        An older word for `last_batch_policy`.
    last_batch_padded : bool, optional, default=False
        Whether the end of an epoch repeats its last sample, where `size` is told.
    last_batch_policy : LastBatchPolicy, optional, default=LastBatchPolicy.FILL
        What becomes of the last batch.
    prepare_first_batch : bool, optional, default=True
        Whether the first batch is begun at once.

    """

    def __init__(self, pipelines, size=-1, reader_name=None, auto_reset=False, fill_last_batch=None,
                 last_batch_padded=False, last_batch_policy=LastBatchPolicy.FILL, prepare_first_batch=True):
        if auto_reset not in (None, False, True, "no", "yes"):
            raise ValueError(f"Unsupported value for `auto_reset` {auto_reset}")
        if fill_last_batch is not None:
            warnings.warn("Please do not use `fill_last_batch` and use `last_batch_policy` instead.")
            last_batch_policy = LastBatchPolicy.FILL if fill_last_batch else LastBatchPolicy.PARTIAL
        if not isinstance(last_batch_policy, LastBatchPolicy):
            raise ValueError(f"Wrong type for `last_batch_policy`. Expected {LastBatchPolicy}, got "
                             f"{type(last_batch_policy)}")
        self._pipes = list(pipelines) if isinstance(pipelines, (list, tuple)) else [pipelines]
        sizes = {pipe.max_batch_size for pipe in self._pipes}
        assert len(sizes) == 1, got("an iterator", f"pipelines of batch sizes {sorted(sizes)}", "one size")
        assert size != 0, got("an iterator", "size=0", "a positive number, or -1")
        assert not reader_name or size < 0, got("an iterator", "reader_name and size", "one of them")
        assert size > 0 or reader_name or len(self._pipes) == 1, got(
            "an iterator", "neither size nor reader_name for several pipelines", "one of them")
        assert not (reader_name and last_batch_padded), got(
            "an iterator", "reader_name and last_batch_padded", "the reader's pad_last_batch")
        self.batch_size, self._auto_reset = sizes.pop(), auto_reset in (True, "yes")
        self._reader_name, self._begun = reader_name, False
        for pipe in self._pipes:
            pipe.build()
        if reader_name:
            metas = [pipe.reader_meta(reader_name) for pipe in self._pipes]
            self._epoch = Epoch(metas, self.batch_size, last_batch_policy)
        else:
            self._epoch = Samples(int(size), len(self._pipes), self.batch_size, last_batch_policy, last_batch_padded)
        told = self._pipes[0]._iterator_data if self._pipes[0].is_restored_from_checkpoint else ""
        if told:
            vars(self._epoch).update(json.loads(told))
        if prepare_first_batch:
            for pipe in self._pipes:
                pipe._prefetch()

    @property
    def size(self):
        """Return how many samples of each pipeline an epoch has."""
        return self._epoch.size

    def __len__(self):
        return self._epoch.batches()

    def __iter__(self):
        if self._begun:
            self.reset()
        return self

    def __next__(self):
        return self._deliver(*self._next_batches())

    def next(self):
        """Return the next batch."""
        return self.__next__()

    def _next_batches(self):
        """Return the batches of all pipelines, and how many samples of each are the epoch's."""
        epoch = self._epoch
        if epoch.is_over():
            self._end()
        try:
            batches = []
            for pipe in self._pipes:
                pipe._prefetch()
                batches.append(pipe.share_outputs())
        except StopIteration:
            if epoch.size < 0 and self._auto_reset:
                self.reset()
            raise
        self._begun = True
        if epoch.size > 0 and any(len(output) != self.batch_size for batch in batches for output in batch):
            raise AssertionError(got("an iterator", "batches of several sizes", "one size, where reader_name or size "
                                     "is told"))
        drop = epoch.must_drop()
        epoch.counter += self.batch_size * (1 if self._reader_name else len(self._pipes))
        if drop:
            self._end()
        for pipe in self._pipes:
            if pipe._checkpointing:
                pipe._iterator_data = self._save()
        return batches, epoch.left()

    def _end(self):
        if self._auto_reset:
            self.reset()
        raise StopIteration

    def reset(self):
        """Begin the next epoch, after the last one has ended."""
        epoch = self._epoch
        if epoch.policy is LastBatchPolicy.DROP and not epoch.is_over() and epoch.must_drop():
            for pipe in self._pipes:
                pipe.share_outputs()
            epoch.counter += self.batch_size * (1 if self._reader_name else len(self._pipes))
        if not epoch.is_over() and epoch.size > 0:
            warnings.warn("DALI iterator does not support resetting while epoch is not finished. Ignoring...")
            return
        epoch.restart()
        self._begun = False
        for pipe in self._pipes:
            pipe.reset()

    def _save(self):
        return json.dumps({key: value for key, value in vars(self._epoch).items() if key != "policy"})

    def checkpoints(self):
        """Return the states of all pipelines, and of the iterator, after the last batch."""
        if not self._pipes[0]._checkpointing:
            raise ValueError("Cannot access checkpoints with checkpointing disabled")
        return [pipe._get_checkpoint(self._save()) for pipe in self._pipes]

    def _deliver(self, batches, left):
        """Return what the framework wants of batches."""
        raise NotImplementedError(got(type(self).__name__, "no _deliver", "one of its own"))
