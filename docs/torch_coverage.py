"""Print how much of PyTorch's public API Dragon has, name by name: the page `torch/coverage`."""
import collections
import importlib
import pathlib

from dragon.vm import torch

FOLDER = pathlib.Path(__file__).parent / "torch"


def find(path):
    """Return whether a dotted name of the guest exists here."""
    found = torch
    parts = path.split(".")[1:]
    for index, part in enumerate(parts):
        try:
            found = getattr(found, part)
        except (AttributeError, ImportError):
            try:
                found = importlib.import_module("dragon.vm.torch." + ".".join(parts[:index + 1]))
            except ImportError:
                return False
    return True


def write_coverage(app=None):
    """Write the page from the list of genuine PyTorch's names."""
    names = (FOLDER / "names.txt").read_text(encoding="utf-8").split()
    groups = collections.defaultdict(list)
    for name in names:
        groups[name.rpartition(".")[0]].append((name.rpartition(".")[2], find(name)))
    present = sum(here for group in groups.values() for _, here in group)
    lines = ["# Coverage of PyTorch's names", "",
             f"Of {len(names)} public names of PyTorch 2.13 (functions, classes and methods; parts of its compiler are "
             f"left out), {present} exist here: {present / len(names):.1%}. A name that is missing raises an "
             "`AttributeError` that names itself and its nearest relative; an argument that is missing raises too.", "",
             "| module | names | here | missing |", "|---|---|---|---|"]
    for module, group in groups.items():
        missing = " ".join(f"`{name}`" for name, here in group if not here)
        lines.append(f"| `{module}` | {len(group)} | {sum(here for _, here in group)} | {missing or 'none'} |")
    (FOLDER / "coverage.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_coverage()
