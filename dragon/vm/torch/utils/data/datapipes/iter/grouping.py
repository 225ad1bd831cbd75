"""Pipes of batches."""
from dragon.io.stages.batching import lists
from dragon.vm.torch.utils.data.datapipes._decorator import functional_datapipe
from dragon.vm.torch.utils.data.datapipes.datapipe import DataChunk, IterDataPipe


@functional_datapipe("batch")
class BatcherIterDataPipe(IterDataPipe):
    """Lists of samples that follow each other.

    Parameters
    ----------
    datapipe : IterDataPipe
        The samples.
    batch_size : int
        How many per list.
    drop_last : bool, optional, default=False
        Whether to leave out a last list that is shorter.
    wrapper_class : type, optional
        Of the lists.

    """

    def __init__(self, datapipe, batch_size, drop_last=False, wrapper_class=DataChunk):
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        super().__init__()
        self.datapipe, self.batch_size, self.drop_last = datapipe, batch_size, drop_last
        self.wrapper_class = wrapper_class

    def __iter__(self):
        return map(self.wrapper_class, lists(self.datapipe, self.batch_size, self.drop_last))

    def __len__(self):
        rest = 0 if self.drop_last else self.batch_size - 1
        return (len(self.datapipe) + rest) // self.batch_size


@functional_datapipe("unbatch")
class UnBatcherIterDataPipe(IterDataPipe):
    """The samples of lists, of lists in them as deep as is wanted, or -1 for all.

    Parameters
    ----------
    datapipe : IterDataPipe
        The lists.
    unbatch_level : int, optional, default=1
        How deep.

    """

    def __init__(self, datapipe, unbatch_level=1):
        self.datapipe, self.unbatch_level = datapipe, unbatch_level

    def __iter__(self):
        for item in self.datapipe:
            yield from self._take_apart(item, self.unbatch_level)

    def _take_apart(self, item, level):
        if level < -1:
            raise ValueError("unbatch_level must be -1 or >= 0")
        if level == 0 or level == -1 and not isinstance(item, list):
            yield item
        elif isinstance(item, list):
            for part in item:
                yield from self._take_apart(part, level if level == -1 else level - 1)
        else:
            raise IndexError(f"unbatch_level {self.unbatch_level} exceeds the depth of the DataPipe")
