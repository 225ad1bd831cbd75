"""Layers that prepare images."""
from dragon.vm.keras.layers.preprocessing.image_preprocessing.affine import (  # noqa: F401
    RandomRotation, RandomShear, RandomTranslation, RandomZoom)
from dragon.vm.keras.layers.preprocessing.image_preprocessing.colors import (  # noqa: F401
    RandomColorDegeneration, RandomColorJitter, RandomGrayscale, RandomHue, RandomPosterization, RandomSaturation,
    RandomSharpness)
from dragon.vm.keras.layers.preprocessing.image_preprocessing.crops import (  # noqa: F401
    CenterCrop, RandomCrop, Resizing)
from dragon.vm.keras.layers.preprocessing.image_preprocessing.flips import RandomFlip  # noqa: F401
from dragon.vm.keras.layers.preprocessing.image_preprocessing.histograms import (  # noqa: F401
    ContrastLimitedAdaptiveHistogramEqualization, Equalization)
from dragon.vm.keras.layers.preprocessing.image_preprocessing.light import (  # noqa: F401
    AutoContrast, RandomBrightness, RandomContrast, RandomInvert, Solarization)
from dragon.vm.keras.layers.preprocessing.image_preprocessing.mixes import (  # noqa: F401
    CutMix, MixUp, RandomErasing)
from dragon.vm.keras.layers.preprocessing.image_preprocessing.policies import (  # noqa: F401
    AugMix, MaxNumBoundingBoxes, RandAugment)
from dragon.vm.keras.layers.preprocessing.image_preprocessing.warps import (  # noqa: F401
    RandomElasticTransform, RandomGaussianBlur, RandomPerspective)
