"""Blurring beside a sum over shifted pictures."""
import numpy as np
import pytest

from dragon.vm import torch, torchvision
from dragon.vm.torch.core.tensor import ops
from harness.subresults import each

GENTLE, SKEW = [0.25, 0.5, 0.25], [0.5, 0.25, 0.0, -0.25, 0.125, 0.25, 0.125]


def blur(x, across, down):
    """Return images (N, C, H, W) whose edges are mirrored, weighed."""
    reach = len(down) // 2, len(across) // 2
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), *((size, size) for size in reach)), mode="reflect")
    height, width = x.shape[2:]
    return sum(one * other * padded[:, :, i:i + height, j:j + width]
               for i, one in enumerate(down) for j, other in enumerate(across))


@each("dtype", ["uint8", "float16", "float32", "float64"])
@each("shape", [(1, 1, 1, 1), (2, 3, 4, 4), (1, 3, 375, 500), (2, 4, 5, 70), (3, 1, 70, 5),
                (1, 5, 300, 64), (2, 0, 4, 4), (0, 3, 4, 4)])
@each("form", ["rows", "last", "turned", "parts"])
def test_blurs_are_sums_of_shifted_pictures(dtype, shape, form):
    x = torch.rand(*shape) * 300 - 20
    x = (x.clamp(0, 255) if dtype == "uint8" else x).to(getattr(torch, dtype))
    if form == "last":
        x = x.to(memory_format=torch.channels_last)
    elif form == "turned":
        x = x.transpose(2, 3)
    elif form == "parts":
        x = torch.cat([x, x], 3)[..., ::2]
    for across, down in ((GENTLE, SKEW), (SKEW, [1.0]), ([2.0], GENTLE)):
        across, down = across[:2 * min(x.shape[3], 4) - 1], down[:2 * min(x.shape[2], 4) - 1]
        made, expected = ops.blur(x, across, down).numpy(), blur(x.numpy(), across, down)
        if dtype == "uint8":
            assert (made == np.clip(np.rint(expected), 0, 255)).all()  # quarters and eighths are exact
        else:
            assert np.allclose(made, expected, rtol=2e-3 if dtype == "float16" else 1e-5, atol=1e-3)


def test_numbers_that_are_none_stay_where_they_are():
    x = torch.zeros(1, 1, 9, 9)
    x[0, 0, 4, 4], x[0, 0, 0, 8] = float("nan"), float("inf")
    made = ops.blur(x, GENTLE, GENTLE)
    assert made[0, 0, 3:6, 3:6].isnan().all() and made[0, 0, :2, 7:].isinf().all() and made.isfinite().sum() == 81 - 13


def test_weights_that_reach_too_far_are_refused_by_name():
    for across in ([], [0.5, 0.5], [0.1] * 9):
        with pytest.raises(ValueError, match="weights in across for 4 pixels"):
            ops.blur(torch.zeros(1, 1, 4, 4), across, [1.0])
    with pytest.raises(TypeError, match="float dtype or uint8"):
        ops.blur(torch.zeros(1, 1, 4, 4, dtype=torch.int32), [1.0], [1.0])


def test_blurred_pictures_keep_their_gradients():
    x = torch.rand(3, 6, 7, dtype=torch.float64, requires_grad=True)
    call = torchvision.transforms.functional.gaussian_blur
    assert torch.autograd.gradcheck(lambda image: call(image, [3, 5], [0.7, 1.1]), [x])
    assert torch.allclose(call(x, [3, 5], [0.7, 1.1]), call(x.detach(), [3, 5], [0.7, 1.1]))
