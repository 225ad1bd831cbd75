"""Sizes that programs of libraries compute: as tensors, and of memory seen otherwise; beside PyTorch."""
import numpy
import pytest

pytest.importorskip("onnxruntime")
genuine = pytest.importorskip("torch")

from harness import exported  # noqa: E402

from dragon import onnx  # noqa: E402
from dragon.vm import torch  # noqa: E402


def span(torch, x):
    """A bound that is a tensor made of sizes, as DeBERTa's span is."""
    reach = torch.tensor(x.shape[1])
    table = torch.arange(1024.0)
    return x + table[512 - reach:512 + reach][:x.shape[1]]


def heads(torch, x):
    """Writes through a view that splits and turns all of a tensor's axes."""
    y = x[:, :, None].repeat(1, 1, 12)
    turned = y.view(y.shape[0], y.shape[1], 3, 4).permute(0, 2, 1, 3)
    turned += torch.arange(3.0)[:, None, None]
    turned /= 2
    return y, turned


@pytest.mark.parametrize("function", [span, heads])
def test_sizes_in_programs(function):
    def samples(batch, length):
        return numpy.linspace(-1, 2, batch * length, dtype="float32").reshape(batch, length) ** 2
    model = onnx.export(lambda x: function(torch, x), torch.tensor(samples(2, 31)), input_names=["x"],
                        dynamic_axes={"x": {0: "batch", 1: "length"}})
    for batch, length in ((2, 31), (1, 30), (3, 24), (4, 28), (2, 29), (1, 57), (5, 44)):
        wanted = function(genuine, genuine.from_numpy(samples(batch, length)))
        found = exported.run(model, [torch.tensor(samples(batch, length))])
        for mine, theirs in zip(found, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
            numpy.testing.assert_allclose(mine, theirs.numpy(), 1e-5, 1e-5)
