"""Programs that run beside PyTorch's: one text, which each framework imports as a module of its own."""
import importlib
import sys

import pytest

ROOMS = {"there": "torch", "here": "dragon.vm.torch"}


@pytest.fixture(scope="session")
def both_rooms(tmp_path_factory):
    """Return a function from a name and a text, in which NAME is the framework, to {"here" or "there": module}."""
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("programs")
    sys.path.insert(0, str(folder))

    def make(title, text):
        for side, name in ROOMS.items():
            (folder / f"{title}_{side}.py").write_text(text.replace("NAME", name))
        importlib.invalidate_caches()
        return {side: importlib.import_module(f"{title}_{side}") for side in ROOMS}
    yield make
    sys.path.remove(str(folder))
