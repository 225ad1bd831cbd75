"""Attention on the device: tiles and their edges, masks, shared heads, and 16-bit floats on tensor cores."""
import numpy
import pytest

import dragon
from harness import engine

TOLERANCE = {"float32": 2e-5, "float64": 1e-12, "float16": 4e-3, "bfloat16": 3e-2}


def tensor(array, dtype, device):
    """Return a tensor of that dtype; masks of bool stay what they are."""
    made = dragon.from_numpy(array)
    if array.dtype != numpy.bool_:
        made = dragon.ops.cast(made, getattr(dragon, dtype))
    return dragon.ops.to_device(made, device)


def operands(shape, keys, key_heads, value_width):
    """Return q, k, v and dy as arrays."""
    rng = numpy.random.default_rng(0)
    batch, heads, queries, width = shape
    sizes = [(batch, heads, queries, width), (batch, key_heads, keys, width), (batch, key_heads, keys, value_width),
             (batch, heads, queries, value_width)]
    return [rng.standard_normal(size) for size in sizes]


def run(device, dtype, arrays, mask=None, causal=False, nan_if_unseen=False):
    """Return attention's results and gradients as arrays."""
    q, k, v, dy = [tensor(x, dtype, device) for x in arrays]
    mask = None if mask is None else tensor(mask, dtype, device)
    scale = 0.3
    outs = dragon.ops.attention(q, k, v, mask, scale, causal, nan_if_unseen)
    grads = dragon.ops.attention_backward(dy, *outs, q, k, v, mask, scale, causal, nan_if_unseen)
    return [engine.array(dragon.ops.to_device(x, "cpu")).astype("float64") for x in (*outs, *grads)]


def same(got, wanted, dtype):
    """Assert that results agree; 16-bit weights are rounded before they are summed."""
    for name, mine, theirs in zip(("y", "most", "log_sum", "dq", "dk", "dv"), got, wanted, strict=True):
        room = TOLERANCE[dtype] * max(1.0, float(numpy.abs(theirs[numpy.isfinite(theirs)]).max(initial=0)))
        numpy.testing.assert_allclose(mine, theirs, rtol=0, atol=room, err_msg=name)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("shape, keys, key_heads, value_width", [
    pytest.param((1, 2, 66, 16), 70, 1, 24, id="shared heads, ragged tiles"),
    pytest.param((1, 1, 5, 72), 66, 1, 128, id="wide values"),
    pytest.param((2, 1, 3, 5), 7, 1, 3, id="tiny"),
    pytest.param((1, 1, 2, 40), 65, 1, 136, id="wider than a tile"),
])
@pytest.mark.parametrize("causal", [False, True])
def test_attention(device, dtype, shape, keys, key_heads, value_width, causal):
    """Values and gradients are those of the CPU."""
    arrays = operands(shape, keys, key_heads, value_width)
    same(run(device, dtype, arrays, causal=causal), run("cpu", dtype, arrays, causal=causal), dtype)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("kind", ["bool", "bias", "unseen", "unseen is NaN"])
def test_masks(device, dtype, kind):
    """Masks hide keys or add to scores; a query that sees nothing gives zeros, or NaN where that is asked for."""
    arrays = operands((1, 2, 20, 16), 70, 2, 16)
    rng = numpy.random.default_rng(1)
    mask = rng.random((1, 2, 20, 70)) < 0.5
    if kind == "bias":
        mask = rng.standard_normal(mask.shape)
        mask[0, 0, 3] = -numpy.inf
        mask[0, 1, 5, 60:] = -3e4
    if kind.startswith("unseen"):
        mask[0, 0, 7] = False
        mask[0, 1, :, :64] = False
    nan = kind == "unseen is NaN"
    same(run(device, dtype, arrays, mask, nan_if_unseen=nan), run("cpu", dtype, arrays, mask, nan_if_unseen=nan), dtype)


def test_nan_stays(device):
    """A query that is NaN spoils its own row and no other."""
    arrays = operands((1, 1, 10, 16), 20, 1, 16)
    arrays[0][0, 0, 4, 2] = numpy.nan
    y = run(device, "float16", arrays)[0]
    assert numpy.isnan(y[0, 0, 4]).all() and numpy.isfinite(numpy.delete(y, 4, axis=2)).all()


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_strides(device, dtype):
    """Operands that lie as (B, L, H, E), as projections leave them, give the same."""
    arrays = operands((2, 2, 9, 16), 9, 2, 16)
    spread = [dragon.ops.transpose(tensor(numpy.ascontiguousarray(x.swapaxes(1, 2)), dtype, device), 1, 2)
              for x in arrays[:3]]
    y = dragon.ops.to_device(dragon.ops.attention(*spread, None, 0.3, False)[0], "cpu")
    wanted = run("cpu", dtype, arrays)[0]
    numpy.testing.assert_allclose(engine.array(y).astype("float64"), wanted, rtol=0, atol=3 * TOLERANCE[dtype])


@pytest.mark.parametrize("queries, keys", [(0, 4), (4, 0), (0, 0)])
def test_nothing(device, queries, keys):
    """No queries and no keys are no mistake."""
    arrays = operands((1, 2, queries, 8), keys, 2, 8)
    same(run(device, "float16", arrays), run("cpu", "float16", arrays), "float16")
