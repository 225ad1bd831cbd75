"""Resampling in each order of axes, and TensorFlow's ways beside matrices of their weights."""
import functools

import numpy as np
import pytest

from dragon.vm import torch
from dragon.vm.torch.core.tensor import ops
from harness.subresults import each

PLACES = 1024  # between two pixels, that the cubic kernel knows
KERNELS = {
    "triangle": lambda x: np.maximum(0.0, 1.0 - x),
    "keys": lambda x: np.where(x < 1, (1.5 * x - 2.5) * x * x + 1,
                               np.where(x < 2, ((-0.5 * x + 2.5) * x - 4) * x + 2, 0.0)),
    "mitchell": lambda x: np.where(x < 1, (7 * x - 12) * x * x / 6 + 16 / 18,
                                   np.where(x < 2, (((-7 / 18) * x + 2) * x - 10 / 3) * x + 16 / 9, 0.0)),
    "gaussian": lambda x: np.where(x < 1.5, np.exp(-2.0 * x * x), 0.0),
    "lanczos3": lambda x: np.where(x < 3, np.sinc(x) * np.sinc(x / 3), 0.0),
    "lanczos5": lambda x: np.where(x < 5, np.sinc(x) * np.sinc(x / 5), 0.0)}
SIZES = [(9, 4), (4, 9), (7, 7), (1, 5), (5, 1), (40, 3), (33, 64)]
PYTORCH = [("nearest", False), ("nearest-exact", False), ("bilinear", False), ("bicubic", False), ("area", False),
           ("bilinear", True), ("bicubic", True), ("lanczos", True)]
CENTERED = [(mode, smooth) for mode in ("nearest-center", "coverage", *KERNELS) for smooth in (False, True)]


def weigh(size, wanted, mode, smooth):
    """Return the matrix of an axis."""
    scale, pixels, rows = size / wanted, np.arange(size), np.arange(wanted)[:, None]
    if mode == "nearest-center":
        return (np.minimum(np.floor((rows + 0.5) * scale), size - 1) == pixels).astype(float)
    if mode == "coverage":
        covered = np.minimum((rows + 1) * scale, pixels + 1) - np.maximum(rows * scale, pixels)
        return np.maximum(covered, 0) / scale
    wide = max(scale, 1) if smooth else 1
    distance = np.abs(pixels + 0.5 - (rows + 0.5) * scale) / wide
    if mode == "keys" and not smooth:
        distance = np.abs(pixels - np.floor((rows + 0.5) * scale - 0.5)
                          - np.rint(np.mod((rows + 0.5) * scale - 0.5, 1) * PLACES) / PLACES)
    made = KERNELS[mode](distance)
    return made / made.sum(1, keepdims=True)


def resample(x, size, mode, smooth):
    """Return images of another size, of whatever mode."""
    return ops.resample(x, list(size), [0.0, 0.0], mode, False, smooth)


@each("mode, smooth", CENTERED)
@each("size, wanted", SIZES)
def test_centered_modes_are_products_with_their_weights(mode, smooth, size, wanted):
    x = torch.randn(2, 3, size, 6, dtype=torch.float64)
    made = resample(x, (wanted, 5), mode, smooth).numpy()
    down, across = weigh(size, wanted, mode, smooth), weigh(6, 5, mode, smooth)
    assert np.allclose(made, np.einsum("ij,ncjk,lk->ncil", down, x.numpy(), across), atol=2e-5)


@each("mode, smooth", PYTORCH + CENTERED)
@each("dtype", ["uint8", "float16", "float32", "float64"])
@each("channels", [1, 2, 3, 4, 7, 20])
def test_the_order_of_axes_changes_no_number(mode, smooth, dtype, channels):
    x = (torch.rand(2, channels, 21, 18) * 255).to(getattr(torch, dtype))
    last = x.to(memory_format=torch.channels_last)
    for size in ((8, 30), (35, 7), (21, 9), (40, 18), (1, 1)):
        made, expected = resample(last, size, mode, smooth), resample(x, size, mode, smooth)
        halves = dtype == "uint8" and mode in ("area", "coverage")  # averages are rounded, some of them just so
        spread, share = 1 if halves else 1e-3, 2e-3 if dtype == "float16" else 1e-5
        assert torch.allclose(made.double(), expected.double(), rtol=share, atol=spread)


def weigh_bytes(x, matrix):
    """Return the first axis of bytes weighed by whole numbers, of as many bits as the largest has room for."""
    bits = 0
    while bits < 22 and np.floor(0.5 + matrix.max() * 2 ** (bits + 1)) < 2 ** 15:
        bits += 1
    whole = np.trunc(matrix * 2 ** bits + np.copysign(0.5, matrix)).astype(np.int64)
    sums = np.tensordot(whole, x.astype(np.int64), 1) + (1 << bits >> 1)
    return np.clip(sums >> bits, 0, 255).astype(np.uint8)


@each("mode", ["triangle", "lanczos3", "lanczos5"])
@each("channels", [1, 3, 5, 70])
@each("last", [False, True])
@pytest.mark.long("every filter at many sizes is compared with a slow product of matrices")
def test_bytes_are_weighed_by_whole_numbers(mode, channels, last):
    for size, wanted in SIZES + [(130, 70), (70, 130), (300, 2)]:
        x = (torch.rand(2, channels, size, 37) * 300 - 20).clamp(0, 255).to(torch.uint8)
        given = x.to(memory_format=torch.channels_last) if last else x
        made = resample(given, (wanted, 66), mode, True).numpy()
        across = np.moveaxis(weigh_bytes(np.moveaxis(x.numpy(), 3, 0), weigh(37, 66, mode, True)), 0, 3)
        rows = weigh(size, wanted, mode, True) if size != wanted else np.eye(size)
        expected = np.moveaxis(weigh_bytes(np.moveaxis(across, 2, 0), rows), 0, 2)
        assert (made == expected).mean() > 0.99 and abs(made.astype(int) - expected).max() <= 2


@each("mode, smooth", PYTORCH + CENTERED, size=16)
@each("last", [False, True])
@pytest.mark.long("every filter at many sizes is compared with a slow product of matrices")
def test_gradients_are_the_transposed_product(mode, smooth, last):
    form = torch.channels_last if last else torch.contiguous_format
    x = torch.randn(1, 3, 7, 5, dtype=torch.float64).to(memory_format=form).requires_grad_()
    call = functools.partial(resample, size=(4, 9), mode=mode, smooth=smooth)
    assert torch.autograd.gradcheck(call, [x])
    assert torch.autograd.gradgradcheck(call, [x])


@pytest.mark.parametrize("last", [False, True])
def test_numbers_that_are_none_stay_where_they_are(last):
    x = torch.zeros(1, 3, 8, 8)
    x[0, :, 0, 0], x[0, :, 7, 7] = float("nan"), float("inf")
    x = x.to(memory_format=torch.channels_last) if last else x
    for mode, smooth in PYTORCH:
        made = resample(x, (4, 4), mode, smooth)
        assert made[0, :, 0, 0].isnan().all() or mode == "nearest-exact"
        apart = made[0, :, :2, 2:].isfinite().all() and made[0, :, 2:, :2].isfinite().all()
        assert apart or mode in ("bicubic", "lanczos")  # which reach further


def test_an_unknown_way_is_refused_by_name():
    with pytest.raises(ValueError, match="expected nearest"):
        resample(torch.zeros(1, 1, 4, 4), (2, 2), "lanczos7", False)
    with pytest.raises(NotImplementedError, match="lanczos3"):
        torch.nn.functional.interpolate(torch.zeros(1, 1, 4, 4), (2, 2), mode="lanczos3")
