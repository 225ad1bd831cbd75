"""Write what parameters the genuine frameworks' names take into `docs/<guest>/arguments.txt`, a line for each name.

    python tools/list_arguments.py torch keras tensorflow

The coverage pages compare Dragon's signatures with it. A name whose signature cannot be asked for has no line;
PyTorch's functions that are written in C++ have none.
"""
import importlib
import inspect
import os
import pathlib
import sys

DOCS = pathlib.Path(__file__).resolve().parents[1] / "docs"
os.environ["KERAS_BACKEND"] = "tensorflow"
VARIOUS = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
# What a name of the guest takes for its own machinery, or that users do not write.
INNER = {"self", "cls"}


def find(path):
    """Return what a dotted name stands for, or None."""
    words = path.split(".")
    for end in range(len(words), 0, -1):
        try:
            value = importlib.import_module(".".join(words[:end]))
            for word in words[end:]:
                value = getattr(value, word)
            return value
        except (ImportError, AttributeError):
            continue
    return None


def parameters_of(value):
    """Return the names of what a callable takes; None where they cannot be told, or anything goes."""
    try:
        found = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(parameter.kind in VARIOUS for parameter in found):
        return None
    names = [parameter.name for parameter in found if parameter.kind != parameter.POSITIONAL_ONLY]
    return [name for name in names if not name.startswith("_") and name not in INNER]


def main(guests):
    """Write the lists."""
    for guest in guests:
        lines = []
        for path in (DOCS / guest / "names.txt").read_text(encoding="utf-8").split():
            value = find(path)
            names = parameters_of(value) if callable(value) else None
            if names:
                lines.append(" ".join([path, *names]))
        (DOCS / guest / "arguments.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{guest}: {len(lines)} signatures")


if __name__ == "__main__":
    main(sys.argv[1:] or ["torch", "keras", "tensorflow"])
