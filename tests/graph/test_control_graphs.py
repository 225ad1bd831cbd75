"""Graphs with branches and loops: passes go into them and leave them alone, files hold them, wrong ones are refused."""
import pathlib
import subprocess
import threading

import numpy
import pytest

import dragon
from dragon import _C
from dragon.vm import torch

PROGRAM = pathlib.Path(dragon.__file__).resolve().parent / "lib" / "dragon_run"
W = torch.tensor(numpy.linspace(-1, 1, 9).reshape(3, 3), dtype=torch.float32)
POSITIVE = torch.tensor([[1.0, 2.0, 3.0], [0.5, 0.1, 4.0]])
NEGATIVE = torch.tensor([[-1.0, 2.0, -3.0], [0.5, -2.0, 0.25]])


def branches(x):
    return torch.cond(x.sum() > 0, lambda x: torch.tanh((x @ W) * 1 + 0.5) * 2, lambda x: x * 2 - W[0], (x,))


def rounds(x):
    return torch.while_loop(lambda i, y: y.abs().sum() > 0.1,
                            lambda i, y: (i + 1, torch.cond(y.sum() > 0, lambda y: y @ W * 0.5, lambda y: y / 3, (y,))),
                            (torch.tensor(0), x))[1]


def places(x):
    rows = torch.cat([x] * 10)
    return torch._higher_order_ops.scan(lambda c, row: (torch.tanh(c @ W + row), c * row), x[0] * 0, rows)[1]


PROGRAMS = {"branches": branches, "rounds": rounds, "places": places}


def graph_of(name):
    traced = dragon.function(PROGRAMS[name], strict=True)
    traced(POSITIVE)
    return dragon.Graph(traced.graphs[0])


def outside(graph):
    """Return the tensors for a captured graph: the argument, and the weights it found."""
    return [W] * (len(graph.inputs) - 1)


def names_in(graph):
    names = []
    for call in graph.calls:
        names.append(call.op)
        for value in call.attrs.values():
            if isinstance(value, _C.GraphBody):
                names += names_in(value.graph)
    return names


@pytest.mark.parametrize("level", [0, 1, 2, 3])
@pytest.mark.parametrize("name", PROGRAMS)
def test_levels_agree(name, level, monkeypatch):
    monkeypatch.setenv("DRAGON_VERIFY_PASSES", "1")
    graph = graph_of(name)
    plan = graph.compile(level)
    for x in (POSITIVE, NEGATIVE, POSITIVE * 3, POSITIVE * float("nan")):
        if name == "rounds" and not x.isfinite().all():
            continue
        found, = plan.run([x, *outside(graph)])
        numpy.testing.assert_allclose(found.numpy(), PROGRAMS[name](x).numpy(), 1e-5, 1e-6)


def test_passes_go_into_bodies():
    graph = graph_of("branches")
    before, after = names_in(graph), names_in(graph.compile(3).graph)
    assert "fused" in after or "linear_fused" in after
    assert "mul" in before and len(after) < len(before)


def test_a_loop_is_not_run_while_it_is_compiled():
    """All it takes is constant, and it never ends."""
    body, holds = dragon.Graph(), dragon.Graph()
    for graph in (body, holds):
        graph.outputs = [graph.add_input((), "bool")]
    graph = dragon.Graph()
    start = graph.add_constant(dragon.tensor(True))
    graph.add_input(())
    graph.outputs = graph.add_call("while_loop", [[start], []], condition=_C.GraphBody(holds), body=_C.GraphBody(body))
    assert "while_loop" in names_in(graph.compile(3).graph)


def test_equal_calls_are_one_and_random_ones_are_not():
    def twice(draws):
        body = dragon.Graph()
        x = body.add_input((2,))
        body.outputs = body.add_call("mul", [x, body.add_call("rand", shape=[2])[0] if draws else x])
        argument = _C.GraphBody(body)
        graph = dragon.Graph()
        x, predicate = graph.add_input((2,)), graph.add_input((), "bool")
        both = [graph.add_call("cond", [predicate, [x]], then=argument, otherwise=argument)[0] for _ in range(2)]
        assert graph.call(0).is_random is draws
        graph.outputs = graph.add_call("add", both)
        return names_in(graph.compile(3).graph).count("cond")
    assert twice(False) == 1 and twice(True) == 2


def test_random_branches_nobody_reads_still_draw():
    body = dragon.Graph()
    body.outputs = body.add_call("rand", shape=[2])
    graph = dragon.Graph()
    predicate = graph.add_input((), "bool")
    graph.add_call("cond", [predicate, []], then=_C.GraphBody(body), otherwise=_C.GraphBody(body))
    graph.outputs = graph.add_call("rand", shape=[2])
    plan = graph.compile(3)
    dragon.manual_seed(1)
    found, = plan.run([dragon.tensor(True)])
    dragon.manual_seed(1)
    wanted = [dragon.ops.rand([2]) for _ in range(2)][1]
    assert found.tolist() == wanted.tolist()


def test_compositions_in_bodies_are_taken_apart():
    body = dragon.Graph()
    x = body.add_input((4,))
    composed = next(name for name in ("logsumexp", "softmax", "std") if _C.schema(name)["composition"]) if (
        "composition" in _C.schema("add")) else "std"
    body.outputs = body.add_call(composed, [x])
    graph = dragon.Graph()
    x, predicate = graph.add_input((4,)), graph.add_input((), "bool")
    graph.outputs = graph.add_call("cond", [predicate, [x]], then=_C.GraphBody(body), otherwise=_C.GraphBody(body))
    x = dragon.tensor([1.0, 2.0, 4.0, 8.0])
    wanted = getattr(dragon.ops, composed)(x)
    for found in (graph.compile(3).run([x, dragon.tensor(True)])[0],
                  dragon.ops.cond(dragon.tensor(False), [x], then=_C.GraphBody(body), otherwise=_C.GraphBody(body))[0]):
        numpy.testing.assert_allclose(found.numpy(), wanted.numpy(), 1e-6)


def test_threads_share_a_plan():
    plan, extra, wrong = graph_of("rounds").compile(), outside(graph_of("rounds")), []
    wanted = {id(x): rounds(x).numpy() for x in (POSITIVE, NEGATIVE)}

    def work(x):
        for _ in range(50):
            if not numpy.allclose(plan.run([x, *extra])[0].numpy(), wanted[id(x)], 1e-5, 1e-6):
                wrong.append(x)
    threads = [threading.Thread(target=work, args=(x,)) for x in (POSITIVE, NEGATIVE) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("name", PROGRAMS)
def test_files_hold_them_and_run_without_python(name, level, tmp_path):
    graph = graph_of(name)
    path = tmp_path / "graph.dragon"
    graph.save(path)
    again = dragon.Graph.load(path)
    assert names_in(again) == names_in(graph)
    if not PROGRAM.exists():
        pytest.skip("this build has no dragon_run")
    for number, x in enumerate((POSITIVE, NEGATIVE)):
        given = [x, *outside(graph)]
        for place, tensor in enumerate(given):
            numpy.save(tmp_path / f"{place}.npy", tensor.numpy())
        numpy.save(tmp_path / "wanted.npy", PROGRAMS[name](x).numpy())
        inputs = ",".join(str(tmp_path / f"{place}.npy") for place in range(len(given)))
        done = subprocess.run([PROGRAM, path, "--inputs", inputs, "--reference", tmp_path / "wanted.npy", "--level",
                               str(level), "--tolerance", "1e-5"], capture_output=True, text=True)
        assert done.returncode == 0 and "too much" not in done.stdout, done.stdout + done.stderr


def with_an_update(body):
    body.updates.add(input=0, value=body.outputs[0])


def with_a_symbol(body):
    body.symbols.append("batch")


HOSTILE = {
    "an input less": (lambda call, body: call.inputs.__delitem__(-1), "cond"),
    "a body that updates": (lambda call, body: with_an_update(body), "updates"),
    "a body of open sizes": (lambda call, body: with_a_symbol(body), "1 symbols"),
    "another dtype inside": (lambda call, body: setattr(body.values[body.inputs[0]], "dtype", 3), "graph"),
    "an output that is not there": (lambda call, body: body.outputs.append(999), "999"),
    "one output more": (lambda call, body: body.outputs.append(body.inputs[0]), "branches of"),
    "no body": (lambda call, body: call.attrs[0].ClearField("graph"), "then"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_files_with_calls_that_do_not_fit_are_refused(name):
    pytest.importorskip("google.protobuf")
    from dragon.core import proto
    message = proto.parse(graph_of("branches").to_bytes())
    change, words = HOSTILE[name]
    call = next(call for call in message.calls if call.type == "cond")
    attribute = next(attribute for attribute in call.attrs if attribute.name == "then")
    if name == "no body":
        attribute.ClearField("graph")
    else:
        change(call, attribute.graph)
    with pytest.raises((ValueError, TypeError, RuntimeError), match=words):
        dragon.Graph.from_bytes(proto.serialize(message))


def test_vmap_goes_slice_by_slice():
    def function(x, y):
        return torch._higher_order_ops.scan(lambda c, row: (c + row, c * row), y, x)[1]
    x, y = torch.linspace(0, 1, 24).reshape(2, 4, 3), torch.ones(2, 3)
    found = torch.vmap(function)(x, y)
    numpy.testing.assert_allclose(found.numpy(), torch.stack([function(a, b) for a, b in zip(x, y)]).numpy())
