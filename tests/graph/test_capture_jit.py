"""Traces of modules and functions: graphs, in files too, equal to the Python code."""
import io
import time
import warnings

import pytest

from dragon.vm import torch
from dragon.vm.torch import nn


def make_net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout(0.5), nn.Flatten(),
                         nn.Linear(4 * 2 * 2, 2))


X = torch.randn(2, 3, 4, 4)


def close(a, b):
    return torch.allclose(a, b, rtol=1e-4, atol=1e-5)


def test_modules_are_traced_in_their_mode():
    net = make_net().eval()
    traced = torch.jit.trace(net, X)
    assert isinstance(traced, (torch.jit.TopLevelTracedModule, torch.jit.ScriptModule))
    assert list(traced.state_dict()) == list(net.state_dict()) and "conv" in traced.code
    assert len(traced.graph.calls) > 4 and traced.original_name == "Sequential"
    assert "original_name=Conv2d" in repr(traced)
    expected = net(X)
    net.train()
    traced.train()
    assert close(traced(X), expected) and traced.training  # the mode is part of what was traced
    with torch.no_grad():
        net[5].bias.add_(1)  # weights are not
    assert close(traced(X), expected + 1) and close(traced(X[:1]), expected[:1] + 1)
    assert len(list(traced.parameters())) == len(list(net.parameters()))
    assert traced.get_parameter("5.bias") is net[5].bias
    with pytest.raises(NotImplementedError, match="part of a traced module"):
        traced.get_submodule("0")(X)


def test_traces_carry_gradients():
    net = make_net().eval()
    traced = torch.jit.trace(net, X)
    traced(X).sum().backward()
    mine = net[0].weight.grad.clone()
    net.zero_grad()
    net(X).sum().backward()
    assert close(mine, net[0].weight.grad)


def test_frozen_modules_have_no_parameters():
    net = make_net().eval()
    frozen = torch.jit.freeze(torch.jit.trace(net, X))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert close(frozen(X), net(X)) and not list(frozen.parameters()) and frozen._graphs.variants
    assert torch.jit.freeze(frozen) is frozen and torch.jit.optimize_for_inference(frozen) is frozen
    with pytest.raises(RuntimeError, match="eval mode"):
        torch.jit.freeze(torch.jit.trace(make_net(), X, check_trace=False))


def test_files(tmp_path):
    net = make_net().eval()
    traced = torch.jit.trace(net, X)
    torch.jit.save(traced, tmp_path / "net.dragon")
    loaded = torch.jit.load(tmp_path / "net.dragon")
    assert close(loaded(X), net(X)) and sorted(loaded.state_dict()) == sorted(
        name for name in net.state_dict() if "num_batches" not in name)
    with torch.no_grad():
        loaded.get_parameter("5.bias").add_(1)
    assert close(loaded(X), net(X) + 1)
    loaded.save(tmp_path / "again.dragon")
    assert close(torch.jit.load(tmp_path / "again.dragon")(X), net(X) + 1)
    with pytest.raises(NotImplementedError, match="ends with .dragon"):
        loaded.save(io.BytesIO())


def test_results_keep_their_structure_in_files(tmp_path):
    def function(a, b):
        return {"sum": a + b, "more": (a, [b * 2, None], 3)}
    traced = torch.jit.trace(function, (X, X), strict=False)
    assert traced(X, X + 1)["more"][2] == 3 and traced.__name__ == "function"
    torch.jit.save(traced, tmp_path / "net.dragon")
    found = torch.jit.load(tmp_path / "net.dragon")(X, X + 1)
    assert list(found) == ["sum", "more"] and found["more"][1][1] is None and found["more"][2] == 3
    assert close(found["sum"], X + X + 1) and close(found["more"][1][0], (X + 1) * 2)


def test_several_methods():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(2, 2)

        def forward(self, x):
            return self.linear(x)

        def double(self, x):
            return self.linear(x) * 2
    net, x = Net(), torch.ones(1, 2)
    traced = torch.jit.trace_module(net, {"forward": x, "double": x})
    assert close(traced(x), net(x)) and close(traced.double(x), net(x) * 2)
    assert close(torch.jit.trace(net.double, x)(x), net.double(x))


def test_code_that_looks_at_numbers_stays_code():
    def choose(x):
        return x * 2 if x.sum() > 0 else x * 3
    with pytest.warns(torch.jit.TracerWarning, match="x.sum\\(\\) > 0"):
        traced = torch.jit.trace(choose, torch.ones(1))
    assert traced(torch.ones(1)).item() == 2 and traced(-torch.ones(1)).item() == -3
    for file in (io.BytesIO(), "choose.dragon"):
        with pytest.raises(RuntimeError, match="numbers"):
            torch.jit.save(traced, file)


def test_code_that_does_something_else_each_time_is_found():
    def function(x):
        return x * (time.perf_counter_ns() % 1000003)
    with pytest.raises(torch.jit.TracingCheckError):
        torch.jit.trace(function, torch.ones(1))


def test_wrong_files_and_objects(tmp_path):
    (tmp_path / "archive").write_bytes(b"PK\x03\x04 and more")
    with pytest.raises(RuntimeError, match="not a whole one"):
        torch.jit.load(tmp_path / "archive")
    (tmp_path / "noise").write_bytes(b"noise")
    with pytest.raises(ValueError):
        torch.jit.load(tmp_path / "noise")
    with pytest.raises(ValueError, match="does not exist"):
        torch.jit.load(tmp_path / "missing")
    with pytest.raises(NotImplementedError, match="torch.jit.trace"):
        torch.jit.save(torch.jit.script(nn.ReLU()), tmp_path / "scripted.dragon")
    with pytest.raises(RuntimeError, match="evaluation mode"):
        torch.jit.save(torch.jit.trace(make_net().train(), X, check_trace=False), tmp_path / "training.dragon")
    with pytest.raises(RuntimeError, match="no examples"):
        torch.jit.trace(nn.ReLU())


def test_compiled_modules():
    net = make_net().eval()
    compiled = torch.compile(net)
    for _ in range(2):
        assert close(compiled(X), net(X))
    assert "1 graphs" in compiled.explain() and list(compiled.state_dict())[0] == "_orig_mod.0.weight"
    net.train()
    compiled(X)
    assert "training: was False, now True" in compiled.explain()
    torch._dynamo.reset()
    assert "0 graphs" in compiled.explain()
    plain = torch.compile(lambda x: helper(x) + 1)
    with pytest.warns(UserWarning, match="torch.compiler.disable: why"):
        assert [plain(torch.ones(1)).item() for _ in range(2)] == [3, 3]
    with pytest.raises(RuntimeError, match="disable"):
        torch.compile(lambda x: helper(x) + 1, fullgraph=True)(torch.ones(1))
    found = torch._dynamo.explain(net.eval())(X)
    assert found.graph_count == 1 and found.graph_break_count == 0 and found.op_count > 3


@torch.compiler.disable(reason="why")
def helper(x):
    return x * 2


def test_asking_whether_one_is_captured():
    seen = []

    def ask(x):
        seen.append((torch.compiler.is_compiling(), torch.jit.is_tracing()))
        return x
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ask(X), torch.compile(ask)(X), torch.jit.trace(ask, X, check_trace=False)
    assert seen == [(False, False), (True, False), (False, True)]


def test_stances():
    compiled = torch.compile(lambda x: x * 2)
    compiled(torch.ones(1))
    with torch.compiler.set_stance("fail_on_recompile"):
        assert compiled(torch.ones(1)).item() == 2
        with pytest.raises(RuntimeError, match="no graph fits"):
            compiled(torch.ones(2))
    with torch.compiler.set_stance("force_eager"):
        compiled(torch.ones(2))
    with torch.compiler.set_stance("eager_on_recompile"):
        compiled(torch.ones(2))
    assert len(compiled.variants) == 1


@pytest.mark.parametrize("options, error, said", [
    ({"backend": print}, NotImplementedError, "a name"), ({"backend": "none"}, RuntimeError, "Invalid backend"),
    ({"mode": "fast"}, RuntimeError, "Unrecognized mode"), ({"mode": "default", "options": {}}, RuntimeError, "Either"),
    ({"options": {"level": 9}}, ValueError, "level")])
def test_wrong_options_of_compile(options, error, said):
    with pytest.raises(error, match=said):
        torch.compile(nn.ReLU(), **options)


def test_a_file_serves_all_sizes_of_the_batch(tmp_path):
    net = make_net().eval()
    torch.jit.save(torch.jit.trace(net, X), tmp_path / "net.dragon")
    loaded = torch.jit.load(tmp_path / "net.dragon")
    for size in (2, 5, 1, 9):
        x = torch.randn(size, 3, 4, 4)
        assert close(loaded(x), net(x))


def test_a_file_of_a_net_that_counts_on_its_size_serves_that_one(tmp_path):
    def first_four(x):
        return x[:min(x.shape[0], 4)] * x.shape[0] ** 2

    torch.jit.save(torch.jit.trace(first_four, torch.ones(3, 2)), tmp_path / "net.dragon")
    loaded = torch.jit.load(tmp_path / "net.dragon")
    assert close(loaded(torch.ones(3, 2)), first_four(torch.ones(3, 2)))
    with pytest.raises(ValueError, match="expected"):
        loaded(torch.ones(7, 2))
