"""The transforms of the first version: objects that take an image and return one."""
import numbers
from collections.abc import Sequence

from dragon.core import warnings
from dragon.vm import torch
from dragon.vm.torchvision.transforms import _arguments, functional as F
from dragon.vm.torchvision.transforms._arguments import _check_sequence_input, _setup_angle, _setup_size, uniform
from dragon.vm.torchvision.transforms._chance import (  # noqa: F401
    RandomAdjustSharpness, RandomApply, RandomAutocontrast, RandomChoice, RandomCrop, RandomEqualize,
    RandomGrayscale, RandomHorizontalFlip, RandomInvert, RandomOrder, RandomPosterize, RandomSolarize,
    RandomTransforms, RandomVerticalFlip)
from dragon.vm.torchvision.transforms._plain import (  # noqa: F401
    CenterCrop, Compose, ConvertImageDtype, Lambda, Module, Normalize, PILToTensor, Pad, Resize, ToPILImage,
    ToTensor, _Transform, _mode)
from dragon.vm.torchvision.transforms.functional import InterpolationMode


class _Filled(_Transform):
    """Hold a fill, and give tensors one number for each channel."""

    def _set_fill(self, fill):
        if fill is not None and not isinstance(fill, (Sequence, numbers.Number)):
            raise TypeError("Fill should be either a sequence or a number.")
        self.fill = 0 if fill is None else fill

    def _fill_for(self, img):
        if not isinstance(img, torch.Tensor) or self.fill is None:
            return self.fill
        if isinstance(self.fill, (int, float)):
            return [float(self.fill)] * F.get_dimensions(img)[0]
        return [float(value) for value in self.fill]


class RandomPerspective(_Filled):
    """Move the corners at random, with a probability.

    Parameters
    ----------
    distortion_scale : float, optional, default=0.5
        How far, as a share of half the sides.

    """

    _fields = ("p",)

    def __init__(self, distortion_scale=0.5, p=0.5, interpolation=InterpolationMode.BILINEAR, fill=0):
        super().__init__()
        self.p, self.interpolation, self.distortion_scale = p, _mode(interpolation), distortion_scale
        self._set_fill(fill)

    def forward(self, img):
        fill = self._fill_for(img)
        if torch.rand(1) >= self.p:
            return img
        _, height, width = F.get_dimensions(img)
        return F.perspective(img, *self.get_params(width, height, self.distortion_scale), self.interpolation, fill)

    @staticmethod
    def get_params(width, height, distortion_scale):
        """Return the corners, and where random draws move them."""
        return _arguments.perspective_points(width, height, distortion_scale)


class RandomResizedCrop(Module):
    """Cut out a random part and bring it to a size.

    Parameters
    ----------
    scale : Tuple[float, float], optional, default=(0.08, 1.0)
        The part's share of the area.
    ratio : Tuple[float, float], optional, default=(3 / 4, 4 / 3)
        The part's width over its height.

    """

    def __init__(self, size, scale=(0.08, 1.0), ratio=(3.0 / 4.0, 4.0 / 3.0),
                 interpolation=InterpolationMode.BILINEAR, antialias=True):
        super().__init__()
        self.size = _setup_size(size)
        for name, value in (("Scale", scale), ("Ratio", ratio)):
            if not isinstance(value, Sequence):
                raise TypeError(f"{name} should be a sequence")
        if scale[0] > scale[1] or ratio[0] > ratio[1]:
            warnings.warn("Scale and ratio should be of kind (min, max)")
        self.interpolation, self.antialias, self.scale, self.ratio = _mode(interpolation), antialias, scale, ratio

    @staticmethod
    def get_params(img, scale, ratio):
        """Return a random (top, left, height, width)."""
        return _arguments.resized_crop_parameters(*F.get_dimensions(img)[1:], scale, ratio)

    def forward(self, img):
        i, j, h, w = self.get_params(img, self.scale, self.ratio)
        return F.resized_crop(img, i, j, h, w, self.size, self.interpolation, antialias=self.antialias)

    def __repr__(self):
        scale, ratio = (tuple(round(value, 4) for value in pair) for pair in (self.scale, self.ratio))
        return (f"{self.__class__.__name__}(size={self.size}, scale={scale}, ratio={ratio}, "
                f"interpolation={self.interpolation.value}, antialias={self.antialias})")


class FiveCrop(CenterCrop):
    """Cut out the four corners and the middle."""

    def forward(self, img):
        return F.five_crop(img, self.size)


class TenCrop(CenterCrop):
    """Cut out the four corners and the middle, of the image and of its mirror image.

    Parameters
    ----------
    vertical_flip : bool, optional, default=False
        Whether the mirror exchanges top and bottom.

    """

    _fields = ("size", "vertical_flip")

    def __init__(self, size, vertical_flip=False):
        super().__init__(size)
        self.vertical_flip = vertical_flip

    def forward(self, img):
        return F.ten_crop(img, self.size, self.vertical_flip)


class LinearTransformation(Module):
    """Take a mean off an image as one row, and multiply by a matrix.

    Parameters
    ----------
    transformation_matrix : Tensor
        The matrix.
    mean_vector : Tensor
        The mean.

    """

    def __init__(self, transformation_matrix, mean_vector):
        super().__init__()
        _arguments.check_linear(transformation_matrix, mean_vector)
        self.transformation_matrix, self.mean_vector = transformation_matrix, mean_vector

    def forward(self, tensor):
        return _arguments.whitened(tensor, self.transformation_matrix, self.mean_vector)

    def __repr__(self):
        return (f"{self.__class__.__name__}(transformation_matrix={self.transformation_matrix.tolist()}, "
                f"mean_vector={self.mean_vector.tolist()})")


class ColorJitter(_Transform):
    """Change brightness, contrast, saturation and hue at random, in random order.

    Parameters
    ----------
    brightness, contrast, saturation : Union[float, Tuple[float, float]], optional, default=0
        How far from 1, or between what.
    hue : Union[float, Tuple[float, float]], optional, default=0
        How far from 0, or between what.

    """

    _fields = ("brightness", "contrast", "saturation", "hue")

    def __init__(self, brightness=0, contrast=0, saturation=0, hue=0):
        super().__init__()
        self.brightness = self._check_input(brightness, "brightness")
        self.contrast = self._check_input(contrast, "contrast")
        self.saturation = self._check_input(saturation, "saturation")
        self.hue = self._check_input(hue, "hue", center=0, bound=(-0.5, 0.5), clip_first_on_zero=False)

    def _check_input(self, value, name, center=1, bound=(0, float("inf")), clip_first_on_zero=True):
        if isinstance(value, numbers.Number):
            if value < 0:
                raise ValueError(f"If {name} is a single number, it must be non negative.")
            value = [center - float(value), center + float(value)]
            if clip_first_on_zero:
                value[0] = max(value[0], 0.0)
        elif isinstance(value, (tuple, list)) and len(value) == 2:
            value = [float(value[0]), float(value[1])]
        else:
            raise TypeError(f"{name} should be a single number or a list/tuple with length 2.")
        if not bound[0] <= value[0] <= value[1] <= bound[1]:
            raise ValueError(f"{name} values should be between {bound}, but got {value}.")
        return None if value[0] == value[1] == center else tuple(value)

    @staticmethod
    def get_params(brightness, contrast, saturation, hue):
        """Return a random order and a draw for each of the four that has a range."""
        order = torch.randperm(4)
        return (order, *(None if span is None else uniform(*span) for span in (brightness, contrast, saturation, hue)))

    def forward(self, img):
        order, *factors = self.get_params(self.brightness, self.contrast, self.saturation, self.hue)
        adjust = (F.adjust_brightness, F.adjust_contrast, F.adjust_saturation, F.adjust_hue)
        for index in order.tolist():
            if factors[index] is not None:
                img = adjust[index](img, factors[index])
        return img


class RandomRotation(_Filled):
    """Turn by a random angle.

    Parameters
    ----------
    degrees : Union[float, Sequence[float]]
        How far to either side, or between what.
    expand : bool, optional, default=False
        Whether the image grows to hold all.
    center : Sequence[float], optional
        What it turns about; the middle by default.

    """

    def __init__(self, degrees, interpolation=InterpolationMode.NEAREST, expand=False, center=None, fill=0):
        super().__init__()
        self.degrees = _setup_angle(degrees, name="degrees", req_sizes=(2,))
        if center is not None:
            _check_sequence_input(center, "center", req_sizes=(2,))
        self.center, self.interpolation, self.expand = center, _mode(interpolation), expand
        self._set_fill(fill)

    @staticmethod
    def get_params(degrees):
        """Return a random angle."""
        return uniform(*degrees)

    def forward(self, img):
        fill, angle = self._fill_for(img), self.get_params(self.degrees)
        return F.rotate(img, angle, self.interpolation, self.expand, self.center, fill)

    def __repr__(self):
        center = "" if self.center is None else f", center={self.center}"
        return (f"{self.__class__.__name__}(degrees={self.degrees}, interpolation={self.interpolation.value}, "
                f"expand={self.expand}{center}, fill={self.fill})")


class RandomAffine(_Filled):
    """Turn, shift, scale and shear at random.

    Parameters
    ----------
    degrees : Union[float, Sequence[float]]
        How far to turn to either side, or between what.
    translate : Sequence[float], optional
        How far to shift, as shares of the sides.
    scale : Sequence[float], optional
        Between what to scale.
    shear : Union[float, Sequence[float]], optional
        How far to shear in degrees, or between what, across, and down.
    interpolation, fill, center : optional
        As for `RandomRotation`.

    """

    def __init__(self, degrees, translate=None, scale=None, shear=None, interpolation=InterpolationMode.NEAREST,
                 fill=0, center=None):
        super().__init__()
        self.degrees = _setup_angle(degrees, name="degrees", req_sizes=(2,))
        _arguments.check_affine(translate, scale)
        self.translate, self.scale, self.interpolation = translate, scale, _mode(interpolation)
        self.shear = None if shear is None else _setup_angle(shear, name="shear", req_sizes=(2, 4))
        self._set_fill(fill)
        if center is not None:
            _check_sequence_input(center, "center", req_sizes=(2,))
        self.center = center

    @staticmethod
    def get_params(degrees, translate, scale_ranges, shears, img_size):
        """Return a random (angle, shifts, scale, shears); `img_size` is (width, height)."""
        return _arguments.affine_parameters(degrees, translate, scale_ranges, shears, img_size)

    def forward(self, img):
        fill, (_, height, width) = self._fill_for(img), F.get_dimensions(img)
        drawn = self.get_params(self.degrees, self.translate, self.scale, self.shear, [width, height])
        return F.affine(img, *drawn, interpolation=self.interpolation, fill=fill, center=self.center)

    def __repr__(self):
        said = f"degrees={self.degrees}"
        for name, default in (("translate", None), ("scale", None), ("shear", None)):
            said += "" if getattr(self, name) is default else f", {name}={getattr(self, name)}"
        if self.interpolation != InterpolationMode.NEAREST:
            said += f", interpolation={self.interpolation.value}"
        said += f", fill={self.fill}" if self.fill != 0 else ""
        said += f", center={self.center}" if self.center is not None else ""
        return f"{self.__class__.__name__}({said})"


class Grayscale(_Transform, takes="num_output_channels=1"):
    """Make grey.

    Parameters
    ----------
    num_output_channels : int, optional, default=1
        1 or 3.

    """

    _fields = ("num_output_channels",)

    def forward(self, img):
        return F.rgb_to_grayscale(img, num_output_channels=self.num_output_channels)


class RandomErasing(_Transform):
    """Overwrite a random rectangle, with a probability.

    Parameters
    ----------
    scale : Tuple[float, float], optional, default=(0.02, 0.33)
        The rectangle's share of the area.
    ratio : Tuple[float, float], optional, default=(0.3, 3.3)
        Its height over its width.
    value : Union[float, Sequence[float], str], optional, default=0
        What is written; "random" for noise.

    """

    _fields = ("p", "scale", "ratio", "value", "inplace")

    def __init__(self, p=0.5, scale=(0.02, 0.33), ratio=(0.3, 3.3), value=0, inplace=False):
        super().__init__()
        _arguments.check_erasing(scale, ratio, value)
        if scale[0] > scale[1] or ratio[0] > ratio[1]:
            warnings.warn("Scale and ratio should be of kind (min, max)")
        if p < 0 or p > 1:
            raise ValueError("Random erasing probability should be between 0 and 1")
        self.p, self.scale, self.ratio, self.value, self.inplace = p, scale, ratio, value, inplace

    @staticmethod
    def get_params(img, scale, ratio, value=None):
        """Return a random (top, left, height, width) and what is written there."""
        drawn = _arguments.erasing_parameters(*img.shape[-3:], scale, ratio, value)
        return (0, 0, *img.shape[-2:], img) if drawn is None else drawn

    def forward(self, img):
        if torch.rand(1) >= self.p:
            return img
        value = self.value
        if isinstance(value, (int, float)):
            value = [float(value)]
        elif isinstance(value, str):
            value = None
        elif isinstance(value, (list, tuple)):
            value = [float(item) for item in value]
        if value is not None and len(value) not in (1, img.shape[-3]):
            raise ValueError("If value is a sequence, it should have either a single value or "
                             f"{img.shape[-3]} (number of input channels)")
        return F.erase(img, *self.get_params(img, scale=self.scale, ratio=self.ratio, value=value), self.inplace)


class GaussianBlur(_Transform):
    """Blur by a bell of random width.

    Parameters
    ----------
    kernel_size : Union[int, Sequence[int]]
        The kernel's width and height.
    sigma : Union[float, Tuple[float, float]], optional, default=(0.1, 2.0)
        The bell's width, or between what.

    """

    _fields = ("kernel_size", "sigma")

    def __init__(self, kernel_size, sigma=(0.1, 2.0)):
        super().__init__()
        self.kernel_size = _setup_size(kernel_size, "Kernel size should be a tuple/list of two integers")
        if any(size <= 0 or size % 2 == 0 for size in self.kernel_size):
            raise ValueError("Kernel size value should be an odd and positive number.")
        if isinstance(sigma, numbers.Number):
            if sigma <= 0:
                raise ValueError("If sigma is a single number, it must be positive.")
            sigma = (sigma, sigma)
        elif not (isinstance(sigma, Sequence) and len(sigma) == 2):
            raise ValueError("sigma should be a single number or a list/tuple with length 2.")
        elif not 0.0 < sigma[0] <= sigma[1]:
            raise ValueError("sigma values should be positive and of the form (min, max).")
        self.sigma = sigma

    @staticmethod
    def get_params(sigma_min, sigma_max):
        """Return a random width of the bell."""
        return uniform(sigma_min, sigma_max)

    def forward(self, img):
        sigma = self.get_params(*self.sigma)
        return F.gaussian_blur(img, self.kernel_size, [sigma, sigma])


def _two_floats(value, name):
    if not isinstance(value, (float, Sequence)):
        raise TypeError(f"{name} should be float or a sequence of floats. Got {type(value)}")
    if isinstance(value, float):
        return [value, value]
    if len(value) != 2:
        raise ValueError(f"If {name} is a sequence its length should be 2. Got {len(value)}")
    for element in value:
        if not isinstance(element, float):
            raise TypeError(f"{name} should be a sequence of floats. Got {type(element)}")
    return value


class ElasticTransform(_Transform):
    """Read each pixel at a smoothly shifted place.

    Parameters
    ----------
    alpha : Union[float, Sequence[float]], optional, default=50.0
        How far, across and down.
    sigma : Union[float, Sequence[float]], optional, default=5.0
        How smoothly.

    """

    _fields = ("alpha", "sigma", "interpolation", "fill")

    def __init__(self, alpha=50.0, sigma=5.0, interpolation=InterpolationMode.BILINEAR, fill=0):
        super().__init__()
        self.alpha, self.sigma, self.interpolation = _two_floats(alpha, "alpha"), _two_floats(sigma, "sigma"), _mode(
            interpolation)
        if not isinstance(fill, (int, float, list, tuple)):
            raise TypeError(f"fill should be int or float or a list or tuple of them. Got {type(fill)}")
        self.fill = [float(value) for value in (fill if isinstance(fill, (list, tuple)) else [fill])]

    @staticmethod
    def get_params(alpha, sigma, size):
        """Return random shifts (1, H, W, 2)."""
        return _arguments.displacement(alpha, sigma, size, F.gaussian_blur)

    def forward(self, tensor):
        shifts = self.get_params(self.alpha, self.sigma, F.get_dimensions(tensor)[1:])
        return F.elastic_transform(tensor, shifts, self.interpolation, self.fill)
