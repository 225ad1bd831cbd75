"""The names that scripts are written against: `torch` itself, which stands above and is there when scripts run."""
import sys

ROOT = __name__.partition(".core.scripting")[0]  # "dragon.vm.torch", or "torch" as a guest


def face():
    """Return the module `torch`."""
    return sys.modules[ROOT]
