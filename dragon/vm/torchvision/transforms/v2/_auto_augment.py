"""Policies of random augmentation."""
from dragon.vm import torch
from dragon.vm.torch.utils._pytree import tree_flatten, tree_unflatten
from dragon.vm.torchvision import tv_tensors
from dragon.vm.torchvision._pillow import Image
from dragon.vm.torchvision.transforms._functional_tensor import _max_value
from dragon.vm.torchvision.transforms._policies import SPACES, policy_of, space_of
from dragon.vm.torchvision.transforms.autoaugment import apply_op, AutoAugmentPolicy
from dragon.vm.torchvision.transforms.v2 import functional as F
from dragon.vm.torchvision.transforms.v2._transform import Transform
from dragon.vm.torchvision.transforms.v2._utils import _get_fill, check_type, is_pure_tensor, random_integer


class _AutoAugmentBase(Transform):
    def __init__(self, *, interpolation="nearest", fill=None):
        super().__init__()
        self.interpolation = interpolation
        self._hold_fill(fill)

    def _extract_params_for_v1_transform(self):
        params = super()._extract_params_for_v1_transform()
        if isinstance(params["fill"], dict):
            raise ValueError(f"{type(self).__name__}() can not be scripted for when `fill` is a dictionary.")
        return params

    def _only_image(self, flat):
        found = []
        for index, (inpt, needs) in enumerate(zip(flat, self._needs_transform_list(flat))):
            if needs and check_type(inpt, (tv_tensors.Image, Image.Image, is_pure_tensor, tv_tensors.Video)):
                found.append(index)
            elif isinstance(inpt, (tv_tensors.BoundingBoxes, tv_tensors.Mask, tv_tensors.KeyPoints)):
                raise TypeError(f"Inputs of type {type(inpt).__name__} are not supported by {type(self).__name__}()")
        if not found:
            raise TypeError("Found no image in the sample.")
        if len(found) > 1:
            raise TypeError("Auto augment transformations are only properly defined for a single image or video, but "
                            f"found {len(found)}.")
        return found[0]

    def forward(self, *inputs):
        flat, spec = tree_flatten(inputs if len(inputs) > 1 else inputs[0])
        index = self._only_image(flat)
        flat[index] = self._augment(flat[index])
        return tree_unflatten(flat, spec)

    def _space(self, name, bins, image):
        return space_of(SPACES[name], bins, F.get_size(image), white=1.0)

    def _apply(self, image, name, magnitude):
        return self._apply_image_or_video_transform(image, name, magnitude, self.interpolation, self._fill)

    def _apply_image_or_video_transform(self, image, transform_id, magnitude, interpolation, fill):
        white = _max_value(image.dtype) if isinstance(image, torch.Tensor) else 255.0
        return apply_op(F, image, transform_id, magnitude, interpolation, _get_fill(fill, type(image)), white)

    def _random(self, image, space, step):
        """Return the image after a random operation of a space; `step` chooses the magnitude."""
        name = list(space)[random_integer(len(space))]
        return self._apply(image, name, self._magnitude(*space[name], step))

    def _magnitude(self, magnitudes, signed, step):
        if magnitudes is None:
            return 0.0
        magnitude = float(magnitudes[step()])
        return -magnitude if signed and torch.rand(()) <= 0.5 else magnitude


class AutoAugment(_AutoAugmentBase):
    """Apply one of the pairs of operations of a learned policy; see the first version."""

    def __init__(self, policy=AutoAugmentPolicy.IMAGENET, interpolation="nearest", fill=None):
        super().__init__(interpolation=interpolation, fill=fill)
        if not isinstance(policy, AutoAugmentPolicy):
            raise ValueError(f"The provided policy {policy} is not recognized.")
        self.policy, self._policies = policy, policy_of(policy.value)

    def _augment(self, image):
        space = self._space("auto", 10, image)
        for name, p, step in self._policies[random_integer(len(self._policies))]:
            if torch.rand(()) <= p:
                image = self._apply(image, name, self._magnitude(*space[name], lambda: step))
        return image


class RandAugment(_AutoAugmentBase):
    """Apply random operations of one strength; see the first version."""

    def __init__(self, num_ops=2, magnitude=9, num_magnitude_bins=31, interpolation="nearest", fill=None):
        super().__init__(interpolation=interpolation, fill=fill)
        if not isinstance(num_ops, int) or num_ops < 0:
            raise ValueError(f"num_ops should be a non-negative integer, but got {num_ops} instead.")
        self.num_ops, self.magnitude, self.num_magnitude_bins = num_ops, magnitude, num_magnitude_bins

    def _augment(self, image):
        space = self._space("rand", self.num_magnitude_bins, image)
        for _ in range(self.num_ops):
            image = self._random(image, space, lambda: self.magnitude)
        return image


class TrivialAugmentWide(_AutoAugmentBase, takes="num_magnitude_bins=31, interpolation='nearest', fill=None"):
    """Apply one random operation of random strength; see the first version."""

    def _augment(self, image):
        return self._random(image, self._space("trivial", self.num_magnitude_bins, image),
                            lambda: random_integer(self.num_magnitude_bins))


class AugMix(_AutoAugmentBase):
    """Mix an image with several chains of random operations on it; see the first version."""

    _PARAMETER_MAX = 10

    def __init__(self, severity=3, mixture_width=3, chain_depth=-1, alpha=1.0, all_ops=True, interpolation="bilinear",
                 fill=None):
        super().__init__(interpolation=interpolation, fill=fill)
        if not 1 <= severity <= self._PARAMETER_MAX:
            raise ValueError(f"The severity must be between [1, {self._PARAMETER_MAX}]. Got {severity} instead.")
        self.severity, self.mixture_width, self.chain_depth = severity, mixture_width, chain_depth
        self.alpha, self.all_ops = alpha, all_ops

    def _sample_dirichlet(self, params):
        return torch._sample_dirichlet(params)

    def _augment(self, original):
        image = original if isinstance(original, torch.Tensor) else F.pil_to_tensor(original)
        space = self._space("mix" if self.all_ops else "mix part", self._PARAMETER_MAX, original)
        rank = 5 if isinstance(original, tv_tensors.Video) else 4
        shape = tuple(image.shape)
        batch = image.as_subclass(torch.Tensor).reshape([1] * max(rank - image.ndim, 0) + list(shape))
        count, lone = batch.shape[0], [batch.shape[0]] + [1] * (batch.ndim - 1)
        ours = self._sample_dirichlet(torch.tensor([self.alpha, self.alpha]).expand(count, -1))
        chains = self._sample_dirichlet(torch.tensor([self.alpha] * self.mixture_width).expand(count, -1))
        chains = chains * ours[:, 1].reshape(count, -1)
        mix = ours[:, 0].reshape(lone) * batch
        for chain in range(self.mixture_width):
            changed = batch
            for _ in range(self.chain_depth if self.chain_depth > 0 else random_integer(4, 1, (1,))):
                changed = self._random(changed, space, lambda: random_integer(self.severity))
            mix = mix + chains[:, chain].reshape(lone) * changed
        mix = mix.reshape(shape).to(dtype=image.dtype)
        if isinstance(original, Image.Image):
            return F.to_pil_image(mix)
        return mix if is_pure_tensor(original) else tv_tensors.wrap(mix, like=original)
