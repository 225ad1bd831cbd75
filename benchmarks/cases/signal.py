"""Fourier transforms, resizing, and windows as columns."""
import numpy as np

from harness import Case

IMAGES = (8, 32, 56, 56)


def _fourier(shape):
    def make(e):
        rng = np.random.default_rng(0)
        z = e.array((rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(np.complex64))
        return lambda: e.fft_fft(z)
    return Case(f"fft {shape}", make)


def _real_fourier(shape):
    def make(e):
        x = e.array(np.random.default_rng(0).standard_normal(shape, dtype=np.float32))
        return lambda: e.fft_rfft(x)
    return Case(f"rfft {shape}", make)


def _on_images(name, call):
    def make(e):
        rng = np.random.default_rng(0)
        x = e.array(rng.standard_normal(IMAGES, dtype=np.float32))
        grid = e.array(rng.uniform(-1, 1, (8, 56, 56, 2)).astype(np.float32))
        return lambda: call(e, x, grid)
    return Case(name, make)


SHAPES = ((16,), (256, 256), (64, 1000), (64, 1009), (1 << 20,))
CASES = [kind(shape) for shape in SHAPES for kind in (_fourier, _real_fourier)] + [
    _on_images(f"interpolate {mode}", lambda e, x, grid, mode=mode: e.interpolate(x, (112, 112), None, mode))
    for mode in ("nearest", "bilinear", "bicubic")] + [
    _on_images("grid_sample", lambda e, x, grid: e.grid_sample(x, grid, "bilinear", "zeros", False)),
    _on_images("unfold 3 x 3", lambda e, x, grid: e.im2col(x, 3, 1, 1, 1))]
