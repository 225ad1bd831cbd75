"""Models say at which sizes they hold, and fail by name at others, when they run; beside PyTorch."""
import warnings

import numpy
import pytest

onnxruntime = pytest.importorskip("onnxruntime")
genuine = pytest.importorskip("torch")

from harness.exported_programs import holds, numbers  # noqa: E402
from harness.subresults import each  # noqa: E402

from dragon import onnx  # noqa: E402
from dragon.vm import torch  # noqa: E402

SIZES = (2, 3, 4, 5, 6, 7, 8, 9, 13, 18, 19, 20, 27, 77)


def meeting(x, y):
    """Decides by two sizes that meet nowhere near those of the example."""
    return x + 1 if (x.shape[0] + 1) // 2 == y.shape[0] * 2 else x.flatten()


def halves(x, y):
    return x * 2 if x.shape[0] / 2 > y.shape[0] / 3 else -x


def lesser(x, y):
    return x * 2 if min(x.shape[0], 7) < y.shape[0] % 5 else -x


def area(x, y):
    return x * 2 if x.shape[0] * y.shape[0] >= 100 else -x


def hole(x, y):
    return x * 2 if x.shape[0] % 9 == 0 else -x


def computed(x, y):
    doubled = x.repeat_interleave(2, 0)[1:]
    return doubled * 2 if doubled.shape[0] == y.shape[0] else -doubled


@each("first", [(3, 13), (13, 3)])
@each("function", [meeting, halves, lesser, area, hole, computed])
def test_no_size_is_silently_wrong(function, first):
    example = tuple(torch.from_numpy(numbers((size, 2), 0)) for size in first)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = onnx.export(function, example, dynamic_axes={"x": {0: "n"}, "y": {0: "m"}})
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    read, ran = {item.name for item in session.get_inputs()}, 0
    for n in SIZES:
        for m in SIZES:
            arrays = {"x": numbers((n, 2), 0), "y": numbers((m, 2), 1)}
            wanted = function(*map(genuine.from_numpy, arrays.values())).numpy()
            feeds = {name: array for name, array in arrays.items() if name in read}
            if holds(model, {"n": n, "m": m}):
                numpy.testing.assert_allclose(session.run(None, feeds)[0], wanted, 1e-6)
                ran += 1
                continue
            with pytest.raises(Exception, match="the model holds where") as failure:
                session.run(None, feeds)
            assert "Gather" in str(failure.value)
    assert ran > 4


def test_what_holds_anyway_is_not_asked():
    def function(x, y):
        return x * 2 if x.shape[0] * y.shape[0] > 0 and x.shape[0] + y.shape[0] != 1 else -x
    model = onnx.export(function, (torch.ones(3, 2), torch.ones(13, 2)), dynamic_axes={"x": {0: "n"}, "y": {0: "m"}})
    assert not model.metadata_props
    assert [node.op_type for node in model.graph.node] == ["Mul"]


def test_what_is_otherwise_at_one_is_told():
    model = onnx.export(lambda x: x * 2 if x.shape[0] == 1 else x, (torch.ones(3, 2),), dynamic_axes={"x": {0: "n"}})
    assert [item.value for item in model.metadata_props] == ["n: 2 and more"]


def test_the_first_result_may_be_anything():
    def function(x, y):
        if x.shape[0] == 2 * y.shape[0]:
            return y
        return x.sum() > 0, x[:0], x.bfloat16()
    model = onnx.export(function, (torch.ones(3, 2), torch.ones(13, 2)), dynamic_axes={"x": {0: "n"}, "y": {0: "m"}})
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    feeds = {"x": numpy.ones((5, 2), "float32"), "y": numpy.ones((4, 2), "float32")}
    names = [item.name for item in session.get_outputs()]
    found = session.run(names[:2], feeds)
    assert found[0] == numpy.bool_(True) and found[0].shape == () and found[1].shape == (0, 2)
    feeds["x"] = numpy.ones((8, 2), "float32")
    for name in names:  # a runtime computes what it is asked for alone
        with pytest.raises(Exception, match="the model holds where"):
            session.run([name], feeds)


def test_plain_numbers_that_may_decide_together_are_told():
    def function(x, y):
        n, m = int(x.shape[0]), int(y.shape[0])
        return x + 1 if (n + 1) // 2 == m * 2 else x.flatten()
    with pytest.warns(UserWarning, match=r"may not hold.*takes n and m for plain numbers at .*n, m = int"):
        model = onnx.export(function, (torch.ones(3, 2), torch.ones(13, 2)),
                            dynamic_axes={"x": {0: "n"}, "y": {0: "m"}})
    assert [item.value for item in model.metadata_props] == ["perhaps not for all sizes together"]


def test_one_alone_is_told_and_runs():
    def function(x):
        return x * 2 if x.shape[0] * x.shape[1] != 1 else x + x
    model = onnx.export(function, (torch.ones(3, 4),), dynamic_axes={"x": {0: "n", 1: "m"}})
    assert [item.value for item in model.metadata_props] == ["where m * n != 1"]
    assert [node.op_type for node in model.graph.node] == ["Mul"]
