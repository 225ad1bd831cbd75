"""What holds for every test."""
import contextlib
import gc
import os

import pytest

from harness import genuine, subresults
from harness.answers import options as answers
from harness.durations import Durations
from harness.quick import Quick

# Genuine PyTorch's benchmarks import setuptools, which does not come behind the distutils of Python that others import.
with contextlib.suppress(ImportError):
    import setuptools  # noqa: F401

# Kernels that know all layouts of images, and sum in one order. By itself genuine TensorFlow takes them only where the
# processor has AVX-512, and answers otherwise on others.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")


pytest_itemcollected = subresults.pytest_itemcollected


def pytest_addoption(parser):
    """Know the options of this suite."""
    answers.pytest_addoption(parser)
    parser.addoption("--durations-file", metavar="FILE",
                     help="where the seconds of tests are written: .json has all, .tsv what --quick needs")
    parser.addoption("--quick", type=float, metavar="SECONDS",
                     help="run a sample that takes so many processor seconds: something of every file and of every row")
    parser.addoption("--sample-seed", type=int, default=0, help="another seed chooses another sample")
    parser.addoption("--changed-since", metavar="REVISION", help="run the tests that changes since a revision reach")
    parser.addoption("--only", default="", metavar="WORDS",
                     help="of tests that try many named things, try those whose names hold these words")


def pytest_configure(config):
    """Have the options followed by those whom they are about."""
    subresults.Chosen.words = config.getoption("--only")
    answers.configure(config)
    if config.getoption("--durations-file") is not None:
        config.pluginmanager.register(Durations(config.getoption("--durations-file")))
    seconds, revision = config.getoption("--quick"), config.getoption("--changed-since")
    if seconds is not None:
        config.pluginmanager.register(Quick(seconds, config.getoption("--sample-seed")))
    if revision is not None:
        from harness.reach import ReachedOnly
        config.pluginmanager.register(ReachedOnly.of(config, revision))


def pytest_unconfigure(config):
    """Leave nothing behind."""
    answers.unconfigure(config)


def pytest_report_header(config):
    """Say which answers are asked for anew, and where tests are left out, so that silence is not taken for a pass."""
    from harness.devices import is_there

    absent = [] if is_there() else ["no CUDA device, and no DRAGON_SIMT: tests/cuda is left out"]
    return answers.header(config) + absent


def pytest_terminal_summary(terminalreporter, config):
    """Record answers, or count those that are not recorded."""
    answers.summarize(terminalreporter, config)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Refuse names that hold an address: they differ between the processes that share the tests out."""
    named = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if named:
        raise pytest.UsageError(f"got test names that hold an address, expected the same everywhere: {named}")


def pytest_collection_finish():
    """Have garbage be looked for among what tests make, not among all that collecting them has made: seconds each."""
    gc.collect()
    gc.freeze()


def pytest_runtest_setup():
    """Have what genuine frameworks waste be wasted once at most."""
    genuine.seed_without_stacks()


@pytest.fixture(scope="module")
def only_new_garbage():
    """Have `gc.collect` look among what this file's tests make: among all that was imported it takes seconds."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def recording_as_found():
    """Start each test where nothing is said about recording, and say afterwards what was said before.

    A switch that is thrown plainly stays thrown.
    """
    from dragon.core import modes

    before = modes.set_recording(None)
    yield
    modes.set_recording(before)
