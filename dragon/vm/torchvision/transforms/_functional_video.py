"""Functions on clips of videos, as old programs import them: (C, T, H, W), and (T, H, W, C) as they are read."""
from dragon.core import warnings
from dragon.vm import torch

warnings.warn("The 'torchvision.transforms._functional_video' module is deprecated since 0.12 and will be removed in "
              "the future. Please use the 'torchvision.transforms.functional' module instead.")


def _is_tensor_video_clip(clip):
    """Return True for a clip; raises TypeError or ValueError for what is none."""
    if not isinstance(clip, torch.Tensor):
        raise TypeError(f"clip should be Tensor. Got {type(clip)}")
    if clip.ndimension() != 4:
        raise ValueError(f"clip should be 4D. Got {clip.dim()}D")
    return True


def _sized(clip):
    if len(clip.size()) != 4:
        raise ValueError(f"clip should be a 4D tensor, got {tuple(clip.size())}")
    return clip


def crop(clip, i, j, h, w):
    """Return a part of each frame."""
    return _sized(clip)[..., i:i + h, j:j + w]


def resize(clip, target_size, interpolation_mode):
    """Return a clip whose frames have another size (height, width)."""
    if len(target_size) != 2:
        raise ValueError(f"target size should be tuple (height, width), instead got {target_size}")
    return torch.nn.functional.interpolate(clip, size=target_size, mode=interpolation_mode, align_corners=False)


def resized_crop(clip, i, j, h, w, size, interpolation_mode="bilinear"):
    """Return a part of each frame in another size."""
    _is_tensor_video_clip(clip)
    return resize(crop(clip, i, j, h, w), size, interpolation_mode)


def center_crop(clip, crop_size):
    """Return the middle of each frame."""
    _is_tensor_video_clip(clip)
    height, width = clip.size(-2), clip.size(-1)
    high, wide = crop_size
    if height < high or width < wide:
        raise ValueError("height and width must be no smaller than crop_size")
    return crop(clip, round((height - high) / 2.0), round((width - wide) / 2.0), high, wide)


def to_tensor(clip):
    """Return a clip of bytes (T, H, W, C) as floats between 0 and 1 (C, T, H, W)."""
    _is_tensor_video_clip(clip)
    if clip.dtype != torch.uint8:
        raise TypeError(f"clip tensor should have data type uint8. Got {clip.dtype}")
    return clip.float().permute(3, 0, 1, 2) / 255.0


def normalize(clip, mean, std, inplace=False):
    """Return a clip with each channel's mean taken off and divided by its deviation."""
    _is_tensor_video_clip(clip)
    clip = clip if inplace else clip.clone()
    mean, std = (torch.as_tensor(value, dtype=clip.dtype, device=clip.device)[:, None, None, None]
                 for value in (mean, std))
    return clip.sub_(mean).div_(std)


def hflip(clip):
    """Return a clip with left and right exchanged."""
    _is_tensor_video_clip(clip)
    return clip.flip(-1)
