"""Which class each pixel is of, in colours over images."""
from dragon.vm.keras.core.convert import convert_to_numpy, convert_to_tensor
from dragon.vm.keras.core.dtypes import is_int_dtype, standardize_dtype
from dragon.vm.keras.ops.common import standard_format
from dragon.vm.keras.visualization.gallery import plot_image_gallery, require_batch, with_channels_last

PALETTE = (2 ** 25 - 1, 2 ** 15 - 1, 2 ** 21 - 1)  # multiples of these, below 255, differ from class to class


def _as_classes(masks, data_format):
    """Return masks as integers of the shape (batch, height, width)."""
    import numpy
    masks = convert_to_tensor(masks)
    if not is_int_dtype(masks.dtype):
        raise TypeError("`segmentation_masks` must be in integer dtype. Received: segmentation_masks.dtype="
                        f"{standardize_dtype(masks.dtype)}")
    found = convert_to_numpy(masks)
    return found if found.ndim == 3 else numpy.squeeze(
        found, 1 if standard_format(data_format) == "channels_first" else -1)


def draw_segmentation_masks(images, segmentation_masks, num_classes=None, color_mapping=None, alpha=0.8, blend=True,
                            ignore_index=-1, data_format=None):
    """Return images with a colour over the pixels of each class.

    Parameters
    ----------
    images : Any
        A batch of images.
    segmentation_masks : Any
        The class of each pixel, of the shape (batch, height, width) or with an axis of one channel.
    num_classes : int, optional
        How many classes are drawn, from 0; as many as the largest number by default.
    color_mapping : Dict[int, Tuple[int, int, int]], optional
        The classes' colours.
    alpha : float, optional, default=0.8
        How much of a colour there is.
    blend : bool, optional, default=True
        Whether the image shines through.
    ignore_index : int, optional, default=-1
        A class that is not drawn.
    data_format : str, optional
        "channels_last" or "channels_first"; the configured one by default.

    Returns
    -------
    numpy.ndarray
        Images whose channels are last: of dtype uint8, or of float32 where they are not blended.

    """
    import numpy
    images = with_channels_last(require_batch(images), data_format).astype("float32")
    classes = _as_classes(segmentation_masks, data_format)
    count = int(classes.max(initial=0)) if num_classes is None else num_classes
    drawn = images.copy()
    for number in range(count):
        color = [number * part % 255 for part in PALETTE] if color_mapping is None else color_mapping[number]
        drawn[classes == number] = numpy.asarray(color, "float32")
    if not blend:
        return drawn
    mixed = images * (1 - alpha) + drawn * alpha
    return numpy.where((classes != ignore_index)[..., None], mixed, images).astype("uint8")


def plot_segmentation_mask_gallery(images, num_classes, value_range=(0, 255), y_true=None, y_pred=None,
                                   color_mapping=None, blend=True, alpha=0.8, ignore_index=-1, data_format=None,
                                   **kwargs):
    """Show a row for each image: itself, and with its masks.

    Parameters
    ----------
    images : Any
        A batch of images.
    num_classes : int
        How many classes are drawn, from 0.
    value_range : Tuple[float, float], optional, default=(0, 255)
        Between which the images' numbers are.
    y_true, y_pred : Any, optional
        The class of each pixel, and that which was guessed.
    color_mapping, blend, alpha, ignore_index, data_format : optional
        As of `draw_segmentation_masks`.
    **kwargs : Any
        Of `plot_image_gallery`.

    """
    import numpy
    plain = with_channels_last(require_batch(images), data_format)
    columns = [plain]
    for masks in (y_true, y_pred):
        if masks is not None:
            classes = convert_to_numpy(masks).astype("int32")
            columns.append(draw_segmentation_masks(
                images, classes, num_classes, color_mapping, alpha, blend, ignore_index, data_format))
    gallery = numpy.stack(columns, axis=1).reshape(-1, *plain.shape[1:])
    return plot_image_gallery(gallery, value_range=value_range, rows=len(plain), cols=len(columns),
                              data_format="channels_last", **kwargs)
