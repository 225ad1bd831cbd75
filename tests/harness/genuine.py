"""The genuine frameworks, imported when a test first asks for one: slow to start, and absent on some machines."""
import importlib
import os

import pytest

NAMES = {"keras": "keras", "tf": "tensorflow"}


def __getattr__(name):
    if name not in NAMES:
        raise AttributeError(f"genuine: got {name!r}, expected one of {sorted(NAMES)}")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("KERAS_BACKEND", "tensorflow")
    pytest.importorskip("tensorflow", reason="genuine TensorFlow, the oracle, is not installed")
    module = importlib.import_module(NAMES[name])
    globals()[name] = module
    return module
