"""The names that programs are written against: `torch` itself, which stands above and is there when they run."""
import sys

ROOT = __name__.partition(".core.")[0]  # "dragon.vm.torch", or "torch" as a guest


def api():
    """Return the module `torch`."""
    return sys.modules[ROOT]
