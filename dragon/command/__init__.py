"""The `dragon` command: run scripts of other frameworks, check them beforehand, tell about this build."""
import importlib
import os
import signal
import sys

USAGE = """usage: dragon run [--as torch|tensorflow|keras] (script.py | -m module | -c code | -) [arguments ...]
       dragon check [--json] (script.py | folder | package) ...
       dragon info [--json]
       dragon run-graph graph.dragon [options]

run    runs a program that imports torch, tensorflow or keras, unmodified, on Dragon; the rest of the line is its own
check  lists every name and keyword argument of those in a program that Dragon lacks, without running it
info   tells about the build, devices, threads and versions
run-graph  runs, times and compares a saved graph; --help tells its options"""
COMMANDS = ("run", "check", "info", "run-graph")


def main(arguments=None):
    """Run a command and exit with its status.

    Parameters
    ----------
    arguments : Sequence[str], optional
        The words of the command line after `dragon`.

    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if arguments[:1] == ["run"]:
        sys.exit(load("run").main(arguments[1:]))  # what the program prints is its own affair
    try:
        try:
            answer(arguments)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # Whoever reads has seen enough, as `head` has: no traceback, and nothing that is left to be written at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(128 + signal.SIGPIPE)


def load(command):
    """Return the module of a command."""
    return importlib.import_module(f"dragon.command.{command.replace('-', '_')}")


def answer(arguments):
    """Run a command of Dragon's own and exit with its status."""
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(USAGE)
        sys.exit(0 if arguments else 2)
    if arguments[0] == "--version":
        import dragon
        print(f"Dragon {dragon.__version__}")
        sys.exit(0)
    if arguments[0] not in COMMANDS:
        fail(f"got {arguments[0]!r}, expected one of {', '.join(COMMANDS)}")
    sys.exit(load(arguments[0]).main(arguments[1:]))


def fail(message):
    """Print what is wrong with a command line and exit with status 2."""
    print(f"dragon: {message}", file=sys.stderr)
    sys.exit(2)
