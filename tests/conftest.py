"""What holds for every test."""
import contextlib
import gc
import os

import pytest

from harness import subresults

# Genuine PyTorch's benchmarks import setuptools, which does not come behind the distutils of Python that others import.
with contextlib.suppress(ImportError):
    import setuptools  # noqa: F401

# Kernels that know all layouts of images, and sum in one order. By itself genuine TensorFlow takes them only where the
# processor has AVX-512, and answers otherwise on others.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")


pytest_itemcollected = subresults.pytest_itemcollected


def pytest_addoption(parser):
    """Add the choice among what one test tries."""
    parser.addoption("--only", default="", metavar="WORDS",
                     help="of tests that try many named things, try those whose names hold these words")


def pytest_configure(config):
    """Tell the choice to those who try things."""
    subresults.Chosen.words = config.getoption("--only")


def pytest_report_header():
    """Say so where tests are left out, so that nobody takes their silence for a pass."""
    from harness.devices import is_there

    return [] if is_there() else ["no CUDA device, and no DRAGON_SIMT: tests/cuda is left out"]


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


@pytest.fixture(autouse=True)
def recording_as_found():
    """Start each test where nothing is said about recording, and say afterwards what was said before.

    A switch that is thrown plainly stays thrown.
    """
    from dragon.core import modes

    before = modes.set_recording(None)
    yield
    modes.set_recording(before)
