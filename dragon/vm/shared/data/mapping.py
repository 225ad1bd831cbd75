"""Datasets that call a user's function with each element."""
import functools
from itertools import chain

from dragon.core.interrupts import is_interrupt
from dragon.io.stages import taking
from dragon.io.stages.threads import map_in_threads
from dragon.io.stages.trial import Trial, behind
from dragon.vm.shared import errors
from dragon.vm.shared.data import settings
from dragon.vm.shared.data.dataset import Dataset, INFINITE, OneEach, UNKNOWN
from dragon.vm.shared.data.probing import result_spec
from dragon.vm.shared.data.specs import TensorSpec
from dragon.vm.shared.data.structure import call, check_same, flatten, to_element, to_result
from dragon.vm.shared.data.threads import alone, thread_count
from dragon.vm.shared.tensors.placing import hosted, hosted_call

# A call that takes less is not worth handing to another thread.
WORTHWHILE_SECONDS = 3e-4
TRIALS = 4


def applied(function):
    """Return a function from an element to what a user's function gives for it, as an element."""
    def apply(element):
        return to_result(call(function, element))
    return apply


class Given(Dataset):
    """A dataset of what a user's function gives: nothing of the input's elements stays."""

    def _ragged_rows(self):
        return False


class Map(Given, OneEach):
    """The results of a function of each element."""

    def __init__(self, source, function, parallel=None, deterministic=None, synchronous=None):
        super().__init__(source)
        if not callable(function):
            raise TypeError(f"map: map_func must be callable. Received: {function!r}")
        self._function, self._deterministic = function, deterministic
        self._threads = thread_count(parallel, "map") if not synchronous else 0

    def _iterate(self):
        return self._results(self._sources[0]._open())

    def _open_behind(self, count):
        return self._results(self._sources[0]._open_behind(count))

    def _results(self, elements):
        function = applied(self._function)
        if not self._threads or settings.debugging[0]:
            return map(function, elements)
        return self._in_threads(elements, alone(function) if self._threads > 1 else function)

    def _in_threads(self, elements, function):
        """Yield results in order; in threads, once it is seen that calls take long enough."""
        trial = Trial(TRIALS, WORTHWHILE_SECONDS)

        def in_threads():
            if trial.pays:
                return map_in_threads(hosted_call(function), hosted(elements), self._threads,
                                      self._deterministic is not False)
            return map(function, elements)
        return behind(trial, map(functools.partial(trial.call, function), elements), in_threads)

    def _make_spec(self):
        return result_spec(self._function, self._sources[0])


def as_decision(value, who):
    """Return a predicate's result as a bool, or raise."""
    dtype, shape = getattr(value, "dtype", None), getattr(value, "shape", ())
    if tuple(shape) != () or (dtype is not None and getattr(dtype, "name", dtype) != "bool") or (
            dtype is None and not isinstance(value, bool)):
        raise ValueError(f"{who}: predicate must return a bool scalar. Received: {value!r}")
    return bool(value)


class Filter(Dataset):
    """The elements of which a predicate holds."""

    def __init__(self, source, predicate):
        super().__init__(source)
        self._predicate = predicate

    def _iterate(self):
        predicate = self._predicate
        return filter(lambda element: as_decision(call(predicate, element), "filter"), self._sources[0]._open())

    def _count(self):
        count = self._sources[0]._count()
        return 0 if count == 0 else UNKNOWN


class TakeWhile(Dataset):
    """The elements before the first of which a predicate does not hold."""

    def __init__(self, source, predicate):
        super().__init__(source)
        self._predicate = predicate

    def _iterate(self):
        return taking.until(self._sources[0]._open(),
                            lambda element: as_decision(call(self._predicate, element), "take_while"))


class Flattened(Given):
    """A dataset of the elements of the datasets that a function gives."""

    def _make_spec(self):
        return result_spec(self._function, self._sources[0]).element_spec

    def _count(self):
        count = self._sources[0]._count()
        return 0 if count == 0 else UNKNOWN


class FlatMap(Flattened):
    """The elements of the datasets that a function gives."""

    def __init__(self, source, function):
        super().__init__(source)
        self._function = function

    def _datasets(self):
        for element in self._sources[0]._open():
            yield as_dataset(call(self._function, element), "flat_map")

    def _iterate(self):
        return chain.from_iterable(dataset._open() for dataset in self._datasets())

    def _texts(self):
        if not gives_texts(self):
            return None
        return chain.from_iterable(map(texts_of, self._datasets()))


def as_dataset(value, who):
    """Return a function's result if it is a dataset, or raise."""
    if not isinstance(value, Dataset):
        raise TypeError(f"{who}: map_func must return a Dataset. Received: {value!r}")
    return value


class Scan(Given, OneEach):
    """The results of a function of a state and each element."""

    def __init__(self, source, state, function):
        super().__init__(source)
        self._state, self._function = to_element(state), function

    def _iterate(self):
        state = self._state
        for element in self._sources[0]._open():
            given = call(self._function, (state, element))
            if not isinstance(given, (tuple, list)) or len(given) != 2:
                raise TypeError(f"scan: scan_func must return a new state and an output. Received: {given!r}")
            state, result = to_element(given[0]), to_element(given[1])
            check_same(self._state, state, "scan")
            yield result

    def _make_spec(self):
        from dragon.vm.shared.data.specs import spec_of
        for element in self._sources[0]._open():
            return spec_of(to_element(self._function(self._state, element)[1]))
        raise ValueError("scan: the element_spec of a scan over no element is not known")


class Unique(Dataset):
    """The first of all equal elements."""

    def _iterate(self):
        return taking.distinct(self._sources[0]._open(), _key_of)

    def _count(self):
        count = self._sources[0]._count()
        return count if count in (0, 1) else UNKNOWN


def _key_of(element):
    """Return what is equal for equal elements."""
    arrays = [leaf.numpy() for leaf in flatten(element)]
    return tuple(array if isinstance(array, bytes) else
                 (array.dtype.str, array.shape, tuple(array.ravel().tolist())) for array in arrays)


class IgnoreErrors(Dataset):
    """The elements whose computation does not fail."""

    KINDS = (errors.OpError, ValueError, TypeError, ArithmeticError, LookupError, OSError)

    def __init__(self, source, log_warning=False):
        super().__init__(source)
        self._log_warning = log_warning

    def _iterate(self):
        return taking.sound(self._sources[0]._open(), self.KINDS, self._tell)

    def _tell(self, error):
        if self._log_warning:
            from dragon.core import warnings
            warnings.warn(f"ignore_errors: left out an element: {error}")

    def _count(self):
        count = self._sources[0]._count()
        return count if count in (0, INFINITE) else UNKNOWN


def gives_texts(dataset):
    """Return whether the elements of a dataset are known to be single strings."""
    try:
        spec = dataset.element_spec
    except Exception as error:  # of a user's function, which will say so when it is given an element
        if is_interrupt(error):
            raise
        return False
    return type(spec) is TensorSpec and spec.dtype.name == "string" and spec.shape.rank == 0


def texts_of(dataset):
    """Return an iterator over the strings of a dataset as bytes."""
    texts = dataset._texts()
    return (element._array[()] for element in dataset._open()) if texts is None else iter(texts)
