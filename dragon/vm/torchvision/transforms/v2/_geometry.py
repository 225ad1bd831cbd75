"""Transforms of places: sizes, parts, warps."""
from collections.abc import Sequence

from dragon.core import warnings
from dragon.vm import torch
from dragon.vm.torchvision import tv_tensors
from dragon.vm.torchvision._pillow import Image
from dragon.vm.torchvision.transforms import _arguments
from dragon.vm.torchvision.transforms._functional_tensor import _parse_pad_padding
from dragon.vm.torchvision.transforms._geometry import perspective_coefficients
from dragon.vm.torchvision.transforms.v2 import functional as F
from dragon.vm.torchvision.transforms.v2._transform import _RandomApplyTransform, Transform
from dragon.vm.torchvision.transforms.v2._utils import (
    _check_padding_arg, _check_padding_mode_arg, _check_sequence_input, _get_fill, _setup_angle, _setup_number_or_seq,
    _setup_size, get_bounding_boxes, has_all, has_any, is_pure_tensor, query_size, random_integer)


class RandomHorizontalFlip(_RandomApplyTransform):
    """Exchange left and right with a probability `p`."""

    _function = F.horizontal_flip


class RandomVerticalFlip(_RandomApplyTransform):
    """Exchange top and bottom with a probability `p`."""

    _function = F.vertical_flip


class _Resizing(Transform):
    _function, _options = F.resize, ("interpolation", "antialias")


class Resize(Transform):
    """Bring an image to a size.

    Parameters
    ----------
    size : Union[int, Sequence[int], None]
        Height and width, or the length of the shorter side; None for `max_size` alone.
    interpolation : Union[str, InterpolationMode, int], optional, default="bilinear"
        How pixels are made.
    antialias : bool, optional, default=True
        Whether tensors are smoothed as they shrink.

    """

    def __init__(self, size, interpolation="bilinear", max_size=None, antialias=True):
        super().__init__()
        if isinstance(size, int):
            size = [size]
        elif isinstance(size, Sequence) and len(size) in (1, 2):
            size = list(size)
        elif size is not None:
            raise ValueError(f"size can be an integer, a sequence of one or two integers, or None, but got {size} "
                             "instead.")
        elif not isinstance(max_size, int):
            raise ValueError(f"max_size must be an integer when size is None, but got {max_size} instead.")
        self.size, self.interpolation, self.max_size, self.antialias = size, interpolation, max_size, antialias

    def transform(self, inpt, params):
        return self._call_kernel(F.resize, inpt, self.size, interpolation=self.interpolation, max_size=self.max_size,
                                 antialias=self.antialias)


class _Sized(Transform):
    def _settle(self):
        self.size = _setup_size(self.size)


class CenterCrop(_Sized, takes="size"):
    """Cut out the middle."""

    def transform(self, inpt, params):
        return self._call_kernel(F.center_crop, inpt, output_size=self.size)


class RandomResizedCrop(Transform):
    """Cut out a random part and bring it to a size; see the first version."""

    _function, _options = F.resized_crop, ("size", "interpolation", "antialias")

    def __init__(self, size, scale=(0.08, 1.0), ratio=(3.0 / 4.0, 4.0 / 3.0), interpolation="bilinear",
                 antialias=True):
        super().__init__()
        self.size = _setup_size(size)
        for name, value in (("Scale", scale), ("Ratio", ratio)):
            if not isinstance(value, Sequence) or len(value) != 2:
                raise TypeError(f"{name} should be a sequence of two floats.")
        if scale[0] > scale[1] or ratio[0] > ratio[1]:
            warnings.warn("Scale and ratio should be of kind (min, max)")
        self.scale, self.ratio, self.interpolation, self.antialias = scale, ratio, interpolation, antialias
        self._log_ratio = _arguments.log_ratio_of(ratio)

    def make_params(self, flat_inputs):
        drawn = _arguments.resized_crop_parameters(*query_size(flat_inputs), self.scale, self.ratio, self._log_ratio)
        return dict(zip(("top", "left", "height", "width"), drawn))


class _Crops(_Sized):
    def _call_kernel(self, functional, inpt, *args, **kwargs):
        if isinstance(inpt, (tv_tensors.BoundingBoxes, tv_tensors.KeyPoints, tv_tensors.Mask)):
            warnings.warn(f"{type(self).__name__}() is currently passing through inputs of type "
                          f"tv_tensors.{type(inpt).__name__}. This will likely change in the future.")
        return super()._call_kernel(functional, inpt, *args, **kwargs)

    def check_inputs(self, flat_inputs):
        if has_any(flat_inputs, tv_tensors.BoundingBoxes, tv_tensors.Mask):
            raise TypeError(f"BoundingBoxes'es and Mask's are not supported by {type(self).__name__}()")


class FiveCrop(_Crops, takes="size"):
    """Cut out the four corners and the middle."""

    def transform(self, inpt, params):
        return self._call_kernel(F.five_crop, inpt, self.size)


class TenCrop(_Crops, takes="size, vertical_flip=False"):
    """Cut out the four corners and the middle, of the image and of its mirror image."""

    def transform(self, inpt, params):
        return self._call_kernel(F.ten_crop, inpt, self.size, vertical_flip=self.vertical_flip)


class Pad(Transform):
    """Put a margin around; `fill` may be a dictionary by classes of inputs."""

    _function, _options = F.pad, ("padding", "fill", "padding_mode")

    def __init__(self, padding, fill=0, padding_mode="constant"):
        super().__init__()
        _check_padding_arg(padding)
        _check_padding_mode_arg(padding_mode)
        self.padding = padding if isinstance(padding, int) else list(padding)
        self._hold_fill(fill)
        self.padding_mode = padding_mode

    def _extract_params_for_v1_transform(self):
        return self._scalar_fill(super()._extract_params_for_v1_transform())


class RandomZoomOut(_RandomApplyTransform):
    """Put an image into a larger one at a random place, with a probability.

    Parameters
    ----------
    fill : optional, default=0
        The colour around.
    side_range : Sequence[float], optional, default=(1.0, 4.0)
        How much larger.

    """

    _function, _options = F.pad, ("fill",)

    def __init__(self, fill=0, side_range=(1.0, 4.0), p=0.5):
        super().__init__(p=p)
        self._hold_fill(fill)
        _check_sequence_input(side_range, "side_range", req_sizes=(2,))
        self.side_range = side_range
        if side_range[0] < 1.0 or side_range[0] > side_range[1]:
            raise ValueError(f"Invalid side range provided {side_range}.")

    def make_params(self, flat_inputs):
        height, width = query_size(flat_inputs)
        scale = self.side_range[0] + torch.rand(1) * (self.side_range[1] - self.side_range[0])
        more_w, more_h = int(width * scale) - width, int(height * scale) - height
        place = torch.rand(2)
        left, top = int(more_w * place[0]), int(more_h * place[1])
        return {"padding": [left, top, more_w - left, more_h - top]}


class RandomRotation(Transform):
    """Turn by a random angle; see the first version."""

    _function, _options = F.rotate, ("interpolation", "expand", "center", "fill")

    def __init__(self, degrees, interpolation="nearest", expand=False, center=None, fill=0):
        super().__init__()
        self.degrees = _setup_angle(degrees, name="degrees", req_sizes=(2,))
        self.interpolation, self.expand = interpolation, expand
        self._hold_fill(fill)
        if center is not None:
            _check_sequence_input(center, "center", req_sizes=(2,))
        self.center = center

    def make_params(self, flat_inputs):
        return {"angle": _arguments.uniform(*self.degrees)}


class RandomAffine(Transform):
    """Turn, shift, scale and shear at random; see the first version."""

    _function, _options = F.affine, ("interpolation", "fill", "center")

    def __init__(self, degrees, translate=None, scale=None, shear=None, interpolation="nearest", fill=0, center=None):
        super().__init__()
        self.degrees = _setup_angle(degrees, name="degrees", req_sizes=(2,))
        _arguments.check_affine(translate, scale)
        self.translate, self.scale = translate, scale
        self.shear = None if shear is None else _setup_angle(shear, name="shear", req_sizes=(2, 4))
        self.interpolation = interpolation
        self._hold_fill(fill)
        if center is not None:
            _check_sequence_input(center, "center", req_sizes=(2,))
        self.center = center

    def make_params(self, flat_inputs):
        height, width = query_size(flat_inputs)
        drawn = _arguments.affine_parameters(self.degrees, self.translate, self.scale, self.shear, (width, height))
        return dict(zip(("angle", "translate", "scale", "shear"), drawn))


class RandomCrop(Transform):
    """Cut out a random part; see the first version."""

    def __init__(self, size, padding=None, pad_if_needed=False, fill=0, padding_mode="constant"):
        super().__init__()
        self.size = _setup_size(size)
        if pad_if_needed or padding is not None:
            if padding is not None:
                _check_padding_arg(padding)
            _check_padding_mode_arg(padding_mode)
        self.padding = _parse_pad_padding(padding) if padding else None
        self.pad_if_needed = pad_if_needed
        self._hold_fill(fill)
        self.padding_mode = padding_mode

    def _extract_params_for_v1_transform(self):
        params = self._scalar_fill(super()._extract_params_for_v1_transform())
        if self.padding is not None:
            left, right, top, bottom = self.padding
            params["padding"] = [left, top, right, bottom]
        return params

    def make_params(self, flat_inputs):
        sides, (tall, wide) = list(query_size(flat_inputs)), self.size
        left, right, top, bottom = self.padding or (0, 0, 0, 0)
        sides = [sides[0] + top + bottom, sides[1] + left + right]
        if self.pad_if_needed:
            more_h, more_w = max(tall - sides[0], 0), max(wide - sides[1], 0)
            top, bottom, left, right = top + more_h, bottom + more_h, left + more_w, right + more_w
            sides = [sides[0] + 2 * more_h, sides[1] + 2 * more_w]
        if sides[0] < tall or sides[1] < wide:
            raise ValueError(f"Required crop size {(tall, wide)} is larger than "
                             f"{'padded ' if self.padding is not None else ''}input image size {tuple(sides)}.")
        down = random_integer(sides[0] - tall + 1) if sides[0] > tall else 0
        across = random_integer(sides[1] - wide + 1) if sides[1] > wide else 0
        padding = [left, top, right, bottom]
        return {"needs_crop": sides != [tall, wide], "top": down, "left": across, "height": tall, "width": wide,
                "needs_pad": any(padding), "padding": padding}

    def transform(self, inpt, params):
        if params["needs_pad"]:
            inpt = self._call_kernel(F.pad, inpt, padding=params["padding"], fill=_get_fill(self._fill, type(inpt)),
                                     padding_mode=self.padding_mode)
        part = {name: params[name] for name in ("top", "left", "height", "width")}
        return self._call_kernel(F.crop, inpt, **part) if params["needs_crop"] else inpt


class RandomPerspective(_RandomApplyTransform):
    """Move the corners at random, with a probability; see the first version."""

    _function, _options = F.perspective, ("fill", "interpolation")

    def __init__(self, distortion_scale=0.5, p=0.5, interpolation="bilinear", fill=0):
        super().__init__(p=p)
        if not 0 <= distortion_scale <= 1:
            raise ValueError("Argument distortion_scale value should be between 0 and 1")
        self.distortion_scale, self.interpolation = distortion_scale, interpolation
        self._hold_fill(fill)

    def make_params(self, flat_inputs):
        height, width = query_size(flat_inputs)
        points = _arguments.perspective_points(width, height, self.distortion_scale)
        return {"startpoints": None, "endpoints": None, "coefficients": perspective_coefficients(*points)}


class ElasticTransform(Transform):
    """Read each pixel at a smoothly shifted place; see the first version."""

    _function, _options = F.elastic, ("fill", "interpolation")

    def __init__(self, alpha=50.0, sigma=5.0, interpolation="bilinear", fill=0):
        super().__init__()
        self.alpha, self.sigma = _setup_number_or_seq(alpha, "alpha"), _setup_number_or_seq(sigma, "sigma")
        self.interpolation = interpolation
        self._hold_fill(fill)

    def make_params(self, flat_inputs):
        return {"displacement": _arguments.displacement(self.alpha, self.sigma, list(query_size(flat_inputs)),
                                                        F.gaussian_blur)}


class RandomIoUCrop(Transform):
    """Cut out a random part that overlaps a box by no less than a random share.

    Parameters
    ----------
    min_scale, max_scale : float, optional
        The part's sides, as shares.
    min_aspect_ratio, max_aspect_ratio : float, optional
        Its width over its height.
    sampler_options : List[float], optional
        The shares to choose from; 1 or more leaves the image as it is.
    trials : int, optional, default=40
        Draws for each share.

    """

    def __init__(self, min_scale=0.3, max_scale=1.0, min_aspect_ratio=0.5, max_aspect_ratio=2.0, sampler_options=None,
                 trials=40):
        super().__init__()
        self.min_scale, self.max_scale = min_scale, max_scale
        self.min_aspect_ratio, self.max_aspect_ratio = min_aspect_ratio, max_aspect_ratio
        self.options = [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0] if sampler_options is None else sampler_options
        self.trials = trials

    def check_inputs(self, flat_inputs):
        if not (has_all(flat_inputs, tv_tensors.BoundingBoxes)
                and has_any(flat_inputs, Image.Image, tv_tensors.Image, is_pure_tensor)):
            raise TypeError(f"{type(self).__name__}() requires input sample to contain tensor or PIL images and "
                            "bounding boxes. Sample can also contain masks.")

    def make_params(self, flat_inputs):
        height, width = query_size(flat_inputs)
        boxes = get_bounding_boxes(flat_inputs)
        boxes = F.convert_bounding_box_format(boxes.as_subclass(torch.Tensor), boxes.format,
                                              tv_tensors.BoundingBoxFormat.XYXY)
        while True:
            least = self.options[random_integer(len(self.options), size=(1,))]
            if least >= 1.0:
                return {}
            for _ in range(self.trials):
                found = self._try(boxes, height, width, least)
                if found is not None:
                    return found

    def _try(self, boxes, height, width, least):
        from dragon.vm.torchvision.ops.boxes import box_iou
        shares = self.min_scale + (self.max_scale - self.min_scale) * torch.rand(2)
        new_w, new_h = int(width * shares[0]), int(height * shares[1])
        if not self.min_aspect_ratio <= new_w / new_h <= self.max_aspect_ratio:
            return None
        place = torch.rand(2)
        left, top = int((width - new_w) * place[0]), int((height - new_h) * place[1])
        if new_w == 0 or new_h == 0:
            return None
        x, y = 0.5 * (boxes[..., 0] + boxes[..., 2]), 0.5 * (boxes[..., 1] + boxes[..., 3])
        within = (left < x) & (x < left + new_w) & (top < y) & (y < top + new_h)
        if not bool(within.any()):
            return None
        part = torch.tensor([[left, top, left + new_w, top + new_h]], dtype=boxes.dtype)
        if box_iou(boxes[within], part).max() < least:
            return None
        return {"part": (top, left, new_h, new_w), "within": within}

    def transform(self, inpt, params):
        if not params:
            return inpt
        output = self._call_kernel(F.crop, inpt, *params["part"])
        if isinstance(output, tv_tensors.BoundingBoxes):
            # Boxes without area are what SanitizeBoundingBoxes takes out later.
            kept = output.as_subclass(torch.Tensor).masked_fill(~params["within"][:, None], 0)
            output = tv_tensors.wrap(kept, like=output)
        return output


class ScaleJitter(_Resizing, takes="target_size, scale_range=(0.1, 2.0), interpolation='bilinear', antialias=True"):
    """Fit an image into a size, times a random scale.

    Parameters
    ----------
    target_size : Tuple[int, int]
        The size.
    scale_range : Tuple[float, float], optional, default=(0.1, 2.0)
        The scale.
    interpolation, antialias : optional
        As for `Resize`.

    """

    def make_params(self, flat_inputs):
        height, width = query_size(flat_inputs)
        scale = self.scale_range[0] + torch.rand(1) * (self.scale_range[1] - self.scale_range[0])
        ratio = min(self.target_size[1] / height, self.target_size[0] / width) * scale
        return {"size": (int(height * ratio), int(width * ratio))}


class RandomShortestSize(_Resizing):
    """Bring the shorter side to a random one of several lengths.

    Parameters
    ----------
    min_size : Union[int, Sequence[int]]
        The lengths.

    """

    def __init__(self, min_size, max_size=None, interpolation="bilinear", antialias=True):
        super().__init__()
        min_size = [min_size] if isinstance(min_size, int) else list(min_size)
        self.min_size, self.max_size, self.interpolation, self.antialias = min_size, max_size, interpolation, antialias

    def make_params(self, flat_inputs):
        height, width = query_size(flat_inputs)
        ratio = self.min_size[random_integer(len(self.min_size))] / min(height, width)
        if self.max_size is not None:
            ratio = min(ratio, self.max_size / max(height, width))
        return {"size": (int(height * ratio), int(width * ratio))}


class RandomResize(_Resizing, takes="min_size, max_size, interpolation='bilinear', antialias=True"):
    """Bring the shorter side to a random length between two.

    Parameters
    ----------
    min_size, max_size : int
        The lengths.
    interpolation, antialias : optional
        As for `Resize`.

    """

    def make_params(self, flat_inputs):
        return {"size": [random_integer(self.max_size, self.min_size)]}
