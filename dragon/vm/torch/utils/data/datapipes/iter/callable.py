"""Pipes that call a function of each sample."""
from dragon.vm.torch.utils.data._utils.collate import default_collate
from dragon.vm.torch.utils.data.datapipes._decorator import functional_datapipe
from dragon.vm.torch.utils.data.datapipes.datapipe import IterDataPipe


@functional_datapipe("map")
class MapperIterDataPipe(IterDataPipe):
    """What a function makes of each sample.

    Parameters
    ----------
    datapipe : IterDataPipe
        The samples.
    fn : Callable
        The function.
    input_col : Union[int, str, list, tuple], optional
        Which part of a sample it is called with; several parts are several arguments.
    output_col : Union[int, str], optional
        Where the result goes: a part, or -1 for the end; by default the place of the first input.

    """

    def __init__(self, datapipe, fn, input_col=None, output_col=None):
        super().__init__()
        if input_col is None and output_col is not None:
            raise ValueError("`output_col` must be None when `input_col` is None.")
        if isinstance(output_col, (list, tuple)):
            if len(output_col) > 1:
                raise ValueError("`output_col` must be a single-element list or tuple")
            output_col = output_col[0]
        self.datapipe, self.fn, self.input_col, self.output_col = datapipe, fn, input_col, output_col

    def _apply_fn(self, data):
        column = self.input_col
        if column is None:
            return self.fn(data)
        several = isinstance(column, (list, tuple))
        made = self.fn(*[data[part] for part in column]) if several else self.fn(data[column])
        changed = dict(data) if isinstance(data, dict) else list(data)
        if self.output_col is None:
            if several:
                first, *rest = column
                changed[first] = made
                for part in sorted(rest, reverse=True):
                    del changed[part]
            else:
                changed[column] = made
        elif self.output_col == -1:
            changed.append(made)
        else:
            changed[self.output_col] = made
        return tuple(changed) if isinstance(data, tuple) else changed

    def __iter__(self):
        for data in self.datapipe:
            yield self._apply_fn(data)

    def __len__(self):
        return len(self.datapipe)


@functional_datapipe("collate")
class CollatorIterDataPipe(MapperIterDataPipe):
    """Batches of tensors, made of lists of samples.

    Parameters
    ----------
    datapipe : IterDataPipe
        The lists.
    collate_fn : Callable, optional
        Makes a batch of a list.

    """

    def __init__(self, datapipe, conversion=default_collate, collate_fn=None):
        super().__init__(datapipe, conversion if collate_fn is None else collate_fn)
