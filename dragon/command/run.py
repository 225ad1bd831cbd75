"""`dragon run`: a program as `python` would run it, with Dragon in the place of the frameworks it imports."""
import builtins
import os
import sys
import types
from importlib.machinery import BuiltinImporter, PathFinder, SourceFileLoader

from dragon.command import children, table
from dragon.command.parser import fail, make, nearest
from dragon.vm import alias

EXAMPLES = (
    ("dragon run train.py --epochs 3", "a script, with its own arguments"),
    ("dragon run -m package.train", "a module, as `python -m` does"),
    ("dragon run --as torch train.py", "torch and torchvision are Dragon's; tensorflow and keras the genuine ones"),
    ("dragon run --guests torch,keras train.py", "libraries that look around find torch and keras, and no tensorflow"),
)
WORDS = {"usage": "dragon run [--as FRAMEWORK] [--guests NAMES] (script.py | -m module | -c code | -) [arguments ...]",
         "description": "Run a program that imports torch, tensorflow or keras, unmodified, on Dragon. The program has "
                        "the rest of the line,\nand its exit status is the command's: all is as `python` does it."}


def describe(parser):
    """Tell the parser the command's words; `read_options` reads them, and stops where the program's own begin."""
    parser.add_argument("--as", dest="guests", action="append", choices=tuple(alias.VERSIONS), metavar="FRAMEWORK",
                        help="what Dragon stands for: torch (with torchvision), tensorflow or keras; all unless it is "
                             "said; may be repeated")
    parser.add_argument("--guests", metavar="NAMES", help="what libraries that look around find installed, such as "
                        "torch,keras; what the program's own files import unless it is said")
    parser.add_argument("-m", metavar="MODULE", help="run a module")
    parser.add_argument("-c", metavar="CODE", help="run code given on the command line")
    parser.add_argument("program", nargs="?", metavar="script.py", help="a script, or a folder or archive with a "
                                                                        "__main__.py; - is the standard input")


def main(arguments):
    """Run the program that the rest of a command line names."""
    guests, shown, arguments = read_options(arguments)
    alias.install(*guests)
    for guest in shown:
        alias.FINDER.reveal(guest)
    children.lead()
    if not arguments:
        arguments = ["-"]
    what, rest = arguments[0], arguments[1:]
    if what in ("-m", "-c"):
        if not rest:
            mistake(f"got {what} alone, expected {'a module' if what == '-m' else 'code'} after it")
        run_module(rest[0], rest[1:]) if what == "-m" else run_code(rest[0], rest[1:])
    elif what == "-":
        run_stdin(arguments if sys.argv[-1] == "-" or rest else [""])
    else:
        run_file(what, rest)


def read_options(arguments):
    """Return the guests that `--as` names, those of `--guests`, and the words from the first that is no option."""
    guests, shown = [], []
    while arguments and arguments[0].startswith("-") and arguments[0] not in ("-", "-m", "-c"):
        option, equals, value = arguments[0].partition("=")
        if option in ("-h", "--help"):
            make(table.find("run"), sys.modules[__name__]).print_help()
            sys.exit(0)
        if option not in ("--as", "--guests"):
            mistake(f"got {option!r}, expected --as, --guests, -m, -c, - or the path of a script"
                    f"{nearest(option, ['--as', '--guests'])}")
        if not equals:
            if len(arguments) < 2:
                mistake(f"got {option} alone, expected a framework after it")
            value, arguments = arguments[1], arguments[1:]
        for name in value.split(",") if option == "--guests" else [value]:
            if name not in alias.VERSIONS:
                mistake(f"got {option} {value}, expected {'some' if option == '--guests' else 'one'} of "
                        f"{', '.join(alias.VERSIONS)}{nearest(name, alias.VERSIONS)}")
            # torchvision is part of what a script that imports torch means.
            if option == "--guests":
                shown.append(name)
            else:
                guests += [other for other in alias.VERSIONS if other.startswith(name)]
        arguments = arguments[1:]
    return guests, shown, arguments


def read_later(path):
    """Have the files of a program read once a library asks for a guest that the program may import."""
    alias.FINDER.roots = lambda: children.read_roots(path)


def mistake(message):
    """End with the letter for a mistake in the command line."""
    fail(message, "dragon run")


def run_file(path, rest):
    """Run a script, or a folder or archive with a `__main__.py`."""
    if os.path.isfile(path) and not is_archive(path):
        set_path(os.path.dirname(os.path.realpath(path)))
        try:
            with open(path, "rb") as file:
                source = file.read()
        except OSError as error:
            mistake(f"can't open file {os.path.abspath(path)!r}: [Errno {error.errno}] {error.strerror}")
        whole = os.path.abspath(path)
        read_later(whole)
        start(source, whole, [path, *rest], __file__=whole, __cached__=None,
              __loader__=SourceFileLoader("__main__", whole))
    elif os.path.exists(path):
        spec = PathFinder.find_spec("__main__", [path])
        if spec is None or not hasattr(spec.loader, "get_code"):
            mistake(f"can't find '__main__' module in {path!r}")
        set_path(os.path.abspath(path))
        read_later(spec.origin)
        start(lambda: spec.loader.get_code("__main__"), spec.origin, [path, *rest], __file__=spec.origin,
              __cached__=spec.cached, __loader__=spec.loader, __package__="", __spec__=spec)
    else:
        mistake(f"can't open file {os.path.abspath(path)!r}: [Errno 2] No such file or directory")


def is_archive(path):
    """Return whether a file is a zip archive, which Python can run."""
    with open(path, "rb") as file:
        # An archive may stand behind a line that names the interpreter, so its end tells.
        file.seek(max(os.path.getsize(path) - 65557, 0))
        return b"PK\5\6" in file.read()


def run_module(name, rest):
    """Run a module as `python -m` does."""
    import runpy
    set_path(os.getcwd())
    sys.argv = ["-m", *rest]
    try:
        # Parents are imported here, and errors in them are the program's own.
        name, spec, code = guarded(lambda: runpy._get_module_details(name, ModuleNotAvailable))
    except ModuleNotAvailable as error:
        print(f"dragon: {error}", file=sys.stderr)
        sys.exit(1)
    read_later(spec.origin)
    start(lambda: code, spec.origin, [spec.origin, *rest], __file__=spec.origin, __cached__=spec.cached,
          __loader__=spec.loader, __package__=spec.parent, __spec__=spec)


class ModuleNotAvailable(ImportError):
    """There is no such module to run."""


def run_code(code, rest):
    """Run code given on the command line."""
    set_path("")
    start(code, "<string>", ["-c", *rest], __loader__=BuiltinImporter)


def run_stdin(words):
    """Run what comes on the standard input."""
    if sys.stdin is None or sys.stdin.isatty():
        mistake("got no script, expected a path, -m module, -c code or a program on the standard input")
    set_path("")
    start(sys.stdin.buffer.read(), "<stdin>", words, __loader__=BuiltinImporter)


def set_path(folder):
    """Put the program's folder where Python puts it: first in `sys.path`, unless it was told not to."""
    if getattr(sys.flags, "safe_path", False):
        return
    # Under `python -m dragon` the first entry stands for that; the console script has its own folder there.
    sys.path[0] = folder


def start(source, filename, words, **names):
    """Run a program in a fresh `__main__`."""
    sys.argv = words
    main_module = types.ModuleType("__main__")
    main_module.__dict__.update({"__builtins__": builtins, "__annotations__": {}, **names})
    sys.modules["__main__"] = main_module
    guarded(lambda: exec(source() if callable(source) else compile(source, filename, "exec", dont_inherit=True),
                         main_module.__dict__))


def guarded(action):
    """Return what an action gives; report an exception as Python does, without the frames of this file on top."""
    try:
        return action()
    except (SystemExit, ModuleNotAvailable):
        raise
    except BaseException as error:
        traceback = error.__traceback__
        while traceback is not None and traceback.tb_frame.f_code.co_filename in (__file__, RUNPY):
            traceback = traceback.tb_next
        error.__traceback__ = traceback
        sys.last_type, sys.last_value, sys.last_traceback = type(error), error, traceback
        sys.excepthook(type(error), error, traceback)
        # Python's own way out, exit status and signals included, once everything has been said.
        sys.excepthook = lambda *_: None
        raise


RUNPY = "<frozen runpy>"
