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


class MapDataPipe(_Functional, Dataset):
    """Samples by index, made of another pipe's."""

    functions = {}
