"""The files of a program: a script, and what it imports from beside it; how places and messages are told."""
import ast
import os
import re

from dragon.command.notebook import SUFFIX, Notebook

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
LONGEST = 300  # characters of a message in a line


def list_files(script):
    """Return a script and the files below its folder that it imports, directly or through another, without running it.

    Parameters
    ----------
    script : str
        The path of a Python file.

    Returns
    -------
    List[str]
        Paths, the script first. What cannot be read or parsed is in the list and imports nothing.

    """
    found, waiting = [], [script]
    folder = os.path.dirname(script)
    while waiting:
        path = waiting.pop(0)
        if path in found:
            continue
        found.append(path)
        for name, level in read_imports(path):
            waiting += find_module(name, level, os.path.dirname(path), folder)
    return found


def read_tree(path):
    """Return (the syntax tree of a file, its notebook or None); what cannot be read raises what Python says of it."""
    with open(path, "rb") as file:
        data = file.read()
    notebook = Notebook(data) if path.endswith(SUFFIX) else None
    return ast.parse(data if notebook is None else notebook.source, path), notebook


def parse(path):
    """Return the syntax tree of a file, or None if it has none."""
    try:
        return read_tree(path)[0]
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None


def read_imports(path):
    """Return [(dotted name, level)] of what a file imports; names from a package count as modules as well."""
    tree = parse(path)
    return [] if tree is None else list_imports(tree)


def list_imports(tree):
    """Return the same of a syntax tree."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, 0) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            found.append((module, node.level))
            found += [(f"{module}.{alias.name}".lstrip("."), node.level) for alias in node.names if alias.name != "*"]
    return found


def is_main(node):
    """Return whether a statement is `if __name__ == "__main__":`, which nobody runs who imports the file."""
    return isinstance(node, ast.If) and not node.orelse and ast.unparse(node.test).replace('"', "'") in (
        "__name__ == '__main__'", "'__main__' == __name__")


def find_module(name, level, here, folder):
    """Return the files below the program's folder that an import reads, packages' own included."""
    start = folder if not level else os.path.normpath(os.path.join(here, *[os.pardir] * (level - 1)))
    found, place = [], start
    for part in name.split(".") if name else ():
        place = os.path.join(place, part)
        if os.path.isfile(place + ".py"):
            found.append(place + ".py")
        elif os.path.isfile(os.path.join(place, "__init__.py")):
            found.append(os.path.join(place, "__init__.py"))
    return found


def list_roots(paths):
    """Return the packages at the top of what files import, in order."""
    return list(dict.fromkeys(name.partition(".")[0] for path in paths for name, level in read_imports(path)
                              if not level and name))


def short(path):
    """Return a path as it is shortest: from here, or whole."""
    near = os.path.relpath(path)
    return path if near.startswith(os.pardir) else near


def one_line(message):
    """Return a message as one line, without colours, and not longer than can be read."""
    text = " ".join(COLOUR.sub("", message).split())
    return text if len(text) <= LONGEST else text[:LONGEST - 3] + "..."
