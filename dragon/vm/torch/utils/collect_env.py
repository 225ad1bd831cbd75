"""The facts about the machine that a report of a fault should tell."""
import platform
import sys

from dragon.core import config
from dragon.vm import torch


def get_pretty_env_info():
    """Return versions, processor and threads, a line each."""
    import numpy
    facts = {"PyTorch version (as served by Dragon)": torch.__version__, "Is CUDA available": torch.cuda.is_available(),
             "OS": platform.platform(), "Python version": sys.version.replace("\n", " "),
             "CPU": platform.processor() or platform.machine(), "Kernels compiled for": config.cpu_level(),
             "Threads": config.get_num_threads(), "NumPy version": numpy.__version__}
    return "\n".join(f"{name}: {value}" for name, value in facts.items())


def main():
    """Print the report."""
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
