"""Transforms of images, one image at a time: the first version of the interface."""
from dragon.vm.torchvision.transforms.transforms import (  # noqa: F401
    CenterCrop, ColorJitter, Compose, ConvertImageDtype, ElasticTransform, FiveCrop, GaussianBlur, Grayscale,
    InterpolationMode, Lambda, LinearTransformation, Normalize, PILToTensor, Pad, RandomAdjustSharpness, RandomAffine,
    RandomApply, RandomAutocontrast, RandomChoice, RandomCrop, RandomEqualize, RandomErasing, RandomGrayscale,
    RandomHorizontalFlip, RandomInvert, RandomOrder, RandomPerspective, RandomPosterize, RandomResizedCrop,
    RandomRotation, RandomSolarize, RandomVerticalFlip, Resize, TenCrop, ToPILImage, ToTensor)
from dragon.vm.torchvision.transforms.autoaugment import (AugMix, AutoAugment, AutoAugmentPolicy, RandAugment,
                                                          TrivialAugmentWide)
from dragon.vm.torchvision.transforms._scripts import publish as _publish

_publish((AugMix, AutoAugment, AutoAugmentPolicy, CenterCrop, ColorJitter, ConvertImageDtype, ElasticTransform,
          FiveCrop, GaussianBlur, Grayscale, InterpolationMode, LinearTransformation, Normalize, Pad, RandAugment,
          RandomAdjustSharpness, RandomAffine, RandomAutocontrast, RandomCrop, RandomEqualize, RandomErasing,
          RandomGrayscale, RandomHorizontalFlip, RandomInvert, RandomPerspective, RandomPosterize, RandomResizedCrop,
          RandomRotation, RandomSolarize, RandomVerticalFlip, Resize, TenCrop, TrivialAugmentWide), (FiveCrop, TenCrop))
