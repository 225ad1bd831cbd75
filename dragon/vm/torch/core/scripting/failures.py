"""What scripting refuses, with the place in the source."""
import os

import dragon


OWN = os.path.dirname(os.path.abspath(dragon.__file__)) + os.sep


class ScriptFailure(RuntimeError):
    """A script that cannot be compiled: the message, and the lines of the source that are meant."""


class Missing(NotImplementedError, RuntimeError):
    """What PyTorch would compile, and Dragon does not yet."""


class Place:
    """Where in a source something stands.

    Parameters
    ----------
    source : Source
        The text.
    node : ast.AST
        What stands there.

    """

    def __init__(self, source, node):
        self.source = source
        self.line = getattr(node, "lineno", 1)
        self.column = getattr(node, "col_offset", 0)
        self.end = getattr(node, "end_col_offset", None) if getattr(node, "end_lineno", None) == self.line else None

    def __str__(self):
        lines = self.source.text.split("\n")
        shown = lines[max(0, self.line - 4):self.line]
        here = lines[self.line - 1] if 0 < self.line <= len(lines) else ""
        width = max((self.end or len(here)) - self.column, 1)
        marked = " " * self.column + "~" * min(width, max(len(here) - self.column, 1)) + " <--- HERE"
        after = lines[self.line:self.line + 2]
        where = f'  File "{self.source.file}", line {self.source.first + self.line - 1}\n'
        return where + "\n".join([*shown, marked, *after])


class Source:
    """A text that is compiled.

    Parameters
    ----------
    text : str
        The text, without what it was indented by.
    file : str
        Where it stands.
    first : int
        The number of its first line there.
    name : str, optional
        What it defines.

    """

    def __init__(self, text, file="<string>", first=1, name=None):
        self.text, self.file, self.first, self.name = text, file, first, name


def refuse(message, place=None, kind=ScriptFailure):
    """Raise for a place in a source; of what Dragon itself wrote, that there is no script of it."""
    if isinstance(place, Place) and place.source.file.startswith(OWN):
        raise Missing(f"torch.jit.script: got {place.source.name}, which Dragon has no script of: {message}:\n{place}")
    raise kind(f"{message}:\n{place}" if place is not None else message)
