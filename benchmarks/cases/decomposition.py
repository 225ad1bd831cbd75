"""Decompositions and systems: many small matrices, and one of middle size."""
import numpy as np

from harness import Case

NAMES = ("cholesky", "inv", "det", "qr", "eigh", "svd")


def _matrices(shape):
    """Return symmetric positive-definite matrices, which every decomposition takes."""
    x = np.random.default_rng(0).standard_normal(shape)
    return (x @ x.swapaxes(-1, -2) / shape[-1] + np.eye(shape[-1])).astype(np.float32)


def _decompose(name, shape):
    def make(e):
        x, function = e.array(_matrices(shape)), getattr(e, "linalg_" + name)
        return (lambda: function(x, False)) if name == "svd" else (lambda: function(x))
    return Case(f"{name} {shape}", make)


def _solve(shape):
    def make(e):
        x = e.array(_matrices(shape))
        return lambda: e.linalg_solve(x, x)
    return Case(f"solve {shape}", make)


SHAPES = ((3, 3), (1000, 8, 8), (64, 64, 64), (512, 512))
CASES = [_decompose(name, shape) for shape in SHAPES for name in NAMES] + [_solve(shape) for shape in SHAPES]
