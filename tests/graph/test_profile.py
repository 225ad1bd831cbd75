"""Profiles: sums by operator, nested calls counted once, and traces that a browser reads."""
import json

import pytest

import dragon
from dragon.core.profile import Event, Profile, profile_calls


def test_operators_and_nodes_are_counted():
    x = dragon.ones((8, 8), requires_grad=True)
    with dragon.profile(shapes=True) as found:
        for _ in range(3):
            dragon.ops.mse_loss(x @ x, x).backward()
    lines = {line.name: line for line in found.lines()}
    assert lines["matmul"].count >= 3 and lines["mse_loss"].count == 3
    assert any(name.startswith("backward of ") for name in lines)
    assert lines["mse_loss"].total >= lines["square"].total > 0
    assert sum(line.share for line in lines.values()) == pytest.approx(1)
    assert any(event.shapes for event in found.events)
    assert "matmul" in str(found) and len(found) == len(found.events) and "calls" in repr(found)


def test_own_time_leaves_out_what_ran_inside():
    found = Profile([Event("inner", 10, 30), Event("outer", 0, 100), Event("inner", 40, 50), Event("next", 100, 150)])
    lines = {line.name: line for line in found.lines()}
    assert {name: round(line.own * 1e9) for name, line in lines.items()} == {"outer": 70, "inner": 30, "next": 50}
    assert round(lines["inner"].mean * 1e9) == 15 and lines["inner"].count == 2
    assert [line.name for line in found.lines()] == ["outer", "next", "inner"]


def test_a_table_sums_up_what_it_leaves_out():
    found = Profile.of_plan([("add", 0, 50, 8, "a"), ("mul", 50, 60, 8, ""), ("exp", 60, 65, 8, "")])
    text = found.table(rows=1).splitlines()
    assert len(text) == 3 and text[1].startswith("add") and text[2].startswith("2 others")
    assert "100.0%" in Profile.of_plan([("add", 0, 50, 8, "")]).table()
    assert Profile().table().splitlines()[0].startswith("operator")


def test_chrome_trace(tmp_path):
    with dragon.profile() as found:
        dragon.ones((4,)) + dragon.ones((4,))
    found.save_chrome_trace(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text())
    assert len(trace["traceEvents"]) == len(found) > 0
    for event in trace["traceEvents"]:
        assert event["ph"] == "X" and event["dur"] >= 0 and event["ts"] >= 0 and event["args"]["bytes"] >= 0


@pytest.mark.skipif(not hasattr(dragon._C, "Plan"), reason="this engine has no plans")
def test_a_plan_is_profiled():
    graph = dragon.Graph("f")
    x = graph.add_input((64,), "float32", "x")
    graph.outputs = graph.add_call("exp", [*graph.add_call("sin", [x])])
    plan = dragon._C.Plan(graph, 0)
    found = Profile.of_plan(plan.profile([dragon.ones((64,))]))
    assert [event.name for event in found.events] == ["sin", "exp"]
    assert {line.name: line.count for line in found.lines()} == {"sin": 1, "exp": 1}


def test_two_profiles_at_once_are_refused():
    with dragon.profile():
        with pytest.raises(RuntimeError):
            with dragon.profile():
                pass
    with dragon.profile() as found:
        pass
    assert not len(found)


@pytest.mark.parametrize("good", range(6))
def test_an_error_on_the_way_to_the_place_is_the_caller_s(good):
    """Python may raise one anywhere: Ctrl-C, too deep a recursion. Backward passes and plans end with it, too."""
    x = dragon.ones((2,), requires_grad=True)
    double = dragon.function(lambda y: (y * 2).sin())
    double(x)
    asked = []

    def where():
        asked.append(1)
        if len(asked) > good:
            raise KeyboardInterrupt
        return "here"
    with pytest.raises(KeyboardInterrupt):
        profile_calls(lambda: double((x * 3).exp()).sum().backward(), where)
    assert len(asked) == good + 1
    assert profile_calls(lambda: double(x), lambda: "here")[0][-1].startswith("here;")
