"""Transforms of the second version: of images, videos, masks, boxes and keypoints, in any structure."""
from dragon.vm.torchvision.transforms.autoaugment import AutoAugmentPolicy
from dragon.vm.torchvision.transforms.functional import InterpolationMode
from dragon.vm.torchvision.transforms.v2 import functional
from dragon.vm.torchvision.transforms.v2._transform import Transform
from dragon.vm.torchvision.transforms.v2._augment import CutMix, JPEG, MixUp, RandomErasing
from dragon.vm.torchvision.transforms.v2._auto_augment import AugMix, AutoAugment, RandAugment, TrivialAugmentWide
from dragon.vm.torchvision.transforms.v2._color import (
    ColorJitter, Grayscale, RandomAdjustSharpness, RandomAutocontrast, RandomChannelPermutation, RandomEqualize,
    RandomGrayscale, RandomInvert, RandomPhotometricDistort, RandomPosterize, RandomSolarize, RGB)
from dragon.vm.torchvision.transforms.v2._container import Compose, RandomApply, RandomChoice, RandomOrder
from dragon.vm.torchvision.transforms.v2._geometry import (
    CenterCrop, ElasticTransform, FiveCrop, Pad, RandomAffine, RandomCrop, RandomHorizontalFlip, RandomIoUCrop,
    RandomPerspective, RandomResize, RandomResizedCrop, RandomRotation, RandomShortestSize, RandomVerticalFlip,
    RandomZoomOut, Resize, ScaleJitter, TenCrop)
from dragon.vm.torchvision.transforms.v2._misc import (
    ClampBoundingBoxes, ClampKeyPoints, ConvertBoundingBoxFormat, ConvertImageDtype, GaussianBlur, GaussianNoise,
    Identity, Lambda, LinearTransformation, Normalize, PILToTensor, SanitizeBoundingBoxes, SanitizeKeyPoints,
    SetClampingMode, ToDtype, ToImage, ToPILImage, ToPureTensor, ToTensor, UniformTemporalSubsample)
from dragon.vm.torchvision.transforms.v2._utils import (check_type, get_bounding_boxes, get_keypoints, has_all,
                                                        has_any, query_chw, query_size)
