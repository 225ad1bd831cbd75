"""Transforms of values, dtypes and classes; boxes that are worth keeping."""

from dragon.core import warnings
from dragon.vm import torch
from dragon.vm.torch.utils._pytree import tree_flatten, tree_unflatten
from dragon.vm.torchvision import tv_tensors
from dragon.vm.torchvision._pillow import Image
from dragon.vm.torchvision.transforms import _arguments
from dragon.vm.torchvision.transforms.v2 import functional as F
from dragon.vm.torchvision.transforms.v2._transform import Transform
from dragon.vm.torchvision.transforms.v2._utils import (
    _parse_labels_getter, _setup_number_or_seq, _setup_size, get_bounding_boxes, get_keypoints, has_any,
    is_pure_tensor)
from dragon.vm.torchvision.transforms.v2.functional._misc import get_sanitize_keypoints_mask, get_sanitize_mask

_PICTURES = (tv_tensors.Image, tv_tensors.Video)


class Identity(Transform):
    """Leave everything as it is."""

    def transform(self, inpt, params):
        return inpt


class Lambda(Transform):
    """Apply a function to inputs of some classes."""

    _transformed_types = (object,)

    def __init__(self, lambd, *types):
        super().__init__()
        self.lambd = lambd
        self.types = types or self._transformed_types

    def transform(self, inpt, params):
        return self.lambd(inpt) if isinstance(inpt, self.types) else inpt

    def extra_repr(self):
        name = getattr(self.lambd, "__name__", None)
        return ", ".join(([name] if name else []) + [f"types={[kind.__name__ for kind in self.types]}"])


class _NoPillow(Transform):
    def check_inputs(self, flat_inputs):
        if has_any(flat_inputs, Image.Image):
            raise TypeError(f"{type(self).__name__}() does not support PIL images.")


class LinearTransformation(_NoPillow):
    """Take a mean off an image as one row, and multiply by a matrix."""

    _transformed_types = (is_pure_tensor, *_PICTURES)

    def __init__(self, transformation_matrix, mean_vector):
        super().__init__()
        _arguments.check_linear(transformation_matrix, mean_vector)
        self.transformation_matrix, self.mean_vector = transformation_matrix, mean_vector

    def transform(self, inpt, params):
        output = _arguments.whitened(inpt, self.transformation_matrix, self.mean_vector)
        return tv_tensors.wrap(output, like=inpt) if isinstance(inpt, _PICTURES) else output


class Normalize(_NoPillow):
    """Take each channel's mean off and divide by its deviation."""

    _function, _options = F.normalize, ("mean", "std", "inplace")

    def __init__(self, mean, std, inplace=False):
        super().__init__()
        self.mean, self.std, self.inplace = list(mean), list(std), inplace


class GaussianBlur(Transform):
    """Blur by a bell of random width; see the first version."""

    def __init__(self, kernel_size, sigma=(0.1, 2.0)):
        super().__init__()
        self.kernel_size = _setup_size(kernel_size, "Kernel size should be a tuple/list of two integers")
        if any(size <= 0 or size % 2 == 0 for size in self.kernel_size):
            raise ValueError("Kernel size value should be an odd and positive number.")
        self.sigma = _setup_number_or_seq(sigma, "sigma")
        if not 0.0 < self.sigma[0] <= self.sigma[1]:
            raise ValueError(f"sigma values should be positive and of the form (min, max). Got {self.sigma}")

    def make_params(self, flat_inputs):
        return {"sigma": [_arguments.uniform(*self.sigma)] * 2}

    def transform(self, inpt, params):
        return self._call_kernel(F.gaussian_blur, inpt, self.kernel_size, **params)


class GaussianNoise(Transform, takes="mean=0.0, sigma=0.1, clip=True"):
    """Add noise of a mean and a deviation."""

    _function, _options = F.gaussian_noise, ("mean", "sigma", "clip")


class ToDtype(Transform):
    """Turn tensors into another dtype, or into one for each class.

    Parameters
    ----------
    dtype : Union[dtype, Dict[Union[type, str], Optional[dtype]]]
        The dtype; a dictionary may have "others".
    scale : bool, optional, default=False
        Whether images are scaled to the dtype's range.

    """

    _transformed_types = (torch.Tensor,)

    def __init__(self, dtype, scale=False):
        super().__init__()
        if not isinstance(dtype, (dict, torch.dtype)):
            raise ValueError(f"dtype must be a dict or a torch.dtype, got {type(dtype)} instead")
        if isinstance(dtype, dict) and torch.Tensor in dtype and any(kind in dtype for kind in _PICTURES):
            warnings.warn("Got `dtype` values for `torch.Tensor` and either `tv_tensors.Image` or `tv_tensors.Video`. "
                          "Note that a plain `torch.Tensor` will *not* be transformed by this (or any other "
                          "transformation) in case a `tv_tensors.Image` or `tv_tensors.Video` is present in the input.")
        self.dtype, self.scale = dtype, scale

    def transform(self, inpt, params):
        picture = is_pure_tensor(inpt) or isinstance(inpt, _PICTURES)
        if not isinstance(self.dtype, dict):
            dtype = self.dtype
            if not picture:
                return inpt
        elif type(inpt) in self.dtype or "others" in self.dtype:
            dtype = self.dtype[type(inpt) if type(inpt) in self.dtype else "others"]
        else:
            raise ValueError(f"No dtype was specified for type {type(inpt)}; a dictionary of dtypes may have 'others' "
                             "for all that it does not name.")
        if dtype is None:
            if self.scale and picture:
                warnings.warn("scale was set to True but no dtype was specified for images or videos: no scaling will "
                              "be done.")
            return inpt
        return self._call_kernel(F.to_dtype, inpt, dtype=dtype, scale=self.scale)


class ConvertImageDtype(Transform):
    """Turn images into another dtype, with values scaled to its range."""

    def __init__(self, dtype=torch.float32):
        super().__init__()
        self.dtype = dtype

    def transform(self, inpt, params):
        return self._call_kernel(F.to_dtype, inpt, dtype=self.dtype, scale=True)


class _Sanitize(Transform):
    _extra = ()

    def _hold(self, labels_getter):
        self.labels_getter, self._labels_getter = labels_getter, _parse_labels_getter(labels_getter)

    def _labels(self, inputs, count):
        labels = self._labels_getter(inputs)
        if labels is None:
            return ()
        labels = (labels,) if isinstance(labels, torch.Tensor) else labels
        for label in labels if isinstance(labels, (tuple, list)) else (labels,):
            if not isinstance(label, torch.Tensor):
                raise ValueError("The labels in the input to forward() must be a tensor or None, got "
                                 f"{type(label)} instead.")
            if label.shape[0] != count:
                raise ValueError(f"Number of {self._what} ({count}) must match the number of labels. Found labels "
                                 f"with shape={label.shape}).")
        return labels

    def forward(self, *inputs):
        inputs = inputs if len(inputs) > 1 else inputs[0]
        flat, spec = tree_flatten(inputs)
        main = self._main(flat)
        labels = self._labels(inputs, main.shape[0])
        valid, output = self._valid(main), []
        for inpt in flat:
            label = any(inpt is item for item in labels)
            if label or isinstance(inpt, self._kinds):
                if label or inpt.shape[:1] == valid.shape:
                    kept = inpt.as_subclass(torch.Tensor)[valid]
                    inpt = kept if label else tv_tensors.wrap(kept, like=inpt)
            output.append(inpt)
        return tree_unflatten(output, spec)


class SanitizeBoundingBoxes(_Sanitize):
    """Take out boxes that are too small or not within the canvas, with their labels and masks.

    Parameters
    ----------
    min_size, min_area : float, optional, default=1.0
        The least side and the least area.
    labels_getter : Union[Callable, str, None], optional, default="default"
        Finds the labels.

    """

    _kinds, _what, _main = (tv_tensors.BoundingBoxes, tv_tensors.Mask), "boxes", staticmethod(get_bounding_boxes)

    def __init__(self, min_size=1.0, min_area=1.0, labels_getter="default"):
        super().__init__()
        if min_size < 1:
            raise ValueError(f"min_size must be >= 1, got {min_size}.")
        if min_area < 1:
            raise ValueError(f"min_area must be >= 1, got {min_area}.")
        self.min_size, self.min_area = min_size, min_area
        self._hold(labels_getter)

    def _valid(self, boxes):
        return get_sanitize_mask(boxes, boxes.format, boxes.canvas_size, self.min_size, self.min_area)


class SanitizeKeyPoints(_Sanitize):
    """Take out keypoints that are not on the canvas, with their labels."""

    _kinds, _what, _main = (tv_tensors.KeyPoints,), "keypoints", staticmethod(get_keypoints)

    def __init__(self, labels_getter=None):
        super().__init__()
        self._hold(labels_getter)

    def _valid(self, points):
        return get_sanitize_keypoints_mask(points, points.canvas_size)


class PILToTensor(Transform):
    """Turn images of Pillow into tensors."""

    _transformed_types = (Image.Image,)

    def transform(self, inpt, params):
        return F.pil_to_tensor(inpt)


class ToImage(Transform):
    """Turn a tensor, an array or an image of Pillow into `tv_tensors.Image`."""

    _transformed_types = (is_pure_tensor, Image.Image, lambda inpt: type(inpt).__name__ == "ndarray")

    def transform(self, inpt, params):
        return F.to_image(inpt)


class ToPILImage(Transform, takes="mode=None"):
    """Turn a tensor or an array into an image of Pillow."""

    _transformed_types = (is_pure_tensor, tv_tensors.Image, lambda inpt: type(inpt).__name__ == "ndarray")

    def transform(self, inpt, params):
        return F.to_pil_image(inpt, mode=self.mode)


class ToPureTensor(Transform):
    """Turn tensors that say what they are into plain ones."""

    _transformed_types = (tv_tensors.TVTensor,)

    def transform(self, inpt, params):
        return inpt.as_subclass(torch.Tensor)


class ToTensor(Transform):
    """Turn an image into a tensor with values from 0 to 1; kept for old programs."""

    _transformed_types = (Image.Image, lambda inpt: type(inpt).__name__ == "ndarray")

    def __init__(self):
        warnings.warn("The transform `ToTensor()` is deprecated and will be removed in a future release. Instead, "
                      "please use `v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True)])`. Output is "
                      "equivalent up to float precision.")
        super().__init__()

    def transform(self, inpt, params):
        return F.to_tensor(inpt)


class UniformTemporalSubsample(Transform, takes="num_samples"):
    """Take frames of a video at equal distances."""

    _transformed_types = (is_pure_tensor, tv_tensors.Video)

    def transform(self, inpt, params):
        return self._call_kernel(F.uniform_temporal_subsample, inpt, self.num_samples)


class ConvertBoundingBoxFormat(Transform, takes="format"):
    """Turn boxes into another format."""

    _transformed_types = (tv_tensors.BoundingBoxes,)

    def transform(self, inpt, params):
        return F.convert_bounding_box_format(inpt, new_format=self.format)


class ClampBoundingBoxes(Transform, takes="clamping_mode='auto'"):
    """Cut boxes to their canvas."""

    _transformed_types = (tv_tensors.BoundingBoxes,)

    def transform(self, inpt, params):
        return F.clamp_bounding_boxes(inpt, clamping_mode=self.clamping_mode)


class ClampKeyPoints(Transform):
    """Move keypoints onto their canvas."""

    _transformed_types = (tv_tensors.KeyPoints,)

    def transform(self, inpt, params):
        return F.clamp_keypoints(inpt)


class SetClampingMode(Transform, takes="clamping_mode"):
    """Say how boxes are cut from now on."""

    _transformed_types = (tv_tensors.BoundingBoxes,)

    def _settle(self):
        if self.clamping_mode not in (None, "soft", "hard"):
            raise ValueError(f"clamping_mode must be soft, hard or None, got {self.clamping_mode}")

    def transform(self, inpt, params):
        return tv_tensors.wrap(inpt.as_subclass(torch.Tensor).clone(), like=inpt, clamping_mode=self.clamping_mode)
