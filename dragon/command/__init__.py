"""The `dragon` command: run scripts of other frameworks, check them beforehand, tell about this build."""
import importlib
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
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(USAGE)
        sys.exit(0 if arguments else 2)
    if arguments[0] == "--version":
        import dragon
        print(f"Dragon {dragon.__version__}")
        sys.exit(0)
    if arguments[0] not in COMMANDS:
        fail(f"got {arguments[0]!r}, expected one of {', '.join(COMMANDS)}")
    sys.exit(importlib.import_module(f"dragon.command.{arguments[0].replace('-', '_')}").main(arguments[1:]))


def fail(message):
    """Print what is wrong with a command line and exit with status 2."""
    print(f"dragon: {message}", file=sys.stderr)
    sys.exit(2)
