"""How the commands read their words: argparse, with letters for mistakes, examples in help, and no abbreviations."""
import argparse
import difflib
import re
import sys

from dragon.command.table import STATUSES

# What argparse says, and the letter that says the same.
LETTERS = (
    (r"the following arguments are required: (?P<arg>.+)", "got nothing, expected {arg}"),
    (r"argument (?P<arg>.+?): expected (?P<what>.+)", "got {arg} alone, expected {what} after it"),
    (r"argument (?P<arg>.+?): invalid choice: (?P<got>.+?) \(choose from (?P<what>.+)\)",
     "got {got} for {arg}, expected one of {what}"),
    (r"argument (?P<arg>.+?): invalid (?P<what>.+) value: (?P<got>.+)", "got {got} for {arg}, expected {what}"),
    (r"argument (?P<arg>.+?): not allowed with argument (?P<what>.+)", "got {arg} and {what}, expected one of them"),
    (r"argument (?P<arg>.+?): ignored explicit argument (?P<got>.+)", "got {got} for {arg}, expected no value"),
)


class Mistake(Exception):
    """What a user did wrong, as a letter without the speaker's name; the command ends with status 2."""


def nearest(word, known):
    """Return "; did you mean ...?" for a mistyped word, or an empty string."""
    near = difflib.get_close_matches(word, list(known), 1, 0.6)
    return f"; did you mean {near[0]}?" if near else ""


class Parser(argparse.ArgumentParser):
    """The parser of one command.

    Parameters
    ----------
    command : Command
        Its row in the table.
    examples : Sequence[tuple]
        Lines that show its use, each with what it does.
    prog : str, optional
        How the command is called, where it is a part of another.

    """

    def __init__(self, command, examples=(), prog=None, **words):
        super().__init__(prog=prog or f"dragon {command.name}", allow_abbrev=False,
                         formatter_class=argparse.RawDescriptionHelpFormatter,
                         description=words.pop("description", command.sentence + "."),
                         epilog=write_epilog(examples), **words)

    def parse_args(self, args=None, namespace=None):
        """Return the options; what is left over is a mistake."""
        self.words = list(args or ())
        options, left = self.parse_known_args(args, namespace)
        if left:
            self.refuse(left[0])
        return options

    def refuse(self, word):
        """Raise the letter for a word that means nothing."""
        known = [option for action in self._actions for option in action.option_strings if option.startswith("--")]
        if word.startswith("-"):
            name = word.partition("=")[0]
            raise Mistake(f"got {name}, expected one of {', '.join(known)}{nearest(name, known)}")
        raise Mistake(f"got {word!r} at the end, expected nothing more")

    def error(self, message):
        """Raise the letter for what argparse complains about."""
        known = [option for action in self._actions for option in action.option_strings]
        strange = [word for word in self.words if word.startswith("--") and word.partition("=")[0] not in known]
        if message.startswith("the following arguments") and strange:
            self.refuse(strange[0])  # the mistake that is told first
        for pattern, letter in LETTERS:
            found = re.fullmatch(pattern, message)
            if found:
                words = found.groupdict()
                known = re.findall(r"[^\s,']+", words.get("what", "")) if "choice" in message else ()
                raise Mistake(letter.format(**words) + nearest(words.get("got", "").strip("'"), known))
        raise Mistake(message)


def write_epilog(examples):
    """Return the end of a command's help: examples, then what its status means."""
    lines = ["examples:"] if examples else []
    for line, meaning in examples:
        lines += [f"  {line}", f"      {meaning}"]
    lines += ["", "status:"] if lines else ["status:"]
    return "\n".join(lines + [f"  {number:<4} {meaning}" for number, meaning in STATUSES])


def make(command, module):
    """Return the parser of a command, told by its module.

    Parameters
    ----------
    command : Command
        The row.
    module : ModuleType
        Its module, with `EXAMPLES` and `describe(parser)`.

    Returns
    -------
    Parser
        The parser.

    """
    parser = Parser(command, module.EXAMPLES, **getattr(module, "WORDS", {}))
    module.describe(parser)
    return parser


def number(least=0, kind=int):
    """Return the type of an option that takes a number not below `least`."""
    def read(text):
        value = kind(text)
        if not value >= least:
            raise ValueError(text)
        return value
    read.__name__ = f"{'a whole number' if kind is int else 'a number'} from {least}"
    return read


def add_json(parser):
    """Give a parser the option of all commands that report."""
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def fail(message, who="dragon"):
    """Print what is wrong with a command line and exit with status 2."""
    print(f"{who}: {message}", file=sys.stderr)
    sys.exit(2)
