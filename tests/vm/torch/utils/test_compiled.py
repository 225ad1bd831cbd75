"""Scripting, tracing and compiling run the Python code; what would need a graph says that there is none."""
from typing import Dict, List, Optional, Tuple

import pytest

torch = pytest.importorskip("torch")
from dragon.vm import torch as dt  # noqa: E402


def double(x):
    """Return twice the number."""
    return x * 2


def test_functions_stay_what_they_are():
    scripted, traced = dt.jit.script(double), dt.jit.trace(double, dt.ones(2))
    compiled, decorated = dt.compile(double), dt.compile(fullgraph=True)(double)
    for function in (scripted, traced, compiled, decorated, dt.compiler.disable(double), dt.jit.ignore(double)):
        assert function(dt.ones(2)).tolist() == [2, 2] and function.__name__ == "double"
    assert isinstance(scripted, dt.jit.ScriptFunction) and "torch.mul(x, 2)" in scripted.code
    assert not dt.jit.is_scripting() and not dt.jit.is_tracing() and not dt.compiler.is_compiling()


def test_tracing_calls_once():
    seen = []

    def watch(x):
        seen.append(dt.jit.is_tracing())
        return x
    dt.jit.trace(watch, (dt.ones(1),))
    assert seen == [True]


def test_modules():
    model = dt.nn.Sequential(dt.nn.Linear(2, 2), dt.nn.ReLU())
    scripted = dt.jit.script(model)
    assert isinstance(scripted, dt.jit.ScriptModule) and not isinstance(dt.nn.Linear(1, 1), dt.jit.ScriptModule)
    assert isinstance(scripted[0], dt.jit.ScriptModule) and list(scripted.state_dict()) == ["0.weight", "0.bias"]
    with pytest.raises(RuntimeError, match="eval mode"):
        dt.jit.freeze(scripted)
    frozen, x = dt.jit.freeze(scripted.eval()), dt.ones(1, 2)
    assert not list(frozen.parameters()) and frozen(x).tolist() == model(x).tolist()
    compiled, theirs = dt.compile(model), torch.compile(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()))
    assert list(compiled.state_dict()) == list(theirs.state_dict()) and compiled._orig_mod is model
    assert type(compiled).__name__ == type(theirs).__name__
    x = dt.ones(1, 2)
    assert compiled(x).tolist() == model(x).tolist()
    compiled.note = 1
    assert model.note == 1 and not compiled.eval().training and len(list(compiled.parameters())) == 2


@pytest.mark.parametrize("value, kind", [
    ([1], List[int]), ([1.5], List[int]), ({"a": 1}, Dict[str, int]), ((1, "a"), Tuple[int, str]),
    (None, Optional[int]), (1, Optional[str]), (1, int), ("a", (int, str))])
def test_isinstance(value, kind):
    assert dt.jit.isinstance(value, kind) == torch.jit.isinstance(value, kind)


@pytest.mark.parametrize("call", [
    lambda: dt.jit.save(None, "f"), lambda: dt.compile(double, backend=print),
    lambda: dt.jit.script(len).graph])
def test_graphs_are_refused(call):
    with pytest.raises(NotImplementedError):
        call()


def test_small_words():
    @dt.jit.unused
    def unused():
        pass

    @dt.jit.export
    def export():
        pass

    assert dt.jit.annotate(List[int], [1]) == [1] and dt.jit.wait(dt.jit.fork(double, 4)) == 8
    assert dt.jit.Attribute(3, int).value == 3 and dt.jit.Final[int]
    with dt.jit.optimized_execution(True), dt.compiler.set_stance("force_eager"):
        pass
    assert "inductor" in dt.compiler.list_backends() and set(dt.compiler.list_backends()) <= {
        *torch.compiler.list_backends()}
    assert isinstance(dt.compile(dt.nn.ReLU()), dt._dynamo.OptimizedModule) and not dt.onnx.is_in_onnx_export()


def test_marks_take_what_they_take_in_pytorch():
    dynamo, x = dt._dynamo, dt.ones(3, 2)
    for mark in (dynamo.mark_static_address, dynamo.mark_static):
        assert mark(x) is None
        with pytest.raises(TypeError, match="tensor"):
            mark(3)
    dynamo.mark_static_address(x, guard=True)
    dynamo.mark_static(x, [0, 1]), dynamo.maybe_mark_dynamic(x, 0), dynamo.mark_dynamic(x, (0,), min=2, max=9)
    assert dynamo.mark_static(dt.nn.Linear) is dt.nn.Linear


def test_a_function_that_stands_for_another_comes_back():
    @dt.compiler.substitute_in_graph(len)
    def count(x):
        return x.shape[0]
    assert count(dt.ones(3)) == 3
    assert dt.compiler.nested_compile_region(count) is dt._dynamo.nonstrict_trace(count) is count
    with pytest.raises(TypeError, match="function"):
        dt.compiler.substitute_in_graph(3)
    with pytest.raises(TypeError, match="for a dim"):
        dt._dynamo.mark_dynamic(dt.ones(3), "batch")
