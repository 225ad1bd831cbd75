"""Where pipes begin."""
import copy

from dragon.core import warnings
from dragon.vm.torch.utils.data.datapipes.datapipe import IterDataPipe


class IterableWrapperIterDataPipe(IterDataPipe):
    """What an iterable has.

    Parameters
    ----------
    iterable : Iterable
        What is read.
    deepcopy : bool, optional, default=True
        Whether each round reads a copy, so that nobody changes it meanwhile.

    """

    def __init__(self, iterable, deepcopy=True):
        self.iterable, self.deepcopy = iterable, deepcopy

    def __iter__(self):
        source = self.iterable
        if self.deepcopy:
            try:
                source = copy.deepcopy(source)
            except TypeError:
                warnings.warn("The input iterable can not be deepcopied, please be aware of in-place modification "
                              "would affect source data.")
        yield from source

    def __len__(self):
        return len(self.iterable)
