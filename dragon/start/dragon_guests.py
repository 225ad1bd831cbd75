"""What a Python process does at its start where its parent runs on Dragon: it has the same guests, once it asks.

This file stands alone: it lies beside the package `dragon` where that is installed, is read by a `.pth` file before any
program, and so may cost no more than a glance at the environment. Dragon is imported when a guest is asked for.
"""
import os
import sys
from importlib.machinery import PathFinder

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = HERE if os.path.isdir(os.path.join(HERE, "dragon")) else os.path.dirname(os.path.dirname(HERE))
VARIABLE = "DRAGON_GUESTS"  # "torch,keras?": torch is Dragon's, keras as well where somebody wants it
# What makes a process ask: guests, what their genuine packages bring along, and packages that guests lie within.
NAMES = frozenset("torch torchvision tensorflow keras functorch torchgen tf_keras nvidia".split())


class Door:
    """The first of `sys.meta_path`, until a guest is asked for: then Dragon's own finder stands behind it."""

    def __init__(self, guests):
        self.guests = guests

    def find_spec(self, name, path=None, target=None):
        """Answer for Dragon, which is the parent's; nothing for guests: Dragon's own finder is asked next."""
        if name == "dragon":
            return PathFinder.find_spec(name, [ROOT])
        if self.guests and name in NAMES:
            self.open()
            if sys.modules.get(name, self) is None:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None

    def find_distributions(self, context):
        """Answer nothing, likewise."""
        if self.guests and (context.name is None or context.name.lower() in NAMES):
            self.open()
        return ()

    def open(self):
        """Have Dragon's finder asked from now on."""
        guests, self.guests = self.guests, ""
        from dragon.command import children
        finder = children.follow(guests)
        # Who is being asked goes through the list just now, and comes to what stands behind this.
        sys.meta_path.remove(finder)
        sys.meta_path.insert(sys.meta_path.index(self) + 1, finder)


def begin():
    """Look at the environment."""
    guests = os.environ.get(VARIABLE)
    if guests and not any(isinstance(finder, Door) for finder in sys.meta_path):
        sys.meta_path.insert(0, Door(guests))


begin()
