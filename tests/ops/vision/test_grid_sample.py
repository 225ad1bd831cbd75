"""Images read at points that are far away, or no numbers: what PyTorch 2.13 was seen to give."""
import numpy as np

from dragon.vm import torch
from harness.subresults import each

NAN = float("nan")
POINTS = [NAN, float("inf"), float("-inf"), 1e30, -1e30, 5.0, -5.0]
SEEN = {
    ("bilinear", "zeros"): [[NAN, NAN, NAN, 0, 0, 0, 0]] * 2,
    ("bilinear", "border"): [[5.6, 8.6, 5.6, 8.6, 5.6, 8.6, 5.6], [5.4, 8.4, 5.4, 8.4, 5.4, 8.4, 5.4]],
    ("bilinear", "reflection"): [[5.6, 5.6, 5.6, 5.6, 5.6, 8.6, 5.6], [5.4, 5.4, 5.4, 5.4, 5.4, 8.4, 5.4]],
    ("nearest", "zeros"): [[0] * 7] * 2,
    ("nearest", "border"): [[5, 8, 5, 8, 5, 8, 5]] * 2,
    ("nearest", "reflection"): [[5, 5, 5, 5, 5, 8, 5]] * 2,
    ("bicubic", "zeros"): [[NAN, NAN, NAN, 0, 0, 0, 0]] * 2,
    ("bicubic", "border"): [[NAN, NAN, NAN, 8.8359, 5.8359, 8.8359, 5.8359],
                            [NAN, NAN, NAN, 8.571, 5.571, 8.571, 5.571]],
    ("bicubic", "reflection"): [[NAN, NAN, NAN, 5.8359, 5.8359, 9.0234, 5.6484],
                                [NAN, NAN, NAN, 5.598, 5.598, 8.598, 5.598]]}


@each("mode, padding", SEEN)
@each("copies", [1, 40])
def test_points_far_away(mode, padding, copies):
    x = torch.arange(1.0, 13.0).reshape(1, 1, 3, 4)
    grid = torch.tensor([[point, 0.1] for point in POINTS]).repeat(copies, 1).reshape(1, copies, -1, 2)
    for corners, seen in zip((False, True), SEEN[mode, padding]):
        made = torch.nn.functional.grid_sample(x, grid, mode, padding, align_corners=corners)
        assert np.allclose(made.numpy()[0, 0], [seen] * copies, atol=1e-4, equal_nan=True)
