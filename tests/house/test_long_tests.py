"""A test that takes more than five seconds says why: by the mark `long`, of the test, a case of it, or its file."""
import ast
import pathlib
import types

import pytest

from harness.durations import Durations
from harness.quick import LONG, read_table
from house.imports import name_of

TESTS = pathlib.Path(__file__).resolve().parents[1]
MARK = "pytest.mark.long"


def read_reasons(node, names):
    """Return the reasons of all marks in an expression, and in what the names stand for that it has; "" for none."""
    found, called = [], set()
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and name_of(part.func) == MARK:
            called.add(part.func)
            found.append(write_reason(part))
        elif isinstance(part, ast.Attribute) and name_of(part) == MARK and part not in called:
            found.append("")
        elif isinstance(part, ast.Name) and part.id in names:
            found += read_reasons(names[part.id], {})
    return found


def write_reason(call):
    """Return the sentence that a mark is given; the text of the expression where it is not plainly there."""
    if len(call.args) != 1 or call.keywords:
        return ""
    sentence = call.args[0]
    return str(sentence.value).strip() if isinstance(sentence, ast.Constant) else ast.unparse(sentence)


def read_marks(text):
    """Return the reasons of marks in a file, {name of a test: [reason, ...]}; those under "" are of all its tests."""
    tree = ast.parse(text)
    names = {target.id: node.value for node in tree.body if isinstance(node, ast.Assign)
             for target in node.targets if isinstance(target, ast.Name)}
    found = {"": read_reasons(names["pytestmark"], names) if "pytestmark" in names else []}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            found[node.name] = [reason for one in node.decorator_list for reason in read_reasons(one, names)]
    return found


def find_unmarked(slow, read):
    """Return lines of those tests, {name: seconds}, that take long and have no mark; `read` returns a file's text."""
    found = []
    for name, seconds in sorted(slow.items()):
        path, _, test = name.partition("::")
        if seconds <= LONG or not (text := read(path)):
            continue
        marks, test = read_marks(text), test.partition("[")[0].rpartition("::")[2]
        if test in marks and not marks[test] + marks[""]:  # else the test was renamed since it was measured
            found.append(f"{name} takes {seconds} s")
    return found


def read_file(path):
    """Return the text of a file of tests, "" where there is none any more."""
    path = TESTS / path
    return path.read_text(encoding="utf-8") if path.exists() else ""


def test_a_long_test_says_why():
    found = find_unmarked(read_table()[1], read_file)
    assert not found, ("make these faster, split them, or say why they take long by @pytest.mark.long(\"...\"):\n"
                       + "\n".join(found))


def test_every_mark_has_a_reason():
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(TESTS.rglob("test_*.py"))}
    found = [f"{path}: {name or 'pytestmark'}" for path, text in texts.items() if "mark.long" in text
             and path != pathlib.Path(__file__) for name, reasons in read_marks(text).items() if "" in reasons]
    assert not found


SAMPLE = """
import pytest
LATER = pytest.mark.long("it waits")
CASES = [pytest.param(1, marks=[pytest.mark.slow, pytest.mark.long("a whole model")]), 2]
@pytest.mark.long("it trains " "a model")
def test_one(): pass
@pytest.mark.parametrize("x", CASES)
def test_two(x): pass
@LATER
@pytest.mark.slow
def test_three(): pass
@pytest.mark.long
def test_four(): pass
@pytest.mark.long(" ")
def test_five(): pass
@pytest.mark.slow
def test_six(): pass
class TestSome:
    def test_seven(self): pass
"""


def test_marks_are_found():
    assert read_marks(SAMPLE) == {
        "": [], "test_one": ["it trains a model"], "test_two": ["a whole model"], "test_three": ["it waits"],
        "test_four": [""], "test_five": [""], "test_six": [], "test_seven": []}
    assert read_marks("import pytest\npytestmark = [pytest.mark.long('all of it')]")[""] == ["all of it"]


@pytest.mark.parametrize("name, seconds, is_found", [
    ("a.py::test_six", 5.1, True), ("a.py::test_six[1::2-x]", 5.1, True), ("a.py::TestSome::test_seven", 5.1, True),
    ("a.py::test_six", 5.0, False), ("a.py::test_one", 9.0, False), ("a.py::test_two[2]", 9.0, False),
    ("a.py::test_gone", 9.0, False), ("b.py::test_six", 9.0, False),
])
def test_a_long_test_without_a_mark_is_named(name, seconds, is_found):
    found = find_unmarked({name: seconds}, {"a.py": SAMPLE, "b.py": ""}.get)
    assert found == ([f"{name} takes {seconds} s"] if is_found else [])


def test_a_run_lists_long_tests_without_a_mark(tmp_path):
    durations = Durations(tmp_path / "durations.json")
    for name, seconds, is_marked in (("a", 5.5, False), ("b", 6.0, True), ("c", 1.0, False)):
        for when, properties in (("call", []), ("teardown", [("processor_seconds", seconds), ("long", is_marked)])):
            durations.pytest_runtest_logreport(types.SimpleNamespace(nodeid=name, when=when, duration=4.5,
                                                                     user_properties=properties))
    assert durations.list_unmarked() == [("a", 5.5)] and durations.found["b"] == (9.0, 6.0)
