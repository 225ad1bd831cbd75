"""How this build was made: `torch.__config__`."""
from dragon import _C


def show():
    """Return a text about the build."""
    return f"Dragon, serving PyTorch's API\n  - kernels: {_C.cpu_level()}\n  - oneDNN\n  - OpenMP\n"


def parallel_info():
    """Return a text about threads."""
    return f"Dragon parallel info:\n\tat::get_num_threads() : {_C.num_threads()}\n"
