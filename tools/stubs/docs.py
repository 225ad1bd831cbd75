"""What NumPy docstrings say of arguments and results."""
import inspect
import re

SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}[ ]*\n", re.MULTILINE)
ENTRY = re.compile(r"^(\*{0,2}\w+(?:, ?\*{0,2}\w+)*) ?:(.*)$")


def read_sections(doc):
    """Return {title: text} of the sections of a docstring."""
    pieces = SECTION.split(inspect.cleandoc(doc or ""))
    return dict(zip(pieces[1::2], pieces[2::2]))


def read_arguments(doc):
    """Return {name: type as it is written} of a docstring's arguments."""
    found = {}
    for line in read_sections(doc).get("Parameters", "").splitlines():
        entry = ENTRY.match(line)
        if entry:
            for name in entry[1].split(","):
                found[name.strip().lstrip("*")] = entry[2].strip()
    return found


def read_result(doc):
    """Return the type of the result as it is written; None where the docstring does not say, or says several."""
    lines = [line for line in read_sections(doc).get("Returns", "").splitlines() if line and not line.startswith(" ")]
    if len(lines) != 1:
        return None
    entry = re.match(r"^\w+ : (.*)$", lines[0])
    return entry[1] if entry else lines[0]


def read_attributes(doc):
    """Return {name: type as it is written} of what a class's docstring says of attributes."""
    found = {}
    for line in read_sections(doc).get("Attributes", "").splitlines():
        entry = ENTRY.match(line)
        if entry:
            found.update(dict.fromkeys((name.strip() for name in entry[1].split(",")), entry[2].strip()))
    return found
