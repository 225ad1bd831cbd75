"""Guests under their own names: after `install()`, `import torch` finds Dragon's modules, the very objects."""
import importlib.util
import os
import sys
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader

from dragon.vm.guest import ROOM, GuestLoader

# The guests, the versions whose behaviour they have, and what else their genuine packages put on a disk: that may not
# come into the process either, since it would find a torch that it was not compiled for.
VERSIONS = {"torch": "2.13.0", "torchvision": "0.28.0", "tensorflow": "2.21.0", "keras": "3.15.1"}
# What programs that ask for a guest expect beside it.
COMES_WITH = {"torch": ("torchvision",), "torchvision": ("torch",), "tensorflow": ("keras",)}
MARK = "dragon_guest.txt"  # lies in a package that `dragon guest install` wrote
COMPANIONS = {"torch": ("functorch", "torchgen"), "tensorflow": ("tf_keras",)}
# Guests that are part of a package as well: `tensorflow.keras` and below are the modules of `keras`, and so is what
# editors write into programs; `tensorflow.compat.v2` is TensorFlow itself.
PARTS = {"tensorflow.keras": "keras", "keras.api": "keras", "keras._tf_keras.keras": "keras",
         "tensorflow.compat.v2": "tensorflow"}
# Guests that lie within a package which others share, and that stand for what is not installed: never in its place.
NESTED = {"nvidia.dali": "dali"}
# Modules that pickles of earlier days name, and where what they held is now.
MOVED = {"tensorflow.core." + old: "shared." + new for old, new in (
    ("convert", "tensors.convert"), ("dtypes", "tensors.dtypes"), ("ragged", "ragged.tensor"),
    ("shape", "tensors.shape"), ("strings", "tensors.strings"), ("type_spec", "tensors.type_spec"),
    ("variable", "tensors.variable"))}
SPAWN = "multiprocessing.spawn"
VARIABLE = "DRAGON_GUESTS"  # where processes find what is installed in the one that started them
HOME = [os.path.dirname(__file__)]  # where the guests are


def install(*guests):
    """Make `import torch` find Dragon, in this process and in those that `multiprocessing` starts from it.

    To be called before the first import of the guest, say on the first line of a `conftest.py`; `dragon run` calls it
    before a script. A genuine package of that name on the disk is neither read nor changed.

    Parameters
    ----------
    guests : str
        Names of packages to stand for. Unless some are named, all that Dragon has are offered: each answers as
        installed once the program imports it, and for libraries that cannot do without, but not for those that only
        look whether it is there.

    Examples
    --------
    >>> import dragon.vm
    >>> dragon.vm.install("torch")
    >>> import torch

    """
    for guest in guests or VERSIONS:
        if guest not in VERSIONS:
            raise ValueError(f"install: got {guest!r}, expected one of {', '.join(VERSIONS)}")
        for wanted in (guest, *(part for whole, part in PARTS.items() if whole.startswith(guest + "."))):
            if wanted not in FINDER.asked:
                _install_guest(wanted)
                FINDER.asked.append(wanted)
                FINDER.hidden.add(wanted)
        if guests:
            FINDER.reveal(guest)
    _stand_in_path()


def _stand_in_path():
    """Have the finders of guests asked, and children told."""
    if LAST not in sys.meta_path:
        sys.meta_path.append(LAST)
    if FINDER.hidden and PathFinder in sys.meta_path:
        sys.meta_path[sys.meta_path.index(PathFinder)] = Shade
    if SPAWN in sys.modules:
        follow_children(sys.modules[SPAWN])


def follow_words(words):
    """Install what the environment of a process tells: guests by their names, with a "?" those that are offered."""
    told = [word.strip() for word in words.split(",") if word.strip()]
    strange = [word for word in told if word.rstrip("?") not in VERSIONS]
    if strange:
        raise ImportError(f"{VARIABLE}: got {strange[0]!r} in the environment, expected some of {', '.join(VERSIONS)}, "
                          "with commas between them")
    follow([word for word in told if not word.endswith("?")], [word[:-1] for word in told if word.endswith("?")])


def take_place(guest):
    """Hand the name of a guest over to Dragon's module: what a package that `dragon guest install` wrote calls.

    Parameters
    ----------
    guest : str
        The name of the package that is being imported, such as "torch".

    """
    sys.modules.pop(guest, None)
    install(guest)
    importlib.import_module(guest)


def _install_guest(guest):
    mine = ROOM + guest
    if sys.modules.get(guest) is not None:
        raise RuntimeError(f"install: got '{guest}' imported already from {sys.modules[guest].__file__}, expected a "
                           "call before the first import")
    for companion in COMPANIONS.get(guest, ()):
        sys.modules.setdefault(companion, None)  # None is how Python says: there is no such module
    if mine not in sys.modules and PathFinder.find_spec(guest, HOME) is None:
        sys.modules[guest] = None
        return
    # Modules carry the guest's names, so that classes, warnings and pickles say what they would say there; but those
    # imported before keep the names they have.
    FINDER.prefixes[guest] = (mine, guest) if mine in sys.modules else (guest, mine)
    for name in [name for name in sys.modules if name == mine or name.startswith(mine + ".")]:
        sys.modules[name[len(ROOM):]] = sys.modules[name]


class Finder:
    """The finder that `sys.meta_path` asks for the guests' modules, and `importlib.metadata` for their versions."""

    def __init__(self):
        # guest -> (prefix of the name that its modules carry, prefix of their second name)
        self.prefixes = {}
        self.asked = []
        self.hidden = set()  # of these, what nobody has wanted yet
        self.roots = set  # returns the packages that the program's own files import

    def find_spec(self, name, path=None, target=None):
        """Return the spec of a module of a guest, under whichever name; None for others."""
        if name == SPAWN and self.asked:
            spec = PathFinder.find_spec(name, path)
            spec.loader = SpawnLoader(name, spec.origin)
            return spec
        for whole, guest in NESTED.items():
            if name.startswith(whole + ".") and sys.modules.get(whole) is sys.modules.get(ROOM + guest):
                return self.find_twin(name, ROOM + guest + name[len(whole):])
        path_of_guest = name.removeprefix(ROOM)
        guest = path_of_guest.partition(".")[0]
        if guest not in self.prefixes and not name.startswith(ROOM):
            return None
        if name in self.hidden and not self.answers(name):
            return None
        if path_of_guest in MOVED:
            return self.find_twin(name, ROOM + MOVED[path_of_guest])
        for whole, part in PARTS.items():
            if path_of_guest == whole or path_of_guest.startswith(whole + "."):
                return self.find_twin(name, self.name_of(part) + path_of_guest[len(whole):])
        if guest not in self.prefixes:
            return self.find_plain(name, path) if guest in VERSIONS or guest in NESTED.values() else None
        own, twin = self.prefixes[guest]
        if name == own or name.startswith(own + "."):
            return self.find_own(name, path, twin + name[len(own):])
        if name == twin or name.startswith(twin + "."):
            return self.find_twin(name, own + name[len(twin):])
        return None

    def answers(self, guest):
        """Return whether a guest that is offered is there for who asks now; who wants it has it from then on."""
        from dragon.vm.asking import is_wanted
        wanted = is_wanted(guest, self.roots)
        if wanted:
            self.reveal(guest)
        return wanted is not False

    def reveal(self, guest):
        """Let a guest, and what comes with it, answer as installed."""
        self.hidden -= {guest, *COMES_WITH.get(guest, ())}
        if VARIABLE in os.environ:
            os.environ[VARIABLE] = self.write_words()

    def write_words(self):
        """Return what is installed, as the environment tells it."""
        return ",".join(guest + "?" * (guest in self.hidden) for guest in self.asked if guest in VERSIONS)

    def name_of(self, guest):
        """Return the name that the modules of a guest carry."""
        return self.prefixes.get(guest, (ROOM + guest,))[0]

    def find_plain(self, name, path):
        """Return the spec that runs the file of a module that has one name only."""
        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.origin is not None:
            spec.loader = GuestLoader(name, spec.origin)
        return spec

    def find_own(self, name, path, twin):
        """Return the spec that runs a module's file."""
        spec = PathFinder.find_spec(name, path or HOME)
        if spec is not None and spec.origin is not None:
            spec.loader = OwnLoader(name, spec.origin, twin)
        return spec

    def find_twin(self, name, own):
        """Return a spec that answers with the module of the other name, or None if there is none."""
        try:
            found = importlib.util.find_spec(own)
        except ModuleNotFoundError:
            return None
        return found and ModuleSpec(name, TwinLoader(own), origin=found.origin,
                                    is_package=found.submodule_search_locations is not None)

    def find_distributions(self, context):
        """Yield what `importlib.metadata` says of the guests."""
        from dragon.vm.metadata import make_distribution
        for guest in self.prefixes:
            if context.name is None or context.name.lower() == guest:
                if guest in self.hidden and not self.answers(guest):
                    continue
                yield make_distribution(guest, VERSIONS[guest])

    def invalidate_caches(self):
        """Do nothing: nothing is cached."""


class Nested:
    """The finder that is asked last: for guests within packages that others share, where they are not installed."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        """Return the spec of a module of such a guest, or of the package around it; None for others."""
        for whole, guest in NESTED.items():
            around, inside = whole.startswith(name + "."), (name + ".").startswith(whole + ".")
            if not around and not inside:
                continue
            from dragon.vm.asking import is_wanted
            if is_wanted(whole.partition(".")[0], FINDER.roots) is False:
                return None
            if around:
                return ModuleSpec(name, None, is_package=True)
            return FINDER.find_twin(name, ROOM + guest + name[len(whole):])
        return None


class Shade(PathFinder):
    """Python's own finder, but for genuine packages whose names are offered to the program and not wanted."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        """Return the spec of a module on the disk."""
        spec = super().find_spec(name, path, target)
        if name in FINDER.hidden and spec is not None and not any(
                os.path.exists(os.path.join(place, MARK)) for place in spec.submodule_search_locations or ()):
            return None
        return spec

    @classmethod
    def find_distributions(cls, *context):
        """Yield the metadata of what is installed."""
        for distribution in super().find_distributions(*context):
            name = (distribution.metadata or {}).get("Name")  # of a torn one there are no metadata
            if name not in FINDER.hidden or distribution.read_text(MARK) is not None:
                yield distribution


class OwnLoader(GuestLoader):
    """Run a module's file, and enter it under its second name before, as circles of imports need it."""

    def __init__(self, name, path, twin):
        super().__init__(name, path)
        self.twin = twin

    def exec_module(self, module):
        """Run the file."""
        sys.modules[self.twin] = module
        try:
            super().exec_module(module)
        except BaseException:
            sys.modules.pop(self.twin, None)
            raise
        parent, _, tail = self.twin.rpartition(".")
        if parent:
            setattr(sys.modules[parent], tail, module)


class TwinLoader:
    """Answer with the module that another name stands for."""

    def __init__(self, own):
        self.own = own

    def create_module(self, spec):
        """Import the module by the name it carries."""
        module = importlib.import_module(self.own)
        self.spec = module.__spec__
        return module

    def exec_module(self, module):
        """Give the module its own spec back, which the import system has just replaced."""
        module.__spec__ = self.spec


class SpawnLoader(SourceFileLoader):
    """Load `multiprocessing.spawn` so that children find the guests as well."""

    def exec_module(self, module):
        """Run the file, then amend what it tells children."""
        super().exec_module(module)
        follow_children(module)


class Message:
    """The object that a child process unpickles before it imports the parent's `__main__`."""

    def __reduce__(self):
        wanted = FINDER.roots() if FINDER.hidden else ()
        return follow, ([name for name in FINDER.asked if name not in FINDER.hidden or name in wanted],
                        [name for name in FINDER.asked if name in FINDER.hidden])


def follow(wanted, offered):
    """Install in a child process what is installed in its parent."""
    for guest in offered:
        if guest not in FINDER.asked:
            _install_guest(guest)
            FINDER.asked.append(guest)
            FINDER.hidden.add(guest)
    install(*wanted) if wanted else _stand_in_path()


def follow_children(spawn):
    """Have children that start from a fresh interpreter install what is installed here."""
    original = spawn.get_preparation_data
    if getattr(original, "tells_of_guests", False):
        return

    def get_preparation_data(name):
        data = original(name)
        if name == "ignore":
            # The fork server would import the script before it got our message.
            data.pop("init_main_from_path", None)
        return {"dragon": Message(), **data}
    get_preparation_data.tells_of_guests = True
    spawn.get_preparation_data = get_preparation_data


FINDER = Finder()
LAST = Nested()
