"""A plugin that counts what a run compares, so that a suite may be written anew without comparing less.

    PYTHONPATH=.:tests PYTHONPYCACHEPREFIX=folder pytest -p harness.counted -o enable_assertion_pass_hook=true PATHS

prints how many assertions of test files held, and how often the harness and NumPy compared. The folder keeps what
pytest compiles with the counting in it apart from what it compiles without; run it in one process.
"""
import functools
import importlib

import numpy
import pytest

COUNTS = {}
# Functions that look at results, wherever a test calls them by their home.
COMPARING = {"harness.tolerance": ["compare"], "harness.edge_checks": ["close"]}
EXPECTING = ("harness.bound", "Walk")  # whose `expect` stands for an assertion


def counting(name, function):
    """Return a function that counts its calls under a name."""
    @functools.wraps(function)
    def counted(*args, **kwargs):
        COUNTS[name] = COUNTS.get(name, 0) + 1
        return function(*args, **kwargs)
    return counted


def pytest_configure():
    """Count calls of what compares, before anyone has taken it by name."""
    for module, names in COMPARING.items():
        home = importlib.import_module(module)
        for name in names:
            setattr(home, name, counting(name, getattr(home, name)))
    module, name = EXPECTING
    walk = getattr(importlib.import_module(module), name)
    walk.expect = counting("expect", walk.expect)
    for name in [name for name in dir(numpy.testing) if name.startswith("assert_")]:
        setattr(numpy.testing, name, counting("numpy.testing", getattr(numpy.testing, name)))
    pytest.raises = counting("raises", pytest.raises)


def pytest_assertion_pass():
    """Count an assertion that held."""
    COUNTS["assert"] = COUNTS.get("assert", 0) + 1


def pytest_terminal_summary(terminalreporter):
    """Say how much was compared."""
    terminalreporter.write_line(f"compared: {sum(COUNTS.values())} in all, {dict(sorted(COUNTS.items()))}")
