"""The variables of a function while it is compiled, and what its modules, functions and classes stand for."""
from dragon.vm.torch.core.scripting.graph import Value


class Frame:
    """The variables set in one block.

    Parameters
    ----------
    parent : Frame, optional
        Of the block around.
    block : Block
        Where its steps go.
    continues : bool, optional, default=False
        Whether it goes on with the block around: a branch that has what follows in it.

    """

    def __init__(self, block, parent=None, continues=False):
        self.block, self.parent, self.continues = block, parent, continues
        self.names, self.errors, self.refined = {}, {}, set()
        self.is_dead = False  # whether what follows is never reached

    def find(self, name):
        """Return what a variable holds, or None."""
        frame = self
        while frame is not None:
            if name in frame.names:
                return frame.names[name]
            frame = frame.parent
        return None

    def error(self, name):
        """Return why a variable holds nothing, or None."""
        frame = self
        while frame is not None:
            if name in frame.errors:
                return frame.errors[name]
            frame = frame.parent
        return None

    def put(self, name, value):
        """Set a variable."""
        self.names[name] = value
        self.errors.pop(name, None)
        self.refined.discard(name)
        if isinstance(value, Value) and value.hint is None and not name.startswith("$"):
            value.hint = name

    def refine(self, name, value):
        """Let a variable be known more closely within this block."""
        self.names[name] = value
        self.refined.add(name)


class Sugar:
    """What has no value of its own when the script runs: a module of Python, a function, a class."""

    def told(self):
        """Return what it is, for messages."""
        return type(self).__name__.lower()


class PythonModule(Sugar):
    """A module of Python, `torch` say."""

    def __init__(self, module):
        self.module = module


class Builtin(Sugar):
    """An operator by name, perhaps a method of a value."""

    def __init__(self, name, first=None):
        self.name, self.first = name, first


class Special(Sugar):
    """A word that the compiler knows: `len`, `isinstance`, `annotate` and their like."""

    def __init__(self, name, first=None):
        self.name, self.first = name, first


class Called(Sugar):
    """A compiled function."""

    def __init__(self, function):
        self.function = function


class Method(Sugar):
    """A compiled method, with its instance."""

    def __init__(self, first, function):
        self.first, self.function = first, function


class Overloaded(Sugar):
    """Several compiled functions of which the first that fits is called."""

    def __init__(self, choices):
        self.choices = choices


class InterfaceMethod(Sugar):
    """A method of an interface, with the instance."""

    def __init__(self, first, name, schema):
        self.first, self.name, self.schema = first, name, schema


class Foreign(Sugar):
    """A Python function that is not compiled; the graph calls it."""

    def __init__(self, function, schema, first=None, unused=False):
        self.function, self.schema, self.first, self.unused = function, schema, first, unused


class Constructor(Sugar):
    """A class that can be called: a script class, a named tuple."""

    def __init__(self, type):
        self.type = type


class EnumClass(Sugar):
    """An enumeration, whose members are constants."""

    def __init__(self, type):
        self.type = type


class TypeName(Sugar):
    """A type that stands where a value would, `List[int]` say."""

    def __init__(self, type):
        self.type = type


class Rows(Sugar):
    """Several things in a row, known when the script is compiled: they are unrolled."""

    def __init__(self, items, named=None):
        self.items, self.named = list(items), named


class Counted(Sugar):
    """A range, or several iterables side by side: what a loop runs over.

    Parameters
    ----------
    kind : str
        "range", "enumerate" or "zip".
    parts : Sequence
        The numbers, or the iterables.

    """

    def __init__(self, kind, parts):
        self.kind, self.parts = kind, parts


class Sliced(Sugar):
    """A `slice` that was made before it is used: its ends and step as values, None where they are left out."""

    def __init__(self, ends):
        self.ends = ends


class Absent(Sugar):
    """A name that refuses to be used, and why."""

    def __init__(self, reason):
        self.reason = reason


class Dialect(Sugar):
    """A name of the dialect of archives: `torch`, `ops`, `ops.prim`, `__torch__.models`, `CONSTANTS`."""

    def __init__(self, path):
        self.path = path
