"""Data sets of the pictures in a directory."""
from dragon.vm.keras.ops.common import standard_format
from dragon.vm.keras.utils.directories import check_arguments, make_datasets
from dragon.vm.shared.letters import expect

FORMATS = (".bmp", ".gif", ".jpeg", ".jpg", ".png")
CHANNELS = {"rgb": 3, "rgba": 4, "grayscale": 1}
INTERPOLATIONS = ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5")


def image_dataset_from_directory(directory, labels="inferred", label_mode="int", class_names=None, color_mode="rgb",
                                 batch_size=32, image_size=(256, 256), shuffle=True, seed=None, validation_split=None,
                                 subset=None, interpolation="bilinear", follow_links=False, crop_to_aspect_ratio=False,
                                 pad_to_aspect_ratio=False, data_format=None, format="tf", verbose=True):
    """Return a `tf.data.Dataset` of the pictures in a directory, or one of the package `grain`.

    Parameters
    ----------
    image_size : Tuple[int, int], optional, default=(256, 256)
        Height and width.
    crop_to_aspect_ratio, pad_to_aspect_ratio : bool, optional, default=False
        Cut or fill pictures to the new proportions first.

    Returns
    -------
    Union[Dataset, List[Dataset]]
        Two for both subsets. They have `class_names` and `file_paths`.

    """
    labels, label_mode = check_arguments(labels, label_mode, class_names, format, validation_split, subset, shuffle,
                                         seed)
    if color_mode not in CHANNELS:
        raise ValueError("`color_mode` must be one of {\"rgb\", \"rgba\", \"grayscale\"}. "
                         f"Received: color_mode={color_mode}")
    image_size = (image_size, image_size) if isinstance(image_size, int) else image_size
    if not isinstance(image_size, (list, tuple)) or len(image_size) != 2:
        raise ValueError("Invalid `image_size` value. Expected a tuple of 2 integers. "
                         f"Received: image_size={image_size}")
    interpolation = expect(interpolation, str, "image_dataset_from_directory", "interpolation").lower()
    if interpolation in ("gaussian", "mitchellcubic"):
        raise NotImplementedError(f"This interpolation is not there. Received: interpolation={interpolation}")
    if interpolation not in INTERPOLATIONS:
        raise ValueError(f"Argument `interpolation` should be one of {INTERPOLATIONS}. "
                         f"Received: interpolation={interpolation}")
    if pad_to_aspect_ratio and crop_to_aspect_ratio:
        raise ValueError("Only one of `pad_to_aspect_ratio`, `crop_to_aspect_ratio` can be set to `True`. "
                         "Received: both")
    load = _loader(tuple(image_size), CHANNELS[color_mode], interpolation, standard_format(data_format),
                   crop_to_aspect_ratio, pad_to_aspect_ratio)
    return make_datasets(directory, labels, label_mode, class_names, batch_size, shuffle, seed, validation_split,
                         subset, follow_links, verbose, FORMATS, load, what="images", format=format)


def _loader(size, channels, interpolation, data_format, crop, pad):
    """Return what makes a float32 picture of a path."""
    from dragon.vm.keras.ops.common import ops
    from dragon.vm.keras.ops.image.resizing import resize
    from dragon.vm.shared.files.pictures import read_picture
    from dragon.vm.shared.tensors.convert import adopt_array
    from dragon.vm.shared.tensors.dtypes import float32

    def load(path):
        name = path.numpy() if hasattr(path, "numpy") else path
        with open(name, "rb") as file:
            picture = read_picture(file.read(), channels, "decode_image")
        picture = adopt_array(picture)
        picture = picture if interpolation == "nearest" else ops.cast(picture, float32)
        if pad:
            made = _padded(picture, size, interpolation)
        else:
            made = resize(picture, size, interpolation, crop_to_aspect_ratio=crop, data_format="channels_last")
        return made if data_format == "channels_last" else _channels_first(made)
    return load


def _padded(picture, size, interpolation):
    """Return a picture of a size that is not reached in one of the directions, with zeros around it."""
    from dragon.vm.keras.ops.image.crop import pad_images
    from dragon.vm.keras.ops.image.resizing import resize
    height, width = picture.shape[:2]
    ratio = max(width / size[1], height / size[0])
    tall, wide = height / ratio, width / ratio
    made = resize(picture, (int(tall), int(wide)), interpolation, data_format="channels_last")
    top, left = max(0, int((size[0] - tall) // 2)), max(0, int((size[1] - wide) // 2))
    return pad_images(made, top, left, target_height=size[0], target_width=size[1], data_format="channels_last")


def _channels_first(x):
    from dragon.vm.keras.ops.common import ops
    return ops.permute(x, [2, 0, 1])
