"""What is done to images and targets before a detector, and to its answers after."""
import math

from dragon.vm import torch
from dragon.vm.torchvision.models.detection._masks import paste_masks_in_image
from dragon.vm.torchvision.models.detection.image_list import ImageList

interpolate = torch.nn.functional.interpolate


def _resize_image_and_masks(image, self_min_size, self_max_size, target=None, fixed_size=None):
    how = {"size": [fixed_size[1], fixed_size[0]]} if fixed_size is not None else {
        "scale_factor": min(self_min_size / min(image.shape[-2:]), self_max_size / max(image.shape[-2:])),
        "recompute_scale_factor": True}
    image = interpolate(image[None], mode="bilinear", align_corners=False, **how)[0]
    if target is not None and "masks" in target:
        target["masks"] = interpolate(target["masks"][:, None].float(), **how)[:, 0].byte()
    return image, target


def _ratios(like, before, after):
    """Return how much longer images became, down and across."""
    made = [torch.tensor(size, dtype=torch.float32, device=like.device) for size in (*after, *before)]
    return made[0] / made[2], made[1] / made[3]


def resize_keypoints(keypoints, original_size, new_size):
    """Return points (x, y, ...) of images of a size as those of images of another."""
    down, across = _ratios(keypoints, original_size, new_size)
    return torch.cat((keypoints[..., :1] * across, keypoints[..., 1:2] * down, keypoints[..., 2:]), dim=-1)


def resize_boxes(boxes, original_size, new_size):
    """Return boxes of images of a size as those of images of another."""
    down, across = _ratios(boxes, original_size, new_size)
    left, top, right, bottom = boxes.unbind(1)
    return torch.stack((left * across, top * down, right * across, bottom * down), dim=1)


class GeneralizedRCNNTransform(torch.nn.Module):
    """Normalize and resize images, with their targets, and lay them into a batch.

    Parameters
    ----------
    min_size : Union[int, Sequence[int]]
        The shorter side; one of them is drawn in training, the last is used otherwise.
    max_size : int
        The greatest longer side.
    image_mean, image_std : List[float]
        Of each channel.
    size_divisible : int, optional, default=32
        The sides of the batch are multiples of it.
    fixed_size : Tuple[int, int], optional
        Width and height, in place of the two sizes.
    _skip_resize : bool, optional
        Whether images keep their size in training.

    """

    def __init__(self, min_size, max_size, image_mean, image_std, size_divisible=32, fixed_size=None, **kwargs):
        super().__init__()
        self.min_size = min_size if isinstance(min_size, (list, tuple)) else (min_size,)
        self.max_size, self.image_mean, self.image_std = max_size, image_mean, image_std
        self.size_divisible, self.fixed_size = size_divisible, fixed_size
        self._skip_resize = kwargs.pop("_skip_resize", False)
        if kwargs:
            raise TypeError(f"GeneralizedRCNNTransform: got an unexpected argument {next(iter(kwargs))!r}")

    def forward(self, images, targets=None):
        # The targets are changed in copies: the caller's dictionaries stay as they are.
        targets = None if targets is None else [dict(target) for target in targets]
        made = []
        for index, image in enumerate(images):
            if image.dim() != 3:
                raise ValueError(f"images is expected to be a list of 3d tensors of shape [C, H, W], got {image.shape}")
            image, target = self.resize(self.normalize(image), None if targets is None else targets[index])
            made.append(image)
            if target is not None:
                targets[index] = target
        sizes = [tuple(image.shape[-2:]) for image in made]
        return ImageList(self.batch_images(made, size_divisible=self.size_divisible), sizes), targets

    def normalize(self, image):
        """Return an image less the means, divided by the deviations."""
        if not image.is_floating_point():
            raise TypeError("Expected input images to be of floating type (in range [0, 1]), but found type "
                            f"{image.dtype} instead")
        mean, std = (torch.as_tensor(value, dtype=image.dtype, device=image.device)[:, None, None]
                     for value in (self.image_mean, self.image_std))
        return (image - mean) / std

    def torch_choice(self, k):
        """Return an item of a list, drawn from PyTorch's stream."""
        return k[int(torch.empty(1).uniform_(0.0, float(len(k))).item())]

    def resize(self, image, target=None):
        """Return an image and its target in the size that is wanted."""
        before = image.shape[-2:]
        if self.training and self._skip_resize:
            return image, target
        size = self.torch_choice(self.min_size) if self.training else self.min_size[-1]
        image, target = _resize_image_and_masks(image, size, self.max_size, target, self.fixed_size)
        if target is not None:
            target["boxes"] = resize_boxes(target["boxes"], before, image.shape[-2:])
            if "keypoints" in target:
                target["keypoints"] = resize_keypoints(target["keypoints"], before, image.shape[-2:])
        return image, target

    def max_by_axis(self, the_list):
        """Return the greatest of each place of several lists."""
        return [max(items) for items in zip(*the_list)]

    def batch_images(self, images, size_divisible=32):
        """Return images in one batch, zeros right of them and below."""
        channels, *sides = self.max_by_axis([list(image.shape) for image in images])
        height, width = (int(math.ceil(side / size_divisible) * size_divisible) for side in sides)
        batch = images[0].new_full((len(images), channels, height, width), 0)
        for index, image in enumerate(images):
            batch[index, :image.shape[0], :image.shape[1], :image.shape[2]] = image
        return batch

    def postprocess(self, result, image_shapes, original_image_sizes):
        """Return answers in the coordinates of the images that came."""
        if self.training:
            return result
        for found, size, original in zip(result, image_shapes, original_image_sizes):
            found["boxes"] = resize_boxes(found["boxes"], size, original)
            if "masks" in found:
                found["masks"] = paste_masks_in_image(found["masks"], found["boxes"], original)
            if "keypoints" in found:
                found["keypoints"] = resize_keypoints(found["keypoints"], size, original)
        return result

    def __repr__(self):
        return (f"{self.__class__.__name__}(\n    Normalize(mean={self.image_mean}, std={self.image_std})\n    "
                f"Resize(min_size={self.min_size}, max_size={self.max_size}, mode='bilinear')\n)")
