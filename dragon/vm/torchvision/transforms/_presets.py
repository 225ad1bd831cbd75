"""The transforms that checkpoints expect of an image."""
from dragon.vm import torch
from dragon.vm.torchvision.transforms import functional as F
from dragon.vm.torchvision.transforms.functional import InterpolationMode


class ImageClassification(torch.nn.Module):
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

    def __init__(self, *, crop_size, resize_size=256, mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225),
                 interpolation=InterpolationMode.BILINEAR, antialias=True):
        super().__init__()
        self.crop_size, self.resize_size = [crop_size], [resize_size]
        self.mean, self.std, self.interpolation, self.antialias = list(mean), list(std), interpolation, antialias

    def forward(self, img):
        img = F.resize(img, self.resize_size, interpolation=self.interpolation, antialias=self.antialias)
        img = F.center_crop(img, self.crop_size)
        img = img if isinstance(img, torch.Tensor) else F.pil_to_tensor(img)
        return F.normalize(F.convert_image_dtype(img, torch.float), mean=self.mean, std=self.std)

    def __repr__(self):
        names = ("crop_size", "resize_size", "mean", "std", "interpolation")
        return self.__class__.__name__ + "(" + "".join(f"\n    {name}={getattr(self, name)}" for name in names) + "\n)"
