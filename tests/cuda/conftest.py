"""Every test of this folder runs on the CUDA device: a GPU, or the machine of `simt` that stands for one."""
import os

import pytest

import dragon


def pytest_collection_modifyitems(items):
    """Mark what needs a device."""
    for item in items:
        if item.path.parts[-2:-1] == ("cuda",):
            item.add_marker(pytest.mark.cuda)


@pytest.fixture(scope="session", autouse=True)
def device():
    """Find a GPU, or put in the machine that stands for one; return the device's name."""
    if dragon._C.device_count("cuda") == 0 and os.environ.get("DRAGON_SIMT"):
        dragon.load_library(os.environ["DRAGON_SIMT"])
    if dragon._C.device_count("cuda") == 0:
        pytest.skip("needs a CUDA device, or DRAGON_SIMT=libdragon_simt.so (make simt builds it and runs these tests)")
    return "cuda"


@pytest.fixture(scope="session")
def simt(device):
    """Whether the device is the machine that stands for a GPU: slow, so large sizes are left to real ones."""
    return bool(os.environ.get("DRAGON_SIMT"))
