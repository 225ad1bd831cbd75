"""The guests' rooms are held against the genuine frameworks: without these there is nothing to compare with."""
import importlib.util
import sys

import pytest

# A genuine framework, and the folders that are left out where it is missing.
NEEDED = {"torch": ("torch/*", "torchvision/*"), "tensorflow": ("keras/*", "tensorflow/*")}
MISSING = [name for name in NEEDED if importlib.util.find_spec(name) is None]
# Collecting nothing is said in the header, so that nobody takes an empty run for a green one.
collect_ignore_glob = [folder for name in MISSING for folder in NEEDED[name]]


def pytest_report_header(config):
    """Say so where an oracle is missing."""
    return [f"genuine {name} is not installed: tests/vm/{' and tests/vm/'.join(NEEDED[name])} are left out"
            for name in MISSING]


@pytest.fixture(autouse=True)
def same_seeds():
    """Have TensorFlow's shuffles and draws start from one seed on both sides, whatever the tests before have set."""
    for name in ("tensorflow", "dragon.vm.tensorflow"):
        if name in sys.modules:
            sys.modules[name].random.set_seed(0)


@pytest.fixture
def genuine_checks_arguments():
    """Let genuine PyTorch's distributions check arguments: a process that ever compiled something leaves it off."""
    from torch.distributions import Distribution

    before = Distribution._validate_args
    Distribution.set_default_validate_args(True)
    yield
    Distribution.set_default_validate_args(before)
