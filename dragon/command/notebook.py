"""The code of a notebook as one program: its cells in order, what is for the shell or for IPython left out."""
import ast
import bisect
import json

SUFFIX = ".ipynb"
MAGIC = ("%", "!", "?")


class Notebook:
    """The code cells of a notebook.

    Parameters
    ----------
    data : bytes
        The file. What is no notebook is a ValueError.

    """

    def __init__(self, data):
        try:
            cells = json.loads(data)
            cells = cells["cells"] if "cells" in cells else [cell for sheet in cells["worksheets"]
                                                             for cell in sheet["cells"]]
            texts = [(number, self.read(cell)) for number, cell in enumerate(cells, 1) if cell["cell_type"] == "code"]
        except (KeyError, TypeError, AttributeError, UnicodeDecodeError, json.JSONDecodeError) as error:
            raise ValueError(f"got no notebook: {type(error).__name__}: {error}") from None
        self.numbers, self.starts, lines = [], [], []
        for number, text in texts:
            self.numbers.append(number)
            self.starts.append(len(lines) + 1)
            lines += text
        self.source = "\n".join(lines) + "\n"

    @staticmethod
    def read(cell):
        """Return the lines of a cell that are Python; the others are left empty, so that lines keep their places."""
        text = cell.get("source", cell.get("input", ""))
        lines = (text if isinstance(text, str) else "".join(text)).split("\n")
        if lines[0].lstrip().startswith("%%"):
            # Of the magics for whole cells only those that measure or keep its output hold Python.
            if lines[0].split()[0] not in ("%%time", "%%timeit", "%%capture", "%%prun"):
                return [""] * len(lines)
        if is_python(lines):
            return lines
        return [plain(line) for line in lines]

    def place(self, line):
        """Return (the number of the cell, the line within it) of a line of the source."""
        which = max(bisect.bisect_right(self.starts, line) - 1, 0)
        return self.numbers[which], line - self.starts[which] + 1


def is_python(lines):
    """Return whether lines are a program as they stand."""
    try:
        ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


def plain(line):
    """Return a line that may be for IPython as Python reads it: at its place stands something that does nothing."""
    words = line.strip()
    indent = line[:len(line) - len(line.lstrip())]
    if words.startswith(MAGIC) or words.endswith("?"):
        return indent + "pass"
    name, equals, value = words.partition("=")
    if equals and name.strip().isidentifier() and value.lstrip().startswith(("!", "%")):
        return f"{indent}{name.strip()} = None"
    return line
