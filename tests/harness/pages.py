"""Pages as programs: reads the blocks of a Markdown page, and says what each of them is there for.

A block is Python, a session (`>>>`), commands, a file that the page shows, or words. Comments in the page speak to
whoever runs it; browsers do not show them:

    <!-- not run: why -->        the next block is not run
    <!-- file: train.py -->      the next block is a file of this name, which later blocks may use
    <!-- check: accuracy > 0.9 -->    what the words before it say, as an expression
"""
import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATTERNS = ("*.md", "docs/*.md", "docs/guide/*.md", "docs/start/*.md", "docs/contributing/*.md", "docs/design/*.md",
            "docs/torch/*.md", "docs/keras/*.md", "docs/tensorflow/*.md")
TUTORIALS = "docs/tutorials/*.md"
# Written while the pages are made: they have tables and no code.
GENERATED = ("docs/onnx_coverage.md", "docs/torch/coverage.md", "docs/keras/coverage.md", "docs/tensorflow/coverage.md",
             "docs/dali/coverage.md")
PYTHON = ("python", "py", "python3", "ipython3", "ipython")
SESSION = ("pycon", "doctest")
COMMANDS = ("sh", "bash", "shell", "console")
OUTPUT = ("text", "", "output", "none")
# Languages that are shown and not run. Any other name is a mistake, so that no Python hides under one.
SHOWN = ("cpp", "c", "cmake", "json", "toml", "yaml", "ini", "make", "makefile", "dockerfile", "diff", "html", "xml",
         "markdown", "md", "rst", "mermaid", "svg", "bibtex", "javascript", "cuda")
CODE = ("code-block", "code", "code-cell", "sourcecode")
FENCE = re.compile(r"^(?P<indent>\s*)(?P<ticks>`{3,})(?P<info>.*)$")
DIRECTIVE = re.compile(r"^\{(?P<name>[\w:-]+)\}\s*(?P<argument>.*)$")
COMMENT = re.compile(r"^\s*<!--\s*(?P<word>not run|file|check)\s*:?(?P<rest>.*?)-->\s*$")
OPTION = re.compile(r"^:(?P<name>[\w-]+):\s*(?P<value>.*)$")


class PageError(ValueError):
    """A page that cannot be read as a program."""


@dataclasses.dataclass
class Block:
    """What stands between two fences.

    Attributes
    ----------
    kind : {'python', 'session', 'commands', 'file', 'excerpt', 'output', 'check', 'words'}
        What it is there for.
    text : str
        Its lines, without indentation.
    line : int
        The line of the page where `text` begins, from 1.
    name : str
        The path of a file or an excerpt.
    output : Optional[str]
        What the page says that it prints.
    reason : Optional[str]
        Why it is not run; empty if the page gives no reason.

    """

    kind: str
    text: str
    line: int
    name: str = ""
    output: str = None
    reason: str = None


def list_pages(*patterns):
    """Return the paths of the pages that patterns find, relative to the repository."""
    found = {path.relative_to(ROOT).as_posix() for pattern in patterns or PATTERNS for path in ROOT.glob(pattern)}
    return sorted(found - set(GENERATED))


def read_page(path):
    """Return the blocks of a page, and of what it checks, in order."""
    return parse((ROOT / path).read_text(encoding="utf-8"), path)


def parse(text, path="page", first=1):
    """Return the blocks of a text in Markdown; `first` is the number of its first line."""
    lines, blocks, number, said = text.split("\n"), [], 0, {}
    adjacent = None  # the block whose output the next one would be
    while number < len(lines):
        fence, comment = FENCE.match(lines[number]), COMMENT.match(lines[number])
        if comment:
            word, rest = comment["word"], comment["rest"].strip()
            if word == "check":
                blocks.append(Block("check", rest, first + number))
            else:
                said[word] = rest
        if not fence:
            number, adjacent = number + 1, adjacent if not lines[number].strip() or comment else None
            continue
        begin, end = number + 1, find_end(lines, number, fence, f"{path}:{first + number}")
        number = end + 1
        body = [line.removeprefix(fence["indent"]) for line in lines[begin:end]]
        made = classify(fence["info"].strip(), body, first + begin, said, path)
        if len(made) == 1 and made[0].kind == "output" and adjacent is not None and not said:
            adjacent.output = made[0].text
            continue
        adjacent = made[-1] if len(made) == 1 and made[0].kind in ("python", "commands") else None
        blocks, said = blocks + made, {}
    return blocks


def find_end(lines, number, fence, place):
    """Return the number of the line that closes a fence."""
    for end in range(number + 1, len(lines)):
        words = lines[end].strip()
        if set(words) == {"`"} and len(words) >= len(fence["ticks"]):
            return end
    raise PageError(f"{place}: got a block without an end, expected {fence['ticks']}")


def classify(info, body, line, said, path):
    """Return the blocks that a fenced one stands for: itself, or those inside of a directive."""
    directive = DIRECTIVE.match(info)
    if directive and directive["name"] not in CODE + SESSION:
        return parse("\n".join(body), path, line)
    options, skipped = read_options(body) if directive else ({}, 0)
    language = (directive["argument"] if directive else info).split(" ")[0].lower()
    if directive and directive["name"] in SESSION:
        language = "pycon"
    text, line = "\n".join(body[skipped:]) + "\n", line + skipped
    block = Block(kind_of(language, text, f"{path}:{line}"), text, line, reason=said.get("not run"))
    shown = said.get("file", options.get("caption", ""))
    if re.fullmatch(r"[\w./-]+\.\w+", shown):  # a caption that is a path belongs to a file of the repository
        block.kind, block.name = ("excerpt" if "/" in shown and "file" not in said else "file"), shown
    return [block]


def read_options(body):
    """Return the options that a directive begins with, and the number of lines they take."""
    if body[:1] == ["---"] and "---" in body[1:]:
        return {}, body.index("---", 1) + 1
    options, count = {}, 0
    while count < len(body) and (found := OPTION.match(body[count])):
        options[found["name"]], count = found["value"], count + 1
    while count < len(body) and not body[count].strip():
        count += 1
    return options, count


def kind_of(language, text, place):
    """Return what a block of a language is there for."""
    if language in SESSION or language in PYTHON + OUTPUT and text.lstrip().startswith(">>> "):
        return "session"
    for kind, languages in {"python": PYTHON, "commands": COMMANDS, "output": OUTPUT, "words": SHOWN}.items():
        if language in languages:
            return kind
    raise PageError(f"{place}: got a block of {language!r}, expected one of {', '.join(PYTHON + COMMANDS + SHOWN)}")


def find_indented(text):
    """Return the numbers of the lines where code stands without a fence, by four spaces."""
    found, inside, listed, before = [], None, False, ""
    for number, line in enumerate(text.split("\n"), 1):
        fence = FENCE.match(line)
        if inside:
            inside = None if fence and len(fence["ticks"]) >= inside and not fence["info"] else inside
        elif fence:
            inside = len(fence["ticks"])
        elif line.strip():
            if not line.startswith(" "):
                listed = re.match(r"^([*+-]|\d+\.)\s", line) is not None
            elif line.startswith("    ") and not before.strip() and not listed:
                found.append(number)
        before = line
    return found
