"""How things are named in one stub: what it imports, and which words its own names hide."""
import builtins
import keyword
import sys

from stubs.kinds import ANY, write


class Scope:
    """The names of a stub.

    Parameters
    ----------
    module : str
        The module's name.
    places : Places
        Where classes stand.

    """

    def __init__(self, module, places):
        self.module, self.places = module, places
        self.hidden = [set(places.modules[module])]
        self.imports = {}
        self.of_classes = False  # whether the class that is being written is one of classes

    def name_typing(self, word):
        """Return a word of `typing`."""
        if not self.is_hidden(word):
            self.imports[word] = f"from typing import {word}"
            return word
        self.imports["_typing"] = "import typing as _typing"
        return f"_typing.{word}"

    def name_self(self):
        """Return the word for the class of `self`, which a class of classes has none for."""
        if self.of_classes:
            return write(ANY, self)
        self.imports["_Self"] = "from typing_extensions import Self as _Self"
        return "_Self"

    def is_hidden(self, name):
        """Return whether a name of this stub, or of the class that is being written, stands before others."""
        return any(name in names for names in self.hidden)

    def name_class(self, kind):
        """Return the name of a class; `Any` for one that no stub tells."""
        if kind.__module__ == "builtins" and getattr(builtins, kind.__name__, None) is kind:
            if not self.is_hidden(kind.__name__):
                return kind.__name__
            alias = f"_{kind.__name__}"
            if not self.is_hidden(alias):
                self.imports[alias] = f"from builtins import {kind.__name__} as {alias}"
                return alias
            self.imports["_builtins"] = "import builtins as _builtins"
            return f"_builtins.{kind.__name__}"
        if kind in self.places.classes:
            return self.name_own(*self.places.classes[kind])
        home = getattr(kind, "__module__", "")
        root = home.partition(".")[0]
        if root in sys.stdlib_module_names or root == "numpy":
            public = next((name for name in (root, home) if found_at(name, kind)), None)
            if public and "_" not in (public[0], kind.__qualname__[0]):
                alias = "_" + public.replace(".", "_")
                self.imports[alias] = f"import {public} as {alias}"
                return f"{alias}.{kind.__qualname__}"
        return write(ANY, self)

    def name_own(self, module, path):
        """Return the name of a class of Dragon's."""
        head, _, rest = path.partition(".")
        if keyword.iskeyword(head):
            return write(ANY, self)
        if module == self.module:
            if len(self.hidden) == 1 or not any(head in names for names in self.hidden[1:]):
                return path
            alias = f"_own_{head}"  # what a member of the class hides is named beside the class
            self.imports.setdefault(("alias", alias), f"{alias} = {head}")
            return f"{alias}.{rest}" if rest else alias
        alias = f"_{head}"
        statement = f"from {module} import {head} as {alias}"
        count = 1
        while alias in self.imports and self.imports[alias] != statement or alias in self.hidden[0]:
            count += 1
            alias = f"_{head}_{count}"
            statement = f"from {module} import {head} as {alias}"
        self.imports[alias] = statement
        return f"{alias}.{rest}" if rest else alias


def found_at(module, kind):
    """Return whether a module shows a class by its name."""
    value = sys.modules.get(module)
    for name in kind.__qualname__.split("."):
        value = getattr(value, name, None)
    return value is kind
