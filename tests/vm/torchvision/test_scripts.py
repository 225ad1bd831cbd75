"""Transforms as scripts: the same draws and results, saved and loaded; what a program derives is its own."""
import io
import json

import pytest

from dragon.vm import torch as dt
from dragon.vm.torchvision import transforms as T
from dragon.vm.torchvision.transforms import v2
from dragon.vm.torchvision.transforms._scripts import made, options_of
from harness.subresults import each

BYTES = (dt.arange(3 * 16 * 20) * 7 % 256).to(dt.uint8).reshape(3, 16, 20)
FLOATS = BYTES.to(dt.float32) / 255
MADE = {
    "RandomHorizontalFlip": {}, "RandomVerticalFlip": {"p": 1.0}, "RandomInvert": {}, "RandomPosterize": {"bits": 4},
    "RandomSolarize": {"threshold": 100.0}, "RandomAdjustSharpness": {"sharpness_factor": 2.0}, "RandomEqualize": {},
    "RandomAutocontrast": {}, "RandomGrayscale": {"p": 0.7}, "Grayscale": {"num_output_channels": 3},
    "Pad": {"padding": [1, 2]}, "ColorJitter": {"brightness": 0.5, "hue": 0.2},
    "RandomCrop": {"size": 6, "padding": (1, 2, 3, 4), "padding_mode": "reflect"}, "CenterCrop": {"size": (7, 5)},
    "FiveCrop": {"size": 5}, "TenCrop": {"size": (5, 4), "vertical_flip": True}, "Resize": {"size": 9, "max_size": 30},
    "RandomResizedCrop": {"size": 8, "interpolation": T.InterpolationMode.NEAREST},
    "RandomRotation": {"degrees": 30, "expand": True, "center": (3, 4), "fill": 7},
    "RandomAffine": {"degrees": 20, "translate": (0.1, 0.2), "scale": (0.8, 1.2), "shear": (1, 2, 3, 4)},
    "RandomPerspective": {"p": 1.0, "distortion_scale": 0.3},
    "GaussianBlur": {"kernel_size": (3, 5), "sigma": (0.2, 1.0)}, "RandomErasing": {"p": 1.0, "value": "random"},
    "ElasticTransform": {"alpha": 30.0, "sigma": 1.0}, "RandAugment": {}, "TrivialAugmentWide": {"fill": 3},
    "AutoAugment": {"policy": T.AutoAugmentPolicy.SVHN, "fill": [1.0, 2.0, 3.0]},
    "AugMix": {"severity": 2}, "Normalize": {"mean": (0.5, 0.4, 0.3), "std": [0.1, 0.2, 0.3]},
    "ConvertImageDtype": {"dtype": dt.float64},
}


def results(transform, image):
    """Return what a transform makes of an image from one seed, as lists."""
    dt.manual_seed(5)
    found = transform(image)
    return [item.tolist() for item in (found if isinstance(found, (list, tuple)) else [found])]


@each("name", MADE)
def test_scripts_draw_and_give_the_same(name):
    transform = getattr(T, name)(**MADE[name])
    image = FLOATS if name in ("Normalize", "RandomErasing", "ElasticTransform") else BYTES
    script = dt.jit.script(transform)
    saved = io.BytesIO()
    dt.jit.save(script, saved)
    saved.seek(0)
    wanted = results(transform, image)
    assert results(script, image) == wanted and results(dt.jit.load(saved), image) == wanted


def test_matrices_are_options_too():
    matrix = dt.eye(12) * 2
    transform = T.LinearTransformation(matrix, dt.arange(12.0))
    assert results(dt.jit.script(transform), dt.ones(3, 2, 2)) == results(transform, dt.ones(3, 2, 2))


def test_parts_of_modules_and_the_second_version():
    chain = dt.nn.Sequential(T.Resize(9), T.RandomCrop(7), v2.RandomHorizontalFlip(0.5), T.RandomInvert())
    assert results(dt.jit.script(chain), BYTES) == results(chain, BYTES)


def test_a_class_that_a_program_derives_is_not_ours():
    class CenterCrop(T.CenterCrop):
        def forward(self, img: dt.Tensor) -> dt.Tensor:
            return img[..., 1:3, 1:3]
    assert dt.jit.script(CenterCrop(9))(BYTES).shape == (3, 2, 2)


def test_options_of_other_kinds_are_refused_by_name():
    transform = T.Pad(1)
    transform.fill = object()
    with pytest.raises(TypeError, match="option of type object"):
        dt.jit.script(transform)


def test_what_changes_nothing_is_no_option():
    assert options_of(T.ColorJitter(0.5)) == {"brightness": (0.5, 1.5), "contrast": 0, "saturation": 0, "hue": 0}
    assert made("Resize", json.dumps({"size": 4})).size == 4
