"""The gate of the passes: order, levels, skipping, reports, and graphs that are checked after each."""
import pytest

import dragon
from dragon import _C
from harness.graphs import build, call


def unused():
    graph, (x,) = build((2, 3))
    call(graph, "exp", x)
    graph.outputs = [call(graph, "neg", x)]
    return graph


def test_passes_have_names_levels_and_a_line_of_words():
    passes = _C.pass_names()
    assert [order for _, _, order, _ in passes] == sorted(order for _, _, order, _ in passes)
    assert len({name for name, *_ in passes}) == len(passes)
    for name, level, order, doc in passes:
        assert name == name.lower() and 1 <= level <= 3 and order >= 100 and doc.endswith(".")


def test_reports_name_time_and_count():
    reports = _C.optimize(unused(), 1)
    name, nanoseconds, before, after = reports[0]
    assert (name, before, after) == ("prune", 2, 1) and nanoseconds >= 0


@pytest.mark.parametrize("options, left", [({"level": 0}, 2), ({"level": 1}, 1), ({"level": 1, "skip": {"prune"}}, 2)])
def test_levels_and_skipping(options, left):
    graph = unused()
    reports = _C.optimize(graph, **options)
    assert len(graph) == left
    assert not set(options.get("skip", ())) & {name for name, *_ in reports}


@pytest.mark.parametrize("options, words", [({"level": 4}, "level 4"), ({"skip": {"prunes"}}, "'prunes' to skip")])
def test_wrong_options_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        _C.optimize(unused(), **options)


def test_a_graph_that_was_broken_before_is_refused():
    graph = unused()
    graph.inputs = []  # who makes what the first call reads?
    with pytest.raises(ValueError, match="%0"):
        _C.optimize(graph, 1, verify=True)


def test_the_same_from_the_front_door():
    assert dragon.graph.passes()[0].name == "prune" and len(dragon.graph.passes()) == len(_C.pass_names())
    report = dragon.graph.optimize(unused(), level=1, skip=["simplify"], verify=True)[0]
    assert (report.calls_before, report.calls_after) == (2, 1)
