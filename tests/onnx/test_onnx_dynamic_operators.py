"""Operators whose places are worked out when the model runs: exported at one size, held to PyTorch at others."""
import numpy
import pytest

pytest.importorskip("onnxruntime")
genuine = pytest.importorskip("torch")

from harness import exported  # noqa: E402
from harness.subresults import each  # noqa: E402

from dragon import onnx  # noqa: E402
from dragon.vm import torch  # noqa: E402


def write_diagonal(torch, x):
    y = x + 1
    y.diagonal(0, -2, -1).mul_(3)
    return y


def write_every_second(torch, x):
    y = x + 1
    y[:, :, 1::2] = 0
    return y


def read_skewed(torch, x):
    """Rows that are shifted against each other, as relative attention reads them."""
    rows, columns = x.shape[-2:]
    y = torch.nn.functional.pad(x, (0, 1)).contiguous()
    return y.as_strided((x.shape[0], x.shape[1], rows, columns), (*y.stride()[:2], columns, 1))


FUNCTIONS = {
    "nearest": lambda torch, x: torch.nn.functional.interpolate(x, size=(x.shape[2] * 2 // 3, x.shape[3] + 5)),
    "nearest exact": lambda torch, x: torch.nn.functional.interpolate(
        x, size=(x.shape[2] * 2 // 3, x.shape[3] + 5), mode="nearest-exact"),
    "nearest by a factor": lambda torch, x: torch.nn.functional.interpolate(x, scale_factor=(0.7, 3)),
    "bilinear": lambda torch, x: torch.nn.functional.interpolate(x, size=x.shape[2:][::-1], mode="bilinear"),
    "area": lambda torch, x: torch.nn.functional.interpolate(x, size=(x.shape[3], 3), mode="area"),
    "adaptive average": lambda torch, x: torch.nn.functional.adaptive_avg_pool2d(x, (3, None)),
    "adaptive maximum": lambda torch, x: torch.nn.functional.adaptive_max_pool2d(x, (3, x.shape[3] // 2)),
    "one window": lambda torch, x: torch.nn.functional.avg_pool2d(x, x.shape[2:]),
    "one maximum": lambda torch, x: torch.nn.functional.max_pool2d(x, x.shape[2:]),
    "windows": lambda torch, x: x.unfold(3, 3, 2),
    "columns": lambda torch, x: torch.nn.functional.unfold(x, 3, 1, 1, 2),
    "diagonal": lambda torch, x: x.diagonal(1, -2, -1), "other diagonal": lambda torch, x: x.diagonal(-2, -2, -1),
    "write diagonal": write_diagonal, "write every second": write_every_second, "skewed": read_skewed,
    "triangle": lambda torch, x: x.tril(x.shape[3] - 4), "full": lambda torch, x: torch.full(x.shape[2:], x.shape[3]),
    "layer norm": lambda torch, x: torch.nn.functional.layer_norm(x, x.shape[2:]),
    "backwards": lambda torch, x: x[:, :, torch.arange(x.shape[2] - 1, -1, -1)],
    "from the end": lambda torch, x: x[:, :, torch.arange(-x.shape[2] // 2, 0)],
    "roll": lambda torch, x: x.roll((5, -9), (2, 3)), "mean of nothing": lambda torch, x: x[:, :, 4:].mean(2),
    "same padding": lambda torch, x: torch.nn.functional.pad(x, (0, -x.shape[3] % 4)),
    "odd ends": lambda torch, x: torch.nn.functional.avg_pool1d(x.flatten(2), 2, ceil_mode=True),
}


@each("name", FUNCTIONS)
def test_dynamic_operators(name):
    def samples(batch, height, width):
        count = batch * 2 * height * width
        return numpy.sin(numpy.arange(count, dtype="float32") ** 1.5).reshape(batch, 2, height, width)
    function = FUNCTIONS[name]
    model = onnx.export(lambda x: function(torch, x), torch.tensor(samples(2, 6, 8)), input_names=["x"],
                        dynamic_axes={"x": {0: "batch", 2: "height", 3: "width"}})
    assert not model.metadata_props or name in ("windows", "write every second")
    for sizes in ((2, 6, 8), (1, 5, 4), (3, 9, 31), (2, 15, 7), (1, 4, 16), (2, 33, 47), (1, 17, 65)):
        wanted = function(genuine, genuine.from_numpy(samples(*sizes)))
        found, = exported.run(model, [torch.tensor(samples(*sizes))])
        numpy.testing.assert_allclose(found, wanted.numpy(), 1e-4, 1e-4)
