"""Exported programs: signatures, calls, control flow, files, and modules of them."""
import copy
import dataclasses
import io
import zipfile

import pytest

from dragon.vm import torch
from dragon.vm.torch._higher_order_ops import map as along, scan, while_loop
from dragon.vm.torch.export import Dim, export, load, save, unflatten

nn = torch.nn
X = torch.linspace(-1, 1, 20).reshape(5, 4)


class Net(nn.Module):
    """A parameter, buffers, a constant and a layer."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.tied = self.layer
        self.register_buffer("count", torch.zeros(()))
        self.register_buffer("passing", torch.ones(4), persistent=False)
        self.constant = torch.full((4,), 2.0)

    def forward(self, x, *, by=1.0):
        self.count.add_(1)
        made = self.tied(self.layer(x)) * self.constant * by + self.passing
        return {"y": made, "flag": torch.compiler.is_exporting()}


class Two(nn.Module):
    """A module within a module, called twice."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(4, 4), nn.Tanh())

    def forward(self, x):
        return self.inner(self.inner(x) + x.sum())


class Flow(nn.Module):
    """Branches and loops over tensors."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        a = torch.cond(x.sum() > 0, lambda x: self.layer(x) * x.shape[0], lambda x: x - 1, (x,))
        _, b = while_loop(lambda i, b: i < 3, lambda i, b: (i + 1, b * 2 + a.sum()), (torch.tensor(0), x))
        c, d = scan(lambda c, x: (c + x, c * x), torch.zeros(4), x)
        return a, b, c, d, along(lambda row: row * 2 + 1, x)


@dataclasses.dataclass
class Pair:
    """Two tensors."""

    one: torch.Tensor
    two: torch.Tensor


torch.export.register_dataclass(Pair, serialized_type_name="test_programs.Pair")


def close(mine, wanted):
    torch.testing.assert_close(torch.utils._pytree.tree_leaves(mine), torch.utils._pytree.tree_leaves(wanted))


def read_again(program):
    file = io.BytesIO()
    save(program, file, extra_files={"note": "words"})
    file.seek(0)
    extra = {"note": ""}
    made = load(file, extra_files=extra)
    assert extra == {"note": "words"}
    return made


def test_signature_and_state():
    net = Net()
    program = export(net, (X,), {"by": 2.0})
    signature = program.graph_signature
    assert signature.parameters == ("layer.weight", "layer.bias", "tied.weight", "tied.bias")
    assert signature.buffers == ("count", "passing") and signature.non_persistent_buffers == ("passing",)
    assert signature.lifted_tensor_constants == ("constant",) and signature.user_inputs == ("x", 2.0)
    assert signature.user_outputs[1] is True and signature.inputs_to_buffers["b_count"] == "count"
    assert set(program.state_dict) == set(net.state_dict()) and set(program.constants) == {"passing", "constant"}
    assert [name for name, _ in program.named_buffers()] == ["count", "passing"]
    assert len(list(program.parameters())) == 4 and net.count == 0
    program.validate()
    assert "p_layer_weight: PARAMETER target='layer.weight'" in str(program)


def test_calls_share_state_and_check_arguments():
    net = Net()
    module = export(net, (X,), {"by": 2.0}).module()
    close(module(X, by=2.0)["y"], net(X, by=2.0)["y"])
    assert net.count == 2
    module(X, by=2.0)["y"].sum().backward()
    assert net.layer.weight.grad is not None
    with pytest.raises(AssertionError, match="Guard failed: by == 2.0"):
        module(X, by=3.0)
    with pytest.raises(ValueError, match="same number and type of args"):
        module(X, X, by=2.0)
    with pytest.raises(NotImplementedError, match="train"):
        module.train()
    with pytest.raises(RuntimeError, match="Unable to call ExportedProgram directly"):
        export(net, (X,))(X)


def test_what_is_no_call():
    with pytest.raises(ValueError, match="torch.nn.Module"):
        export(torch.relu, (X,))
    with pytest.raises(Exception, match="tuple of example"):
        export(Net(), [X])
    with pytest.raises(ValueError, match="expected one of the modules"):
        export(Net(), (X,), preserve_module_call_signature=("nobody",))

    class Looks(nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else -x
    with pytest.raises(RuntimeError, match="data-dependent.*test_programs"):
        export(Looks(), (X,))


def test_containers_in_and_out():
    class Swaps(nn.Module):
        def forward(self, pair, rest):
            return Pair(pair.two * 2, pair.one), [rest["a"][0], None, "word", 3]
    args = Pair(X, X + 1), {"a": (X,)}
    program = export(Swaps(), args)
    made, rest = read_again(program).module()(*args)
    close((made.one, made.two), ((X + 1) * 2, X))
    assert rest[1:] == [None, "word", 3]


def test_control_flow_at_other_sizes():
    flow = Flow()
    program = export(flow, (X,), dynamic_shapes=({0: Dim("n")},))
    names = [str(node.target) for node in program.graph.nodes if node.op == "call_function"]
    assert {"cond", "while_loop", "scan", "map_impl"} <= set(names)
    for made in (program, program.run_decompositions()):
        for x in (torch.ones(3, 4), -torch.ones(7, 4)):
            close(made.module()(x), flow(x))

    class Writes(nn.Module):
        def forward(self, x):
            return torch.cond(x.sum() > 0, lambda x: x.add_(1), lambda x: x, (x,))
    with pytest.raises(RuntimeError, match="writes into its operand"):
        export(Writes(), (X,))


def test_decompositions_keep_the_numbers():
    net = nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(12, 4),
                        nn.LayerNorm(4), nn.Softmax(-1))
    x = torch.linspace(-1, 1, 96).reshape(3, 2, 4, 4)
    program = export(net, (x,), dynamic_shapes=({0: Dim("n")},))
    core = program.run_decompositions()
    kinds = [spec.kind.name for spec in core.graph_signature.output_specs]
    assert kinds == ["BUFFER_MUTATION"] * 3 + ["USER_OUTPUT"]
    assert not any(str(node.target).endswith("_.Tensor") for node in core.graph.nodes)
    other = copy.deepcopy(net)
    close(core.module()(x), other(x))
    close(net[1].running_mean, other[1].running_mean)
    table = torch.export.default_decompositions()
    del table[torch.ops.aten.linear.default]
    assert any(node.target is torch.ops.aten.linear.default for node in program.run_decompositions(table).graph.nodes)


@pytest.mark.parametrize("kept", [(), ("inner",)])
def test_modules_within_modules(kept):
    net = Two()
    made = unflatten(export(net, (X,)))
    close(made(X), net(X))
    assert set(net.state_dict()) <= set(made.state_dict())
    if kept:
        single = nn.Sequential(nn.Linear(4, 4))
        made = unflatten(export(single, (X,), preserve_module_call_signature=("0",)))
        setattr(made, "0", nn.Identity())
        close(made(X), X)


class Adapter(torch.export.FlatArgsAdapter):
    """Takes arguments in a list."""

    def adapt(self, target_spec, input_spec, input_args, metadata=None, obj=None):
        return input_args


def test_arguments_in_another_form():
    program = export(Two(), (X,))
    with pytest.raises(TypeError, match="no flat args adapter"):
        unflatten(program)([X])
    close(unflatten(program, Adapter())([X]), unflatten(program)(X))


def test_files_and_damage(tmp_path):
    net = Net()
    program = export(net, (X,), {"by": 2.0}, dynamic_shapes={"x": {0: Dim("n")}, "by": None})
    path = tmp_path / "net.pt2"
    save(program, path)
    made = load(path)
    assert [str(node) for node in made.graph.nodes] == [str(node) for node in program.graph.nodes]
    close(made.module()(torch.ones(3, 4), by=2.0)["y"], net(torch.ones(3, 4), by=2.0)["y"])
    close(made.run_decompositions().module()(X, by=2.0)["y"], net(X, by=2.0)["y"])
    data = path.read_bytes()
    for cut in (0, 10, len(data) // 2, len(data) - 3):
        with pytest.raises(RuntimeError):
            load(io.BytesIO(data[:cut]))
    for before, after in ((b'"torch.ops.aten.add.Tensor"', b'"torch.ops.aten.nobody.Tensor"'),
                          (b'"as_tensor"', b'"as_nobody"'), (b'"major": 8', b'"major": 9')):
        with pytest.raises(RuntimeError, match="torch.export.load"):
            load(changed(path, before, after))
    with pytest.raises(TypeError, match="ExportedProgram"):
        save(net, path)


def changed(path, before, after):
    """Return a file with other words in its graph."""
    file = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(before, after) if name.endswith("model.json") else old.read(name))
    file.seek(0)
    return file


def test_copies_and_passes():
    program = export(Two(), (X,))
    other = copy.deepcopy(program)
    other.state_dict["inner.0.weight"].data.zero_()
    assert program.state_dict["inner.0.weight"].abs().sum() > 0
    moved = torch.export.passes.move_to_device_pass(program, "cpu")
    close(moved.module()(X), program.module()(X))
    assert torch.export.export_for_training(Two(), (X,)).graph.find_nodes(op="placeholder")
    program.example_inputs = ((X,), {})
    with pytest.raises(ValueError, match="Trying to flatten"):
        program.example_inputs = ((X, X), {})


def test_programs_as_onnx():
    onnx = pytest.importorskip("onnx")
    program = export(Two(), (X,), dynamic_shapes=({0: Dim("n", min=2)},))
    made = torch.onnx.export(program, dynamo=True)
    shape = made.model_proto.graph.input[0].type.tensor_type.shape
    assert shape.dim[0].dim_param and shape.dim[1].dim_value == 4
    onnx.checker.check_model(made.model_proto)
    close(torch.tensor(made(torch.ones(7, 4))[0].numpy()), program.module()(torch.ones(7, 4)))


def test_what_a_program_assigns():
    class Assigns(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("total", torch.zeros(4))
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            self.total = self.total + x.sum(0)
            return self.total * 2
    net = Assigns()
    program = export(net, (X,))
    assert net.calls == 0 and net.total.abs().sum() == 0
    module = program.module()
    close(module(X), X.sum(0) * 2)
    close(module(X), X.sum(0) * 4)
    assert program.run_decompositions().graph_signature.buffers_to_mutate == {"add": "total"}

    class Leaks(nn.Module):
        def forward(self, x):
            self.kept = x * 2
            return self.kept
    with pytest.raises(ValueError, match="self.kept was assigned"):
        export(Leaks(), (X,))


def test_gradients_that_are_not_wanted_and_autocast():
    class Frozen(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x):
            with torch.no_grad():
                y = self.layer(x)
            return self.layer(x) * y
    net = Frozen()
    module = export(net, (X,)).module()
    net(X).sum().backward()
    wanted = net.layer.weight.grad.clone()
    net.zero_grad()
    module(X).sum().backward()
    close(net.layer.weight.grad, wanted)

    class Cast(nn.Module):
        def forward(self, x):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return x @ x.T
    with pytest.raises(NotImplementedError, match="autocast"):
        export(Cast(), (X,))


def test_caches_of_modules_stay_as_they_were():
    class Does(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.biases, self.seen = torch.nn.Parameter(torch.ones(3)), []
            self.cache = {}

        def forward(self, x):
            if "key" not in self.cache:
                self.cache["key"] = self.biases * 2
            self.seen.append(x)
            return x + self.cache["key"]
    module = Does()
    program = torch.export.export(module, (torch.zeros(3),))
    assert (module.cache, module.seen) == ({}, [])
    assert module(torch.zeros(3)).tolist() == program.module()(torch.zeros(3)).tolist() == [2, 2, 2]
