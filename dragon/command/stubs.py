"""`dragon stubs`: packages `torch`, `keras`, `tensorflow`, `torchvision` of stubs that show Dragon's API to editors."""
import ast
import json
import pathlib

import dragon
from dragon.command.parser import Mistake, add_json
from dragon.core import files
from dragon.vm.alias import PARTS, VERSIONS

EXAMPLES = (
    ("dragon stubs", "into ./typings, where pyright and Pylance look by themselves"),
    ("dragon stubs --only torch", "PyTorch's names alone"),
    ("dragon stubs ~/stubs", "elsewhere: name the folder as `stubPath` to pyright, as `mypy_path` to mypy"),
)
WORDS = {"description": """Write packages of stubs for the names that programs import, so that editors and type checkers
read Dragon's API where a program says `import torch`."""}
HEAD = '"""Written by `dragon stubs`: `{name}` is Dragon\'s."""\n'
MARK = "Written by `dragon stubs`"


def describe(parser):
    """Tell the parser the command's words."""
    parser.add_argument("folder", nargs="?", default="typings", type=pathlib.Path, help="where to (default: typings)")
    parser.add_argument("--only", nargs="+", choices=sorted(VERSIONS), metavar="NAME", default=sorted(VERSIONS),
                        help=f"of {', '.join(sorted(VERSIONS))}")
    add_json(parser)


def main(options):
    """Write the packages and return the exit status.

    Parameters
    ----------
    options : argparse.Namespace
        The words of the command line after `dragon stubs`, read.

    Returns
    -------
    int
        0; what stands in the way is a `Mistake`.

    """
    home = pathlib.Path(dragon.__file__).parent / "vm"
    try:
        counts = {guest: write_guest(guest, home, options.folder) for guest in options.only}
    except ValueError as error:
        raise Mistake(str(error)) from None
    if options.json:
        print(json.dumps({"folder": str(options.folder), "stubs": counts}, indent=2))
        return 0
    for guest, count in counts.items():
        print(f"{options.folder / guest}: {count} stubs")
    return 0


def write_guest(guest, home, folder):
    """Write the stubs of a guest, and remove those of an earlier time; return how many there are.

    Parameters
    ----------
    guest : str
        Such as "torch".
    home : pathlib.Path
        Where the guests' own modules and stubs are.
    folder : pathlib.Path
        Where the package goes.

    Returns
    -------
    int
        How many stubs were written.

    """
    if not (home / guest / "__init__.pyi").exists():
        raise ValueError(f"got no stubs in {home / guest}, expected those that a build leaves there (`make build`, or "
                         "an installed wheel)")
    target = folder / guest
    front = target / "__init__.pyi"
    if target.exists() and not (front.exists() and MARK in front.read_text(encoding="utf-8")):
        raise ValueError(f"got {target}, which this command has not written, expected a folder without it")
    texts = mirror_all(home, guest, target)
    for whole, part in PARTS.items():
        if whole.startswith(guest + "."):
            texts.update(mirror_all(home, part, target.joinpath(*whole.split(".")[1:])))
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write(path, text)
    for old in set(target.rglob("*.pyi")) - set(texts):
        old.unlink()
    files.write(target / "py.typed", "")
    return len(texts)


def mirror_all(home, guest, target):
    """Return {path: text} of the stubs that show a guest's public modules below a folder.

    Stubs of what is absent have names with points, since a folder of theirs would be a package to Python; here they
    get folders, and are copied: under Dragon's name no checker finds them.
    """
    found = {}
    for path in sorted((home / guest).rglob("*.pyi")):
        inner = path.relative_to(home / guest)
        if inner.parts[0] == "core":
            continue
        below = sorted(other.stem.removeprefix(path.stem + ".") for other in path.parent.glob(f"{path.stem}.*.pyi"))
        if "." in path.stem:
            inner, text = inner.parent.joinpath(*path.stem.split(".")), path.read_text(encoding="utf-8")
        else:
            inner, text = inner.with_suffix(""), mirror(path, home, guest, below)
        is_package = below or path.stem == "__init__"
        where = inner.parent if path.stem == "__init__" else inner
        found[target / (where / "__init__.pyi" if is_package else where.with_suffix(".pyi"))] = text
    return found


def mirror(path, home, guest, below):
    """Return the stub that shows the names of another one under a guest's own name.

    Parameters
    ----------
    path : pathlib.Path
        The other one.
    home : pathlib.Path
        Where the guests' stubs are.
    guest : str
        The guest.
    below : Sequence[str]
        Modules below it that have no folder.

    Returns
    -------
    str
        Its text.

    """
    parts = path.relative_to(home).with_suffix("").parts
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    module = ".".join(("dragon", "vm", *parts))
    names, modules = public_names(path, module)
    below = [name for name in below if "." not in name]
    if path.stem == "__init__":
        below = [name for name in modules if name != "core" and ((path.parent / f"{name}.pyi").exists()
                                                                 or (path.parent / name / "__init__.pyi").exists())]
        below += [whole.rpartition(".")[2] for whole in PARTS if whole.rpartition(".")[0] == ".".join(parts)]
    return "".join([HEAD.format(name=".".join(parts)),
                    *(f"from . import {name} as {name}\n" for name in dict.fromkeys(below)),
                    *(f"from {module} import {name} as {name}\n" for name in names if name not in below)])


def public_names(path, module):
    """Return the names that a stub shows, and those of them that are modules below it."""
    names, modules = {}, {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names[node.name] = None
        elif isinstance(node, ast.AnnAssign):
            names[node.target.id] = None
        elif isinstance(node, ast.Assign):
            names[node.targets[0].id] = None
        elif isinstance(node, ast.ImportFrom):
            shown = [item.asname for item in node.names if item.asname == item.name]
            names.update(dict.fromkeys(shown))
            if node.level == 1:
                modules.update(dict.fromkeys(shown))
    return list(names), list(modules)
