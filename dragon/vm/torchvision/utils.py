"""Pictures of tensors: grids, files, boxes, masks, keypoints, flows."""
import collections.abc
import math
from itertools import repeat

from dragon.core import warnings
from dragon.core.files import save_picture
from dragon.vm import torch
from dragon.vm.torchvision._pillow import Image, ImageColor, ImageDraw, ImageFont
from dragon.vm.torchvision.transforms.functional import _image_from_array, pil_to_tensor, to_pil_image


@torch.no_grad()
def make_grid(tensor, nrow=8, padding=2, normalize=False, value_range=None, scale_each=False, pad_value=0.0):
    """Return images side by side in one image.

    Parameters
    ----------
    tensor : Union[Tensor, List[Tensor]]
        Images (N, C, H, W), or a list of images.
    nrow : int, optional, default=8
        Images in a row.
    padding : int, optional, default=2
        Pixels between them.
    normalize : bool, optional, default=False
        Whether to stretch values to the range from 0 to 1.
    value_range : Tuple[float, float], optional
        What becomes 0 and 1; least and greatest by default.
    scale_each : bool, optional, default=False
        Whether to stretch each image by itself.
    pad_value : float, optional, default=0.0
        The colour between them.

    Returns
    -------
    Tensor
        The image (C, H, W).

    """
    if isinstance(tensor, list):
        for item in tensor:
            if not torch.is_tensor(item):
                raise TypeError(f"tensor or list of tensors expected, got a list containing {type(item)}")
        tensor = torch.stack(tensor, dim=0)
    if not torch.is_tensor(tensor):
        raise TypeError(f"tensor or list of tensors expected, got {type(tensor)}")
    if tensor.dim() == 2:
        tensor = tensor.unsqueeze(0)
    if tensor.dim() == 3:
        tensor = tensor.unsqueeze(0)
    if tensor.dim() == 4 and tensor.size(1) == 1:
        tensor = torch.cat((tensor, tensor, tensor), 1)
    if normalize is True:
        if value_range is not None and not isinstance(value_range, tuple):
            raise TypeError("value_range has to be a tuple (min, max) if specified. min and max are numbers")
        tensor = tensor.clone()
        for part in tensor if scale_each is True else (tensor,):
            low, high = value_range or (float(part.min()), float(part.max()))
            part.clamp_(min=low, max=high).sub_(low).div_(max(high - low, 1e-5))
    return tensor.squeeze(0) if tensor.size(0) == 1 else _laid_out(tensor, nrow, padding, pad_value)


def _laid_out(tensor, nrow, padding, pad_value):
    count, across = tensor.size(0), min(nrow, tensor.size(0))
    down = math.ceil(count / across)
    height, width = tensor.size(2) + padding, tensor.size(3) + padding
    grid = tensor.new_full((tensor.size(1), height * down + padding, width * across + padding), pad_value)
    for index in range(count):
        top, left = index // across * height + padding, index % across * width + padding
        grid[:, top:top + height - padding, left:left + width - padding] = tensor[index]
    return grid


@torch.no_grad()
def save_image(tensor, fp, format=None, **kwargs):
    """Write images, side by side if there are several, to a file.

    Parameters
    ----------
    tensor : Union[Tensor, List[Tensor]]
        Images, values from 0 to 1.
    fp : Union[str, Path, BinaryIO]
        The file.
    format : str, optional
        Its format; told by its name by default.
    kwargs
        As for `make_grid`.

    """
    grid = make_grid(tensor, **kwargs)
    pixels = grid.mul(255).add_(0.5).clamp_(0, 255).permute(1, 2, 0).to("cpu", torch.uint8).numpy()
    save_picture(Image.fromarray(pixels), fp, format)


def _check_image(image, colours, message):
    if not isinstance(image, torch.Tensor):
        raise TypeError(f"The image must be a tensor, got {type(image)}")
    if not (image.dtype == torch.uint8 or image.is_floating_point()):
        raise ValueError(f"The image dtype must be uint8 or float, got {image.dtype}")
    if image.dim() != 3:
        raise ValueError("Pass individual images, not batches")
    if image.size(0) not in colours:
        raise ValueError(message)


def _canvas(image):
    from dragon.vm.torchvision.transforms.v2.functional import to_dtype
    return to_pil_image(to_dtype(image, dtype=torch.uint8, scale=True) if image.is_floating_point() else image)


def _from_canvas(canvas, dtype):
    from dragon.vm.torchvision.transforms.v2.functional import to_dtype
    drawn = pil_to_tensor(canvas)
    return to_dtype(drawn, dtype=dtype, scale=True) if dtype.is_floating_point else drawn


@torch.no_grad()
def draw_bounding_boxes(image, boxes, labels=None, colors=None, fill=False, width=1, font=None, font_size=None,
                        label_colors=None, label_background_colors=None, fill_labels=False):
    """Return an image with boxes drawn on it.

    Parameters
    ----------
    image : Tensor
        The image (C, H, W).
    boxes : Tensor
        Corners (x1, y1, x2, y2), or the four corners of turned boxes.
    labels : List[str], optional
        What is written in the boxes.
    colors, label_colors, label_background_colors : Union[List, str, Tuple[int, int, int]], optional
        One colour, or one for each box.
    fill, fill_labels : bool, optional, default=False
        Whether boxes and labels are filled.
    width : int, optional, default=1
        Of the lines.
    font, font_size : optional
        A TrueType file, and the size of its letters.

    Returns
    -------
    Tensor
        The image.

    """
    _check_image(image, {1, 3}, "Only grayscale and RGB images are supported")
    if boxes.shape[-1] == 4 and bool((boxes[:, :2] > boxes[:, 2:]).any()):
        raise ValueError("Boxes need to be in (xmin, ymin, xmax, ymax) format. Use torchvision.ops.box_convert to "
                         "convert them")
    count = boxes.shape[0]
    if count == 0:
        warnings.warn("boxes doesn't contain any box. No box was drawn")
        return image
    if labels is not None and len(labels) != count:
        raise ValueError(f"Number of boxes ({count}) and labels ({len(labels)}) mismatch. Please specify labels for "
                         "each box.")
    colors = _parse_colors(colors, num_objects=count)
    written = _parse_colors(label_colors or "black", num_objects=count) if label_colors or fill_labels else colors
    behind = (_parse_colors(label_background_colors, num_objects=count) if fill_labels and label_background_colors
              else colors)
    if font is None and font_size is not None:
        warnings.warn("Argument 'font_size' will be ignored since 'font' is not set.")
    font = ImageFont.load_default() if font is None else ImageFont.truetype(font=font, size=font_size or 10)
    canvas = _canvas(image.tile((3, 1, 1)) if image.size(0) == 1 else image)
    draw = ImageDraw.Draw(canvas, "RGBA") if fill else ImageDraw.Draw(canvas)
    for box, color, label, ink, ground in zip(boxes.to(torch.int64).tolist(), colors, labels or [None] * count,
                                              written, behind):
        _draw_box(draw, box, color, (*color, 100) if fill else None, width)
        if label is not None:
            place = (box[0] + width + 1, box[1] + width + 1)
            if fill_labels:
                left, top, right, bottom = draw.textbbox(place, label, font=font)
                draw.rectangle((left - 1, top - 1, right + 1, bottom + 1), fill=ground)
            draw.text(place, label, fill=ink, font=font)
    return _from_canvas(canvas, image.dtype)


def _draw_box(draw, box, color, fill, width):
    if len(box) == 4:
        draw.rectangle(box, width=width, outline=color, fill=fill)
        return
    corners = list(zip(box[::2], box[1::2]))
    _draw_dashes(draw, corners[0], corners[1], color, width)
    for start, end in zip(corners[1:], corners[2:] + corners[:1]):
        draw.line((start, end), width=width, fill=color)
    draw.polygon(box, fill=fill, outline=None, width=0)


def _draw_dashes(draw, start, end, color, width, dash=5):
    """Draw every second piece of a line; the dashed side tells which way a turned box looks."""
    (x, y), angle = start, math.atan2(end[1] - start[1], end[0] - start[0])
    rest, drawn = math.hypot(end[0] - start[0], end[1] - start[1]), True
    while rest > 0:
        step = min(rest, dash)
        after = (x + math.cos(angle) * step, y + math.sin(angle) * step)
        if drawn:
            draw.line([(x, y), after], color, width)
        (x, y), rest, drawn = after, rest - step, not drawn


@torch.no_grad()
def draw_segmentation_masks(image, masks, alpha=0.8, colors=None):
    """Return an image with masks laid over it; where they overlap, black.

    Parameters
    ----------
    image : Tensor
        The image (3, H, W).
    masks : Tensor
        Booleans (N, H, W).
    alpha : float, optional, default=0.8
        How much of the masks is seen.
    colors : Union[List, str, Tuple[int, int, int]], optional
        One colour, or one for each mask.

    Returns
    -------
    Tensor
        The image.

    """
    _check_image(image, {3}, "Pass an RGB image. Other Image formats are not supported")
    masks = masks[None, :, :] if masks.ndim == 2 else masks
    if masks.ndim != 3:
        raise ValueError("masks must be of shape (H, W) or (batch_size, H, W)")
    if masks.dtype != torch.bool:
        raise ValueError(f"The masks must be of dtype bool. Got {masks.dtype}")
    if masks.shape[-2:] != image.shape[-2:]:
        raise ValueError("The image and the masks must have the same height and width")
    if masks.shape[0] == 0:
        warnings.warn("masks doesn't contain any mask. No mask was drawn")
        return image
    painted = image.detach().clone()
    for mask, color in zip(masks, _parse_colors(colors, num_objects=masks.shape[0], dtype=image.dtype)):
        painted = torch.where(mask, torch.tensor(color, dtype=image.dtype)[:, None, None], painted)
    painted = painted.masked_fill(masks.sum(dim=0) > 1, 0)
    return (image * (1 - alpha) + painted * alpha).to(image.dtype)


@torch.no_grad()
def draw_keypoints(image, keypoints, connectivity=None, colors=None, radius=2, width=3, visibility=None):
    """Return an image with keypoints drawn on it.

    Parameters
    ----------
    image : Tensor
        The image (3, H, W).
    keypoints : Tensor
        Places (instances, K, 2).
    connectivity : List[Tuple[int, int]], optional
        Which of them lines connect.
    colors : Union[str, Tuple[int, int, int]], optional
        The colour.
    radius, width : int, optional
        Of the points, and of the lines.
    visibility : Tensor, optional
        Which of them are drawn.

    Returns
    -------
    Tensor
        The image.

    """
    _check_image(image, {3}, "Pass an RGB image. Other Image formats are not supported")
    if keypoints.ndim != 3:
        raise ValueError("keypoints must be of shape (num_instances, K, 2)")
    if visibility is None:
        visibility = torch.ones(keypoints.shape[:-1], dtype=torch.bool)
    visibility = visibility.squeeze(-1) if visibility.ndim == 3 else visibility
    if visibility.ndim != 2:
        raise ValueError(f"visibility must be of shape (num_instances, K). Got ndim={visibility.ndim}")
    if visibility.shape != keypoints.shape[:-1]:
        raise ValueError("keypoints and visibility must have the same dimensionality for num_instances and K. "
                         f"Got {visibility.shape} and {keypoints.shape}")
    canvas = _canvas(image)
    draw = ImageDraw.Draw(canvas)
    for points, seen in zip(keypoints.to(torch.int64).tolist(), visibility.bool().tolist()):
        for (x, y), shown in zip(points, seen):
            if shown:
                draw.ellipse([x - radius, y - radius, x + radius, y + radius], fill=colors, outline=None, width=0)
        for start, end in connectivity or ():
            if seen[start] and seen[end]:
                draw.line((tuple(points[start]), tuple(points[end])), width=width)
    return _from_canvas(canvas, image.dtype)


@torch.no_grad()
def flow_to_image(flow):
    """Return a picture of an optical flow (2, H, W), directions as hues."""
    if flow.dtype != torch.float:
        raise ValueError(f"Flow should be of dtype torch.float, got {flow.dtype}.")
    batch = flow[None] if flow.ndim == 3 else flow
    if batch.ndim != 4 or batch.shape[1] != 2:
        raise ValueError(f"Input flow should have shape (2, H, W) or (N, 2, H, W), got {flow.shape}.")
    length = batch.pow(2).sum(dim=1).sqrt()
    batch = batch / (length.max() + torch.finfo(flow.dtype).eps)
    length, wheel = batch.pow(2).sum(dim=1).sqrt(), _make_colorwheel()
    place = (torch.atan2(-batch[:, 1], -batch[:, 0]) / math.pi + 1) / 2 * (len(wheel) - 1)
    before = torch.floor(place).to(torch.long)
    share = (place - before)[..., None]
    colour = (1 - share) * (wheel[before] / 255.0) + share * (wheel[(before + 1) % len(wheel)] / 255.0)
    colour = 1 - length[..., None] * (1 - colour)
    image = torch.floor(255 * colour).to(torch.uint8).permute(0, 3, 1, 2).contiguous()
    return image[0] if flow.ndim == 3 else image


def _make_colorwheel():
    """Return 55 colours around the circle: between red, yellow, green, cyan, blue and magenta in uneven steps."""
    rows, sections = [], ((15, 1, 0, 1), (6, 0, 1, -1), (4, 2, 1, 1), (11, 1, 2, -1), (13, 0, 2, 1), (6, 2, 0, -1))
    for steps, moving, full, way in sections:
        for step in range(steps):
            row, level = [0.0, 0.0, 0.0], 255 * step // steps
            row[full], row[moving] = 255.0, float(level if way > 0 else 255 - level)
            rows.append(row)
    return torch.tensor(rows)


def _generate_color_palette(num_objects):
    return [tuple((index * base) % 255 for base in (2 ** 25 - 1, 2 ** 15 - 1, 2 ** 21 - 1))
            for index in range(num_objects)]


def _parse_colors(colors, *, num_objects, dtype=torch.uint8):
    if colors is None:
        colors = _generate_color_palette(num_objects)
    elif isinstance(colors, list):
        if len(colors) < num_objects:
            raise ValueError("Number of colors must be equal or larger than the number of objects, but got "
                             f"{len(colors)} < {num_objects}.")
    elif not isinstance(colors, (tuple, str)):
        raise ValueError(f"colors must be a tuple or a string, or a list thereof, but got {colors}.")
    elif isinstance(colors, tuple) and len(colors) != 3:
        raise ValueError(f"If passed as tuple, colors should be an RGB triplet, but got {colors}.")
    else:
        colors = [colors] * num_objects
    colors = [ImageColor.getrgb(color) if isinstance(color, str) else color for color in colors]
    return [tuple(value / 255 for value in color) for color in colors] if dtype.is_floating_point else colors


def _log_api_usage_once(obj):
    """Count nothing; libraries call this."""


def _make_ntuple(x, n):
    return tuple(x) if isinstance(x, collections.abc.Iterable) else tuple(repeat(x, n))


_Image_fromarray = _image_from_array
