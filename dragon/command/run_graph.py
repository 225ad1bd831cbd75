"""`dragon run-graph`: hand the rest of the line to dragon_run, the program that runs saved graphs without Python."""
import os
import pathlib
import signal

from dragon.command.parser import Mistake

EXAMPLES = (("dragon run-graph model.dragon --repeat 10 --profile", "times, and a table per operator"),)
# What dragon_run takes, for completion alone: its own --help tells more, and it reads its words itself.
OPTIONS = (
    ("--inputs", "files of inputs"), ("--reference", "files that tell what the outputs should be"),
    ("--tolerance", "how far they may differ"), ("--save", "a file to write inputs and outputs to"),
    ("--symbol", "a size that the graph leaves open, NAME=SIZE"), ("--repeat", "run so many times more"),
    ("--threads", "host threads"), ("--level", "optimisation, 0 to 3"), ("--skip", "passes to leave out"),
    ("--seed", "of random inputs and operators"), ("--profile", "a table of the operators' times"),
    ("--print", "the graph that runs"))
FLAGS = ("--profile", "--print")


def describe(parser):
    """Tell the parser the program's words."""
    parser.add_argument("graph", help="a saved graph")
    for option, sentence in OPTIONS:
        parser.add_argument(option, help=sentence, **({"action": "store_true"} if option in FLAGS else {}))


def main(arguments):
    """Become the program.

    Parameters
    ----------
    arguments : Sequence[str]
        Its command line.

    """
    program = pathlib.Path(__file__).resolve().parents[1] / "lib" / "dragon_run"
    if not program.exists():
        raise Mistake(f"got no program {program}, expected a build that has made it")
    # Python ignores this signal and its heirs would too: a reader that goes away, as `head` does, ends the program.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.execv(program, [str(program), *arguments])
