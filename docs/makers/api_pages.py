"""Write a page for each public module of each door, into `api/generated`: what is there, with its real signature."""
import inspect
import pathlib

from makers.describe import first_sentence, read_docstring, show_default, show_signature
from makers.doors import DOCS, TITLES, find, list_door
from makers.files import write_if_new

FOLDER = DOCS / "api" / "generated"
DOORS = ("torch", "keras", "tensorflow", "torchvision", "dragon")
IMPORTS = {"torch": "from dragon.vm import torch", "keras": "from dragon.vm import keras",
           "tensorflow": "from dragon.vm import tensorflow as tf", "torchvision": "from dragon.vm import torchvision"}


def indent(lines, depth=3):
    """Return lines further to the right."""
    return [" " * depth + line if line.strip() else "" for line in lines]


def own_members(value):
    """Yield (name, object, directive) of what a class itself defines for its users."""
    for name, member in () if value.__module__ == "builtins" else sorted(vars(value).items()):
        is_value = isinstance(member, (type, str, int, float, tuple, dict, list))
        if name.startswith("_") or is_value or type(member).__name__ == "Op":  # operators have their own page
            continue
        if isinstance(member, property) or inspect.isdatadescriptor(member):
            yield name, member, "property"
        elif isinstance(member, (classmethod, staticmethod)):
            yield name, member.__func__, type(member).__name__
        elif callable(member):
            yield name, member, "method"


def write_members(value):
    """Return the lines of a class's own methods and properties."""
    lines = []
    for name, member, kind in own_members(value):
        text = read_docstring(member)
        if not text:
            continue
        if kind == "property":
            lines += [f".. py:property:: {name}", "", *indent(text), ""]
            continue
        lines += [f".. py:method:: {name}{show_signature(member, bound=kind != 'staticmethod') or '()'}"]
        lines += [f"   :{kind}:"] if kind in ("staticmethod", "classmethod") else []
        lines += ["", *indent(text), ""]
    return lines


def group_of(value):
    """Return the heading under which an object stands."""
    return "Classes" if inspect.isclass(value) else "Functions" if callable(value) else "Constants"


def write_entry(name, value, home):
    """Return the lines of one name; `home` is the name under which it was described already, if it was."""
    if inspect.isclass(value):
        kind, signature = "class", show_signature(value)
    elif callable(value):
        kind, signature = "function", show_signature(value)
    else:
        lines = [f".. py:data:: {name}", f"   :value: {show_default(value)}", ""]
        return lines + indent(read_docstring(value)) + [""]
    lines = [f".. py:{kind}:: {name}{signature}", ""]
    if home:
        return lines + [f"   {first_sentence(value)}", "", f"   The same as :py:obj:`{home}`.", ""]
    lines += indent(read_docstring(value)) + [""]
    if kind == "class":
        lines += indent(write_members(value))
    return lines


def write_tensor_method(name, value, homes):
    """Return the lines of a method of `torch.Tensor`."""
    text = read_docstring(value)
    if not callable(value):
        return [f".. py:property:: {name}", "", *indent(text), ""]
    lines = [f".. py:method:: {name}{show_signature(value, bound=True) or '()'}", ""]
    function = homes.get(f"torch.{name}")
    if function is not None:
        return lines + [f"   {first_sentence(value)}", "", f"   See :py:func:`torch.{name}`.", ""]
    return lines + indent(text) + [""]


def write_page(path, names, known):
    """Return the text of a module's page.

    Parameters
    ----------
    path : str
        The module's name as users know it.
    names : Dict[str, Any]
        What it has.
    known : Dict[int, str]
        Under which name an object was described, by its identity; what this page describes is added.

    Returns
    -------
    str
        reStructuredText.

    """
    door = path.partition(".")[0]
    shown = path.replace("tensorflow", "tf", 1)
    lines = [shown, "=" * len(shown), ""]
    if path == "torch.Tensor":
        functions = {f"torch.{name}": value for name, value in list_door("torch")["torch"].items()}
        lines += [".. py:module:: torch", "   :no-index:", "", ".. py:class:: Tensor", ""]
        lines += indent(read_docstring(find(path)))
        for name, value in names.items():
            lines += [""] + indent(write_tensor_method(name, value, functions))
        return "\n".join(lines) + "\n"
    module = find(path) if door != "dragon" else None
    text = read_docstring(module) if inspect.ismodule(module) else []
    lines += [f".. py:module:: {path}", "", *text[:1], ""]
    if door in IMPORTS:
        lines += [f"``import {path}`` under ``dragon run``; ``{IMPORTS[door]}`` anywhere.", ""]
    groups = {"Classes": {}, "Functions": {}, "Constants": {}}
    for name, value in names.items():
        if (path, name) != ("torch", "Tensor"):  # which has a page of its own
            groups[group_of(value)][name] = value
    for title, group in sorted(groups.items(), key=lambda item: -len(item[1])):
        lines += [title, "-" * len(title), ""] if group else []
        for name in sorted(group, key=str.lower):
            described = title != "Constants"
            home = known.get(id(group[name])) if described else None
            if described and home is None:
                known[id(group[name])] = f"{path}.{name}"
            lines += write_entry(name, group[name], home)
    return "\n".join(lines) + "\n"


def write_modules(door, modules):
    """Return the table of a door's modules."""
    lines = [".. list-table::", "   :header-rows: 1", "   :widths: 30 10 60", "", "   * - module", "     - names",
             "     - among them"]
    for path in sorted(modules):
        names = [name for name in modules[path] if not name.endswith("_")]
        some = names[::max(1, len(names) // 6)][:6]
        lines += [f"   * - :doc:`{path.replace('tensorflow', 'tf', 1)} </api/generated/{door}/{path}>`",
                  f"     - {len(modules[path])}", f"     - {' '.join(f'``{name}``' for name in some)}"]
    return "\n".join(lines) + "\n"


def write_pages(app=None):
    """Write the pages of all doors, and remove those of modules that are gone."""
    written = set()
    for door in DOORS:
        modules, known = list_door(door), {}
        for path in sorted(modules, key=lambda path: (path.count("."), path)):
            text = write_page(path, modules[path], known)
            written.add(write_if_new(FOLDER / door / f"{path}.rst", text))
        write_if_new(FOLDER / door / "modules.inc", write_modules(door, modules))
    for stale in set(FOLDER.rglob("*.rst")) - written:
        pathlib.Path(stale).unlink()
    return sorted(written)


if __name__ == "__main__":
    for page in write_pages():
        print(page.relative_to(DOCS), TITLES[page.parent.name])
