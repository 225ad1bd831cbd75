"""Factors of small matrices, which no LAPACK makes, beside genuine PyTorch's."""
import numpy as np
import torch

from dragon.vm import torch as dt
from harness.subresults import each


def test_nearly_singular_matrices_have_tiny_pivots():
    rows = np.random.default_rng(0).standard_normal((400, 8, 9)).astype("float32")
    normal = np.matmul(rows.transpose(0, 2, 1), rows)  # of rank 8, but for rounding
    zeros = [int((side.linalg.lu_factor_ex(side.tensor(normal))[2] != 0).sum()) for side in (dt, torch)]
    assert zeros[1] < 5 and zeros[0] < 5


@each("kind", ["float32", "float64", "complex64", "complex128"])
@each("shape", [(1, 1), (4, 4), (3, 7), (7, 3), (32, 32), (33, 32), (0, 3)])
def test_factors_of_small_matrices_give_them_back(shape, kind):
    draw = np.random.default_rng(1).standard_normal
    given = draw((5, *shape)) + (1j * draw((5, *shape)) if kind.startswith("complex") else 0)
    given = given.astype(kind)
    given[-1] = 0
    p, low, high = dt.linalg.lu(dt.tensor(given))
    assert np.allclose((p.to(low.dtype) @ low @ high).numpy(), given, atol=1e-4)
    packed, pivots, info = (part.numpy() for part in dt.linalg.lu_factor_ex(dt.tensor(given)))
    genuine = [part.numpy() for part in torch.linalg.lu_factor_ex(torch.tensor(given))]
    assert np.allclose(packed, genuine[0], atol=1e-3) and np.array_equal(pivots, genuine[1])
    assert np.array_equal(info, genuine[2])
