"""`dragon run-graph`: hand the rest of the line to dragon_run, the program that runs saved graphs without Python."""
import os
import pathlib

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
    os.execv(program, [str(program), *arguments])
