"""The genuine frameworks, imported when a test first asks for one: slow to start, and absent on some machines."""
import importlib
import os
import sys
import types

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


def seed_without_stacks():
    """Have genuine PyTorch's `manual_seed` cost microseconds, once it is imported.

    On a machine without accelerators it notes a call for each kind of them, with the stack as text: one and a half
    milliseconds, and memory that is never given back. The calls are noted still, the text is not made.
    """
    torch = sys.modules.get("torch")
    for name in ("cuda", "xpu", "mtia"):
        module = getattr(torch, name, None)
        if isinstance(getattr(module, "traceback", None), types.ModuleType):
            module.traceback = types.SimpleNamespace(**{**vars(module.traceback), "format_stack": list})
