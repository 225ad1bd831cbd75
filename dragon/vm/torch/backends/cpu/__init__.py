"""The CPU's instruction set."""
from dragon.core import config

_NAMES = {"v4": "AVX512", "v3": "AVX2"}


def get_cpu_capability():
    """Return the instruction set that kernels were compiled for."""
    return _NAMES.get(str(config.cpu_level())[-2:], "DEFAULT")
