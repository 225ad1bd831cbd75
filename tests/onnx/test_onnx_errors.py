"""What cannot be exported: everything at once, by name, and never a wrong model."""
import io

import pytest

pytest.importorskip("onnxruntime")

import onnx as onnx_library  # noqa: E402
from harness import exported  # noqa: E402

from dragon import onnx  # noqa: E402
from dragon.vm import torch  # noqa: E402
from dragon.vm.torch import nn  # noqa: E402

X = {"x": {0: "batch"}}


def test_all_unsupported_operators_in_one_error():
    def function(x):
        return torch.special.digamma(x) + torch.lgamma(x).relu() + torch.linalg.inv(x) + torch.fft.fft(x).abs()

    with pytest.raises(onnx.UnsupportedOperatorError) as caught:
        onnx.export(function, torch.rand(3, 3))
    assert {"digamma", "lgamma", "fft_c2c"} <= set(caught.value.operators)
    assert "relu" not in caught.value.operators and "add" not in caught.value.operators
    assert all(name in str(caught.value) for name in caught.value.operators)


@pytest.mark.parametrize("function, says", [
    (lambda x: x * x if x.shape[0] == 4 else x + x, "no longer holds|other operators"),
    (lambda x: x.repeat(2 if x.shape[0] == 4 else 3, 1), "size"),
    (lambda x: x * (0.5 + 1 / x.shape[0]), "constant|number|0-d|size"),
    (lambda x: x.reshape(4, 6), "other sizes of batch"),
    (lambda x: x.argsort(0).repeat(1, x.shape[0] ** 2 // 9), "size"),
], ids=["branch", "repeat", "number", "reshape", "square"])
def test_hard_coded_sizes(function, says):
    """What depends on a dynamic size in a way the model cannot say is an error."""
    with pytest.raises(onnx.ExportError, match=says):
        onnx.export(function, torch.rand(4, 6), input_names=["x"], dynamic_axes=X)


def test_control_by_numbers():
    with pytest.raises(onnx.ExportError, match="numbers"):
        onnx.export(lambda x: x * 2 if x.sum() > 0 else x, torch.rand(3))
    with pytest.raises(onnx.ExportError, match="depends on numbers"):
        onnx.export(lambda x: x[x > 0], torch.rand(3))


@pytest.mark.parametrize("options, kind, says", [
    ({"opset": 9}, ValueError, "opset 9"),
    ({"input_names": ["a", "b"]}, ValueError, "2 input names"),
    ({"output_names": ["a", "a"]}, ValueError, "2 output"),
    ({"input_names": ["a"], "output_names": ["a"]}, onnx.ExportError, "both"),
    ({"dynamic_axes": {"z": {0: "n"}}}, ValueError, "'z'"),
    ({"dynamic_axes": {"x": {2: "n"}}, "input_names": ["x"]}, ValueError, "axis 2"),
])
def test_wrong_options(options, kind, says):
    with pytest.raises(kind, match=says):
        onnx.export(lambda x: x + 1, torch.rand(3, 4), **options)


def test_wrong_targets():
    with pytest.raises(TypeError, match="str; expected a function"):
        onnx.export("model", torch.rand(3))
    with pytest.raises(onnx.ExportError, match="no tensors"):
        onnx.export(lambda x: 3, torch.rand(3))


def test_nothing_is_computed_or_changed():
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5)).train()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    onnx.export(model, torch.rand(5, 3), dynamic_axes={"input": [0]})
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())


# --- torch.onnx

def make_model():
    """Return a small module in inference mode."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Dropout(), nn.Linear(4, 2)).eval()


@pytest.mark.parametrize("options", [
    {"dynamic_shapes": ({0: torch.export.Dim("batch", min=1)},)},
    {"dynamic_shapes": [{0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.STATIC}]},
    {"dynamic_shapes": [(torch.export.Dim.AUTO, None)]}, {"dynamic_shapes": {"input": {0: "batch"}}},
    {"dynamic_axes": {"input": {0: "batch"}}, "dynamo": False}],
                         ids=["tuple", "list", "by axis", "dictionary", "axes"])
def test_torch_export(options, tmp_path):
    model, x = make_model(), torch.randn(2, 3)
    path = tmp_path / "model.onnx"
    program = torch.onnx.export(model, (x,), path, output_names=["y"], **options)
    saved = onnx_library.load(path)
    assert [item.name for item in saved.graph.output] == ["y"]
    assert {"0.weight", "0.bias", "2.weight"} <= {tensor.name for tensor in saved.graph.initializer}
    more = torch.randn(5, 3)
    torch.testing.assert_close(torch.from_numpy(exported.run(saved, [more])[0].copy()), model(more))
    if options.get("dynamo", True):
        torch.testing.assert_close(program(more)[0], model(more))
        program.apply_weights({name: tensor * 0 for name, tensor in model.state_dict().items()})
        assert not program(more)[0].any()
    else:
        assert program is None


def test_torch_export_training_modes(tmp_path):
    model, x = make_model().train(), torch.randn(2, 3)
    for mode, kinds in ((torch.onnx.TrainingMode.EVAL, 0), (torch.onnx.TrainingMode.TRAINING, 1)):
        torch.onnx.export(model, (x,), tmp_path / "model.onnx", dynamo=False, training=mode)
        nodes = [node.op_type for node in onnx_library.load(tmp_path / "model.onnx").graph.node]
        assert nodes.count("Dropout") == kinds and model.training
    with pytest.warns(UserWarning, match="training mode"):
        torch.onnx.export(model, (x,))


def test_torch_export_parameters_as_inputs(tmp_path):
    model, x = make_model(), torch.randn(2, 3)
    program = torch.onnx.export(model, (x,), export_params=False)
    assert {"0.weight", "2.bias"} <= {item.name for item in program.model_proto.graph.input}
    torch.onnx.export(model, (x,), tmp_path / "model.onnx", keep_initializers_as_inputs=True)
    saved = onnx_library.load(tmp_path / "model.onnx")
    assert {"0.weight", "2.bias"} <= {item.name for item in saved.graph.input}
    large = torch.onnx.export(nn.Linear(3, 400).eval(), (x,), verify=True)
    large.save(tmp_path / "big.onnx", external_data=True)
    assert (tmp_path / "big.onnx.data").exists()
    torch.testing.assert_close(torch.from_numpy(exported.run(saved, [x])[0].copy()), model(x))


def test_torch_errors():
    with pytest.raises(torch.onnx.errors.UnsupportedOperatorError, match="digamma") as caught:
        torch.onnx.export(torch.special.digamma, torch.rand(3))
    assert isinstance(caught.value, torch.onnx.OnnxExporterError) and caught.value.operators == ["digamma"]
    with pytest.raises(NotImplementedError, match="report"):
        torch.onnx.export(make_model(), torch.rand(2, 3), report=True)
    with pytest.raises(ValueError, match="dynamic_axes"):
        torch.onnx.export(make_model(), torch.rand(2, 3), dynamo=False, dynamic_shapes=({0: "n"},))


def test_code_can_ask_whether_it_is_exported():
    seen = []

    def function(x):
        seen.append(torch.onnx.is_in_onnx_export())
        return x + 1

    torch.onnx.export(function, torch.rand(3))
    assert seen == [True] and not torch.onnx.is_in_onnx_export()
    torch.export.export(exported_module(function), (torch.rand(3),))
    assert seen[1:] and not any(seen[1:])


def exported_module(function):
    """Return a function as a module."""
    module = nn.Module()
    module.forward = function
    return module


@pytest.mark.parametrize("dynamo", [True, False])
def test_models_go_into_open_files(dynamo, tmp_path):
    buffer, x = io.BytesIO(), torch.rand(2, 3)
    model = make_model()
    program = torch.onnx.export(model, (x,), buffer, dynamo=dynamo, keep_initializers_as_inputs=True)
    saved = onnx_library.load_from_string(buffer.getvalue())
    assert len(saved.graph.input) == 5
    torch.testing.assert_close(torch.from_numpy(exported.run(saved, [x])[0].copy()), model(x))
    if dynamo:
        with pytest.raises(ValueError, match="external_data=True with an open file"):
            program.save(buffer, external_data=True)


def test_models_go_without_checks_of_numbers():
    def function(x):
        torch._assert_async((x > 0).any(), "none")
        return x + 1

    buffer = io.BytesIO()
    torch.onnx.export(function, torch.rand(3), buffer, dynamo=False)
    assert [node.op_type for node in onnx_library.load_from_string(buffer.getvalue()).graph.node][-1] == "Add"
    with pytest.raises(RuntimeError, match="none"):
        function(torch.zeros(3))


def test_a_loop_of_as_many_rounds_as_a_size_names_its_line():
    def function(x):
        state = x[:, 0] * 0
        for step in range(x.shape[1]):
            state = (state + x[:, step]).tanh()
        return state
    with pytest.raises(onnx.HardCodedError, match=r"takes length for a plain number at .*: for step in range.*"
                                                  "leave length out, and the model is that of 7"):
        onnx.export(function, (torch.ones(2, 7, 3),), dynamic_axes={"x": {0: "batch", 1: "length"}})
    model = onnx.export(function, (torch.ones(2, 7, 3),), dynamic_axes={"x": {0: "batch"}})
    assert sum(node.op_type == "Tanh" for node in model.graph.node) == 7 and not model.metadata_props
