"""keras.preprocessing.image: pictures as arrays, and in files."""
from dragon.vm.keras.utils.image import array_to_img, img_to_array, load_img, save_img, smart_resize  # noqa: F401
