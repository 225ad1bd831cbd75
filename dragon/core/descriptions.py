"""Docstrings of operators: made when one is asked for, of the schema, the sentence told in C++, and a table of words.

A table is a folder of text files, which are read when the first docstring is. Below `[name]` stand lines `argument :
type : what it means`, where `return` is the result, and an example. The type may be missing where the schema has it.
`[name_]` is the form that writes in place, and `[*]` has what arguments mean where their operator says nothing:

    [cumsum]
    dim :  : Along which axis to add.
    >>> torch.cumsum(torch.tensor([1, 2, 3]), dim=0)
    tensor([1, 3, 6])
"""
import functools
import glob
import keyword
import os
import re

from dragon import _C

HEADING = re.compile(r"\[(\*|[a-z][\w.]*)\]$")  # a list that an example prints has numbers or quotes in it
GENERAL = "*"
RESULT = "return"
KINDS = {"Scalar": "number", "device": "Union[device, str]"}  # where a schema's type is not Python's
OUT = "Written into, and returned."


class Descriptions:
    """What makes the docstrings of a face's operators; `Ops.set_describer` takes it.

    Parameters
    ----------
    folder : str
        Where the face's tables are.

    """

    def __init__(self, folder):
        self.folder = folder

    @functools.cached_property
    def entries(self):
        """Return the lines below each name of the tables."""
        found, lines = {}, []
        for path in sorted(glob.glob(os.path.join(glob.escape(self.folder), "*.txt"))):
            with open(path, encoding="utf-8") as file:
                for line in file.read().splitlines():
                    if HEADING.match(line):
                        lines = found[line[1:-1]] = []
                    else:
                        lines.append(line)
        return found

    def read(self, name):
        """Return (what its arguments mean: (type, text) by name, the lines of its example) for a name of the tables."""
        lines = self.entries.get(name, [])
        start = next((place for place, line in enumerate(lines) if line.startswith(">>>")), len(lines))
        words = {}
        for line in lines[:start]:
            if line:
                argument, kind, text = line.split(" : ", 2)
                words[argument] = kind.strip(), text
        return words, "\n".join(lines[start:]).strip()

    def describe_operator(self, operator, in_place, names, sentence):
        """Return the docstring of an operator.

        Parameters
        ----------
        operator : str
            The engine's name.
        in_place : bool
            Whether it is the form that writes into its first argument.
        names : Tuple[str, ...]
            The face's names of the arguments.
        sentence : str
            What the operator does, in the face's words.

        Returns
        -------
        str
            Sections as NumPy has them.

        """
        schema = _C.schema(operator)
        words, example = self.read(operator)
        general = self.read(GENERAL)[0]
        if in_place:
            own, example = self.read(operator + "_")
            words = {**words, RESULT: ("Tensor", f"`{names[0]}` itself."), **own}
            sentence = f"{sentence} The result is written into `{names[0]}`."
        entries = [_entry(argument, name, words, general) for argument, name in zip(schema["arguments"], names)]
        if not (in_place or schema["view"] or any(argument["mutated"] for argument in schema["arguments"])):
            entries.append("\n    ".join(("out : Tensor, optional", {**general, **words}.get("out", ("", OUT))[1])))
        sections = [sentence]
        if entries:
            sections.append(section("Parameters", "\n".join(entries)))
        if schema["returns"]:
            sections.append(section("Returns", _result(schema, words)))
        if example:
            sections.append(section("Examples", example))
        return "\n\n".join(sections) + "\n"

    def describe_function(self, function):
        """Return the docstring of a function that is written in Python: its own."""
        return function.__doc__


def section(title, text):
    """Return a section of a docstring."""
    return f"{title}\n{'-' * len(title)}\n{text}"


def _entry(argument, name, words, general):
    """Return the lines of an argument, with its default."""
    kind, text = words.get(name) or ("", general.get(name, ("", ""))[1])
    head = f"{name}_" if keyword.iskeyword(name) else name
    head += f" : {kind or kind_of(argument['type'])}"
    default = argument["default"]
    if argument["optional"] or argument["has_default"] and default is None:
        head += ", optional"
    elif argument["has_default"]:
        shown = f'"{default}"' if isinstance(default, str) else default
        head += f", optional, default={shown}"
    return f"{head}\n    {text}" if text else head


def _result(schema, words):
    """Return the type of what an operator returns, and what is told of it."""
    names = schema["returns"]
    kind = "Tuple[Tensor, ...]" if schema["returns_list"] else "Tensor"
    head = kind if len(names) == 1 else f"{', '.join(names)} : {kind}"
    told, text = words.get(RESULT, ("", ""))
    return "\n    ".join(filter(None, (told or head, text)))


def kind_of(schema):
    """Return the Python type of an argument whose type a schema writes as `Tensor`, `int[2]` or `dtype?`."""
    kind, is_list, count = schema.rstrip("?!").partition("[")
    kind = KINDS.get(kind, kind)
    if not is_list:
        return kind
    return f"Union[{kind}, Sequence[{kind}]]" if count != "]" else f"Sequence[{kind}]"
