"""The transforms of the first version: objects that take an image and return one."""
import numbers
import random
import warnings
from collections.abc import Sequence

from dragon.vm import torch
from dragon.vm.torchvision.transforms import _arguments, functional as F
from dragon.vm.torchvision.transforms._arguments import (_check_sequence_input, _setup_angle, _setup_size, below,
                                                         uniform)
from dragon.vm.torchvision.transforms.functional import InterpolationMode, _interpolation_modes_from_int

Module = torch.nn.Module


def lines_of(name, items):
    """Return a name and items, one on each line, as containers print themselves."""
    return f"{name}(" + "".join(f"\n    {item}" for item in items) + "\n)"


class _Said:
    """Print the class and the fields that it names."""

    _fields = ()
    _separator = ", "

    def __repr__(self):
        said = self._separator.join(f"{name}={getattr(self, name)}" for name in self._fields)
        return f"{self.__class__.__name__}({said})"


class _Transform(_Said, Module):
    """A transform that is a module."""


class Compose:
    """Apply one transform after another.

    Parameters
    ----------
    transforms : Sequence[Callable]
        The transforms.

    """

    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, img):
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self):
        return lines_of(self.__class__.__name__, self.transforms)


class ToTensor(_Said):
    """Turn an image into a tensor (C, H, W), bytes into floats from 0 to 1."""

    def __call__(self, pic):
        return F.to_tensor(pic)


class PILToTensor(_Said):
    """Turn an image of Pillow into a tensor (C, H, W), values as they are."""

    def __call__(self, pic):
        return F.pil_to_tensor(pic)


class ConvertImageDtype(Module):
    """Turn a tensor into another dtype, with values scaled to its range.

    Parameters
    ----------
    dtype : dtype
        The dtype.

    """

    def __init__(self, dtype):
        super().__init__()
        self.dtype = dtype

    def forward(self, image):
        return F.convert_image_dtype(image, self.dtype)


class ToPILImage:
    """Turn a tensor (C, H, W), or an array (H, W, C), into an image of Pillow.

    Parameters
    ----------
    mode : str, optional
        Its mode.

    """

    def __init__(self, mode=None):
        self.mode = mode

    def __call__(self, pic):
        return F.to_pil_image(pic, self.mode)

    def __repr__(self):
        return f"{self.__class__.__name__}({'' if self.mode is None else f'mode={self.mode}'})"


class Normalize(_Transform):
    """Take each channel's mean off and divide by its deviation.

    Parameters
    ----------
    mean, std : Sequence[float]
        One for each channel.
    inplace : bool, optional, default=False
        Whether to write into the input.

    """

    _fields = ("mean", "std")

    def __init__(self, mean, std, inplace=False):
        super().__init__()
        self.mean, self.std, self.inplace = mean, std, inplace

    def forward(self, tensor):
        return F.normalize(tensor, self.mean, self.std, self.inplace)


def _mode(interpolation):
    return _interpolation_modes_from_int(interpolation) if isinstance(interpolation, int) else interpolation


class Resize(_Transform):
    """Bring an image to a size.

    Parameters
    ----------
    size, interpolation, max_size, antialias
        As for `functional.resize`.

    """

    def __init__(self, size, interpolation=InterpolationMode.BILINEAR, max_size=None, antialias=True):
        super().__init__()
        if not isinstance(size, (int, Sequence)):
            raise TypeError(f"Size should be int or sequence. Got {type(size)}")
        if isinstance(size, Sequence) and len(size) not in (1, 2):
            raise ValueError("If size is a sequence, it should have 1 or 2 values")
        self.size, self.max_size, self.interpolation, self.antialias = size, max_size, _mode(interpolation), antialias

    def forward(self, img):
        return F.resize(img, self.size, self.interpolation, self.max_size, self.antialias)

    def __repr__(self):
        return (f"{self.__class__.__name__}(size={self.size}, interpolation={self.interpolation.value}, "
                f"max_size={self.max_size}, antialias={self.antialias})")


class CenterCrop(_Transform):
    """Cut out the middle.

    Parameters
    ----------
    size : Union[int, Sequence[int]]
        Height and width.

    """

    _fields = ("size",)

    def __init__(self, size):
        super().__init__()
        self.size = _setup_size(size)

    def forward(self, img):
        return F.center_crop(img, self.size)


class Pad(_Transform):
    """Put a margin around.

    Parameters
    ----------
    padding : Union[int, Sequence[int]]
        All sides; left and right, top and bottom; or left, top, right, bottom.
    fill : Union[float, Sequence[float]], optional, default=0
        The colour.
    padding_mode : str, optional, default="constant"
        "constant", "edge", "reflect" or "symmetric".

    """

    _fields = ("padding", "fill", "padding_mode")

    def __init__(self, padding, fill=0, padding_mode="constant"):
        super().__init__()
        if not isinstance(fill, (numbers.Number, tuple, list)):
            raise TypeError("Got inappropriate fill arg")
        F.F_pil.check_padding(padding, fill, padding_mode)
        self.padding, self.fill, self.padding_mode = padding, fill, padding_mode

    def forward(self, img):
        return F.pad(img, self.padding, self.fill, self.padding_mode)


class Lambda(_Said):
    """Apply a function.

    Parameters
    ----------
    lambd : Callable
        The function.

    """

    def __init__(self, lambd):
        if not callable(lambd):
            raise TypeError(f"Argument lambd should be callable, got {repr(type(lambd).__name__)}")
        self.lambd = lambd

    def __call__(self, img):
        return self.lambd(img)


class RandomTransforms:
    """A list of transforms, of which subclasses choose."""

    def __init__(self, transforms):
        if not isinstance(transforms, Sequence):
            raise TypeError("Argument transforms should be a sequence")
        self.transforms = transforms

    def __call__(self, *args, **kwargs):
        raise NotImplementedError(f"{type(self).__name__}: has no __call__")

    def __repr__(self):
        return lines_of(self.__class__.__name__, self.transforms)


class RandomApply(Module):
    """Apply all of a list of transforms, or none.

    Parameters
    ----------
    transforms : Sequence[Callable]
        The transforms.
    p : float, optional, default=0.5
        The probability of applying them.

    """

    def __init__(self, transforms, p=0.5):
        super().__init__()
        self.transforms, self.p = transforms, p

    def forward(self, img):
        if self.p < torch.rand(1):
            return img
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self):
        return lines_of(self.__class__.__name__, [f"p={self.p}", *self.transforms])


class RandomOrder(RandomTransforms):
    """Apply transforms in random order."""

    def __call__(self, img):
        order = list(range(len(self.transforms)))
        random.shuffle(order)
        for index in order:
            img = self.transforms[index](img)
        return img


class RandomChoice(RandomTransforms):
    """Apply one of several transforms.

    Parameters
    ----------
    transforms : Sequence[Callable]
        The transforms.
    p : Sequence[float], optional
        Their probabilities.

    """

    def __init__(self, transforms, p=None):
        super().__init__(transforms)
        if p is not None and not isinstance(p, Sequence):
            raise TypeError("Argument p should be a sequence")
        self.p = p

    def __call__(self, *args):
        return random.choices(self.transforms, weights=self.p)[0](*args)

    def __repr__(self):
        return f"{super().__repr__()}(p={self.p})"


class RandomCrop(_Transform):
    """Cut out a random part.

    Parameters
    ----------
    size : Union[int, Sequence[int]]
        Height and width.
    padding, fill, padding_mode : optional
        The margin that is put around before, as for `Pad`.
    pad_if_needed : bool, optional, default=False
        Whether an image that is too small gets a margin.

    """

    _fields = ("size", "padding")

    def __init__(self, size, padding=None, pad_if_needed=False, fill=0, padding_mode="constant"):
        super().__init__()
        self.size = tuple(_setup_size(size))
        self.padding, self.pad_if_needed, self.fill, self.padding_mode = padding, pad_if_needed, fill, padding_mode

    @staticmethod
    def get_params(img, output_size):
        """Return a random (top, left, height, width)."""
        (_, h, w), (th, tw) = F.get_dimensions(img), output_size
        if h < th or w < tw:
            raise ValueError(f"Required crop size {(th, tw)} is larger than input image size {(h, w)}")
        if (w, h) == (tw, th):
            return 0, 0, h, w
        return below(h - th + 1), below(w - tw + 1), th, tw

    def forward(self, img):
        def padded(img, padding):
            return F.pad(img, padding, self.fill, self.padding_mode)
        if self.padding is not None:
            img = padded(img, self.padding)
        _, height, width = F.get_dimensions(img)
        if self.pad_if_needed and width < self.size[1]:
            img = padded(img, [self.size[1] - width, 0])
        if self.pad_if_needed and height < self.size[0]:
            img = padded(img, [0, self.size[0] - height])
        return F.crop(img, *self.get_params(img, self.size))


class _Sometimes(_Transform):
    """Apply a function with a probability."""

    _fields = ("p",)

    def __init__(self, p=0.5):
        super().__init__()
        self.p = p

    def forward(self, img):
        return self._apply_to(img) if torch.rand(1) < self.p else img


class RandomHorizontalFlip(_Sometimes):
    """Exchange left and right with a probability `p`."""

    def _apply_to(self, img):
        return F.hflip(img)


class RandomVerticalFlip(_Sometimes):
    """Exchange top and bottom with a probability `p`."""

    def _apply_to(self, img):
        return F.vflip(img)


class RandomInvert(_Sometimes):
    """Make the negative with a probability `p`."""

    def _apply_to(self, img):
        return F.invert(img)


class RandomAutocontrast(_Sometimes):
    """Stretch from black to white with a probability `p`."""

    def _apply_to(self, img):
        return F.autocontrast(img)


class RandomEqualize(_Sometimes):
    """Flatten the histogram with a probability `p`."""

    def _apply_to(self, img):
        return F.equalize(img)


class RandomPosterize(_Sometimes):
    """Keep fewer bits per channel with a probability `p`."""

    _fields, _separator = ("bits", "p"), ","

    def __init__(self, bits, p=0.5):
        super().__init__(p)
        self.bits = bits

    def _apply_to(self, img):
        return F.posterize(img, self.bits)


class RandomSolarize(_Sometimes):
    """Invert values from a threshold on with a probability `p`."""

    _fields, _separator = ("threshold", "p"), ","

    def __init__(self, threshold, p=0.5):
        super().__init__(p)
        self.threshold = threshold

    def _apply_to(self, img):
        return F.solarize(img, self.threshold)


class RandomAdjustSharpness(_Sometimes):
    """Sharpen or blur with a probability `p`."""

    _fields, _separator = ("sharpness_factor", "p"), ","

    def __init__(self, sharpness_factor, p=0.5):
        super().__init__(p)
        self.sharpness_factor = sharpness_factor

    def _apply_to(self, img):
        return F.adjust_sharpness(img, self.sharpness_factor)


class RandomGrayscale(_Sometimes):
    """Make grey, in as many channels, with a probability `p`."""

    def __init__(self, p=0.1):
        super().__init__(p)

    def _apply_to(self, img):
        return F.rgb_to_grayscale(img, num_output_channels=F.get_dimensions(img)[0])


class _Filled(_Transform):
    """Hold a fill, and give tensors one number for each channel."""

    def _set_fill(self, fill):
        if fill is not None and not isinstance(fill, (Sequence, numbers.Number)):
            raise TypeError("Fill should be either a sequence or a number.")
        self.fill = 0 if fill is None else fill

    def _fill_for(self, img):
        if not isinstance(img, torch.Tensor):
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
    p : float, optional, default=0.5
        The probability.
    interpolation : InterpolationMode, optional, default=InterpolationMode.BILINEAR
        How pixels are made.
    fill : Union[float, Sequence[float]], optional, default=0
        The colour of what lies outside.

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
    size : Union[int, Sequence[int]]
        Height and width.
    scale : Tuple[float, float], optional, default=(0.08, 1.0)
        The part's share of the area.
    ratio : Tuple[float, float], optional, default=(3 / 4, 4 / 3)
        The part's width over its height.
    interpolation, antialias : optional
        As for `Resize`.

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
    size : Union[int, Sequence[int]]
        Height and width.
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
    interpolation : InterpolationMode, optional, default=InterpolationMode.NEAREST
        How pixels are made.
    expand : bool, optional, default=False
        Whether the image grows to hold all.
    center : Sequence[float], optional
        What it turns about; the middle by default.
    fill : Union[float, Sequence[float]], optional, default=0
        The colour of what lies outside.

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


class Grayscale(_Transform):
    """Make grey.

    Parameters
    ----------
    num_output_channels : int, optional, default=1
        1 or 3.

    """

    _fields = ("num_output_channels",)

    def __init__(self, num_output_channels=1):
        super().__init__()
        self.num_output_channels = num_output_channels

    def forward(self, img):
        return F.rgb_to_grayscale(img, num_output_channels=self.num_output_channels)


class RandomErasing(_Transform):
    """Overwrite a random rectangle, with a probability.

    Parameters
    ----------
    p : float, optional, default=0.5
        The probability.
    scale : Tuple[float, float], optional, default=(0.02, 0.33)
        The rectangle's share of the area.
    ratio : Tuple[float, float], optional, default=(0.3, 3.3)
        Its height over its width.
    value : Union[float, Sequence[float], str], optional, default=0
        What is written; "random" for noise.
    inplace : bool, optional, default=False
        Whether to write into the input.

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
    interpolation : InterpolationMode, optional, default=InterpolationMode.BILINEAR
        How pixels are made.
    fill : Union[float, Sequence[float]], optional, default=0
        The colour of what lies outside.

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
