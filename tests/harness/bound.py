"""A row's samples bound once, for all that is tried with them: arguments, the engine's results, first derivatives."""
import functools

import pytest

from harness import checks, engine, gradients
from harness.inputs import bind
from harness.subresults import is_chosen


class Bound:
    """One sample of a row in one dtype; what several checks need of it is made when the first one asks."""

    def __init__(self, row, sample, dtype, index):
        self.row, self.sample, self.dtype, self.index = row, sample, dtype, index

    @functools.cached_property
    def arguments(self):
        """Return the arguments with their numbers."""
        return bind(self.row, self.sample, self.dtype, self.index)

    def another(self, number):
        """Return the arguments with other numbers, others for each number; with the same ones for 0."""
        return bind(self.row, self.sample, self.dtype, self.index + number) if number else self.arguments

    @functools.cached_property
    def results(self):
        """Return the engine's results, which nobody may write."""
        return checks.call(self.row, self.arguments)

    @functools.cached_property
    def arrays(self):
        """Return the numbers of the results."""
        return [engine.array(result) for result in self.results]

    @functools.cached_property
    def first(self):
        """Return the first derivatives; None where no input has any."""
        return gradients.first_of(self.row, self.arguments)

    @property
    def has_numbers(self):
        """Whether something is differentiated, and no input is empty: there are directions to go along."""
        items = self.arguments.inputs()
        return any(map(gradients.wants_grad, items)) and all(item.array.size for item in items)


class Walk:
    """One walk over a row's samples: all that is tried notes what differs, and one failure tells all of it by name."""

    def __init__(self, row):
        self.row, self.tried, self.failures, self.skipped, self._bound = row, 0, [], {}, {}

    def bound(self, dtype):
        """Return the samples of the row in a dtype."""
        if dtype not in self._bound:
            self._bound[dtype] = [Bound(self.row, sample, dtype, index)
                                  for index, sample in enumerate(checks.samples_of(self.row))]
        return self._bound[dtype]

    def attempt(self, name, dtype, check, samples=None):
        """Call check(bound, note) on every sample of the row, or on others, and note what it raises."""
        if not is_chosen(name):
            return
        self.tried += 1
        found = self.bound(dtype) if samples is None else [
            Bound(self.row, sample, dtype, index) for index, sample in enumerate(samples)]
        for bound in found:
            def note(sentence):
                if sentence is not None:
                    self.failures.append(f"{name}: {self.row.name}{bound.sample} in {dtype}: {sentence}")
            try:
                check(bound, note)
            except checks.FAILURES as error:
                note(f"{type(error).__name__}: {error}")
            except pytest.fail.Exception as error:
                note(str(error))
            except pytest.skip.Exception as error:  # there is no oracle
                self.skipped[name] = str(error)
                break

    def expect(self, name, dtype, sentence):
        """Note a sentence on all samples together; None says that nothing is wrong."""
        if sentence is not None and is_chosen(name) and name not in self.skipped:
            self.failures.append(f"{name}: {self.row.name} in {dtype}: {sentence}")

    def finish(self):
        """Fail with what was noted."""
        if self.failures:
            pytest.fail(f"{len(self.failures)} sub-results failed:\n  " + "\n  ".join(self.failures), pytrace=False)
        if self.skipped:
            pytest.skip(", ".join(self.skipped) + ": " + "; ".join(dict.fromkeys(self.skipped.values())))
        if not self.tried:
            pytest.skip("nothing that is tried with it has the chosen name")
