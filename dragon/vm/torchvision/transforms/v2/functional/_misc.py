"""Blurs, noise, normalization; what makes and takes images; boxes that are worth keeping."""
from dragon.vm import torch
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torchvision import tv_tensors
from dragon.vm.torchvision._pillow import Image
from dragon.vm.torchvision.transforms import _functional_tensor as F_t, functional as F1
from dragon.vm.torchvision.transforms.functional import pil_to_tensor, to_pil_image as _to_pil_image
from dragon.vm.torchvision.transforms.v2.functional._meta import CORNERS, XYXY, convert_boxes
from dragon.vm.torchvision.transforms.v2.functional._utils import as_batch, functional, is_pure_tensor


def _are_numbers(image, *lists):
    """Return whether these are lists of a number for each channel, or one number for all."""
    return all(isinstance(values, (list, tuple)) and len(values) in (1, image.shape[-3])
               and all(type(value) in (int, float) for value in values) for values in lists)


def normalize_image(image, mean, std, inplace=False):
    """Return an image with each channel's mean taken off and divided by its deviation."""
    if not image.is_floating_point():
        raise TypeError(f"Input tensor should be a float tensor. Got {image.dtype}.")
    if image.ndim < 3:
        raise ValueError(f"Expected tensor to be a tensor image of size (..., C, H, W). Got {image.shape}.")
    if (isinstance(std, (tuple, list)) and not all(std)) or (isinstance(std, (int, float)) and std == 0):
        raise ValueError("std evaluated to zero, leading to division by zero.")
    if not inplace and image.dtype in F_t.FLOATS and not F_t.is_recorded(image) and _are_numbers(image, mean, std):
        return ops.standardize(image, mean, std)
    mean, std = (torch.as_tensor(value, dtype=image.dtype, device=image.device) for value in (mean, std))
    mean, std = (value.view(-1, 1, 1) if value.ndim == 1 else value for value in (mean, std))
    return (image.sub_(mean) if inplace else image.sub(mean)).div_(std)


def gaussian_blur_image(image, kernel_size, sigma=None):
    """Return an image blurred by a bell."""
    kernel_size, sigma = F1._check_blur(kernel_size, sigma)
    if image.numel() == 0:
        return image
    dtype, bells = F_t._working_dtype(image), []
    for size, width in zip(kernel_size, sigma):
        edge = (size - 1) / (2.0 * 2.0 ** 0.5)
        x = torch.linspace(-edge, edge, steps=size, dtype=dtype)
        bells.append(torch.softmax(x.div(width).pow(2).neg(), dim=0))
    return as_batch(lambda batch: F_t.blurred_by_bells(batch, *bells), image)


def _gaussian_blur_image_pil(image, kernel_size, sigma=None):
    return F1.through_tensor(lambda tensor: gaussian_blur_image(tensor, kernel_size, sigma), image)


def gaussian_noise_image(image, mean=0.0, sigma=0.1, clip=True):
    """Return an image with noise."""
    if sigma < 0:
        raise ValueError(f"sigma shouldn't be negative. Got {sigma}")
    if image.is_floating_point():
        noisy = image + (mean + torch.randn_like(image) * sigma)
        return noisy.clamp(0, 1) if clip else noisy
    if image.dtype != torch.uint8:
        raise ValueError(f"Input tensor is expected to be in uint8 or float dtype, got dtype={image.dtype}")
    noise = ((mean * 255) + torch.randn_like(image, dtype=torch.float32) * (sigma * 255)).to(torch.int16)
    noisy = image + noise
    return (noisy.clamp(0, 255) if clip else noisy).to(torch.uint8)


normalize = functional("normalize", normalize_image)
gaussian_blur = functional("gaussian_blur", gaussian_blur_image, _gaussian_blur_image_pil)
gaussian_noise = functional("gaussian_noise", gaussian_noise_image)


def to_image(inpt):
    """Return a tensor, an array (H, W, C) or an image of Pillow as `tv_tensors.Image`."""
    if F1._is_numpy(inpt):
        pixels = inpt[:, :, None] if inpt.ndim == 2 else inpt
        inpt = torch.from_numpy(pixels.transpose((2, 0, 1)).copy())
    elif isinstance(inpt, Image.Image):
        inpt = pil_to_tensor(inpt)
    elif not isinstance(inpt, torch.Tensor):
        raise TypeError(f"Input can either be a pure Tensor, a numpy array, or a PIL image, but got {type(inpt)} "
                        "instead.")
    return tv_tensors.Image(inpt)


def to_pil_image(pic, mode=None):
    """Return a tensor or an array as an image of Pillow."""
    return _to_pil_image(pic.as_subclass(torch.Tensor) if isinstance(pic, tv_tensors.TVTensor) else pic, mode)


def get_sanitize_mask(boxes, format, canvas_size, min_size=1.0, min_area=1.0):
    """Return which boxes lie within the canvas and are no smaller than asked for."""
    turned = tv_tensors.is_rotated_bounding_format(format)
    boxes = convert_boxes(boxes.as_subclass(torch.Tensor), format, CORNERS if turned else XYXY)
    width, height = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
    if turned:  # the second side is measured between the corners that torchvision takes
        width, height = torch.hypot(width, height), torch.hypot(boxes[:, 3] - boxes[:, 5], boxes[:, 4] - boxes[:, 6])
    inside = ((boxes >= 0).all(dim=-1) & (boxes[:, 0::2] <= canvas_size[1]).all(dim=-1)
              & (boxes[:, 1::2] <= canvas_size[0]).all(dim=-1))
    return (width >= min_size) & (height >= min_size) & inside & (width * height >= min_area)


def sanitize_bounding_boxes(bounding_boxes, format=None, canvas_size=None, min_size=1.0, min_area=1.0):
    """Return the boxes that are worth keeping, and which they are."""
    if is_pure_tensor(bounding_boxes):
        if format is None or canvas_size is None:
            raise ValueError("format and canvas_size cannot be None if bounding_boxes is a pure tensor. Got "
                             f"format={format} and canvas_size={canvas_size}.")
        format = tv_tensors.BoundingBoxFormat[format.upper()] if isinstance(format, str) else format
        valid = get_sanitize_mask(bounding_boxes, format, canvas_size, min_size, min_area)
        return bounding_boxes[valid], valid
    if not isinstance(bounding_boxes, tv_tensors.BoundingBoxes):
        raise ValueError("bounding_boxes must be a tv_tensors.BoundingBoxes instance or a pure tensor.")
    if format is not None or canvas_size is not None:
        raise ValueError("format and canvas_size must be None when bounding_boxes is a tv_tensors.BoundingBoxes "
                         f"instance. Got format={format} and canvas_size={canvas_size}.")
    valid = get_sanitize_mask(bounding_boxes, bounding_boxes.format, bounding_boxes.canvas_size, min_size, min_area)
    return tv_tensors.wrap(bounding_boxes.as_subclass(torch.Tensor)[valid], like=bounding_boxes), valid


def get_sanitize_keypoints_mask(points, canvas_size):
    """Return which keypoints, or groups of them, lie on the canvas."""
    points, (height, width) = points.as_subclass(torch.Tensor), canvas_size
    x, y = points[..., 0], points[..., 1]
    valid = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    return valid.flatten(start_dim=1).all(dim=1) if valid.ndim > 1 else valid


def sanitize_keypoints(key_points, canvas_size=None):
    """Return the keypoints that lie on the canvas, and which they are."""
    if is_pure_tensor(key_points):
        if canvas_size is None:
            raise ValueError("canvas_size cannot be None if key_points is a pure tensor.")
        valid = get_sanitize_keypoints_mask(key_points, canvas_size)
        return key_points[valid], valid
    if not isinstance(key_points, tv_tensors.KeyPoints):
        raise ValueError("key_points must be a tv_tensors.KeyPoints instance or a pure tensor.")
    if canvas_size is not None:
        raise ValueError("canvas_size must be None when key_points is a tv_tensors.KeyPoints instance.")
    valid = get_sanitize_keypoints_mask(key_points, key_points.canvas_size)
    return tv_tensors.wrap(key_points.as_subclass(torch.Tensor)[valid], like=key_points), valid
