"""Pipes that choose the order of samples."""
import random

from dragon.io.stages.shuffling import swap
from dragon.vm.torch.utils.data.datapipes._decorator import functional_datapipe
from dragon.vm.torch.utils.data.datapipes.datapipe import IterDataPipe
from dragon.vm.torch.utils.data.sampler import SequentialSampler, draw_seed


class SamplerIterDataPipe(IterDataPipe):
    """A sampler's indices.

    Parameters
    ----------
    datapipe : IterDataPipe
        What the sampler is made with.
    sampler : type, optional
        Its class.
    sampler_args, sampler_kwargs : tuple, dict, optional
        More for it.

    """

    def __init__(self, datapipe, sampler=SequentialSampler, sampler_args=None, sampler_kwargs=None):
        self.datapipe = datapipe
        self.sampler = sampler(datapipe, *(sampler_args or ()), **(sampler_kwargs or {}))

    def __iter__(self):
        return iter(self.sampler)

    def __len__(self):
        return len(self.sampler)


@functional_datapipe("shuffle")
class ShufflerIterDataPipe(IterDataPipe):
    """Samples in random order, as far as a buffer reaches.

    Parameters
    ----------
    datapipe : IterDataPipe
        The samples.
    buffer_size : int, optional, default=10000
        How many are mixed at a time.
    unbatch_level : int, optional, default=0
        Of batches: how deep to take them apart first.

    """

    def __init__(self, datapipe, *, buffer_size=10000, unbatch_level=0):
        super().__init__()
        if buffer_size <= 0:
            raise ValueError("buffer_size should be larger than 0")
        self.datapipe = datapipe if unbatch_level == 0 else datapipe.unbatch(unbatch_level=unbatch_level)
        self.buffer_size, self._enabled, self._seed = buffer_size, True, None

    def set_shuffle(self, shuffle=True):
        """Shuffle, or no longer."""
        self._enabled = shuffle
        return self

    def set_seed(self, seed):
        """Seed the next round."""
        self._seed = seed
        return self

    def __iter__(self):
        if not self._enabled:
            yield from self.datapipe
            return
        seed, self._seed = draw_seed(None) if self._seed is None else self._seed, None
        yield from swap(self.datapipe, self.buffer_size, random.Random(seed).randrange)

    def __len__(self):
        return len(self.datapipe)
