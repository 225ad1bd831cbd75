"""Say what a name of a face is: its signature and its docstring, as reStructuredText."""
import ast
import inspect
import re
import sys

from sphinx.ext.napoleon import Config, NumpyDocstring

TITLES = ("Parameters", "Returns", "Yields", "Raises", "Examples", "Notes", "References", "See Also", "Attributes",
          "Methods", "Warns", "Warnings", "Other Parameters")
OTHER_TITLE = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)
CODE = re.compile(r"(``.+?``|:[\w:]+:`[^`]+`|`[^`]+`__?|`[^`]+`)")
STRESSED = re.compile(r"(\*\*[^*\s](?:[^*]*[^*\s])?\*\*|(?<![\w*])\*[^*\s](?:[^*]*[^*\s])?\*(?![\w*]))")
FIELD = re.compile(r"(\s*:[^:`]+:)(.*)")
MARKUP = re.compile(r"\s*\.\. \w")
CONFIG = Config(napoleon_use_rtype=False, napoleon_use_ivar=True, napoleon_use_param=True)


def escape_text(text):
    """Return a piece of prose in which nothing but emphasis is markup."""
    parts = STRESSED.split(text)
    for index in range(0, len(parts), 2):
        part = re.sub(r"(?<!\\)([*|])", r"\\\1", parts[index])
        parts[index] = re.sub(r"(?<![\\\w])(\w*?)_(?![\w`])", r"\1\\_", part)
    return "".join(parts)


def escape_line(line):
    """Return a line of a docstring in which stars, bars and trailing underscores are plain text."""
    if MARKUP.match(line):
        return line
    field = FIELD.fullmatch(line)
    if field:
        return field[1] + escape_line(field[2])
    pieces = CODE.split(line)
    for index, piece in enumerate(pieces):
        pieces[index] = show_code(piece, pieces[index + 1]) if index % 2 else escape_text(piece)
    return "".join(pieces)


def show_code(piece, rest):
    """Return a piece in backticks as markup; a letter may follow it, as in `tensor`s."""
    plain = re.fullmatch(r"`([^`]+)`", piece)
    return (f"``{plain[1]}``" if plain else piece) + (r"\ " if re.match(r"\w", rest) else "")


def read_docstring(value):
    """Return an object's own docstring in reStructuredText, as a list of lines."""
    home = getattr(value, "__module__", None)
    if isinstance(home, str) and home.partition(".")[0] in sys.stdlib_module_names:
        return []  # Python tells it in its own documentation
    text = inspect.getdoc(value) or ""
    if type(value).__name__ == "Op":
        sentence, _, sections = text.partition("\n\n")
        line = repr(value).removeprefix("<operator ").removesuffix(">")
        text = f"{sentence}\n\nThe engine's operator ``{line}``.\n\n{sections}"
    if not inspect.isroutine(value) and not inspect.isclass(value) and text == inspect.getdoc(type(value)):
        return []  # what its class says holds for any constant
    text = OTHER_TITLE.sub(lambda found: found[0] if found[1] in TITLES else f".. rubric:: {found[1]}\n", text)
    what = "class" if inspect.isclass(value) else "function"
    lines = NumpyDocstring(text, CONFIG, what=what).lines()
    return escape_examples([line for line in lines if line.strip() != ":param :"])


def escape_examples(lines):
    """Return the lines with their prose escaped; examples, which end at an empty line, and literal blocks stay."""
    found, paragraph, literal = [], [], None
    for line in [*lines, ""]:
        indent = len(line) - len(line.lstrip())
        if literal is not None and line.strip() and indent <= literal:
            literal = None
        if literal is None and line.strip():
            paragraph.append(line)
            continue
        if paragraph:
            is_example = paragraph[0].lstrip().startswith(">>>")
            found += paragraph if is_example else [escape_line(each) for each in paragraph]
            if paragraph[-1].rstrip().endswith("::"):
                literal = len(paragraph[-1]) - len(paragraph[-1].lstrip())
            paragraph = []
        found.append(line)
    return found[:-1]


def first_sentence(value):
    """Return the first line of what an object says of itself, escaped."""
    lines = read_docstring(value)
    return lines[0].strip() if lines else ""


def show_default(value):
    """Return how a default is written, or "..." for what has no such form."""
    if inspect.isclass(value) or inspect.isroutine(value):
        return getattr(value, "__qualname__", "...")
    text = repr(value)
    try:
        ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        return "..."
    return text if len(text) < 60 and " at 0x" not in text and "\n" not in text else "..."


def show_signature(value, bound=False):
    """Return the arguments of a callable in parentheses; empty where nothing is known.

    Parameters
    ----------
    value : Any
        A function or a class.
    bound : bool, optional, default=False
        Leave the first argument out: it is the object that a method belongs to.

    Returns
    -------
    str
        Such as "(input, dim=None, *, out=None)".

    """
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError, AttributeError):
        return ""
    words, star, only_positional = [], False, False
    parameters = list(signature.parameters.values())
    if bound and parameters and parameters[0].kind in (0, 1):
        parameters = parameters[1:]
    for parameter in parameters:
        if only_positional and parameter.kind != parameter.POSITIONAL_ONLY:
            words.append("/")
            only_positional = False
        only_positional = only_positional or parameter.kind == parameter.POSITIONAL_ONLY
        if parameter.kind == parameter.KEYWORD_ONLY and not star:
            words.append("*")
        star = star or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        mark = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        default = "" if parameter.default is parameter.empty else f"={show_default(parameter.default)}"
        words.append(f"{mark}{parameter.name}{default}")
    return f"({', '.join(words + ['/'] * only_positional)})"
