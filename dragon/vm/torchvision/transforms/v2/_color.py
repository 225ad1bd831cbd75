"""Transforms of colours."""
from collections.abc import Sequence

from dragon.vm import torch
from dragon.vm.torchvision.transforms._arguments import uniform
from dragon.vm.torchvision.transforms.v2 import functional as F
from dragon.vm.torchvision.transforms.v2._transform import _RandomApplyTransform, Transform
from dragon.vm.torchvision.transforms.v2._utils import query_chw


class Grayscale(Transform, takes="num_output_channels=1"):
    """Make grey, in 1 or 3 channels."""

    _function, _options = F.rgb_to_grayscale, ("num_output_channels",)


class RandomGrayscale(_RandomApplyTransform, takes="p=0.1"):
    """Make grey, in as many channels, with a probability `p`."""

    _function = F.rgb_to_grayscale

    def make_params(self, flat_inputs):
        return {"num_output_channels": query_chw(flat_inputs)[0]}


class RGB(Transform):
    """Make three channels of one."""

    _function = F.grayscale_to_rgb


class ColorJitter(Transform):
    """Change brightness, contrast, saturation and hue at random, in random order.

    Parameters
    ----------
    brightness, contrast, saturation, hue : Union[float, Sequence[float]], optional
        How far, or between what.

    """

    _names = ("brightness", "contrast", "saturation", "hue")

    def __init__(self, brightness=None, contrast=None, saturation=None, hue=None):
        super().__init__()
        self.brightness = self._check_input(brightness, "brightness")
        self.contrast = self._check_input(contrast, "contrast")
        self.saturation = self._check_input(saturation, "saturation")
        self.hue = self._check_input(hue, "hue", center=0, bound=(-0.5, 0.5), clip_first_on_zero=False)

    def _extract_params_for_v1_transform(self):
        return {name: value or 0 for name, value in super()._extract_params_for_v1_transform().items()}

    def _check_input(self, value, name, center=1.0, bound=(0, float("inf")), clip_first_on_zero=True):
        if value is None:
            return None
        if isinstance(value, (int, float)):
            if value < 0:
                raise ValueError(f"If {name} is a single number, it must be non negative.")
            value = [center - value, center + value]
            value[0] = max(value[0], 0.0) if clip_first_on_zero else value[0]
        elif isinstance(value, Sequence) and len(value) == 2:
            value = [float(item) for item in value]
        else:
            raise TypeError(f"{name}={value} should be a single number or a sequence with length 2.")
        if not bound[0] <= value[0] <= value[1] <= bound[1]:
            raise ValueError(f"{name} values should be between {bound} and increasing, but got {value}.")
        return None if value[0] == value[1] == center else (float(value[0]), float(value[1]))

    def make_params(self, flat_inputs):
        order = torch.randperm(4).tolist()
        spans = [getattr(self, name) for name in self._names]
        return {"order": order, "factors": [None if span is None else uniform(*span) for span in spans]}

    def transform(self, inpt, params):
        for index in params["order"]:
            if params["factors"][index] is not None:
                inpt = self._call_kernel(getattr(F, f"adjust_{self._names[index]}"), inpt, params["factors"][index])
        return inpt


class RandomChannelPermutation(Transform):
    """Put the channels into random order."""

    def make_params(self, flat_inputs):
        return {"permutation": torch.randperm(query_chw(flat_inputs)[0])}

    def transform(self, inpt, params):
        return self._call_kernel(F.permute_channels, inpt, params["permutation"])


class RandomPhotometricDistort(Transform):
    """Change brightness, contrast, saturation, hue and the order of channels, each with a probability.

    Parameters
    ----------
    brightness, contrast, saturation, hue : Tuple[float, float], optional
        Between what.
    p : float, optional, default=0.5
        The probability of each.

    """

    def __init__(self, brightness=(0.875, 1.125), contrast=(0.5, 1.5), saturation=(0.5, 1.5), hue=(-0.05, 0.05),
                 p=0.5):
        super().__init__()
        self.brightness, self.contrast, self.hue, self.saturation, self.p = brightness, contrast, hue, saturation, p

    def make_params(self, flat_inputs):
        channels = query_chw(flat_inputs)[0]
        params = {name: uniform(*getattr(self, name)) if torch.rand(1) < self.p else None
                  for name in ("brightness", "contrast", "saturation", "hue")}
        params["contrast first"] = bool(torch.rand(()) < 0.5)
        params["permutation"] = torch.randperm(channels) if torch.rand(1) < self.p else None
        return params

    def transform(self, inpt, params):
        first = params["contrast first"]
        for name in ("brightness", *(["contrast"] if first else []), "saturation", "hue",
                     *([] if first else ["contrast"])):
            if params[name] is not None:
                inpt = self._call_kernel(getattr(F, f"adjust_{name}"), inpt, params[name])
        if params["permutation"] is not None:
            inpt = self._call_kernel(F.permute_channels, inpt, params["permutation"])
        return inpt


class RandomEqualize(_RandomApplyTransform):
    """Flatten the histogram with a probability `p`."""

    _function = F.equalize


class RandomInvert(_RandomApplyTransform):
    """Make the negative with a probability `p`."""

    _function = F.invert


class RandomAutocontrast(_RandomApplyTransform):
    """Stretch from black to white with a probability `p`."""

    _function = F.autocontrast


class RandomPosterize(_RandomApplyTransform, takes="bits, p=0.5"):
    """Keep fewer bits per channel with a probability `p`."""

    _function, _options = F.posterize, ("bits",)


class RandomSolarize(_RandomApplyTransform, takes="threshold, p=0.5"):
    """Invert values from a threshold on with a probability `p`."""

    _function, _options = F.solarize, ("threshold",)

    def _extract_params_for_v1_transform(self):
        return {"threshold": float(self.threshold), "p": self.p}


class RandomAdjustSharpness(_RandomApplyTransform, takes="sharpness_factor, p=0.5"):
    """Sharpen or blur with a probability `p`."""

    def transform(self, inpt, params):
        return self._call_kernel(F.adjust_sharpness, inpt, self.sharpness_factor)
