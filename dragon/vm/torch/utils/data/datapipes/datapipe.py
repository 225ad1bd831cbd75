"""The bases of pipes of a user's own."""
import pickle
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
        raise explain(f"torch.utils.data.{type(self).__name__}", name, functions.keys)

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


class _DataPipeSerializationWrapper:
    """A pipe on its way to another process: by `pickle`, by `dill` where that is installed and needed.

    Parameters
    ----------
    datapipe : DataPipe
        The pipe.

    """

    def __init__(self, datapipe):
        self._datapipe = datapipe

    def __getstate__(self):
        try:
            return pickle.dumps(self._datapipe), False
        except Exception:
            try:
                import dill
            except ImportError:
                dill = None
            if dill is None:
                raise
            return dill.dumps(self._datapipe), True

    def __setstate__(self, state):
        value, by_dill = state
        if by_dill:
            import dill
            self._datapipe = dill.loads(value)
        else:
            self._datapipe = pickle.loads(value)

    def __len__(self):
        try:
            return len(self._datapipe)
        except Exception as error:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length") from error


class _IterDataPipeSerializationWrapper(_DataPipeSerializationWrapper, IterDataPipe):
    """Samples as they come, of a pipe that can be sent."""

    def __init__(self, datapipe):
        super().__init__(datapipe)
        self._datapipe_iter = None

    def __iter__(self):
        self._datapipe_iter = iter(self._datapipe)
        return self

    def __next__(self):
        if self._datapipe_iter is None:
            raise AssertionError("Iterator has not been initialized; call __iter__() before __next__()")
        return next(self._datapipe_iter)


class _MapDataPipeSerializationWrapper(_DataPipeSerializationWrapper, MapDataPipe):
    """Samples by index, of a pipe that can be sent."""

    def __getitem__(self, idx):
        return self._datapipe[idx]
