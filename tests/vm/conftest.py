"""The guests' rooms are held against the genuine frameworks: without these there is nothing to compare with."""
import importlib.util

# A genuine framework, and the folders that are left out where it is missing.
NEEDED = {"torch": ("torch/*", "torchvision/*"), "tensorflow": ("keras/*", "tensorflow/*")}
MISSING = [name for name in NEEDED if importlib.util.find_spec(name) is None]
# Collecting nothing is said in the header, so that nobody takes an empty run for a green one.
collect_ignore_glob = [folder for name in MISSING for folder in NEEDED[name]]


def pytest_report_header(config):
    """Say so where an oracle is missing."""
    return [f"genuine {name} is not installed: tests/vm/{' and tests/vm/'.join(NEEDED[name])} are left out"
            for name in MISSING]
