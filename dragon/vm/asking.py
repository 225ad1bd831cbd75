"""Whether a guest that is offered answers as installed: for who wants it, and not for libraries that look around.

Programs of torch use libraries that ask whether there is a TensorFlow as well, and would use it. An import that the
program itself makes is a wish, and so is one that a library makes and cannot do without; a question is none.
"""
import ast
import functools
import importlib.metadata
import os
import re
import sys
import sysconfig

HERE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
PACKAGES = re.compile(r"[\\/](?:site|dist)-packages[\\/]([^\\/.]+)")
STANDARD = os.path.join(sysconfig.get_path("stdlib"), "")
LOOKING = ("importlib", "importlib_metadata", "pkg_resources", "pkgutil")  # who asks for somebody else
ABSENCE = {"ImportError", "ModuleNotFoundError"}
ANYTHING = ABSENCE | {"Exception", "BaseException"}
PREFERRED = ("torch", "torchvision")  # of what a library can use, but need not: most use it first, or nothing else


def is_wanted(guest, roots):
    """Return whether the one who asks for a guest just now is to find it.

    Parameters
    ----------
    guest : str
        Such as "tensorflow".
    roots : Callable
        Returns the packages that the program's own files import.

    Returns
    -------
    Optional[bool]
        True where the program wants it from now on, False where it is not there for who asks, and None where it is
        there for this once: Dragon itself asks, or the program does, without an import.

    """
    frame, is_question = find_asker(sys._getframe(1))
    if frame is None or filename(frame).startswith(HERE):
        return None
    package = package_of(frame)
    if package is None:
        return None if is_question else True
    if not is_question and not any(is_guarded(entry, direct) for entry, direct in library_frames(frame)):
        return True
    return hands_over(frame, guest) or guest in roots() or wishes(package, guest)


def find_asker(frame):
    """Return the frame that imports or asks, and whether it only asks."""
    is_question = False
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] in LOOKING:
            is_question |= not module.startswith("importlib._bootstrap") and frame.f_code.co_name != "import_module"
        elif not filename(frame).startswith(("<frozen", STANDARD)) or PACKAGES.search(filename(frame)):
            if filename(frame) not in STEPS or frame.f_code.co_name not in OWN:
                return frame, is_question
        frame = frame.f_back
    return None, is_question


# Steps of the answer, which are not who asks.
STEPS = (os.path.join(HERE, "vm", "alias.py"), os.path.abspath(__file__))
OWN = ("find_spec", "find_distributions", "answers", "is_wanted")


def filename(frame):
    """Return the file that a frame's code is from, of code that was made that of the module it runs in."""
    name = frame.f_code.co_filename
    if name.startswith("<") and not name.startswith("<frozen"):
        return str(frame.f_globals.get("__file__") or name)
    return name


def package_of(frame):
    """Return the installed package that a frame's code is part of, or None for the program's own."""
    found = PACKAGES.search(filename(frame))
    return found and found.group(1)


def library_frames(frame):
    """Yield the frames of libraries that lead to one, and whether it is that one itself."""
    first = frame
    while frame is not None:
        name = filename(frame)
        if PACKAGES.search(name):
            yield frame, frame is first
        elif not name.startswith(("<frozen", STANDARD, HERE)):
            return
        frame = frame.f_back


def is_guarded(frame, direct):
    """Return whether a frame's line stands in a `try` that expects a module to be absent."""
    expected = ANYTHING if direct else ABSENCE
    return any(first <= frame.f_lineno <= last and names & expected
               for first, last, names in read_guards(frame.f_code.co_filename))


@functools.lru_cache(None)
def read_guards(path):
    """Return [(first line, last line, what is caught)] of the `try` and `suppress` blocks of a file."""
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Try):
            caught = [handler.type or ast.Name("BaseException") for handler in node.handlers]
        elif isinstance(node, ast.With):
            caught = [argument for item in node.items if isinstance(item.context_expr, ast.Call)
                      and ast.unparse(item.context_expr.func).endswith("suppress") for argument in
                      item.context_expr.args]
        else:
            continue
        names = {getattr(entry, "id", getattr(entry, "attr", None)) for kind in caught for entry in ast.walk(kind)}
        found.append((node.body[0].lineno, node.body[-1].end_lineno, names))
    return found


def hands_over(frame, guest):
    """Return whether the program itself names a guest to the library's function that asks, as for `importorskip`."""
    caller = frame.f_back
    return (caller is not None and package_of(caller) is None and not filename(caller).startswith(("<frozen", HERE))
            and any(isinstance(value, str) and value.partition(".")[0] == guest for value in frame.f_locals.values()))


def wishes(package, guest):
    """Return whether an installed package is written for a guest, as its metadata have it."""
    needed, usable = read_needs(package)
    return guest in needed or guest in usable and (guest in PREFERRED or not usable & set(PREFERRED))


@functools.lru_cache(None)
def read_needs(package):
    """Return (what a package requires, what it or one of its extras requires), by the names of distributions."""
    lines = []
    for name in (package, *importlib.metadata.packages_distributions().get(package, ())):
        try:
            lines = importlib.metadata.requires(name) or []
            break
        except importlib.metadata.PackageNotFoundError:
            continue
    needed, usable = set(), set()
    for line in lines:
        name = re.match(r"[\w.-]*", line).group().lower()
        name = "tensorflow" if name in ("tensorflow-cpu", "tensorflow-gpu", "tf-nightly") else name
        usable.add(name)
        if "extra ==" not in line:
            needed.add(name)
    return needed, usable
