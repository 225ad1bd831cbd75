"""Every test of this folder runs on the CUDA device: a GPU, or the machine of `simt` that stands for one."""
import os

import pytest

import dragon
from harness.devices import is_there

# Nothing here could run, so that nothing is collected; the header of the run says so.
collect_ignore_glob = [] if is_there() else ["test_*.py"]


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
    dragon._C.set_convolutions_allow_tf32(False)  # ten bits of fraction would hide faults
    return "cuda"


@pytest.fixture(scope="session")
def simt(device):
    """Whether the device is the machine that stands for a GPU: slow, so large sizes are left to real ones."""
    return bool(os.environ.get("DRAGON_SIMT"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Keep what a test has to report where the fixture below finds it."""
    report = yield
    item.stash.setdefault(REPORTS, []).append(report)
    return report


REPORTS = pytest.StashKey()


@pytest.fixture(autouse=True)
def device_lives(request, device):
    """End this process after a test that made a kernel fault: nothing that follows could use the device.

    Where several processes share the tests out, another one takes this one's place.
    """
    yield
    try:
        dragon._C.synchronize(device)
    except RuntimeError as error:
        if "cudaError" not in str(error):
            return
        told = "\n".join(str(report.longrepr) for report in request.node.stash.get(REPORTS, ()) if report.longrepr)
        with open(os.environ.get("DRAGON_FAULTS", os.devnull), "a") as file:
            file.write(f"== {request.node.nodeid}: {error}\n{told}\n")
        os._exit(1)
