"""What tests of pages stand on."""
import sys

import pytest

from harness.tools import ROOT


@pytest.fixture(autouse=True)
def find_makers(monkeypatch):
    """Let the folder of pages be found, as `conf.py` does."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "makers"]:
        del sys.modules[name]
