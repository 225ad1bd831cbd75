"""Erasing, JPEG's losses, and fewer frames."""
import io

from dragon.vm import torch
from dragon.vm.torchvision._pillow import Image
from dragon.vm.torchvision.transforms.functional import pil_to_tensor, to_pil_image as _to_pil_image
from dragon.vm.torchvision.transforms.v2.functional._utils import functional


def erase_image(image, i, j, h, w, v, inplace=False):
    """Return an image with a rectangle overwritten."""
    image = image if inplace else image.clone()
    image[..., i:i + h, j:j + w] = v
    return image


def _erase_image_pil(image, i, j, h, w, v, inplace=False):
    return _to_pil_image(erase_image(pil_to_tensor(image).contiguous(), i, j, h, w, v), mode=image.mode)


def jpeg_image(image, quality):
    """Return an image as it comes out of a JPEG file."""
    from dragon.vm.torchvision.io import decode_jpeg, encode_jpeg
    batch = image.reshape(-1, *image.shape[-3:])
    if len(batch) == 0:
        return image.clone()
    return torch.stack([decode_jpeg(encode_jpeg(item, quality=quality)) for item in batch]).view(image.shape)


def _jpeg_image_pil(image, quality):
    buffer = io.BytesIO()
    image.save(buffer, format="JPEG", quality=quality)
    return Image.open(buffer).copy()


def uniform_temporal_subsample_video(video, num_samples):
    """Return frames of a video at equal distances."""
    places = torch.linspace(0, video.shape[-4] - 1, num_samples).long()
    return video.index_select(-4, places)


erase = functional("erase", erase_image, _erase_image_pil)
jpeg = functional("jpeg", jpeg_image, _jpeg_image_pil)
uniform_temporal_subsample = functional("uniform_temporal_subsample", uniform_temporal_subsample_video)
