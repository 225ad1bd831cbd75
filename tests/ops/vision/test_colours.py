"""Colours of bytes and of pictures in odd places: rows of operators hold floats to formulas."""
import colorsys
import itertools

import numpy as np
import pytest

from dragon.vm import torch
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torchvision.transforms.v2 import functional as F
from harness.subresults import each

SHARES = np.array([0.2989, 0.587, 0.114])[:, None, None]


def draw(*shape):
    return torch.randint(0, 256, shape, dtype=torch.uint8, generator=torch.Generator().manual_seed(len(shape)))


COLOURED = [(3, 1, 1), (3, 64, 65), (2, 3, 9, 480), (2, 2, 3, 5, 7)]
MIXED = [*itertools.product(COLOURED, ["black", "grey", "mean"]), ((1, 8, 9), "black"), ((1, 8, 9), "mean")]


@each("shape, other", MIXED)
@each("ratio", [0.0, 0.3, 1.0, 1.9])
def test_bytes_are_mixed_within_a_step(shape, other, ratio):
    x = draw(*shape)
    values = x.numpy().astype(np.float64)
    grey = values if shape[-3] == 1 else np.floor((values * SHARES).sum(-3, keepdims=True) + 1e-9)
    rest = {"black": 0, "grey": grey, "mean": grey.mean((-3, -2, -1), keepdims=True)}[other]
    expected = np.clip(values * ratio + rest * (1 - ratio), 0, 255)
    made = ops.blend_colours(x, ratio, other).numpy()
    assert made.dtype == np.uint8 and (abs(made + 0.5 - expected) <= 0.5 + 1e-3).mean() > 0.995
    assert (abs(made - expected) < 2).all()


def test_hues_of_bytes_turn_as_those_of_single_colours():
    x = draw(3, 12, 13)
    made = ops.turn_hue(x, 0.3).numpy()
    for place in itertools.product(range(12), range(13)):
        hue, saturation, value = colorsys.rgb_to_hsv(*(x.numpy()[(slice(None), *place)] / 255))
        expected = np.array(colorsys.hsv_to_rgb((hue + 0.3) % 1.0, saturation, value)) * 255.999
        assert (abs(made[(slice(None), *place)] + 0.5 - expected) <= 0.5 + 1e-3).all()


def test_a_colour_without_a_number_is_none_and_leaves_others_alone():
    x = torch.rand(3, 5, 6)
    x[1, 2, 3] = float("nan")
    turned = ops.turn_hue(x, 0.2)
    assert turned[:, 2, 3].isnan().all() and turned.isfinite().sum() == 3 * 29
    assert ops.blend_colours(x, 0.5, "grey").isnan().sum() == 3
    assert ops.blend_colours(x, 0.5, "black").isnan().sum() == 1
    assert ops.blend_colours(x, 0.5, "mean").isnan().all()


@pytest.mark.parametrize("call", [
    lambda x: F.adjust_brightness(x, 1.3), lambda x: F.adjust_contrast(x, 0.4), lambda x: F.adjust_saturation(x, 1.6),
    lambda x: F.adjust_hue(x, 0.2), lambda x: F.normalize(x, [0.4, 0.5, 0.6], [0.2, 0.3, 0.4])])
def test_what_is_recorded_is_what_is_not(call):
    x = torch.rand(2, 3, 6, 7)
    recorded = x.clone().requires_grad_()
    found, expected = call(recorded), call(x)
    assert torch.allclose(found, expected, atol=1e-6) and not expected.requires_grad
    found.sum().backward()
    assert recorded.grad.isfinite().all() and recorded.grad.abs().sum() > 0
    last = x.to(memory_format=torch.channels_last)
    assert torch.equal(call(last), expected) and torch.equal(call(x[..., ::2]), call(x[..., ::2].clone()))
    assert torch.equal(call(x.transpose(-1, -2)), call(x.transpose(-1, -2).contiguous()))


def test_numbers_for_channels_are_told_apart_from_tensors():
    x = torch.rand(3, 4, 5)
    lists = F.normalize(x, [0.4], [0.2, 0.3, 0.4])
    assert torch.equal(lists, F.normalize(x, torch.tensor([0.4]), torch.tensor([0.2, 0.3, 0.4])))
    given = x.clone()
    assert F.normalize(given, [0.4], [0.2], inplace=True) is given and not torch.equal(given, x)
    with pytest.raises(RuntimeError):
        F.normalize(x, [0.4, 0.5], [0.2, 0.3])
