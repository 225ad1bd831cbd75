"""Images beside each other, by Matplotlib, which is imported when it is needed."""
import math

from dragon.core.files import replacing
from dragon.vm.keras.core.convert import convert_to_numpy, convert_to_tensor
from dragon.vm.keras.ops.common import standard_format


def require_batch(images):
    """Return images as a tensor, or raise unless they are a batch."""
    images = convert_to_tensor(images)
    if len(images.shape) != 4:
        raise ValueError(f"`images` must be batched 4D tensor. Received: images.shape={tuple(images.shape)}")
    return images


def with_channels_last(images, data_format):
    """Return a batch as an array whose channels are last."""
    import numpy
    images = convert_to_numpy(images)
    return numpy.moveaxis(images, 1, -1) if standard_format(data_format) == "channels_first" else images


def import_pyplot(who):
    """Return Matplotlib's module of plots, or say that it is needed."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(f"{who}: galleries are drawn by Matplotlib, which is not installed (pip install matplotlib)",
                          name="matplotlib") from error
    return pyplot


def _titles(index, y_true, y_pred, label_map):
    said = []
    for word, classes in (("Label", y_true), ("Pred", y_pred)):
        if classes is not None and index < len(classes):
            said.append(f"{word}: {label_map.get(classes[index], 'Unknown')}")
    return "  ".join(said)


def plot_image_gallery(images, y_true=None, y_pred=None, label_map=None, rows=None, cols=None, value_range=(0, 255),
                       scale=2, path=None, show=None, transparent=True, dpi=60, legend_handles=None,
                       data_format=None):
    """Show images in rows and columns, or write them into a file.

    Parameters
    ----------
    images : Any
        A batch of images.
    y_true, y_pred : Any, optional
        Their classes, and those that were guessed.
    label_map : Dict[int, str], optional
        What classes are called; needed where there are any.
    rows, cols : int, optional
        How many; as square as they can be by default.
    value_range : Tuple[float, float], optional, default=(0, 255)
        Between which the images' numbers are.
    scale : float, optional, default=2
        How many inches a picture has.
    path : str, optional
        A file to write.
    show : bool, optional
        Whether it is shown; by default unless there is a path.
    transparent : bool, optional, default=True
        Whether the file has no background.
    dpi : int, optional, default=60
        Dots of an inch.
    legend_handles : List[matplotlib.patches.Patch], optional
        What the legend explains.
    data_format : str, optional
        "channels_last" or "channels_first"; the configured one by default.

    """
    import numpy
    pyplot = import_pyplot("plot_image_gallery")
    if path is not None and show:
        raise ValueError("plot_gallery() expects either `path` to be set, or `show` to be true.")
    if (y_true is not None or y_pred is not None) and label_map is None:
        raise ValueError("If `y_true` or `y_pred` are provided, a `label_map` must also be provided.")
    images = with_channels_last(require_batch(images), data_format)
    y_true, y_pred = (None if classes is None else convert_to_numpy(classes) for classes in (y_true, y_pred))
    rows = rows or math.ceil(math.sqrt(len(images)))
    cols = cols or math.ceil(len(images) / rows)
    low, high = value_range
    pixels = (numpy.asarray(images, "float32") - low) / (high - low) * 255
    figure, axes = pyplot.subplots(rows, cols, figsize=(cols * scale, rows * scale), frameon=False, layout="tight",
                                   squeeze=False, sharex="row", sharey="col")
    if legend_handles is not None:
        figure.legend(handles=legend_handles, loc="lower center")
    for index, place in enumerate(axes.flat):
        place.axis("off")
        if index < len(pixels):
            place.imshow(pixels[index].astype("uint8"))
            place.margins(x=0, y=0)
            title = _titles(index, y_true, y_pred, label_map)
            if title:
                place.set_title(title, fontsize=8)
    if path is not None:
        kind = str(path).rpartition(".")[2] if "." in str(path) else "png"
        with replacing(path) as file:
            figure.savefig(file, format=kind, pad_inches=0, bbox_inches="tight", transparent=transparent, dpi=dpi)
    elif show is None or show:
        pyplot.show()
    pyplot.close(figure)
