"""Transforms of images, one image at a time: the first version of the interface."""
from dragon.vm.torch.core.missing import module_getattr as _module_getattr
from dragon.vm.torchvision.transforms.transforms import (  # noqa: F401
    CenterCrop, ColorJitter, Compose, ConvertImageDtype, ElasticTransform, FiveCrop, GaussianBlur, Grayscale,
    InterpolationMode, Lambda, LinearTransformation, Normalize, PILToTensor, Pad, RandomAdjustSharpness, RandomAffine,
    RandomApply, RandomAutocontrast, RandomChoice, RandomCrop, RandomEqualize, RandomErasing, RandomGrayscale,
    RandomHorizontalFlip, RandomInvert, RandomOrder, RandomPerspective, RandomPosterize, RandomResizedCrop,
    RandomRotation, RandomSolarize, RandomVerticalFlip, Resize, TenCrop, ToPILImage, ToTensor)
from dragon.vm.torchvision.transforms.autoaugment import (AugMix, AutoAugment, AutoAugmentPolicy, RandAugment,
                                                          TrivialAugmentWide)

__getattr__ = _module_getattr("torchvision.transforms", globals(), frozenset("v2 functional _presets".split()))
