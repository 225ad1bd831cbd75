"""Tests that try many things tell each that failed, and nothing goes untried."""
import pytest

from harness import subresults
from harness.subresults import Subresults, each


@pytest.fixture(autouse=True)
def nothing_chosen(monkeypatch):
    """Try everything, whatever the command line chose."""
    monkeypatch.setattr(subresults.Chosen, "words", "")


def parts_of(test):
    """Return (id, names of marks) of the parts of a test's table."""
    mark, = [mark for mark in test.pytestmark if mark.name == "parametrize"]
    return [(part.id, [mark.name for mark in part.marks]) for part in mark.args[1]]


def test_all_cases_are_tried_and_failures_are_named():
    tried = []

    @each("x, y", [(1, "a"), (2, "b"), pytest.param(3, "c", id="the third")])
    def test(x, y):
        tried.append((x, y))
        assert x == 2, f"{x} is not two"
    with pytest.raises(pytest.fail.Exception) as caught:
        test()
    assert tried == [(1, "a"), (2, "b"), (3, "c")]
    told = str(caught.value)
    assert told.startswith("2 of 3 failed:\n[1-a] ") and "\n[the third] " in told
    assert "1 is not two" in told and "3 is not two" in told and "test_subresults.py" in told


def test_skips_show_where_nothing_else_came():
    found = Subresults()
    found.attempt("here", lambda: pytest.skip("no lock"))
    with pytest.raises(pytest.skip.Exception, match="no lock"):
        found.finish()
    found.attempt("there", lambda: None)
    found.finish()


def test_two_tables_are_tried_in_pairs():
    tried = []

    @each("x", [1, 2])
    @each("y", ["a", "b"], ids=str.upper)
    def test(x, y):
        tried.append((x, y))
    test()
    assert tried == [(1, "a"), (1, "b"), (2, "a"), (2, "b")] and test.cases_of == [["1-A", "1-B", "2-A", "2-B"]]


def test_parts_have_a_size_and_the_same_marks():
    tried = []

    @each("x", [pytest.param(x, marks=[pytest.mark.slow] if x > 3 else []) for x in range(6)], size=3)
    def test(x, extra):
        tried.append((x, extra))
    assert parts_of(test) == [("part 1 of 3", []), ("part 2 of 3", []), ("part 3 of 3", ["slow"])]
    test(part=2, extra="more")
    assert tried == [(4, "more"), (5, "more")]


def test_names_choose(monkeypatch):
    monkeypatch.setattr(subresults.Chosen, "words", "two")
    tried = []

    @each("x", ["one", "two", "twofold"])
    def test(x):
        tried.append(x)
    test()
    assert tried == ["two", "twofold"]
    monkeypatch.setattr(subresults.Chosen, "words", "nowhere")
    with pytest.raises(pytest.skip.Exception, match="nowhere"):
        test()
