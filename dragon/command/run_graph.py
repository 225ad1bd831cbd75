"""`dragon run-graph`: hand the rest of the line to dragon_run, the program that runs saved graphs without Python."""
import os
import pathlib
import signal

import dragon


def main(arguments):
    """Become the program.

    Parameters
    ----------
    arguments : Sequence[str]
        Its command line.

    """
    program = pathlib.Path(dragon.__file__).resolve().parent / "lib" / "dragon_run"
    if not program.exists():
        raise FileNotFoundError(f"dragon run-graph: got no program {program}, expected a build that has made it")
    # Python ignores this signal and its heirs would too: a reader that goes away, as `head` does, ends the program.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.execv(program, [str(program), *arguments])
