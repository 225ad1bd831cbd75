"""Rows of attention."""
from harness import FLOATING, Given, Row, Sample, Wrong

LOOSE = {"float16": (1e-2, 1e-2, "sums of products of rounded numbers"),
         "bfloat16": (5e-2, 5e-2, "sums of products of rounded numbers"),
         "float32": (2e-5, 2e-5, "a sum of products after a softmax")}


def seen(np, rng, shape):
    """Return a mask in which every query sees something."""
    mask = rng.random(shape) < 0.6
    mask[..., 0] = True
    return mask.astype(np.float64)


ROWS = [
    Row("scaled_dot_product_attention", [
        Sample((2, 3, 5, 8), (2, 3, 7, 8), (2, 3, 7, 8)),
        Sample((1, 2, 20, 16), (1, 2, 20, 16), (1, 2, 20, 4), is_causal=True),
        Sample((2, 3, 5, 8), (2, 3, 7, 8), (2, 3, 7, 8), Given((5, 7), dtype="bool", make=seen)),
        Sample((2, 3, 5, 8), (2, 3, 7, 8), (2, 3, 7, 8), (2, 1, 5, 7)), Sample((5, 8), (7, 8), (7, 8), scale=0.3),
        Sample((2, 5, 8), (2, 7, 8), (2, 7, 8)), Sample((1, 4, 5, 8), (1, 2, 7, 8), (1, 2, 7, 8), enable_gqa=True),
        Sample((1, 2, 130, 8), (1, 2, 300, 8), (1, 2, 300, 8)), Sample((0, 2, 5, 8), (0, 2, 7, 8), (0, 2, 7, 8))],
        torch=lambda torch, *args, **kwargs: torch.nn.functional.scaled_dot_product_attention(*args, **kwargs),
        dtypes=FLOATING, tolerance=LOOSE,
        errors=[Wrong((2, 3, 5, 8), (2, 3, 7, 9), (2, 3, 7, 8), says="keys"),
                Wrong((2, 4, 5, 8), (2, 2, 7, 8), (2, 2, 7, 8), says="enable_gqa")]),
]
