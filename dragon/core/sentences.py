"""Sentences of a guest's that belong to the engine's letters, and the classes that its users catch.

A guest has a table: a letter with holes, and below it the sentence that shows what the holes held. `adopt` has the
engine's errors tell them behind the letter; tables are read when the first error is made.
"""
import functools
import re

from dragon import _C

HOLE = re.compile(r"\{(\w+)\}")
HELD = {"who": r"[\w.]+"}  # what a hole of this name holds; others hold anything


def numbers(shape):
    """Return the numbers of a shape that a letter shows."""
    return [int(number) for number in re.findall(r"-?\d+", shape)]


# How a hole is shown: {a:list} of (2, 3) is [2, 3].
SHOWN = {
    "list": lambda text: str(numbers(text)),
    "inner": lambda text: str(numbers(text))[1:-1],
    "by": lambda text: "x".join(map(str, numbers(text)[-2:])),
    "and": lambda text: " by ".join(map(str, numbers(text)[-2:])),
    "rank": lambda text: str(len(numbers(text))),
    "last": lambda text: str(numbers(text)[-1]),
    "first": lambda text: str(numbers(text)[0]),
    "tight": lambda text: str(numbers(text)).replace(" ", ""),
}


class Word(str):
    """What a hole held, shown as the sentence asks."""

    def __format__(self, how):
        return SHOWN[how](self) if how else str(self)


class Row:
    """A kind of letter and the sentence that belongs to it.

    Parameters
    ----------
    letter : str
        The engine's words with `{holes}`.
    told : Union[str, Callable]
        The sentence, or what makes it of the holes by name; it may return None.
    kind : str, optional
        The class of errors that PyTorch raises, where the engine's is another.

    """

    def __init__(self, letter, told, kind=None):
        self.letter, self.told, self.kind = letter, told, kind
        self.literal = max(HOLE.split(letter)[::2], key=len)  # not in a text, no need to look closer

    @functools.cached_property
    def pattern(self):
        """re.Pattern: the letter's; most are never asked for."""
        pieces = HOLE.split(self.letter)
        written = [re.escape(piece) if at % 2 == 0 else f"(?P<{piece}>{HELD.get(piece, '.+?')})"
                   for at, piece in enumerate(pieces)]
        if not pieces[-1]:
            written[-2] = written[-2].replace("+?", "+")
        return re.compile("(?<![A-Za-z_])" * self.letter[:1].isalpha() + "".join(written), re.DOTALL)

    def sentence(self, text):
        """Return the sentence that belongs to a letter, or None if this row is of others."""
        found = self.literal in text and self.pattern.search(text)
        if not found:
            return None
        words = {name: Word(value) for name, value in found.groupdict().items()}
        return self.told.format(**words) if isinstance(self.told, str) else self.told(**words)


def read(text):
    """Return the rows of a text: `letter -> sentence` in two lines each, the class in brackets before the sentence.

    Parameters
    ----------
    text : str
        The rows; empty lines are passed over.

    Returns
    -------
    List[Row]
        In their order.

    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    rows = []
    for letter, told in zip(lines[::2], lines[1::2]):
        kind, _, told = told.removeprefix("->").strip().rpartition("| ")
        rows.append(Row(letter, told, kind.strip() or None))
    return rows


SPEAKING = ("InvalidValue", "InvalidType", "InvalidIndex", "Unsupported", "EngineError", "LinAlgError")
CLASSES = {"IndexError": _C.InvalidIndex, "TypeError": _C.InvalidType, "NotImplementedError": _C.Unsupported,
           "ValueError": _C.InvalidValue, "AssertionError": AssertionError}
TABLES = []  # what reads the rows of a guest


def known(letter, rows):
    """Return the sentence and the class of errors that a table has for a letter, or (None, None)."""
    for row in rows:
        sentence = row.sentence(letter)
        if sentence is not None:
            return sentence, row.kind
    return None, None


@functools.cache
def both(kind, name):
    """Return the class of errors that are of one of the engine's and, by the name of Python's, of another one."""
    other = CLASSES[name]
    facts = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__,
             "__reduce__": lambda self: (kind, self.args)}  # which finds its class anew
    return kind if issubclass(kind, other) else type(kind.__name__, (kind, other), facts)


def tell(error, *args):
    """Make one of the engine's errors."""
    if len(args) == 1 and isinstance(args[0], str):
        letter, = args
        for table in TABLES:
            sentence, name = known(letter, table())
            if sentence and sentence not in args[0]:
                args = (f"{args[0]}. {sentence}",)
            if name and type(error).__module__ == _C.InvalidValue.__module__:
                error.__class__ = both(type(error), name)
    Exception.__init__(error, *args)


def adopt(table):
    """Have the engine's errors tell a guest's sentences from now on.

    Parameters
    ----------
    table : Callable
        Returns the guest's rows.

    """
    TABLES.append(table)
    for name in SPEAKING:
        getattr(_C, name).__init__ = tell
