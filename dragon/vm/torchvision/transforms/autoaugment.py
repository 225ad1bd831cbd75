"""Policies of random augmentation, of the first version."""
import math
from enum import Enum

from dragon.vm import torch
from dragon.vm.torchvision.transforms import functional as F
from dragon.vm.torchvision.transforms._arguments import below
from dragon.vm.torchvision.transforms._policies import SPACES, policy_of, space_of
from dragon.vm.torchvision.transforms.functional import InterpolationMode
from dragon.vm.torchvision.transforms.transforms import _Filled


class AutoAugmentPolicy(Enum):
    """The data that a policy was learned on."""

    IMAGENET = "imagenet"
    CIFAR10 = "cifar10"
    SVHN = "svhn"


def apply_op(F, img, op_name, magnitude, interpolation, fill, solarize_scale=1.0):
    """Return the image after one operation; `F` says which functions do it."""
    def affine(shear=(0.0, 0.0), translate=(0, 0), **options):
        return F.affine(img, angle=0.0, translate=list(translate), scale=1.0, shear=list(shear),
                        interpolation=interpolation, fill=fill, **options)
    degrees = math.degrees(math.atan(magnitude)) if op_name.startswith("Shear") else 0.0
    steps = {
        "Identity": lambda: img,
        "ShearX": lambda: affine(shear=(degrees, 0.0), center=[0, 0]),
        "ShearY": lambda: affine(shear=(0.0, degrees), center=[0, 0]),
        "TranslateX": lambda: affine(translate=(int(magnitude), 0)),
        "TranslateY": lambda: affine(translate=(0, int(magnitude))),
        "Rotate": lambda: F.rotate(img, magnitude, interpolation=interpolation, fill=fill),
        "Brightness": lambda: F.adjust_brightness(img, 1.0 + magnitude),
        "Color": lambda: F.adjust_saturation(img, 1.0 + magnitude),
        "Contrast": lambda: F.adjust_contrast(img, 1.0 + magnitude),
        "Sharpness": lambda: F.adjust_sharpness(img, 1.0 + magnitude),
        "Posterize": lambda: F.posterize(img, int(magnitude)),
        "Solarize": lambda: F.solarize(img, magnitude * solarize_scale),
        "AutoContrast": lambda: F.autocontrast(img),
        "Equalize": lambda: F.equalize(img),
        "Invert": lambda: F.invert(img),
    }
    if op_name not in steps:
        raise ValueError(f"The provided operator {op_name} is not recognized.")
    return steps[op_name]()


def _apply_op(img, op_name, magnitude, interpolation, fill):
    """Return the image after one operation of the first version."""
    return apply_op(F, img, op_name, magnitude, interpolation, fill)


class _Policy(_Filled):
    """Hold how pixels are made, and the fill."""

    def __init__(self, interpolation, fill):
        super().__init__()
        self.interpolation, self.fill = interpolation, fill

    def _random_op(self, img, space, fill, magnitude_index):
        name = list(space)[below(len(space))]
        magnitudes, signed = space[name]
        magnitude = magnitudes[magnitude_index()] if magnitudes is not None else 0.0
        if signed and below(2):
            magnitude *= -1.0
        return _apply_op(img, name, magnitude, self.interpolation, fill)


class AutoAugment(_Policy):
    """Apply one of the pairs of operations of a learned policy.

    Parameters
    ----------
    policy : AutoAugmentPolicy, optional, default=AutoAugmentPolicy.IMAGENET
        The policy.

    """

    _fields = ("policy", "fill")

    def __init__(self, policy=AutoAugmentPolicy.IMAGENET, interpolation=InterpolationMode.NEAREST, fill=None):
        super().__init__(interpolation, fill)
        self.policy, self.policies = policy, self._get_policies(policy)

    def _get_policies(self, policy):
        if not isinstance(policy, AutoAugmentPolicy):
            raise ValueError(f"The provided policy {policy} is not recognized.")
        return policy_of(policy.value)

    def _augmentation_space(self, num_bins, image_size):
        return space_of(SPACES["auto"], num_bins, image_size)

    @staticmethod
    def get_params(transform_num):
        """Return a random pair, and for both of it whether it applies and its sign."""
        return int(torch.randint(transform_num, (1,)).item()), torch.rand((2,)), torch.randint(2, (2,))

    def forward(self, img):
        fill, (_, height, width) = self._fill_for(img), F.get_dimensions(img)
        chosen, probs, signs = self.get_params(len(self.policies))
        space = self._augmentation_space(10, (height, width))
        for index, (name, p, step) in enumerate(self.policies[chosen]):
            if probs[index] <= p:
                magnitudes, signed = space[name]
                magnitude = magnitudes[step] if step is not None else 0.0
                if signed and signs[index] == 0:
                    magnitude *= -1.0
                img = _apply_op(img, name, magnitude, self.interpolation, fill)
        return img


class RandAugment(_Policy):
    """Apply random operations of one strength.

    Parameters
    ----------
    num_ops : int, optional, default=2
        How many.
    magnitude : int, optional, default=9
        How strong, in bins.
    num_magnitude_bins : int, optional, default=31
        How many bins.
    interpolation, fill : optional
        As for `AutoAugment`.

    """

    _fields = ("num_ops", "magnitude", "num_magnitude_bins", "interpolation", "fill")

    def __init__(self, num_ops=2, magnitude=9, num_magnitude_bins=31, interpolation=InterpolationMode.NEAREST,
                 fill=None):
        super().__init__(interpolation, fill)
        self.num_ops, self.magnitude, self.num_magnitude_bins = num_ops, magnitude, num_magnitude_bins

    def _augmentation_space(self, num_bins, image_size):
        return space_of(SPACES["rand"], num_bins, image_size)

    def forward(self, img):
        fill, (_, height, width) = self._fill_for(img), F.get_dimensions(img)
        space = self._augmentation_space(self.num_magnitude_bins, (height, width))
        for _ in range(self.num_ops):
            img = self._random_op(img, space, fill, lambda: self.magnitude)
        return img


class TrivialAugmentWide(_Policy):
    """Apply one random operation of random strength.

    Parameters
    ----------
    num_magnitude_bins, interpolation, fill
        As for `RandAugment`.

    """

    _fields = ("num_magnitude_bins", "interpolation", "fill")

    def __init__(self, num_magnitude_bins=31, interpolation=InterpolationMode.NEAREST, fill=None):
        super().__init__(interpolation, fill)
        self.num_magnitude_bins = num_magnitude_bins

    def _augmentation_space(self, num_bins):
        return space_of(SPACES["trivial"], num_bins, (0, 0))

    def forward(self, img):
        space = self._augmentation_space(self.num_magnitude_bins)
        return self._random_op(img, space, self._fill_for(img), lambda: below(self.num_magnitude_bins))


class AugMix(_Policy):
    """Mix an image with several chains of random operations on it.

    Parameters
    ----------
    severity : int, optional, default=3
        How strong the operations are, up to 10.
    mixture_width : int, optional, default=3
        How many chains.
    chain_depth : int, optional, default=-1
        Operations in a chain; from 1 to 3 at random if not positive.
    alpha : float, optional, default=1.0
        The concentration of the weights.
    all_ops : bool, optional, default=True
        Whether brightness, colour, contrast and sharpness are among the operations.
    interpolation, fill : optional
        As for `AutoAugment`.

    """

    _fields = ("severity", "mixture_width", "chain_depth", "alpha", "all_ops", "interpolation", "fill")
    _PARAMETER_MAX = 10

    def __init__(self, severity=3, mixture_width=3, chain_depth=-1, alpha=1.0, all_ops=True,
                 interpolation=InterpolationMode.BILINEAR, fill=None):
        super().__init__(interpolation, fill)
        if not 1 <= severity <= self._PARAMETER_MAX:
            raise ValueError(f"The severity must be between [1, {self._PARAMETER_MAX}]. Got {severity} instead.")
        self.severity, self.mixture_width, self.chain_depth = severity, mixture_width, chain_depth
        self.alpha, self.all_ops = alpha, all_ops

    def _augmentation_space(self, num_bins, image_size):
        return space_of(SPACES["mix" if self.all_ops else "mix part"], num_bins, image_size)

    def _sample_dirichlet(self, params):
        return torch._sample_dirichlet(params)

    def _weights(self, size):
        rows = torch.tensor([self.alpha, self.alpha]).expand(size, -1)
        ours = self._sample_dirichlet(rows)
        chains = self._sample_dirichlet(torch.tensor([self.alpha] * self.mixture_width).expand(size, -1))
        return ours[:, 0], chains * ours[:, 1].view(size, -1)

    def forward(self, orig_img):
        fill, (_, height, width) = self._fill_for(orig_img), F.get_dimensions(orig_img)
        img = orig_img if isinstance(orig_img, torch.Tensor) else F.pil_to_tensor(orig_img)
        space = self._augmentation_space(self._PARAMETER_MAX, (height, width))
        batch = img.reshape([1] * max(4 - img.ndim, 0) + list(img.shape))
        lone = [batch.shape[0]] + [1] * (batch.ndim - 1)
        ours, chains = self._weights(batch.shape[0])
        mix = ours.view(lone) * batch
        for chain in range(self.mixture_width):
            changed = batch
            for _ in range(self.chain_depth if self.chain_depth > 0 else below(4, 1)):
                changed = self._random_op(changed, space, fill, lambda: below(self.severity))
            mix = mix + chains[:, chain].view(lone) * changed
        mix = mix.view(img.shape).to(dtype=img.dtype)
        return mix if isinstance(orig_img, torch.Tensor) else F.to_pil_image(mix)
