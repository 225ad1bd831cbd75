"""Workspaces: named tensors, graphs and random state, kept apart, nested, merged, and on several threads at once."""
import threading

import numpy
import pytest

import dragon
from dragon import _C
from harness.waiting import PATIENCE_SECONDS


def draw(count=4):
    """Return the next numbers of the current random stream."""
    return dragon.random.rand(count).numpy().tolist()


def make_rows(rows):
    """Return a graph of inputs x and w that gives 2 * x + w."""
    graph = dragon.Graph("f")
    x, w = graph.add_input((rows, 3), "float32", "x"), graph.add_input((3,), "float32", "w")
    graph.outputs = graph.add_call("add", [*graph.add_call("add", [x, x]), w])
    return graph


def make_graph():
    """Return the same for any number of rows."""
    found = []
    for rows in (2, 5, 14):
        trace, x, w = _C.Trace(), dragon.ones((rows, 3)), dragon.ones((3,))
        trace.add_input(x, "x")
        trace.add_input(w, "w")
        trace.start()
        result = x + x + w
        trace.stop()
        found.append((trace.finish([result]), [rows]))
    return dragon.Graph(_C.unify(found, ["batch"]))


def test_tensors_by_name():
    place = dragon.Workspace("a")
    x = dragon.ones((2,))
    place.set_tensor("x", x)
    assert place.has_tensor("x") and place.get_tensor("x") is x and place["x"] is x and "x" in place
    assert list(place) == place.tensors() == ["x"] and len(place) == 1
    assert repr(place) == "dragon.Workspace('a', 1 tensors)"
    del place["x"]
    assert not place.has_tensor("x")
    with pytest.raises(KeyError, match="got tensor 'x'.*has no tensors"):
        place["x"]
    place["y"] = x
    with pytest.raises(KeyError, match=r"got tensor 'x', expected one of \['y'\]"):
        del place["x"]
    with pytest.raises(TypeError, match="set_tensor: got 3, expected a name"):
        place[3] = x


def test_graphs_by_name():
    place, graph = dragon.Workspace(), make_graph()
    place.set_graph("f", graph)
    assert place.has_graph("f") and place.get_graph("f") is graph and place.graphs() == ["f"] and "f" not in place
    assert repr(place) == "dragon.Workspace('', 0 tensors, 1 graphs)"
    with pytest.raises(KeyError, match=r"got graph 'g', expected one of \['f'\]"):
        place.get_graph("g")
    with pytest.raises(TypeError, match="got int for 'g', expected a graph"):
        place.set_graph("g", 3)


@pytest.mark.skipif(not hasattr(_C, "Plan"), reason="this engine has no plans")
@pytest.mark.parametrize("level", range(4))
def test_run_by_name(level):
    place = dragon.Workspace()
    place.set_graph("f", make_graph())
    place["w"] = dragon.ones((3,))
    for rows in (2, 5, 2):
        y, = place.run("f", {"x": dragon.ones((rows, 3))}, level)
        assert y.numpy().tolist() == [[3.0] * 3] * rows
    y, = place.run("f", {"x": dragon.ones((2, 3)), "w": dragon.zeros((3,))}, level)
    assert y.numpy().tolist() == [[2.0] * 3] * 2
    changed = make_rows(2)
    changed.outputs = changed.add_call("neg", [changed.outputs[0]])
    place.set_graph("f", changed)
    y, = place.run("f", {"x": dragon.ones((2, 3))}, level)
    assert y.numpy().tolist() == [[-3.0] * 3] * 2


@pytest.mark.parametrize("feeds, error, words", [
    ({}, KeyError, r"run\('f'\): got no feed for \['x'\], expected \['x', 'w'\]"),
    ({"x": (2, 3), "q": (2,)}, KeyError, r"got unknown feeds \['q'\], expected \['x', 'w'\]"),
    ({"q": (2,)}, KeyError, r"got unknown feeds \['q'\] and no feed for \['x'\]"),
    ({"x": (2, 4)}, ValueError, r"got feed 'x' of shape \(2, 4\), expected \(any, 3\)"),
    ({"x": (3,)}, ValueError, r"got feed 'x' of shape \(3,\), expected \(any, 3\)"),
    ({"x": (2, 3), "w": (1,)}, ValueError, r"got feed 'w' of shape \(1,\), expected \(3,\)"),
    ({"x": numpy.ones((2, 3))}, TypeError, "got feed 'x' of kind ndarray, expected a tensor"),
    ({"x": dragon.ones((2, 3), dtype=dragon.int64)}, TypeError, "got feed 'x' of dtype int64, expected float32"),
])
def test_wrong_feeds_are_told(feeds, error, words):
    place = dragon.Workspace()
    place.set_graph("f", make_graph())
    place["w"] = dragon.ones((3,))
    feeds = {name: dragon.ones(feed) if isinstance(feed, tuple) else feed for name, feed in feeds.items()}
    with pytest.raises(error, match=words):
        place.run("f", feeds)


def test_symbols_have_one_size():
    graph, place = dragon.Graph("f"), dragon.Workspace()
    x, y = (graph.add_input((2,), "float32", name, symbolic={0: "rows"}) for name in "xy")
    graph.outputs = graph.add_call("add", [x, y])
    place.set_graph("f", graph)
    with pytest.raises(ValueError, match=r"got 4 for 'rows' on axis 0 of feed 'y', expected 3"):
        place.run("f", {"x": dragon.ones((3,)), "y": dragon.ones((4,))})


def test_nesting_and_isolation():
    outer, inner = dragon.Workspace("outer", seed=1), dragon.Workspace("inner", seed=2)
    default = dragon.current_workspace()
    with outer.as_default() as entered:
        assert entered is outer and dragon.current_workspace() is outer
        first = draw()
        with inner.as_default():
            assert dragon.current_workspace() is inner
            inner["x"] = dragon.ones((1,))
            alone = draw()
            with outer:  # entered again inside: its stream goes on
                second = draw()
        assert dragon.current_workspace() is outer and "x" not in outer
        third = draw()
    assert dragon.current_workspace() is default
    with dragon.Workspace(seed=1):
        assert [draw(), draw(), draw()] == [first, second, third]
    with dragon.Workspace(seed=2):
        assert draw() == alone


def test_an_error_leaves_the_workspace():
    default = dragon.current_workspace()
    with pytest.raises(ZeroDivisionError):
        with dragon.Workspace().as_default():
            1 / 0
    assert dragon.current_workspace() is default


def test_leaving_out_of_order_is_refused():
    outer, inner = dragon.Workspace("outer"), dragon.Workspace("inner")
    outer.__enter__()
    inner.__enter__()
    with pytest.raises(RuntimeError, match="'outer'.*expected that of dragon.Workspace.'inner'"):
        outer.__exit__()
    inner.__exit__()
    outer.__exit__()


def test_the_surrounding_stream_is_left_alone():
    dragon.manual_seed(3)
    wanted = [draw(), draw()]
    dragon.manual_seed(3)
    first = draw()
    with dragon.Workspace(seed=9):
        draw()
    assert [first, draw()] == wanted


def test_reset():
    place = dragon.Workspace(seed=5)
    place["x"] = dragon.ones((1,))
    place.set_graph("f", make_graph())
    with place:
        first = draw()
        place.reset()  # also while it is entered
        assert draw() == first
    assert not place.tensors() and not place.graphs()


def test_merge():
    one, two = dragon.Workspace("one"), dragon.Workspace("two")
    one["x"], two["y"] = dragon.ones((1,)), dragon.ones((2,))
    two["x"] = one["x"]  # the very same tensor is no conflict
    two.set_graph("f", make_graph())
    one.merge_from(two)
    assert one.tensors() == ["x", "y"] and one["y"] is two["y"] and one.get_graph("f") is two.get_graph("f")
    one.merge_from(two, prefix="second/")
    assert one.has_tensor("second/x") and one.has_graph("second/f")


def test_conflicts_are_told_by_name():
    def make():
        one, two = dragon.Workspace("one"), dragon.Workspace("two")
        for place in (one, two):
            place["x"], place["w"] = dragon.ones((1,)), dragon.ones((1,))
            place.set_graph("f", make_graph())
        two["new"] = dragon.ones((3,))
        return one, two

    one, two = make()
    with pytest.raises(ValueError, match="got tensor 'x', tensor 'w', graph 'f' on both sides"):
        one.merge_from(two)
    assert not one.has_tensor("new")
    mine = one["x"]
    one.merge_from(two, conflict="keep")
    assert one["x"] is mine and one["new"] is two["new"]
    one.merge_from(two, conflict="replace")
    assert one["x"] is two["x"] and one.get_graph("f") is two.get_graph("f")
    with pytest.raises(ValueError, match="got conflict 'maybe'"):
        one.merge_from(two, conflict="maybe")
    with pytest.raises(TypeError, match="got dict, expected a Workspace"):
        one.merge_from({})


def test_threads_have_workspaces_of_their_own():
    """Each thread sees its own current workspace and stream, however they interleave."""
    barrier, seen, failures = threading.Barrier(4, timeout=PATIENCE_SECONDS), {}, []

    def work(number):
        try:
            assert dragon.current_workspace().name == "default"
            with dragon.Workspace(f"thread {number}", seed=number) as place:
                numbers = []
                for step in range(5):
                    barrier.wait()
                    numbers += draw()
                    place[f"step {step}"] = dragon.full((2,), float(number))
                    assert dragon.current_workspace() is place
                seen[number] = numbers, [place[name].numpy()[0] for name in place]
        except BaseException as error:
            failures.append(error)
            barrier.abort()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    for number, (numbers, marks) in seen.items():
        with dragon.Workspace(seed=number):
            assert numbers == [value for _ in range(5) for value in draw()]
        assert marks == [number] * 5
