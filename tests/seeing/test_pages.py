"""Pictures of plans, profiles and graphs: whole pages, bounded, true to what they show, whatever things are called."""
import json
import statistics
import time

import pytest

import dragon
from dragon.core.capture.scopes import split_scope
from dragon.core.capture.settings import CaptureWarning
from dragon.core.profile import Event, Profile
from seeing.pages import HOSTILE, check_page, check_svg

NAME = HOSTILE.replace("\ud800", "").replace("\x00", "")


class Net(dragon.nn.Module):
    def __init__(self):
        self.first, self.second = dragon.nn.Linear(8, 16), dragon.nn.Linear(16, 4)

    def forward(self, x):
        return self.second(self.first(x).relu())


@pytest.fixture(scope="module")
def compiled():
    net = Net()

    @dragon.function
    def step(x):
        loss = net(x).exp().sum()
        loss.backward()
        return loss
    step(dragon.ones((2, 8)))
    return step


@pytest.fixture(scope="module")
def chain():
    """A graph of 1,500 calls in 50 modules, and one value that lives all the time."""
    graph = dragon.Graph(NAME)
    first = value = graph.add_input((64, 64), "float32", NAME)
    with graph.edit():
        for number in range(1500):
            value = graph.add_call("add" if number % 7 == 0 else "exp", [value, first][:2 if number % 7 == 0 else 1],
                                   scope=f"net.block{number // 30}{NAME if number == 3 else ''} at {NAME}:3")[0]
        graph.outputs = [value]
    return graph


def test_calls_know_their_module_and_line(compiled):
    scopes = [split_scope(call.scope) for call in compiled.graph.calls]
    modules = {module for module, _ in scopes}
    assert {"Net.first", "Net.second", "backward.Net.first", "backward.Net.second"} <= modules
    weights = [split_scope(call.scope)[0] for call in compiled.graph.calls_of("matmul")]
    assert weights.count("backward.Net.second") == 2 and "backward.Net.first" in weights
    assert all(line.startswith("test_pages.py:") for _, line in scopes)
    assert split_scope("layer1.0") == ("layer1.0", "") and split_scope("at a b.py:3") == ("", "a b.py:3")
    assert split_scope("") == ("", "") and split_scope("Net at at at.py:3") == ("Net at", "at.py:3")


def test_the_line_is_the_user_s_where_the_library_of_python_looks_at_numbers():
    captured = dragon.function(lambda n: n * statistics.fmean([n]))
    with pytest.warns(CaptureWarning):
        captured(dragon.tensor(5.0))
    assert f"at {__file__}:" in captured.fallback


def test_keras_layers_and_saved_graphs_keep_their_scopes(tmp_path):
    from dragon.vm import keras
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, name="wide"),
                              keras.layers.Dense(2, name="slim")])
    function = dragon.function(model)
    function(keras.ops.ones((2, 4)))
    assert {"Sequential.wide", "Sequential.slim"} <= {split_scope(call.scope)[0] for call in function.graph.calls}
    function.graph.save(tmp_path / "graph")
    again = dragon.Graph.load(tmp_path / "graph")
    assert [call.scope for call in again] == [call.scope for call in function.graph]
    check_page(again.memory(), 1)


def test_pieces_of_a_plan_do_not_meet():
    graph = dragon.Graph("f")
    x = value = graph.add_input((1000,))
    kept = []
    for number in range(12):
        value = graph.add_call("cumsum", [value], axis=0)[0]
        kept.append(value)
    graph.outputs = graph.add_call("add", [kept[2], graph.add_call("add", [kept[7], value])[0]])
    plan = graph.compile(3)
    blocks = [piece for piece in plan.pieces if piece["kind"] == "block"]
    assert len(blocks) >= 3 and sum(piece["kind"] == "output" for piece in plan.pieces) == 1
    assert max(piece["offset"] + piece["bytes"] for piece in blocks) + 4000 <= plan.memory["planned"] + 64
    for number, one in enumerate(blocks):
        for other in blocks[:number]:
            apart = one["last"] < other["first"] or other["last"] < one["first"]
            assert apart or one["offset"] >= other["offset"] + other["bytes"] or (
                other["offset"] >= one["offset"] + one["bytes"])
    places = {value: piece for piece in plan.pieces for value in piece["values"]}
    assert all(value in places for call in plan.graph.calls for value in call.outputs if value is not None)
    assert x in places and places[x]["kind"] == "input" and places[x]["bytes"] == 4000


def test_a_memory_picture_names_who_holds_the_peak(compiled, tmp_path):
    report = compiled.explain()
    assert isinstance(report, str) and report.startswith("step (")
    picture = report.memory()
    check_page(picture, 1)
    check_svg(picture.svg() if len(picture.parts) == 1 else picture.parts[0].svg())
    part = picture.parts[0]
    top = part.holders()[0].describe(part.peak_step)
    assert picture.peak == sum(piece.bytes for piece in part.holders()) > 0
    assert top[0] in picture.text and "test_pages.py:" in picture.text and "held at the peak" in picture.text
    report.save(tmp_path / "memory.html")
    report.save(tmp_path / "memory.txt")
    assert "held at the peak" in (tmp_path / "memory.html").read_text()
    assert (tmp_path / "memory.txt").read_text() == picture.text + "\n"
    assert "<iframe" in report._repr_html_() and "<pre>" in report._repr_html_()


def test_a_function_without_a_graph_has_no_picture():
    @dragon.function
    def never(x):
        return x
    with pytest.raises(RuntimeError, match="never without a graph"):
        never.explain().show()
    assert "iframe" not in never.explain()._repr_html_()


def test_large_graphs_are_drawn_soon(chain):
    begin = time.process_time()
    page, memory = chain.explore(), chain.memory()
    texts = page.html(), memory.html()
    assert time.process_time() - begin < 8
    assert all(len(text) < 4_000_000 for text in texts)
    found = check_page(page, 2)
    check_page(memory, 1)
    assert ("type", "application/json") in found.attributes
    assert len(page.text.splitlines()) < 210 and chain._repr_svg_() is None


def test_the_explorer_has_every_call_and_folds_at_first(chain):
    text = chain.explore().html()
    data = json.loads(text.split('id="data">')[1].split("</script>")[0])
    assert len(data["boxes"]) == 1502 and len(data["edges"]) >= 1500
    assert data["open"] == ["net"]  # fifty blocks; open, they would be 1,500 boxes
    assert all(0 <= source < target < 1502 for source, target in data["edges"])
    kinds = {kind for kind, *_ in data["boxes"]}
    assert kinds == {"input", "output", "pointwise"}


def test_the_explorer_shows_a_module_of_modules(compiled):
    text = compiled.graph.explore().html()
    data = json.loads(text.split('id="data">')[1].split("</script>")[0])
    assert {path for *_, path in data["boxes"]} >= {"Net.first", "Net.second"} and "Net" in data["open"]
    hints = "\n".join(hint for _, _, hint, _ in data["boxes"])
    assert "in Net.first" in hints and "at test_pages.py:" in hints
    check_svg(compiled.graph.svg())
    check_svg(compiled.graph.explore().svg())


def test_graphs_of_nothing_have_pictures_too():
    empty = dragon.Graph("")
    check_page(empty.explore(), 2)
    check_page(empty.memory(), 1)
    check_page(Profile().flame(), 1)
    check_svg(Profile().flame().svg())


def nested():
    """Two callers; within them operators, within one of these another."""
    return Profile([Event("outer", 0, 100, where="main (a.py:1);f (a.py:2)"),
                    Event("inner", 10, 40, where="main (a.py:1)"),
                    Event("outer", 100, 150, where="main (a.py:1);f (a.py:2)"),
                    Event(NAME, 150, 400, True, where=f"main (a.py:1);{NAME.replace(';', ',')} (a.py:9)")])


def test_a_flame_graph_adds_up(tmp_path):
    picture = nested().flame()
    whole = picture.whole
    assert whole.time == 400 and whole.own == 0
    main = whole.parts["main (a.py:1)", "python"]
    outer = main.parts["f (a.py:2)", "python"].parts["outer", "operator"]
    assert (main.time, outer.time, outer.count, outer.own) == (400, 150, 2, 120)
    assert outer.parts["inner", "operator"].time == 30
    found = check_page(picture, 1)
    shares = [float(value) for name, value in found.attributes if name == "data-share"]
    assert max(shares) == 1 and len(shares) == 7
    check_svg(picture.svg())
    picture.save(tmp_path / "flame.svg")
    check_svg((tmp_path / "flame.svg").read_text())
    assert "37.5%" in picture.text and "<script" not in picture.svg()


def test_flame_graphs_are_bounded():
    events = [Event(f"op{number}", number * 10, number * 10 + 9, where=f"f{number % 500} (a.py:{number})")
              for number in range(20_000)]
    begin = time.process_time()
    text = Profile(events).flame().html()
    assert time.process_time() - begin < 10 and len(text) < 6_000_000


def test_traces_have_the_callers_around_their_calls():
    slices = nested().chrome_trace()["traceEvents"]
    assert json.loads(json.dumps(slices)) == slices
    spans = {(one["name"], one["ts"]): one["ts"] + one["dur"] for one in slices if one["cat"] == "python"}
    assert spans == {("main (a.py:1)", 0.0): 0.4, ("f (a.py:2)", 0.0): 0.15,
                     (f"{NAME.replace(';', ',')} (a.py:9)", 0.15): 0.4}
    for one in slices:  # what the format asks of complete events, which must lie within each other
        assert one["ph"] == "X" and isinstance(one["name"], str)
        assert {"pid", "tid", "ts", "dur", "args", "cat"} <= set(one)
        for other in slices:
            first, second = sorted([(one["ts"], one["ts"] + one["dur"]), (other["ts"], other["ts"] + other["dur"])])
            assert first[1] <= second[0] + 1e-9 or second[1] <= first[1] + 1e-9 or first[0] == second[0]


def test_lines_of_a_training_step_are_noted():
    net = Net()
    with dragon.profile(lines=True) as found:
        loss = net(dragon.ones((2, 8))).sum()
        loss.backward()
    callers = {event.name: event.where for event in found.events if not event.is_node}
    assert "forward" in callers["relu"] and "test_pages.py:" in callers["relu"]
    assert "forward" not in callers["sum"] and any(event.is_node and event.where for event in found.events)
    with dragon.profile() as plain:
        net(dragon.ones((2, 8)))
    assert not any(event.where for event in plain.events)
    check_page(found.flame(), 1)


def test_compiled_calls_in_a_profile_know_their_module(compiled):
    compiled(dragon.ones((2, 8)))  # gradients are there now, which is another graph
    with dragon.profile(lines=True) as found:
        compiled(dragon.ones((2, 8)))
    assert any("test_pages.py" in event.where and ";Net.second at test_pages.py:" in event.where
               for event in found.events)


def test_pictures_refuse_what_they_are_not(chain, tmp_path):
    with pytest.raises(ValueError, match="ends in .html, .svg or .txt"):
        chain.explore().save(tmp_path / "graph.pdf")
    with pytest.raises(OSError):
        chain.explore().save(tmp_path / "no such folder" / "graph.html")
    with pytest.raises(ValueError, match="svg: got"):
        dragon.summary(dragon.nn.Linear(2, 3), input_size=(1, 2)).svg()


def test_browsers_open_only_where_there_is_a_screen(monkeypatch, capsys, compiled, tmp_path):
    import tempfile
    import webbrowser
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.delenv("DRAGON_BROWSER", raising=False)
    compiled.graph.show()
    assert not opened and "graph" in capsys.readouterr().out
    monkeypatch.setenv("DRAGON_BROWSER", "1")
    compiled.explain().show()
    assert len(opened) == 1 and opened[0].startswith("file://") and str(tmp_path) in opened[0]
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    dragon.show(compiled)
    assert len(opened) == 1 and "held at the peak" in capsys.readouterr().out


def test_notebooks_are_handed_the_picture(monkeypatch, compiled):
    import sys
    import types
    shown = []
    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=shown.append))
    compiled.explain().show()
    assert len(shown) == 1 and "<iframe" in shown[0]._repr_html_()
    assert "<iframe" in dragon.show(compiled)._repr_html_() and len(shown) == 1
