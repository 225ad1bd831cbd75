"""Erasing, mixing of batches, compression."""
import math

from dragon.core import warnings
from dragon.vm import torch
from dragon.vm.torch.utils._pytree import tree_flatten, tree_unflatten
from dragon.vm.torchvision import tv_tensors
from dragon.vm.torchvision._pillow import Image
from dragon.vm.torchvision.transforms import _arguments
from dragon.vm.torchvision.transforms.v2 import functional as F
from dragon.vm.torchvision.transforms.v2._transform import _RandomApplyTransform, Transform
from dragon.vm.torchvision.transforms.v2._utils import (
    _check_sequence_input, _parse_labels_getter, has_any, is_pure_tensor, query_chw, query_size, random_integer)


class RandomErasing(_RandomApplyTransform):
    """Overwrite a random rectangle, with a probability; see the first version."""

    def __init__(self, p=0.5, scale=(0.02, 0.33), ratio=(0.3, 3.3), value=0.0, inplace=False):
        super().__init__(p=p)
        _arguments.check_erasing(scale, ratio, value)
        if scale[0] > scale[1] or ratio[0] > ratio[1]:
            warnings.warn("Scale and ratio should be of kind (min, max)")
        self.scale, self.ratio = scale, ratio
        if isinstance(value, str):
            self.value = None
        else:
            self.value = [float(item) for item in (value if isinstance(value, (list, tuple)) else [value])]
        self.inplace = inplace
        self._log_ratio = _arguments.log_ratio_of(ratio)

    def _extract_params_for_v1_transform(self):
        return {**super()._extract_params_for_v1_transform(), "value": "random" if self.value is None else self.value}

    def make_params(self, flat_inputs):
        channels, height, width = query_chw(flat_inputs)
        if self.value is not None and len(self.value) not in (1, channels):
            raise ValueError("If value is a sequence, it should have either a single value or "
                             f"{channels} (number of inpt channels)")
        drawn = _arguments.erasing_parameters(channels, height, width, self.scale, self.ratio, self.value,
                                              self._log_ratio)
        return dict(zip("ijhwv", drawn or (0, 0, height, width, None)))

    def transform(self, inpt, params):
        if isinstance(inpt, (tv_tensors.BoundingBoxes, tv_tensors.KeyPoints, tv_tensors.Mask)):
            warnings.warn(f"{type(self).__name__}() is currently passing through inputs of type "
                          f"tv_tensors.{type(inpt).__name__}. This will likely change in the future.")
        return inpt if params["v"] is None else self._call_kernel(F.erase, inpt, **params, inplace=self.inplace)


class _BaseMixUpCutMix(Transform):
    def __init__(self, *, alpha=1.0, num_classes=None, labels_getter="default"):
        super().__init__()
        self.alpha = float(alpha)
        self._dist = torch.distributions.Beta(torch.tensor([alpha]), torch.tensor([alpha]))
        self.num_classes = num_classes
        self._labels_getter = _parse_labels_getter(labels_getter)

    def _check_labels(self, labels):
        if not isinstance(labels, torch.Tensor):
            raise ValueError(f"The labels must be a tensor, but got {type(labels)} instead.")
        if labels.ndim not in (1, 2):
            raise ValueError("labels should be index based with shape (batch_size,) or probability based with shape "
                             f"(batch_size, num_classes), but got a tensor of shape {labels.shape} instead.")
        if labels.ndim == 2 and self.num_classes is not None and labels.shape[-1] != self.num_classes:
            raise ValueError("When passing 2D labels, the number of elements in last dimension must match num_classes: "
                             f"{labels.shape[-1]} != {self.num_classes}. You can Leave num_classes to None.")
        if labels.ndim == 1 and self.num_classes is None:
            raise ValueError("num_classes must be passed if the labels are index-based (1D)")

    def forward(self, *inputs):
        inputs = inputs if len(inputs) > 1 else inputs[0]
        flat, spec = tree_flatten(inputs)
        needed = self._needs_transform_list(flat)
        if has_any(flat, Image.Image, tv_tensors.BoundingBoxes, tv_tensors.Mask, tv_tensors.KeyPoints):
            raise ValueError(f"{type(self).__name__}() does not support PIL images, bounding boxes, keypoints and "
                             "masks.")
        labels = self._labels_getter(inputs)
        self._check_labels(labels)
        params = {"labels": labels, "batch_size": labels.shape[0],
                  **self.make_params([inpt for inpt, needs in zip(flat, needed) if needs])}
        return tree_unflatten([self.transform(inpt, params) if needs or inpt is labels else inpt
                               for inpt, needs in zip(flat, needed)], spec)

    def transform(self, inpt, params):
        if inpt is params["labels"]:
            return self._mixup_label(inpt, lam=params["lam"])
        if not (isinstance(inpt, (tv_tensors.Image, tv_tensors.Video)) or is_pure_tensor(inpt)):
            return inpt
        rank = 5 if isinstance(inpt, tv_tensors.Video) else 4
        if inpt.ndim != rank:
            raise ValueError(f"Expected a batched input with {rank} dims, but got {inpt.ndim} dimensions instead.")
        if inpt.shape[0] != params["batch_size"]:
            raise ValueError("The batch size of the image or video does not match the batch size of the labels: "
                             f"{inpt.shape[0]} != {params['batch_size']}.")
        output = self._mixed(inpt.as_subclass(torch.Tensor), params)
        return output if is_pure_tensor(inpt) else tv_tensors.wrap(output, like=inpt)

    def _mixup_label(self, label, *, lam):
        if label.ndim == 1:
            label = torch.nn.functional.one_hot(label, num_classes=self.num_classes)
        label = label if label.dtype.is_floating_point else label.float()
        return label.roll(1, 0).mul(1.0 - lam) + label.mul(lam)


class MixUp(_BaseMixUpCutMix):
    """Mix each image of a batch with the one before, and their labels.

    Parameters
    ----------
    alpha : float, optional, default=1.0
        The concentration of the shares.
    num_classes : int, optional
        The classes, for labels that are numbers.
    labels_getter : Union[Callable, str], optional, default="default"
        Finds the labels.

    """

    def make_params(self, flat_inputs):
        return {"lam": float(self._dist.sample(()))}

    def _mixed(self, images, params):
        return images.roll(1, 0).mul(1.0 - params["lam"]) + images.mul(params["lam"])


class CutMix(_BaseMixUpCutMix):
    """Paste a part of the image before into each image of a batch, and mix their labels; see `MixUp`."""

    def make_params(self, flat_inputs):
        share = float(self._dist.sample(()))
        height, width = query_size(flat_inputs)
        x, y = random_integer(width, size=(1,)), random_integer(height, size=(1,))
        half = 0.5 * math.sqrt(1.0 - share)
        half_w, half_h = int(half * width), int(half * height)
        x1, y1, x2, y2 = max(x - half_w, 0), max(y - half_h, 0), min(x + half_w, width), min(y + half_h, height)
        return {"box": (x1, y1, x2, y2), "lam": float(1.0 - (x2 - x1) * (y2 - y1) / (width * height))}

    def _mixed(self, images, params):
        (x1, y1, x2, y2), output = params["box"], images.clone()
        output[..., y1:y2, x1:x2] = images.roll(1, 0)[..., y1:y2, x1:x2]
        return output


class JPEG(Transform):
    """Compress and decompress, with a random quality.

    Parameters
    ----------
    quality : Union[int, Sequence[int]]
        The quality, from 1 to 100, or between what.

    """

    _function = F.jpeg

    def __init__(self, quality):
        super().__init__()
        if isinstance(quality, bool):
            raise TypeError("quality can't be bool")
        if isinstance(quality, int):
            quality = [quality, quality]
        _check_sequence_input(quality, "quality", req_sizes=(2,))
        if not (1 <= quality[0] <= quality[1] <= 100 and all(isinstance(item, int) for item in quality)):
            raise ValueError(f"quality must be an integer from 1 to 100, got quality ={quality}")
        self.quality = quality

    def make_params(self, flat_inputs):
        return {"quality": random_integer(self.quality[1] + 1, self.quality[0])}
