"""The bases of pipes of a user's own."""
from functools import partial

from dragon.vm.guest import explain
from dragon.vm.torch.utils.data.dataset import Dataset, IterableDataset


class _Functional:
    """Pipes that others registered are methods: `pipe.name(...)` is `Class(pipe, ...)`."""

    functions = {}

    def __getattr__(self, name):
        functions = type(self).functions
        if name in functions:
            return partial(functions[name], self)
        raise explain(f"torch.utils.data.{type(self).__name__}", name, functions)

    def __repr__(self):
        return type(self).__qualname__

    def __dir__(self):
        return [*super().__dir__(), *type(self).functions]

    @classmethod
    def register_function(cls, function_name, function):
        """Make a function of a pipe a method of all pipes."""
        cls.functions[function_name] = function

    @classmethod
    def register_datapipe_as_function(cls, function_name, cls_to_register, enable_df_api_tracing=False):
        """Make a class a method of all pipes; raise if there is one of that name."""
        if function_name in cls.functions:
            raise Exception(f"Unable to add DataPipe function name {function_name} as it is already taken")
        cls.functions[function_name] = cls_to_register


class IterDataPipe(_Functional, IterableDataset):
    """Samples as they come, made of another pipe's."""

    functions = {}

    def reset(self):
        """Do nothing; pipes that keep something between rounds forget it here."""


class DFIterDataPipe(IterDataPipe):
    """Data frames as they come."""


class DataChunk(list):
    """A batch of samples that are not joined yet.

    Parameters
    ----------
    items : Iterable
        The samples.

    """

    def __init__(self, items):
        super().__init__(items)
        self.items = items

    def as_str(self, indent=""):
        """Return the samples as one line."""
        return f"{indent}[{', '.join(map(str, self))}]"

    def raw_iterator(self):
        """Yield the samples."""
        yield from self.items


class MapDataPipe(_Functional, Dataset):
    """Samples by index, made of another pipe's."""

    functions = {}
