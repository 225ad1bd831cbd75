"""The settings of this build: `torch.__config__`."""
from dragon.core import config


def show():
    """Return a text about the build."""
    products = "  - oneDNN\n" if config.has_onednn() else ""
    return f"Dragon, serving PyTorch's API\n  - kernels: {config.cpu_level()}\n{products}  - OpenMP\n"


def parallel_info():
    """Return a text about threads."""
    return f"Dragon parallel info:\n\tat::get_num_threads() : {config.get_num_threads()}\n"
