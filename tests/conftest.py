"""What holds for every test."""
import contextlib
import gc
import os

import pytest

from harness.answers import options
from harness.answers.options import pytest_addoption  # noqa: F401

# Genuine PyTorch's benchmarks import setuptools, which does not come behind the distutils of Python that others import.
with contextlib.suppress(ImportError):
    import setuptools  # noqa: F401

# Kernels that know all layouts of images, and sum in one order. By itself genuine TensorFlow takes them only where the
# processor has AVX-512, and answers otherwise on others.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")


def pytest_configure(config):
    """Say how answers of genuine packages are found."""
    options.configure(config)


def pytest_unconfigure(config):
    """Leave nothing behind."""
    options.unconfigure(config)


def pytest_report_header(config):
    """Say which answers are asked for anew."""
    return options.header(config)


def pytest_terminal_summary(terminalreporter, config):
    """Record answers, or count those that are not recorded."""
    options.summarize(terminalreporter, config)


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
