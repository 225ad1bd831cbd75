"""Print how much of its guests' public APIs Dragon has, name by name: the pages `<guest>/coverage`."""
import collections
import functools
import importlib
import pathlib

FOLDER = pathlib.Path(__file__).parent
# A guest, and what its page says of the names that are counted.
GUESTS = {
    "torch": "public names of PyTorch 2.13 (functions, classes and methods; parts of its compiler are left out)",
    "keras": "public names of Keras 3.15 (functions, classes and constants)",
    "tensorflow": "public names of TensorFlow 2.21 (functions, classes and constants; `raw_ops`, `compat.v1` and "
                  "Google's own hardware are left out)",
}


@functools.lru_cache(None)
def find(path):
    """Return what a dotted name of a guest stands for here, or None."""
    parent, _, last = path.rpartition(".")
    if not parent:
        return importlib.import_module(f"dragon.vm.{path}")
    found = find(parent)
    if found is None:
        return None
    try:
        return getattr(found, last)
    except (AttributeError, ImportError, NotImplementedError):
        pass
    try:
        return importlib.import_module(f"dragon.vm.{path}")
    except ImportError:
        return None


def write_page(guest):
    """Write a guest's page from the list of the genuine names."""
    names = (FOLDER / guest / "names.txt").read_text(encoding="utf-8").split()
    groups = collections.defaultdict(list)
    for name in names:
        groups[name.rpartition(".")[0]].append((name.rpartition(".")[2], find(name) is not None))
    present = sum(here for group in groups.values() for _, here in group)
    title = {"torch": "PyTorch", "keras": "Keras", "tensorflow": "TensorFlow"}[guest]
    lines = [f"# Coverage of {title}'s names", "",
             f"Of {len(names)} {GUESTS[guest]}, {present} exist here: {present / len(names):.1%}. A name that is "
             "missing raises an `AttributeError` that names itself and its nearest relative; an argument that is "
             "missing raises too.", "", "| module | names | here | missing |", "|---|---|---|---|"]
    for module, group in groups.items():
        missing = " ".join(f"`{name}`" for name, here in group if not here)
        lines.append(f"| `{module}` | {len(group)} | {sum(here for _, here in group)} | {missing or 'none'} |")
    (FOLDER / guest / "coverage.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_coverage(app=None):
    """Write the pages of all guests."""
    for guest in GUESTS:
        write_page(guest)


if __name__ == "__main__":
    write_coverage()
