"""keras.preprocessing.image: pictures as arrays, in files, and changed at random."""
from dragon.vm.guest import lookup
from dragon.vm.keras.utils.image import array_to_img, img_to_array, load_img, save_img, smart_resize  # noqa: F401

__getattr__, __dir__ = lookup(globals(), {
    "legacy.preprocessing.image":
        "DataFrameIterator DirectoryIterator ImageDataGenerator Iterator NumpyArrayIterator apply_affine_transform "
        "apply_brightness_shift apply_channel_shift random_brightness random_channel_shift random_rotation "
        "random_shear random_shift random_zoom",
})
