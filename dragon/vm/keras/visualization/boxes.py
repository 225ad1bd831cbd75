"""Boxes and what is in them, drawn into images by Pillow."""
from dragon.vm.keras.core.convert import convert_to_numpy
from dragon.vm.keras.ops.common import standard_format
from dragon.vm.keras.utils.bounding_boxes import convert_format
from dragon.vm.keras.visualization.gallery import (
    import_pyplot, plot_image_gallery, require_batch, with_channels_last)
from dragon.vm.shared.files.pictures import pillow

LETTER_HEIGHT = 12  # pixels of a letter at scale 1


def _as_pixels(images):
    """Return images as integers from 0 to 255; floats up to 1 are meant to be parts of it."""
    import numpy
    if images.dtype.kind == "f" and images.size:
        images = numpy.clip(images, 0, 1) * 255 if images.max() <= 1.0 else numpy.clip(images, 0, 255)
    return images.astype("uint8")


def _text_place(x, y, font_scale, thickness):
    """Return where a text begins: above the box, or inside where there is no room."""
    height = int(font_scale * LETTER_HEIGHT)
    return (x, y - 8 - height) if y - 8 - 2 * height > 0 else (x + 3, y + height + thickness + 3)


def draw_bounding_boxes(images, bounding_boxes, bounding_box_format, class_mapping=None, color=(128, 128, 128),
                        line_thickness=2, text_thickness=1, font_scale=1.0, data_format=None):
    """Return images with boxes, and what is in them.

    Parameters
    ----------
    images : Any
        A batch of images.
    bounding_boxes : Dict[str, Any]
        "boxes" of the shape (batch, boxes, 4), "labels" with the classes, -1 for none, and perhaps "confidences".
    bounding_box_format : str
        What the four numbers are, as of `keras.utils.bounding_boxes.convert_format`.
    class_mapping : Dict[int, str], optional
        What classes are called; others have no text.
    color : Tuple[int, int, int], optional, default=(128, 128, 128)
        Of lines and texts.
    line_thickness, text_thickness : int, optional
        In pixels: 2 and 1.
    font_scale : float, optional, default=1.0
        The size of texts.
    data_format : str, optional
        "channels_last" or "channels_first"; the configured one by default.

    Returns
    -------
    numpy.ndarray
        Of dtype uint8, and of the shape of the images.

    """
    import numpy
    image_of = pillow("draw_bounding_boxes")
    from PIL import ImageDraw, ImageFont
    images = require_batch(images)
    if not isinstance(bounding_boxes, dict):
        raise TypeError(f"`bounding_boxes` should be a dict. Received: bounding_boxes={bounding_boxes} of type "
                        f"{type(bounding_boxes)}")
    if "boxes" not in bounding_boxes or "labels" not in bounding_boxes:
        raise ValueError("`bounding_boxes` should be a dict containing 'boxes' and 'labels' keys. Received: "
                         f"bounding_boxes={bounding_boxes}")
    pixels = _as_pixels(with_channels_last(images, data_format))
    height, width = pixels.shape[1:3]
    found = convert_format(dict(bounding_boxes), bounding_box_format, "xyxy", height, width)
    boxes, labels = (convert_to_numpy(found[name]).astype("int32") for name in ("boxes", "labels"))
    sure = convert_to_numpy(found["confidences"]) if "confidences" in found else None
    font, thickness = ImageFont.load_default(font_scale * LETTER_HEIGHT), text_thickness or line_thickness
    made = []
    for number, image in enumerate(pixels):
        picture = image_of.fromarray(image if image.shape[-1] > 1 else image[..., 0])
        draw, shown = ImageDraw.Draw(picture), tuple(color)[:image.shape[-1]] if image.shape[-1] > 1 else color[0]
        for place, (box, label) in enumerate(zip(boxes[number].tolist(), labels[number].tolist())):
            if label == -1:
                continue
            left, top = min(box[0], box[2]) - line_thickness // 2, min(box[1], box[3]) - line_thickness // 2
            right, bottom = max(box[0], box[2]) + line_thickness // 2, max(box[1], box[3]) + line_thickness // 2
            draw.rectangle((left, top, right, bottom), outline=shown, width=line_thickness)
            if label in (class_mapping or {}):
                text = class_mapping[label] + ("" if sure is None else f" | {sure[number][place]:.2f}")
                draw.text(_text_place(box[0], box[1], font_scale, thickness), text, fill=shown, font=font,
                          stroke_width=thickness - 1)
        made.append(numpy.asarray(picture).reshape(image.shape))
    made = numpy.stack(made) if made else pixels
    return numpy.moveaxis(made, -1, 1) if standard_format(data_format) == "channels_first" else made


def plot_bounding_box_gallery(images, bounding_box_format, y_true=None, y_pred=None, value_range=(0, 255),
                              true_color=(0, 188, 212), pred_color=(255, 235, 59), line_thickness=2, font_scale=1.0,
                              text_thickness=None, class_mapping=None, ground_truth_mapping=None,
                              prediction_mapping=None, legend=False, legend_handles=None, rows=None, cols=None,
                              data_format=None, **kwargs):
    """Show images with boxes, those that are right and those that were guessed.

    Parameters
    ----------
    images : Any
        A batch of images.
    bounding_box_format : str
        As of `draw_bounding_boxes`.
    y_true, y_pred : Dict[str, Any], optional
        Boxes and labels.
    value_range : Tuple[float, float], optional, default=(0, 255)
        Between which the images' numbers are.
    true_color, pred_color : Tuple[int, int, int], optional
        Of the boxes.
    line_thickness, font_scale, text_thickness, class_mapping : optional
        As of `draw_bounding_boxes`.
    ground_truth_mapping, prediction_mapping : Dict[int, str], optional
        What classes are called, of one kind of boxes.
    legend : bool, optional, default=False
        Whether colours are explained.
    legend_handles : List[matplotlib.patches.Patch], optional
        What the legend explains in the place of that.
    rows, cols : int, optional
        As of `plot_image_gallery`.
    data_format : str, optional
        "channels_last" or "channels_first"; the configured one by default.
    **kwargs : Any
        Of `plot_image_gallery`.

    """
    import_pyplot("plot_bounding_box_gallery")
    from matplotlib.patches import Patch
    pixels = with_channels_last(require_batch(images), data_format)
    for boxes, color, names in ((y_true, true_color, ground_truth_mapping), (y_pred, pred_color, prediction_mapping)):
        if boxes is not None:
            pixels = draw_bounding_boxes(pixels, boxes, bounding_box_format, names or class_mapping, color,
                                         line_thickness, text_thickness, font_scale, "channels_last")
    if legend and legend_handles:
        raise ValueError("Only pass `legend` OR `legend_handles` to `keras.visualization.plot_bounding_box_gallery()`.")
    if legend:
        legend_handles = [Patch(color=[part / 255 for part in color], label=label)
                          for color, label in ((true_color, "Ground Truth"), (pred_color, "Prediction"))]
    return plot_image_gallery(pixels, value_range=value_range, legend_handles=legend_handles, rows=rows, cols=cols,
                              data_format="channels_last", **kwargs)
