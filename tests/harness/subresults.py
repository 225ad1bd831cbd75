"""Tests that try many named things: all are tried, and one failure names those that failed.

A case of pytest costs some milliseconds before anything in it runs, and as much again where several processes share
the cases out; a table of thousands of small cases is mostly that. What comes here are the cases of one table, tried one
after another in one test. `--only WORDS` tries those whose names hold the words.
"""
import functools
import inspect
import itertools
import sys

import pytest

PARAMETER = "part"
SIZE = 100  # cases of a test: some seconds of what takes as long as most
MARKED = {"slow", "cuda"}  # what a case of a table may be marked with; a test holds cases of the same marks


class Chosen:
    """What the command line chose: the words of `--only`."""

    words = ""


def is_chosen(name):
    """Whether a thing of this name is to be tried."""
    return Chosen.words.lower() in name.lower()


def start_afresh():
    """Let what is tried next find what a test finds: nothing said about recording, and TensorFlow's seeds set."""
    from dragon.core import modes

    modes.set_recording(None)
    for name in ("tensorflow", "dragon.vm.tensorflow"):
        if name in sys.modules:
            sys.modules[name].random.set_seed(0)


class Subresults:
    """Failures and skips of what one test tries, by name."""

    def __init__(self):
        self.tried, self.failed, self.skipped = 0, [], []

    def attempt(self, name, function):
        """Call a function; note what it raises under a name."""
        if not is_chosen(name):
            return
        self.tried += 1
        try:
            function()
        except pytest.skip.Exception as reason:
            self.skipped.append(f"{name}: {reason}")
        except (Exception, pytest.fail.Exception) as error:  # whatever came: the others are tried all the same
            self.failed.append(f"[{name}] {told(error)}")

    def finish(self):
        """Fail with all that failed; skip where nothing but skips came."""
        if self.failed:
            pytest.fail(f"{len(self.failed)} of {self.tried} failed:\n" + "\n".join(self.failed), pytrace=False)
        if self.tried == 0:
            pytest.skip(f"nothing in it is named {Chosen.words!r}" if Chosen.words else "no case of its table can run")
        if len(self.skipped) == self.tried:
            pytest.skip("; ".join(dict.fromkeys(line.partition(": ")[2] for line in self.skipped)))


def told(error):
    """Return what an exception says and the lines of tests that it came through."""
    if isinstance(error, pytest.fail.Exception) and not error.pytrace:
        return str(error)
    info = pytest.ExceptionInfo.from_exception(error)
    info.traceback = info.traceback.filter(lambda entry: entry.path.name != "subresults.py")
    return str(info.getrepr(style="short"))


def each(names, cases, ids=None, size=None):
    """Return a decorator: a test tries a hundred cases of a table, or `size` of them, where `pytest.mark.parametrize`
    makes a test of each.

    Parameters
    ----------
    names : Union[str, Sequence[str]]
        The arguments that a case gives, as in `pytest.mark.parametrize`.
    cases : Iterable
        The cases: a value, a tuple of values where there are several names, or a `pytest.param`.
    ids : Union[Sequence[str], Callable], optional
        Names of the cases, or a function of a value to its part of the name.
    size : int, optional
        How many cases a test holds at most. Few of what takes long, so that processes can share it out.

    Returns
    -------
    Callable
        The decorator. Fixtures are made once for a test, so for all its cases. Of two decorators upon each other, all
        pairs of cases are tried.

    """
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    ids = ids if ids is None or callable(ids) else list(ids)
    table = [_case(names, case, ids, number) for number, case in enumerate(cases)]

    def decorate(function):
        base, tables = getattr(function, "tables_of", (function, []))
        tables = [table, *tables]
        merged = [_merged(combination) for combination in itertools.product(*tables)]
        wanted = size or getattr(function, "size_of", None)
        test = _test_of(base, merged, wanted or SIZE)
        test.tables_of, test.size_of = (base, tables), wanted
        return test
    return decorate


def _case(names, case, ids, number):
    """Return (name, {argument: value}, names of marks) of one case."""
    marks, name = (), None
    if hasattr(case, "values") and hasattr(case, "marks"):
        marks, name, values = tuple(mark.name for mark in case.marks), case.id, case.values
        assert set(marks) <= MARKED, f"a case marked {marks}, expected some of {sorted(MARKED)}"
    else:
        values = case if len(names) > 1 else (case,)
    assert len(values) == len(names), f"{len(values)} values for {names}"
    if name is None and ids is not None and not callable(ids):
        name = ids[number]
    if name is None:
        name = "-".join(_word(value, ids) or f"{names[place]}{number}" for place, value in enumerate(values))
    return str(name), dict(zip(names, values)), marks


def _word(value, ids):
    """Return what a value is called within the name of a case; None where it has no name of its own."""
    found = ids(value) if callable(ids) else None
    if found is not None:
        return str(found)
    if isinstance(value, (str, int, float, complex, bool, bytes)) or value is None:
        return str(value)
    return getattr(value, "__name__", None)


def _merged(combination):
    """Return one case out of a case of each table."""
    values = {}
    for _, more, _ in combination:
        values.update(more)
    return ("-".join(name for name, _, _ in combination), values,
            tuple(sorted({mark for _, _, marks in combination for mark in marks})))


def _test_of(function, cases, size):
    """Return a test of cases: one, or one for each part of the table."""
    marks = list(dict.fromkeys(marks for _, _, marks in cases)) or [()]
    parts = [part for those in marks for part in _parts([case for case in cases if case[2] == those], size)]
    given = set(cases[0][1]) if cases else set()
    signature = inspect.signature(function)
    rest = [parameter for parameter in signature.parameters.values() if parameter.name not in given]

    @functools.wraps(function)
    def test(**fixtures):
        found = Subresults()
        for name, values, _ in parts[fixtures.pop(PARAMETER, 0)]:
            start_afresh()
            found.attempt(name, functools.partial(function, **fixtures, **values))
        found.finish()

    test.pytestmark = list(getattr(function, "pytestmark", ()))
    test.cases_of = [[name for name, _, _ in part] for part in parts]
    if len(parts) == 1 and not marks[0]:
        test.__signature__ = signature.replace(parameters=rest)
        return test
    test.__signature__ = signature.replace(
        parameters=[inspect.Parameter(PARAMETER, inspect.Parameter.POSITIONAL_OR_KEYWORD), *rest])
    chosen = [pytest.param(number, id=f"part {number + 1} of {len(parts)}",
                           marks=[getattr(pytest.mark, mark) for mark in part[0][2]])
              for number, part in enumerate(parts)]
    return pytest.mark.parametrize(PARAMETER, chosen)(test)


def _parts(cases, size):
    """Return cases in parts of at most a size."""
    return [cases[first:first + size] for first in range(0, len(cases) or 1, size)]


def pytest_itemcollected(item):
    """Let `-k` find a test by the names of its cases."""
    parts = getattr(getattr(item, "function", None), "cases_of", None)
    if parts is not None:
        number = item.callspec.params.get(PARAMETER, 0) if hasattr(item, "callspec") else 0
        item.extra_keyword_matches.update(parts[number])
