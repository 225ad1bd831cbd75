"""The rooms of the guests: each speaks the language of another framework, on the engine of this one."""
import sys

from dragon.vm.alias import FINDER, install, take_place  # noqa: F401: for users, and for packages in their place

# Asked from the first guest on: it makes a guest's modules, some of which have a second name inside another guest.
if FINDER not in sys.meta_path:
    sys.meta_path.insert(0, FINDER)
