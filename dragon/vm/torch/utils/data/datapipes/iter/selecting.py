"""Pipes that leave samples out."""
from dragon.vm.torch.utils.data.datapipes._decorator import functional_datapipe
from dragon.vm.torch.utils.data.datapipes.datapipe import IterDataPipe


@functional_datapipe("filter")
class FilterIterDataPipe(IterDataPipe):
    """The samples for which a function holds.

    Parameters
    ----------
    datapipe : IterDataPipe
        The samples.
    filter_fn : Callable
        The function.
    input_col : Union[int, str, list, tuple], optional
        Which part of a sample it is called with; several parts are several arguments.

    """

    def __init__(self, datapipe, filter_fn, input_col=None):
        super().__init__()
        self.datapipe, self.filter_fn, self.input_col = datapipe, filter_fn, input_col

    def __iter__(self):
        for data in self.datapipe:
            column = self.input_col
            if column is None:
                kept = self.filter_fn(data)
            elif isinstance(column, (list, tuple)):
                kept = self.filter_fn(*[data[part] for part in column])
            else:
                kept = self.filter_fn(data[column])
            if not isinstance(kept, bool):
                raise ValueError("Boolean output is required for `filter_fn` of FilterIterDataPipe, got", type(kept))
            if kept:
                yield data
