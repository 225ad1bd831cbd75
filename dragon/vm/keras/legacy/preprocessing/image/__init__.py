"""keras.legacy.preprocessing.image: pictures moved, shifted in colour and read from folders, a batch at a time."""
from dragon.vm.guest import lookup
from dragon.vm.keras.legacy.preprocessing.image.colors import (
    apply_brightness_shift, apply_channel_shift, random_brightness, random_channel_shift)
from dragon.vm.keras.legacy.preprocessing.image.generator import ImageDataGenerator
from dragon.vm.keras.legacy.preprocessing.image.iterators import Iterator, NumpyArrayIterator
from dragon.vm.keras.legacy.preprocessing.image.moves import (
    apply_affine_transform, flip_axis, random_rotation, random_shear, random_shift, random_zoom)

__getattr__, __dir__ = lookup(globals(), {
    ".files": "BatchFromFilesMixin DirectoryIterator",
    ".frames": "DataFrameIterator validate_filename",
})
