"""Habits a machine can check: sizes, openings, no `__all__`, no path of somebody's machine."""
import ast
import functools
import pathlib
import re

import pytest

from house.imports import list_nodes, name_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("core", "dragon", "tests", "benchmarks", "examples", "tools", "docs")
SUFFIXES = {".h", ".cc", ".cu", ".cuh", ".py"}
BUILT = ("_build", "__pycache__", "generated")
LONGEST_FILE = 500
LONGEST_LINE = 120
LONGEST_FUNCTION = 80  # the aim is 40; a table of rows inside a function is no sin
# Split in two, so that this file does not hold what it looks for.
MACHINE_PATH = re.compile("/(" + "work|home|root|Users" + r")/\w")


def list_files(suffixes=SUFFIXES):
    """Return the sources of the repository, relative to its root."""
    found = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))
    return sorted(path.relative_to(ROOT) for path in found
                  if path.suffix in suffixes and not set(path.parts) & set(BUILT))


def read(path):
    """Return the text of a source."""
    return (ROOT / path).read_text(encoding="utf-8")


def test_no_file_is_too_long():
    lengths = {str(path): len(read(path).splitlines()) for path in list_files()}
    assert not {path: length for path, length in lengths.items() if length > LONGEST_FILE}


def test_no_line_is_too_long():
    long = [f"{path}:{number}" for path in list_files()
            for number, line in enumerate(read(path).splitlines(), 1) if len(line) > LONGEST_LINE]
    assert not long


def test_every_file_opens_with_a_sentence():
    silent = [str(path) for path in list_files()
              if read(path).strip() and not read(path).startswith(("// ", '"""', 'r"""', "#!"))]
    assert not silent


def test_no_path_of_a_machine():
    suffixes = SUFFIXES | {".md", ".rst", ".toml", ".txt", ".sh", ".yaml"}
    paths = list_files(suffixes) + [pathlib.Path(name) for name in ("Makefile", "README.md", ".ci/run")]
    assert not [str(path) for path in paths if MACHINE_PATH.search(read(path))]


def test_no_all():
    assert not [str(path) for path in list_files({".py"}) if re.search(r"^__all__\b", read(path), re.MULTILINE)]


@functools.cache
def survey():
    """Return what is told of functions that are too long, and of tests' children that start here."""
    long, here = [], []
    for path in list_files({".py"}):
        for node in list_nodes.__wrapped__(ROOT / path):  # which are many: nobody keeps those of all files
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                length = node.end_lineno - node.lineno + 1
                if length > LONGEST_FUNCTION:
                    long.append(f"{path}:{node.lineno} {node.name} has {length} lines")
            elif isinstance(node, ast.Call) and path.parts[0] == "tests" and starts_here(node):
                here.append(f"{path}:{node.lineno}")
    return long, here


def starts_here(call):
    """Return whether a call starts Python and does not say where."""
    return (name_of(call.func) in ("subprocess.run", "subprocess.Popen") and "sys.executable" in ast.unparse(call)
            and not any(word.arg == "cwd" for word in call.keywords))


def test_no_python_function_is_too_long():
    assert not survey()[0]


@pytest.mark.parametrize("word", ["TO" + "DO", "FIX" + "ME", "XX" + "X"])
def test_nothing_is_left_for_later(word):
    assert not [str(path) for path in list_files() if re.search(rf"\b{word}\b", read(path))]


def test_children_of_tests_start_outside_the_checkout():
    """A child that starts in the checkout imports its sources, not the installed Dragon."""
    assert not survey()[1]
