"""What holds for every test."""
import contextlib
import gc
import os
import sys

import pytest

# Genuine PyTorch's benchmarks import setuptools, which does not come behind the distutils of Python that others import.
with contextlib.suppress(ImportError):
    import setuptools  # noqa: F401

# Kernels that know all layouts of images, and sum in one order. By itself genuine TensorFlow takes them only where the
# processor has AVX-512, and answers otherwise on others.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")


def pytest_collection_modifyitems(items):
    """Refuse names that hold an address: they differ between the processes that share the tests out."""
    named = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if named:
        raise pytest.UsageError(f"got test names that hold an address, expected the same everywhere: {named}")


def pytest_collection_finish():
    """Have garbage be looked for among what tests make, not among all that collecting them has made: seconds each."""
    spare_stacks()
    gc.collect()
    gc.freeze()


class NoStacks:
    """Stands for `traceback` where genuine PyTorch notes who has asked."""

    @staticmethod
    def format_stack():
        """Return nothing."""
        return []


def spare_stacks():
    """Let genuine PyTorch's `manual_seed` not write down its stack for each kind of device that is not there.

    That takes longer than most tests of random numbers, and shows in errors of devices only.
    """
    for name in ("torch.cuda", "torch.xpu", "torch.mtia"):
        module = sys.modules.get(name)
        if hasattr(module, "_lazy_call") and hasattr(module, "traceback"):
            module.traceback = NoStacks


@pytest.fixture(autouse=True)
def recording_as_found():
    """Start each test where nothing is said about recording, and say afterwards what was said before.

    A switch that is thrown plainly stays thrown.
    """
    from dragon.core import modes

    before = modes.set_recording(None)
    yield
    modes.set_recording(before)
