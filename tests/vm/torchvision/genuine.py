"""The genuine torchvision as oracle."""
import pytest

from harness import genuine_torchvision


def load():
    """Return genuine torchvision, or skip the module's tests."""
    pytest.importorskip("PIL")
    try:
        return genuine_torchvision.load()
    except ImportError as error:
        pytest.skip(str(error), allow_module_level=True)
