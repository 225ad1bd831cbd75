"""Boxes and their labels, drawn into a picture with Pillow."""
import math

from dragon.vm.torch.utils.tensorboard.charts import pillow

COLOR, TEXT_COLOR, WIDTH = "Red", "black", 2


def draw(pixels, boxes, labels=None, rescale=1):
    """Return a picture's bytes with boxes, changed in size if wanted.

    Parameters
    ----------
    pixels : numpy.ndarray
        (height, width, channels), of bytes.
    boxes : numpy.ndarray
        (boxes, 4): left, top, right, bottom.
    labels : List[str], optional
        A text for each box.
    rescale : float, optional, default=1
        By how much to enlarge the picture, boxes and all.

    Returns
    -------
    numpy.ndarray
        The picture.

    """
    import numpy as np
    image = pillow("add_image_with_boxes").fromarray(pixels)
    for place, box in enumerate(boxes):
        _draw_box(image, [float(number) for number in box[:4]], labels[place] if labels else None)
    if rescale != 1:
        image = image.resize((int(image.width * rescale), int(image.height * rescale)), 1)  # Lanczos' filter
    return np.asarray(image)


def _draw_box(image, box, label):
    from PIL import ImageDraw, ImageFont
    drawing, font = ImageDraw.Draw(image), ImageFont.load_default()
    left, top, right, bottom = box
    drawing.line([(left, top), (left, bottom), (right, bottom), (right, top), (left, top)], width=WIDTH, fill=COLOR)
    if label:
        text_left, text_top, text_right, text_bottom = font.getbbox(label)
        width, height = text_right - text_left, text_bottom - text_top
        margin = math.ceil(0.05 * height)
        drawing.rectangle([(left, bottom - height - 2 * margin), (left + width, bottom)], fill=COLOR)
        drawing.text((left + margin, bottom - height - margin), label, fill=TEXT_COLOR, font=font)
