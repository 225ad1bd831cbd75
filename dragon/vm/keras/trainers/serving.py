"""Training by workers: steps are sent to them, and wait for each other at the end of an epoch alone.

Of a dataset each worker reads its own. Arrays and generators are read here; each of their batches goes to one worker.
"""
from dragon.vm.keras.trainers.data_adapters import is_dataset
from dragon.vm.keras.trainers.data_adapters.adapter import DataAdapter
from dragon.vm.keras.trainers.step_function import StepFunction
from dragon.vm.shared import strategies


class DatasetCreator:
    """What makes a dataset for each worker.

    Parameters
    ----------
    dataset_fn : Callable
        Called with a `tf.distribute.InputContext`; returns a `tf.data.Dataset` of batches.
    input_options : InputOptions, optional
        Accepted: workers read by themselves.

    """

    def __init__(self, dataset_fn, input_options=None):
        if not callable(dataset_fn):
            raise TypeError(f"`dataset_fn` for `DatasetCreator` must be a `callable`. Received: {dataset_fn}")
        self.dataset_fn, self.input_options = dataset_fn, input_options

    def __call__(self, *args, **kwargs):
        dataset = self.dataset_fn(*args, **kwargs)
        if not is_dataset(dataset):
            raise TypeError(f"The `callable` provided to `DatasetCreator` must return a Dataset. Received: {dataset}")
        return dataset


class OwnBatches(DataAdapter):
    """Iterators of workers' own: a batch is whatever comes next where a step runs.

    Parameters
    ----------
    batches : Any
        The iterator, as the coordinator knows it.

    """

    def __init__(self, batches):
        self._batches = batches

    def __iter__(self):
        while True:
            yield self._batches


class ServedStep:
    """A step as it runs on a worker, and before that, for shapes, where it is sent from.

    Parameters
    ----------
    method : Callable
        The model's method.
    is_plain : bool
        Whether it is to run as plain Python.
    name : str
        How reports call it.

    """

    is_lasting = True  # it is sent once

    def __init__(self, method, is_plain, name):
        self._method, self._is_plain, self._name, self._function = method, is_plain, name, None

    def __getstate__(self):
        return {**self.__dict__, "_function": None}

    def python_function(self, batch):
        """Run the step as plain Python."""
        return self._method(next(batch) if hasattr(batch, "__next__") else batch)

    def __call__(self, batch):
        if hasattr(batch, "__next__"):
            batch = next(batch)
        if self._function is None:
            self._function = self._method if self._is_plain else StepFunction(self._method, name=self._name)
        return self._function(batch)


def data_of(number, x, steps):
    """Return what `fit` reads: for datasets, iterators of workers' own.

    Parameters
    ----------
    number : int, optional
        That of the model's strategy.
    x : Any
        What `fit` was given.
    steps : int, optional
        How many steps an epoch has.

    """
    strategy = strategies.by_number(number)
    if not getattr(strategy, "is_served", False):
        return x
    if isinstance(x, DatasetCreator):
        make = _Made(strategy, x)
    elif is_dataset(x):
        make = _Same(x)
    else:
        return x
    return _own(strategy, make, "steps_per_epoch", steps)


def evaluated(number, x, steps, word):
    """Return what `evaluate` reads: of what makes datasets, iterators of workers' own; datasets are read here.

    Parameters
    ----------
    number : int, optional
        That of the model's strategy.
    x : Any
        What `evaluate` was given.
    steps : int, optional
        How many steps it has.
    word : str
        The argument that tells them.

    """
    strategy = strategies.by_number(number)
    if not (isinstance(x, DatasetCreator) and getattr(strategy, "is_served", False)):
        return x
    return _own(strategy, _Made(strategy, x), word, steps)


def _own(strategy, make, word, steps):
    if not steps:
        raise ValueError(f"`{word}` must be specified with `ParameterServerStrategy`: each worker reads a dataset of "
                         f"its own. Received: {word}={steps}")
    return OwnBatches(iter(strategy.coordinator.create_per_worker_dataset(make)))


class _Made:
    def __init__(self, strategy, creator):
        self._strategy, self._creator = strategy, creator

    def __call__(self):
        return self._strategy.distribute_datasets_from_function(self._creator)


class _Same:
    def __init__(self, dataset):
        self._dataset = dataset

    def __call__(self):
        return self._dataset
