"""The transforms that checkpoints expect of images and videos."""
from dragon.vm import torch
from dragon.vm.torchvision.transforms import functional as F
from dragon.vm.torchvision.transforms.functional import InterpolationMode

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def as_floats(img):
    """Return an image of Pillow, or a tensor, as floats from 0 to 1."""
    return F.convert_image_dtype(img if isinstance(img, torch.Tensor) else F.pil_to_tensor(img), torch.float)


class Preset(torch.nn.Module):
    """The base of what tells its settings, one a line."""

    shown = ()

    def __repr__(self):
        lines = [f"\n    {name}={getattr(self, name)}" for name in self.shown]
        return f"{type(self).__name__}({''.join(lines)}" + "\n)" * bool(lines) + ")" * (not lines)


class ObjectDetection(Preset):
    """Scale to the range from 0 to 1."""

    def forward(self, img):
        return as_floats(img)

    def describe(self):
        """Return what is done, as a sentence."""
        return "Images become floats between 0 and 1."


class ImageClassification(Preset):
    """Resize, cut out the middle, scale to the range from 0 to 1 and normalize.

    Parameters
    ----------
    crop_size : int
        The side of the middle.
    resize_size : int, optional, default=256
        The shorter side before.
    mean, std : Tuple[float, ...], optional
        Of each channel.

    """

    shown = ("crop_size", "resize_size", "mean", "std", "interpolation")

    def __init__(self, *, crop_size, resize_size=256, mean=MEAN, std=STD, interpolation=InterpolationMode.BILINEAR,
                 antialias=True):
        super().__init__()
        self.crop_size, self.resize_size = [crop_size], [resize_size]
        self.mean, self.std, self.interpolation, self.antialias = list(mean), list(std), interpolation, antialias

    def forward(self, img):
        img = F.resize(img, self.resize_size, interpolation=self.interpolation, antialias=self.antialias)
        return F.normalize(as_floats(F.center_crop(img, self.crop_size)), mean=self.mean, std=self.std)

    def describe(self):
        """Return what is done, as a sentence."""
        return (f"Images are resized to {self.resize_size} ({self.interpolation}), cut to their middle "
                f"{self.crop_size}, scaled to [0, 1] and normalized by means {self.mean} and deviations {self.std}.")


class VideoClassification(Preset):
    """Resize frames, cut out the middle, scale to the range from 0 to 1, normalize, and put channels before frames.

    Parameters
    ----------
    crop_size : Tuple[int, int]
        Height and width of the middle.
    resize_size : Union[Tuple[int], Tuple[int, int]]
        The shorter side before, or both.
    mean, std : Tuple[float, ...], optional
        Of each channel.

    """

    shown = ImageClassification.shown

    def __init__(self, *, crop_size, resize_size, mean=(0.43216, 0.394666, 0.37645), std=(0.22803, 0.22145, 0.216989),
                 interpolation=InterpolationMode.BILINEAR):
        super().__init__()
        self.crop_size, self.resize_size = list(crop_size), list(resize_size)
        self.mean, self.std, self.interpolation = list(mean), list(std), interpolation

    def forward(self, vid):
        frames = vid.reshape(-1, *vid.shape[-3:])
        frames = F.resize(frames, self.resize_size, interpolation=self.interpolation, antialias=False)
        frames = F.normalize(as_floats(F.center_crop(frames, self.crop_size)), mean=self.mean, std=self.std)
        return frames.reshape(*vid.shape[:-2], *self.crop_size).transpose(-4, -3)

    def describe(self):
        """Return what is done, as a sentence."""
        return (f"Frames (..., T, C, H, W) are resized to {self.resize_size} ({self.interpolation}), cut to their "
                f"middle {self.crop_size}, scaled to [0, 1], normalized by means {self.mean} and deviations "
                f"{self.std}, and turned into (..., C, T, H, W).")


class SemanticSegmentation(Preset):
    """Resize, scale to the range from 0 to 1 and normalize.

    Parameters
    ----------
    resize_size : Optional[int]
        The shorter side; None keeps the size.
    mean, std : Tuple[float, ...], optional
        Of each channel.

    """

    shown = ("resize_size", "mean", "std", "interpolation")

    def __init__(self, *, resize_size, mean=MEAN, std=STD, interpolation=InterpolationMode.BILINEAR, antialias=True):
        super().__init__()
        self.resize_size = None if resize_size is None else [resize_size]
        self.mean, self.std, self.interpolation, self.antialias = list(mean), list(std), interpolation, antialias

    def forward(self, img):
        if self.resize_size is not None:
            img = F.resize(img, self.resize_size, interpolation=self.interpolation, antialias=self.antialias)
        return F.normalize(as_floats(img), mean=self.mean, std=self.std)

    def describe(self):
        """Return what is done, as a sentence."""
        return (f"Images are resized to {self.resize_size} ({self.interpolation}), scaled to [0, 1] and normalized by "
                f"means {self.mean} and deviations {self.std}.")


class OpticalFlow(Preset):
    """Scale two images to the range from -1 to 1."""

    def forward(self, img1, img2):
        half = [0.5, 0.5, 0.5]
        return tuple(F.normalize(as_floats(img), mean=half, std=half).contiguous() for img in (img1, img2))

    def describe(self):
        """Return what is done, as a sentence."""
        return "Both images become floats between -1 and 1."
