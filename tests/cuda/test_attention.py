"""Attention on the device: tiles and their edges, masks, shared heads, and 16-bit floats on tensor cores."""
import os
import subprocess
import sys

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


def rounded(arrays, dtype):
    """Return arrays as a dtype has them."""
    return [engine.array(dragon.ops.cast(tensor(x, dtype, "cpu"), dragon.float32)) for x in arrays]


def laid(array, dtype, device, spread, odd):
    """Return a (B, H, L, E) tensor that lies as (B, L, H, E), or with rows that begin anywhere, or in order."""
    if odd:
        wide = tensor(numpy.concatenate([array, array[..., :1]], -1), dtype, device)
        return dragon.ops.narrow(wide, -1, 0, array.shape[-1])
    if spread:
        return dragon.ops.transpose(tensor(numpy.ascontiguousarray(array.swapaxes(1, 2)), dtype, device), 1, 2)
    return tensor(array, dtype, device)


def run(device, dtype, arrays, mask=None, causal=False, nan_if_unseen=False, spread=False, odd=False):
    """Return attention's results and gradients as arrays."""
    q, k, v, dy = [laid(x, dtype, device, spread, odd) for x in arrays]
    mask = None if mask is None else tensor(mask, dtype, device)
    scale = 0.3
    outs = dragon.ops.attention(q, k, v, mask, scale, causal, nan_if_unseen)
    grads = dragon.ops.attention_backward(dy, *outs, q, k, v, mask, scale, causal, nan_if_unseen)
    return [engine.array(dragon.ops.to_device(x, "cpu")).astype("float64") for x in (*outs, *grads)]


def same(got, wanted, dtype):
    """Assert that results agree; 16-bit weights are rounded before they are summed.

    How a query's sum of exponentials is parted between its two numbers is up to who computes it.
    """
    got, wanted = [(x[0], x[1] + x[2], *x[3:]) for x in (got, wanted)]
    for name, mine, theirs in zip(("y", "sums", "dq", "dk", "dv"), got, wanted, strict=True):
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
    spread = [laid(x, dtype, device, True, False) for x in arrays[:3]]
    y = dragon.ops.to_device(dragon.ops.attention(*spread, None, 0.3, False)[0], "cpu")
    wanted = run("cpu", dtype, arrays)[0]
    numpy.testing.assert_allclose(engine.array(y).astype("float64"), wanted, rtol=0, atol=3 * TOLERANCE[dtype])


@pytest.mark.parametrize("queries, keys", [(0, 4), (4, 0), (0, 0)])
def test_nothing(device, queries, keys):
    """No queries and no keys are no mistake."""
    arrays = operands((1, 2, queries, 8), keys, 2, 8)
    same(run(device, "float16", arrays), run("cpu", "float16", arrays), "float16")


@pytest.fixture
def vendor(simt, monkeypatch):
    """Have calls counted that a library of the vendor's computes; a GPU must have one."""
    if simt:
        monkeypatch.setenv("DRAGON_SIMT_DNN", "1")
    elif os.environ.get("DRAGON_CUDNN") == "0":
        pytest.skip("DRAGON_CUDNN=0 leaves attention to our own kernels")
    return dragon._C.vendor_attention_calls


# Shapes (B, H, L, E), keys, key heads and Ev: large enough for a GPU's library, and small enough for its stand-in.
LARGE = [
    pytest.param((2, 12, 1024, 64), 1024, 12, 64, id="GPT-2"),
    pytest.param((2, 5, 777, 72), 1001, 5, 72, id="ragged, fewer queries"),
    pytest.param((3, 5, 1001, 64), 777, 5, 40, id="ragged, fewer keys"),
    pytest.param((2, 8, 520, 128), 520, 2, 128, id="shared heads"),
    pytest.param((1, 4, 640, 256), 640, 4, 256, id="wide heads"),
    pytest.param((1, 2, 11650, 16), 11650, 2, 16, id="a head at a time"),
]
SMALL = [
    pytest.param((2, 3, 37, 16), 37, 3, 16, id="small"),
    pytest.param((2, 2, 20, 24), 70, 2, 8, id="small, fewer queries"),
    pytest.param((3, 2, 70, 8), 20, 2, 24, id="small, fewer keys"),
    pytest.param((2, 4, 33, 16), 45, 2, 16, id="small, shared heads"),
    pytest.param((3, 4, 65, 8), 130, 2, 8, id="small, some heads at a time"),
]


def at_home(device, shape):
    """Whether a shape is one for this device."""
    return (shape[2] > 100) != bool(os.environ.get("DRAGON_SIMT"))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("shape, keys, key_heads, value_width", LARGE + SMALL)
@pytest.mark.parametrize("causal", [False, True])
def test_vendor(device, simt, vendor, dtype, shape, keys, key_heads, value_width, causal):
    """The vendor's library computes both passes, from operands that lie as (B, L, H, E), to what the CPU gives."""
    if not at_home(device, shape):
        pytest.skip("of another size on this device")
    arrays = [x.astype("float32") for x in operands(shape, keys, key_heads, value_width)]
    before = vendor()
    got = run(device, dtype, arrays, causal=causal, spread=True)
    assert vendor() == before + 2
    same(got, run("cpu", "float32", rounded(arrays, dtype), causal=causal), dtype)


@pytest.mark.parametrize("causal", [False, True])
def test_vendor_beside_ours(device, simt, vendor, causal):
    """Either pass goes with the other one of our own; what the library does not take is ours."""
    shape = (2, 3, 37, 16) if simt else (2, 12, 512, 64)
    arrays = [x.astype("float32") for x in operands(shape, shape[2], shape[1], shape[3])]
    q, k, v, dy = [tensor(x, "bfloat16", device) for x in arrays]
    passes = []
    for forward in (True, False):
        dragon._C.set_allows_vendor_attention(forward)
        try:
            before = vendor()
            outs = dragon.ops.attention(q, k, v, None, 0.1, causal)
            dragon._C.set_allows_vendor_attention(not forward)
            grads = dragon.ops.attention_backward(dy, *outs, q, k, v, None, 0.1, causal)
            assert vendor() == before + 1
        finally:
            dragon._C.set_allows_vendor_attention(True)
        passes.append([engine.array(dragon.ops.to_device(x, "cpu")).astype("float64") for x in (*outs, *grads)])
    same(*passes, "bfloat16")


def test_vendor_repeats(device, simt, vendor):
    """Gradients are the same in every run, also of a gradient that is one number for all."""
    shape = (2, 3, 37, 16) if simt else (2, 12, 1024, 64)
    q, k, v, _ = [tensor(x, "float16", device) for x in operands(shape, shape[2], shape[1], shape[3])]
    dy = dragon.ops.expand(tensor(numpy.ones((1, 1, 1, 1)), "float16", device), shape)
    runs = []
    for _ in range(3):
        before = vendor()
        outs = dragon.ops.attention(q, k, v, None, 0.1, True)
        grads = dragon.ops.attention_backward(dy, *outs, q, k, v, None, 0.1, True)
        assert vendor() == before + 2
        runs.append([engine.array(dragon.ops.to_device(x, "cpu")) for x in (*outs, *grads)])
    for other in runs[1:]:
        for first, again in zip(runs[0], other, strict=True):
            assert (first == again).all()


@pytest.mark.parametrize("what", ["mask", "width", "stride", "dtype"])
def test_vendor_refuses(device, simt, vendor, what):
    """Our own kernels take what the vendor's library does not."""
    shape = (1, 2, 37, 20 if what == "width" else 16)
    arrays = operands(shape, 37, 2, shape[3])
    dtype = "float32" if what == "dtype" else "float16"
    mask = numpy.ones((1, 2, 37, 37), bool) if what == "mask" else None
    before = vendor()
    got = run(device, dtype, arrays, mask, odd=what == "stride")
    assert vendor() == before
    same(got, run("cpu", dtype, arrays, mask), dtype)


def test_vendor_of_torch(device, simt, vendor):
    """PyTorch's switches forbid the vendor's library, and its gradients come the same way as its values."""
    import dragon.vm.torch as torch
    from dragon.vm.torch.nn.attention import SDPBackend, sdpa_kernel
    shape = (2, 3, 37, 16) if simt else (2, 12, 512, 64)
    x = torch.randn(*shape, device=device).half().requires_grad_()

    def attend():
        before = vendor()
        y = torch.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True)
        y.sum().backward()
        return vendor() - before

    assert attend() == 2
    with sdpa_kernel(SDPBackend.MATH):
        assert attend() == 0
    assert attend() == 2
    try:
        torch.backends.cuda.enable_cudnn_sdp(False)
        assert attend() == 0
    finally:
        torch.backends.cuda.enable_cudnn_sdp(True)
    assert attend() == 2


def test_a_card_without_matrix_instructions(simt, tmp_path):
    """The kernels of all dtypes take the calls where tensor cores do not know bfloat16; their sums differ."""
    if not simt:
        pytest.skip("needs the machine that stands for a card, which can be an older one")
    program = """
import os
import numpy
import dragon
dragon.load_library(os.environ["DRAGON_SIMT"])
q = dragon.ops.cast(dragon.from_numpy(numpy.random.default_rng(0).standard_normal((1, 2, 70, 64))), dragon.bfloat16)
q = dragon.ops.to_device(q, "cuda")
y = dragon.ops.attention(q, q, q, None, 0.125, False)[0]
y = dragon.ops.to_device(dragon.ops.cast(y, dragon.float32), "cpu")
numpy.save("y.npy", numpy.asarray(y))
"""
    found = []
    for capability in ("75", "90"):
        environment = dict(os.environ, DRAGON_SIMT_CAPABILITY=capability)
        done = subprocess.run([sys.executable, "-c", program], env=environment, cwd=tmp_path, capture_output=True,
                              text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        found.append(numpy.load(tmp_path / "y.npy"))
    assert (found[0] != found[1]).any()  # or one kernel took both
    numpy.testing.assert_allclose(*found, rtol=0, atol=TOLERANCE["bfloat16"])
