"""Datasets that read several others in turns."""
from dragon.io.stages import interleaving, weighing
from dragon.io.stages.prefetching import Ahead
from dragon.io.stages.trial import Trial, tried
from dragon.vm.shared import errors
from dragon.vm.shared.data.dataset import Dataset, INFINITE, UNKNOWN
from dragon.vm.shared.data.mapping import Flattened, as_dataset, gives_texts, texts_of
from dragon.vm.shared.data.seeds import Seeded
from dragon.vm.shared.data.specs import merge_specs
from dragon.vm.shared.data.structure import call
from dragon.vm.shared.data.threads import AUTOTUNE, thread_count
from dragon.vm.shared.letters import expect
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.placing import hosted

AHEAD = 16  # elements of one of several datasets that are read at a time
# An item that takes less is not worth handing to another thread.
WORTHWHILE_SECONDS = 1e-4
TRIALS = 16


class Interleave(Flattened):
    """Blocks of the elements of several datasets, in turns."""

    def __init__(self, source, function, cycle_length=None, block_length=None, parallel=None, deterministic=None):
        super().__init__(source)
        self._function = function
        self._threads = thread_count(parallel, "interleave")
        cycle_length = AUTOTUNE if cycle_length is None else int(cycle_length)
        if cycle_length == AUTOTUNE:
            cycle_length = thread_count(AUTOTUNE, "interleave") if parallel is None or int(parallel) == AUTOTUNE else (
                int(parallel))
        block_length = 1 if block_length is None else int(block_length)
        for name, value in (("cycle_length", cycle_length), ("block_length", block_length)):
            if value < 1:
                raise errors.InvalidArgumentError(
                    None, None, f"interleave: {name} must be greater than zero. Received: {value}")
        self._cycle, self._block = cycle_length, block_length

    def _dataset(self, element):
        """Return the dataset that the function gives."""
        return as_dataset(call(self._function, element), "interleave")

    def _iterate(self):
        return self._turns(lambda element: iter(self._dataset(element)._open()))

    def _texts(self):
        if not gives_texts(self):
            return None
        return self._turns(lambda element: texts_of(self._dataset(element)))

    def _turns(self, begin):
        """Yield what the iterators over several datasets give in turns."""
        if self._threads < 2:
            return interleaving.in_turns(self._sources[0]._open(), begin, self._cycle, self._block)
        trial = Trial(TRIALS, WORTHWHILE_SECONDS, warm=0)  # of all of them: those that follow are as slow as the first

        def open_source(element):
            return tried(begin(element), trial, lambda rest: iter(Ahead(hosted(rest), AHEAD)))
        return interleaving.in_turns(self._sources[0]._open(), open_source, self._cycle, self._block)


class Choose(Dataset):
    """Elements of the datasets whose numbers a further dataset tells."""

    def __init__(self, datasets, choices, stop_on_empty=False):
        datasets = list(datasets)
        if not datasets:
            raise ValueError("choose_from_datasets: at least one dataset is needed. Received: an empty list")
        for dataset in (choices, *datasets):
            expect(dataset, Dataset, "choose_from_datasets", "a dataset")
        super().__init__(choices, *datasets)
        self._stop = bool(stop_on_empty)
        spec = datasets[0].element_spec
        for other in datasets[1:]:
            spec = merge_specs(spec, other.element_spec, "choose_from_datasets")
        self._spec = (spec,)
        chosen = choices.element_spec
        if getattr(chosen, "dtype", None) is None or chosen.dtype.name != "int64" or chosen.shape.rank not in (0, None):
            raise TypeError("choose_from_datasets: choice_dataset must have scalar int64 elements. "
                            f"Received: elements of {chosen}")

    def _iterate(self):
        choices, *datasets = self._sources
        numbers = (self._check(int(choice)) for choice in choices._open())
        return interleaving.chosen(numbers, [dataset._open() for dataset in datasets], self._stop)

    def _check(self, number):
        count = len(self._sources) - 1
        if not 0 <= number < count:
            raise errors.InvalidArgumentError(
                None, None, f"choose_from_datasets: selector index out of range: {number} >= {count}.")
        return number

    def _count(self):
        counts = [dataset._count() for dataset in self._sources[1:]]
        if not self._stop and INFINITE in counts:
            return INFINITE
        if self._stop and all(count == INFINITE for count in counts):
            return self._sources[0]._count()
        return UNKNOWN


class Picks(Seeded, Dataset):
    """Numbers of datasets, drawn by their weights."""

    def __init__(self, weights, seed, rerandomize):
        from dragon.vm.shared.data.sources import Counter
        super().__init__()
        self._weights = weights
        self._set_seeds(seed, rerandomize)
        self._spec = (Counter(0, 1, "int64").element_spec,)

    def _iterate(self):
        from dragon.vm.shared.data.sources import Range
        yield from map(Range(1)._make_number(), weighing.picks(self._all_weights(), self._draws().share))

    def _all_weights(self):
        if isinstance(self._weights, Dataset):
            return (weights.numpy() for weights in self._weights._open())
        from itertools import repeat
        return repeat(self._weights)

    def _count(self):
        return self._weights._count() if isinstance(self._weights, Dataset) else INFINITE


def sample_from_datasets(datasets, weights=None, seed=None, stop_on_empty=False, rerandomize=None):
    """Return a dataset of elements of others, each taken from one that is drawn by its weight."""
    datasets = list(datasets)
    if not datasets:
        raise ValueError("sample_from_datasets: at least one dataset is needed. Received: an empty list")
    if weights is None:
        weights = [1.0] * len(datasets)
    if not isinstance(weights, Dataset):
        weights = convert_to_tensor(weights).numpy().astype("float64")
        if weights.shape != (len(datasets),):
            raise ValueError("sample_from_datasets: as many weights as datasets are needed. Received: weights of shape "
                             f"{weights.shape} for {len(datasets)} datasets")
    return Choose(datasets, Picks(weights, seed, rerandomize), stop_on_empty)
