"""Pipes of several pipes."""
from dragon.vm.torch.utils.data.datapipes._decorator import functional_datapipe
from dragon.vm.torch.utils.data.datapipes.datapipe import IterDataPipe


class _Several(IterDataPipe):
    def __init__(self, *datapipes):
        if not datapipes:
            raise ValueError("Expected at least one DataPipe, but got nothing")
        if not all(isinstance(pipe, IterDataPipe) for pipe in datapipes):
            raise TypeError("Expected all inputs to be `IterDataPipe`")
        self.datapipes = datapipes


@functional_datapipe("concat")
class ConcaterIterDataPipe(_Several):
    """The samples of pipes, one pipe after another."""

    def __iter__(self):
        for pipe in self.datapipes:
            yield from pipe

    def __len__(self):
        return sum(map(len, self.datapipes))


@functional_datapipe("zip")
class ZipperIterDataPipe(_Several):
    """Tuples of a sample of each pipe, until one of them ends."""

    def __iter__(self):
        return zip(*self.datapipes)

    def __len__(self):
        return min(map(len, self.datapipes))
