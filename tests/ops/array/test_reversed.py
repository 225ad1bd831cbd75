"""Lines turned round, of every length about that of a vector and every size of element."""
import numpy as np

from dragon.vm import torch
from harness.subresults import each


@each("dtype", ["bool", "uint8", "int8", "int16", "float16", "bfloat16", "int32", "float32", "int64",
                "float64", "complex64", "complex128"])
def test_lines_are_turned_round(dtype):
    for length in (0, 1, 2, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 130, 500):
        x = torch.arange(3 * length).reshape(3, length) % 251
        found = x.to(getattr(torch, dtype)).flip(-1)
        assert found.equal(torch.tensor(x.numpy()[:, ::-1].copy()).to(found.dtype))


def test_parts_of_lines_are_turned_round():
    x = torch.arange(4 * 200, dtype=torch.int16).reshape(4, 200)
    for part in (x[:, 3:150], x[1:3, ::2], x[:, 100:], x.t(), x.reshape(2, 2, 200)[:, 1]):
        for axes in ([-1], [0], [0, 1]):
            assert (part.flip(axes).numpy() == np.flip(part.numpy(), axes)).all()
