"""How a row of known sentences is read: a letter with holes, and the sentence that shows what the holes held."""
import functools
import re

HOLE = re.compile(r"\{(\w+)\}")
HELD = {"who": r"[\w.]+"}  # what a hole of this name holds; others hold anything
KINDS = {"float16": "Half", "bfloat16": "BFloat16", "float32": "Float", "float64": "Double", "complex32": "ComplexHalf",
         "complex64": "ComplexFloat", "complex128": "ComplexDouble", "uint8": "Byte", "int8": "Char", "int16": "Short",
         "int32": "Int", "int64": "Long", "bool": "Bool", "uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64"}
IN_C = {"float16": "c10::Half", "bfloat16": "c10::BFloat16", "float32": "float", "float64": "double", "bool": "bool",
        "uint8": "unsigned char", "int8": "signed char", "int16": "short int", "int32": "int", "int64": "long int",
        "complex64": "c10::complex<float>", "complex128": "c10::complex<double>"}


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
    "Kind": lambda text: KINDS.get(text, text),
    "c": lambda text: IN_C.get(text, text),
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
