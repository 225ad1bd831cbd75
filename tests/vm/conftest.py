"""The guests' rooms are held against the genuine frameworks: without these there is nothing to compare with."""
import importlib.util

GENUINE = importlib.util.find_spec("torch")
# Collecting nothing is said in the header, so that nobody takes an empty run for a green one.
collect_ignore_glob = [] if GENUINE else ["torch/*", "torchvision/*"]


def pytest_report_header(config):
    """Say so where the oracle is missing."""
    return None if GENUINE else "genuine PyTorch is not installed: tests/vm/torch and tests/vm/torchvision are left out"
