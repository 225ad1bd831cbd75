"""Reading stubs: which there are, and what they define."""
import ast
import functools
import pathlib

import dragon

PACKAGE = pathlib.Path(dragon.__file__).resolve().parent


@functools.cache
def list_stubs():
    """Return {module: path} of the stubs that lie in the package."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.pyi")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        found[".".join(("dragon", *parts))] = path
    return found


@functools.cache
def read(path):
    """Return the tree of a stub."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def names(tree):
    """Return {name: nodes} of what a module's stub, or a class in it, shows; imports for its own use are left out."""
    found = {}
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.AnnAssign):
            found.setdefault(node.target.id, []).append(node)
        elif isinstance(node, ast.Assign):
            found.setdefault(node.targets[0].id, []).append(node)
        elif isinstance(node, ast.ImportFrom):
            for item in node.names:
                if item.asname == item.name:
                    found.setdefault(item.name, []).append(node)
    return found
