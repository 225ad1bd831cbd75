"""The order in which readers give samples: shards, buffers of random ones, and whole batches at the end."""
from dragon.io import Draws
from dragon.io.stages import shuffling
from dragon.vm.dali.core.refusals import got

FILE_SEED = 524287  # where the order of files starts from whatever the seed, so that all shards see the same one


class Order:
    """The numbers of a reader's samples, batch by batch, for ever.

    Parameters
    ----------
    count : int
        Samples of all shards together.
    shard_id : int
        The shard that is read first.
    num_shards : int
        How many shards there are.
    random_shuffle : bool
        Whether samples are drawn from a buffer.
    initial_fill : int
        How large that is.
    seed : int
        Where draws start from.
    shuffle_after_epoch : bool
        Whether all samples are mixed anew in each epoch.
    stick_to_shard : bool
        Whether the next epoch reads the same shard again, rather than the next one.
    pad_last_batch : bool
        Whether the last sample of a shard fills its last batch, and makes up for what other shards have more.
    shuffle_after_epoch_seed : int, optional
        Where the orders of `shuffle_after_epoch` start from.
    mix_files : bool, optional
        Whether random order begins with all samples mixed, as readers of single files do.

    """

    def __init__(self, count, shard_id=0, num_shards=1, random_shuffle=False, initial_fill=1024, seed=0,
                 shuffle_after_epoch=False, stick_to_shard=False, pad_last_batch=False, shuffle_after_epoch_seed=None,
                 mix_files=True):
        if num_shards < 1 or not 0 <= shard_id < num_shards:
            raise RuntimeError(got("readers", f"shard_id={shard_id} of num_shards={num_shards}",
                                   "0 <= shard_id < num_shards"))
        if shuffle_after_epoch and (stick_to_shard or random_shuffle):
            raise RuntimeError(got("readers", "shuffle_after_epoch with stick_to_shard or random_shuffle",
                                   "one of them: they exclude each other"))
        if count < num_shards:
            raise RuntimeError(got("readers", f"{count} samples for num_shards={num_shards}",
                                   "a sample for each shard at least"))
        self.count, self.num_shards, self.shard = count, num_shards, shard_id
        self.stick = stick_to_shard or shuffle_after_epoch
        self.random, self.fill, self.seed, self.pad = random_shuffle, max(1, initial_fill), seed, pad_last_batch
        self.reshuffle, self.first = shuffle_after_epoch, shard_id
        self.file_seed = FILE_SEED if shuffle_after_epoch_seed is None else int(shuffle_after_epoch_seed)
        self.base = list(range(count))
        if random_shuffle and mix_files:
            Draws(FILE_SEED).shuffle(self.base)
        self.epoch, self.given, self.last, self.taken = 0, 0, None, 0
        self.restart()

    def restart(self):
        """Begin the first epoch, with the seed that is set now."""
        self._walk = self._shard()

    def _shard(self):
        start, end = (self.count * part // self.num_shards for part in (self.shard, self.shard + 1))
        order = self.base
        if self.reshuffle:
            order = list(self.base)
            Draws(self.file_seed, self.epoch).shuffle(order)
        part = order[start:end]
        if not self.random:
            return iter(part)
        return shuffling.swap(part, self.fill, Draws(self.seed, self.epoch, self.shard).integer)

    def _next_shard(self):
        self.epoch, self.given = self.epoch + 1, 0
        if not self.stick:
            self.shard = (self.shard + 1) % self.num_shards
        self._walk = self._shard()

    def take(self, size):
        """Return the numbers of the next batch."""
        batch = []
        padded = -(-self.count // self.num_shards)
        while len(batch) < size:
            number = next(self._walk, None)
            if number is not None:
                self.last = number
            elif self.pad and (batch or self.given < padded):
                number = self.last
            else:
                self._next_shard()
                continue
            batch.append(number)
            self.given += 1
        self.taken += 1
        return batch

    def skip(self, batches, size):
        """Pass over batches that were taken before a checkpoint."""
        for _ in range(batches):
            self.take(size)

    def meta(self):
        """Return what iterators ask a reader: how many samples an epoch has, and whose they are."""
        padded = -(-self.count // self.num_shards) * self.num_shards if self.pad else self.count
        return {"epoch_size": self.count, "epoch_size_padded": padded, "number_of_shards": self.num_shards,
                "shard_id": self.first, "pad_last_batch": int(self.pad), "stick_to_shard": int(self.stick)}
