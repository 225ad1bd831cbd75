"""The `dragon` command: run scripts of other frameworks, check and verify them, tell about graphs and this machine."""
import os
import sys

from dragon.command import table
from dragon.core.distribution import VERSION


def main(arguments=None):
    """Run a command and exit with its status.

    Parameters
    ----------
    arguments : Sequence[str], optional
        The words of the command line after `dragon`.

    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if arguments[:1] == ["run"]:
        # What the program prints, raises and ends with is its own affair.
        sys.exit(table.load(table.find("run")).main(arguments[1:]))
    try:
        try:
            status = answer(arguments)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # Whoever reads has seen enough, as `head` has: no traceback, and nothing that is left to be written at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = table.STATUS_OF_PIPE
    except KeyboardInterrupt:
        print("dragon: interrupted", file=sys.stderr)
        status = table.STATUS_OF_INTERRUPT
    sys.exit(status)


def answer(arguments):
    """Run a command of Dragon's own and return its status."""
    if arguments[:1] == ["help"] and len(arguments) > 1:
        arguments = [*arguments[1:], "--help"]
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(write_help())
        return 0 if arguments else 2
    if arguments[0] == "--version":
        print(f"Dragon {VERSION}")
        return 0
    return start(arguments[0], arguments[1:])


def start(name, words):
    """Run the command of a name; a user's mistake becomes a letter and status 2."""
    from dragon.command.parser import Mistake, make, nearest
    command, names = table.find(name), [command.name for command in table.TABLE]
    try:
        if command is None:
            raise Mistake(f"got {name!r}, expected one of {', '.join(names)}{nearest(name, names)}")
        module = table.load(command)
        if command.whole:
            return module.main(words)
        words, rest = module.split(words) if hasattr(module, "split") else (words, None)
        options = make(command, module).parse_args(words)
        return module.main(options) if rest is None else module.main(options, rest)
    except Mistake as mistake:
        print(f"dragon {command.name}: {mistake}" if command else f"dragon: {mistake}", file=sys.stderr)
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is None:
            raise
        print(f"dragon {command.name}: got {os.fspath(error.filename)!r}, expected a file that can be used: "
              f"{error.strerror}", file=sys.stderr)
    return 2


def write_help():
    """Return what `dragon --help` prints: the commands in their groups, an example of each, and the statuses."""
    lines = ["usage: dragon COMMAND [options]", "       dragon COMMAND --help", "       dragon --version"]
    width = max(len(command.name) for command in table.TABLE)
    group = None
    for command in table.TABLE:
        if command.group != group:
            group = command.group
            lines += ["", f"{group}:"]
        lines += wrap(f"  {command.name:{width}}  ", command.sentence) + [" " * (width + 4) + command.example]
    lines += ["", "status:"] + [f"  {number:<{width}}  {meaning}" for number, meaning in table.STATUSES]
    return "\n".join(lines)


def wrap(start, text):
    """Return lines of a text that begin with `start` and are no wider than the terminal."""
    import shutil
    import textwrap
    width = max(shutil.get_terminal_size().columns, len(start) + 20)
    return textwrap.wrap(text, width, initial_indent=start, subsequent_indent=" " * len(start))
