"""Flips, sizes, parts and warps: of images, masks, boxes and keypoints."""
from dragon.core.refusals import refusing
from dragon.vm import torch
from dragon.vm.torchvision.transforms import _functional_tensor as F_t, functional as F1
from dragon.vm.torchvision.transforms.functional import InterpolationMode
from dragon.vm.torchvision.transforms.v2.functional._boxes import (
    Move, affine_move, boxes_through, elastic_move, flip_boxes, flip_points, perspective_coefficients,
    perspective_move, shift_boxes)
from dragon.vm.torchvision.transforms.v2.functional._utils import (
    as_batch, as_image, check_interpolation, functional, of_mask)

BILINEAR, NEAREST = InterpolationMode.BILINEAR, InterpolationMode.NEAREST


def horizontal_flip_image(image):
    """Return the image with left and right exchanged."""
    return image.flip(-1)


def vertical_flip_image(image):
    """Return the image with top and bottom exchanged."""
    return image.flip(-2)


def _sizes(canvas, size, max_size=None):
    size = [size] if isinstance(size, int) else size
    if max_size is not None and size is not None and len(size) != 1:
        raise ValueError("max_size should only be passed if size is None or specifies the length of the smaller edge, "
                         "i.e. size should be an int or a sequence of length 1 in torchscript mode.")
    return F1._compute_resized_output_size(tuple(canvas), size, max_size, allow_size_none=True)


def resize_image(image, size, interpolation=BILINEAR, max_size=None, antialias=True):
    """Return the image in another size."""
    interpolation, before = check_interpolation(interpolation), list(image.shape[-2:])
    if interpolation is InterpolationMode.LANCZOS:
        raise NotImplementedError("resize: got InterpolationMode.LANCZOS for a tensor; Dragon has it for images of "
                                  "Pillow only")
    after = _sizes(before, size, max_size)
    if after == before:
        return image
    return as_batch(lambda batch: F_t.resize(batch, after, interpolation.value, antialias), image)


def _resize_pillow(image, size, interpolation=BILINEAR, max_size=None, antialias=True):
    before = [image.height, image.width]
    after = _sizes(before, size, max_size)
    return F1.resize(image, after, check_interpolation(interpolation), antialias=antialias)


def _resized(values, count, size, canvas_size, max_size):
    height, width = _sizes(canvas_size, size, max_size)
    if (height, width) == tuple(canvas_size):
        return values, canvas_size
    ratios = torch.tensor([width / canvas_size[1], height / canvas_size[0]] * count)
    return values.mul(ratios).to(values.dtype), (height, width)


def _resize_boxes(boxes, size, format, canvas_size, max_size=None):
    Move.check(format, "resize")
    return _resized(boxes, 2, size, canvas_size, max_size)


def _resize_points(points, size, canvas_size, max_size=None):
    return _resized(points, 1, size, canvas_size, max_size)


def pad_image(image, padding, fill=None, padding_mode="constant"):
    """Return the image with a margin."""
    left, right, top, bottom = F_t._parse_pad_padding(padding)
    fill = 0 if fill is None else fill
    if isinstance(fill, (int, float)) or len(fill) == 1:
        value = fill if isinstance(fill, (int, float)) else fill[0]
        return as_batch(lambda batch: F_t.pad(batch, padding, value, padding_mode), image)
    if padding_mode != "constant":
        raise ValueError(f"Padding mode '{padding_mode}' is not supported if fill is not scalar")
    output = as_batch(lambda batch: F_t.pad(batch, padding, 0, "constant"), image)
    colour = torch.tensor(fill).to(image.dtype).reshape(-1, 1, 1)
    height, width = output.shape[-2:]
    rows, columns = torch.arange(height).reshape(-1, 1), torch.arange(width)
    margin = (rows < top) | (rows >= height - bottom) | (columns < left) | (columns >= width - right)
    return torch.where(margin, colour, output)


def _pad_mask(mask, padding, fill=None, padding_mode="constant"):
    if isinstance(fill, (tuple, list)):
        raise ValueError("Non-scalar fill value is not supported")
    return as_image(mask, lambda image: pad_image(image, padding, fill, padding_mode))


def _padded(canvas_size, padding, padding_mode, what):
    if padding_mode != "constant":
        raise ValueError(f"Padding mode '{padding_mode}' is not supported with {what}")
    left, right, top, bottom = F_t._parse_pad_padding(padding)
    return left, top, (canvas_size[0] + top + bottom, canvas_size[1] + left + right)


def _pad_boxes(boxes, padding, format, canvas_size, clamping_mode="soft", padding_mode="constant"):
    left, top, canvas = _padded(canvas_size, padding, padding_mode, "bounding boxes")
    return shift_boxes(boxes, left, top, format, canvas, clamping_mode)


def _pad_points(points, padding, canvas_size, padding_mode="constant"):
    left, top, canvas = _padded(canvas_size, padding, padding_mode, "KeyPoints")
    return points + torch.tensor([left, top], dtype=points.dtype), canvas


def crop_image(image, top, left, height, width):
    """Return a part of the image; what lies outside is zero."""
    return as_batch(lambda batch: F_t.crop(batch, top, left, height, width), image)


def _crop_boxes(boxes, top, left, height, width, format, clamping_mode="soft"):
    return shift_boxes(boxes, -left, -top, format, (height, width), clamping_mode)


def _crop_points(points, top, left, height, width):
    canvas = (height, width)
    return points - torch.tensor([left, top], dtype=points.dtype), canvas


def _middle(output_size, canvas):
    height, width = F1._two(output_size)
    return int(round((canvas[0] - height) / 2.0)), int(round((canvas[1] - width) / 2.0)), height, width


def center_crop_image(image, output_size):
    """Return the middle of the image; what lies outside is zero."""
    return as_batch(lambda batch: F1.center_crop(batch, output_size), image)


def _center_crop_boxes(boxes, output_size, format, canvas_size, clamping_mode="soft"):
    return _crop_boxes(boxes, *_middle(output_size, canvas_size), format, clamping_mode)


def _center_crop_points(points, output_size, canvas_size):
    return _crop_points(points, *_middle(output_size, canvas_size))


def resized_crop_image(image, top, left, height, width, size, interpolation=BILINEAR, antialias=True):
    """Return a part of the image in another size."""
    return resize_image(crop_image(image, top, left, height, width), size, interpolation, antialias=antialias)


def _resized_crop_pillow(image, top, left, height, width, size, interpolation=BILINEAR, antialias=True):
    return _resize_pillow(F1.crop(image, top, left, height, width), size, interpolation, antialias=antialias)


def _resized_crop_boxes(boxes, top, left, height, width, size, format, clamping_mode="soft"):
    boxes, canvas = _crop_boxes(boxes, top, left, height, width, format, clamping_mode)
    return _resize_boxes(boxes, size, format, canvas)


def _resized_crop_points(points, top, left, height, width, size):
    points, canvas = _crop_points(points, top, left, height, width)
    return _resize_points(points, size, canvas)


def affine_image(image, angle, translate, scale, shear, interpolation=NEAREST, fill=None, center=None):
    """Return the image turned, shifted, scaled and sheared."""
    def warp(batch):
        return F1.affine(batch, angle, translate, scale, shear, check_interpolation(interpolation), fill, center)
    return as_batch(warp, image)


def _affine_pillow(image, angle, translate, scale, shear, interpolation=NEAREST, fill=None, center=None):
    return F1.affine(image, angle, translate, scale, shear, check_interpolation(interpolation), fill, center)


def _affine_boxes(boxes, angle, translate, scale, shear, format, canvas_size, clamping_mode="soft", center=None):
    move = affine_move(canvas_size, angle, translate, scale, F1._check_affine(angle, translate, scale, shear, center),
                       center)
    return boxes_through(move, boxes, format, canvas_size, clamping_mode)


def _affine_points(points, angle, translate, scale, shear, canvas_size, center=None):
    shear = F1._check_affine(angle, translate, scale, shear, center)
    return affine_move(canvas_size, angle, translate, scale, shear, center)(points)


@refusing
def rotate_image(image, angle, interpolation=NEAREST, expand=False, center=None, fill=None):
    """Return the image turned against the clock by an angle in degrees."""
    angle = angle % 360
    turns = {0: 0, 180: 2}
    if expand or image.shape[-1] == image.shape[-2]:
        turns.update({90: 1, 270: 3})
    if center is None and angle in turns:
        return torch.rot90(image, k=turns[angle], dims=(-2, -1)) if angle else image.clone()

    def warp(batch):
        return F1.rotate(batch, angle, check_interpolation(interpolation), expand, center, fill)
    return as_batch(warp, image)


def _rotate_pillow(image, angle, interpolation=NEAREST, expand=False, center=None, fill=None):
    return F1.rotate(image, angle, check_interpolation(interpolation), expand, center, fill)


def _rotation(canvas_size, angle, expand, center):
    move = affine_move(canvas_size, -angle, [0.0, 0.0], 1.0, [0.0, 0.0], center)
    if not expand:
        return move, canvas_size
    height, width = canvas_size
    corners = move(torch.tensor([[0.0, 0.0], [0.0, height], [width, height], [width, 0.0]]))
    first = corners.amin(0)
    matrix = F1._get_inverse_affine_matrix(center or [width * 0.5, height * 0.5], -angle, [0.0, 0.0], 1.0, [0.0, 0.0])
    new_width, new_height = F_t._compute_affine_output_size(matrix, width, height)
    return (lambda points: move(points) - first.to(points.dtype)), (new_height, new_width)


def _rotate_boxes(boxes, angle, format, canvas_size, clamping_mode="soft", expand=False, center=None):
    move, canvas = _rotation(canvas_size, angle, expand, center)
    return boxes_through(move, boxes, format, canvas, clamping_mode), canvas


def _rotate_points(points, angle, canvas_size, expand=False, center=None):
    move, canvas = _rotation(canvas_size, angle, expand, center)
    values = points if points.is_floating_point() else points.float()
    return move(values).to(points.dtype), canvas


def perspective_image(image, startpoints, endpoints, interpolation=BILINEAR, fill=None, coefficients=None):
    """Return the image with four points moved to four others, or projected by coefficients."""
    coeffs, mode = perspective_coefficients(startpoints, endpoints, coefficients), check_interpolation(interpolation)
    return as_batch(lambda batch: F_t.perspective(batch, coeffs, mode.value, fill), image)


def _perspective_pillow(image, startpoints, endpoints, interpolation=BILINEAR, fill=None, coefficients=None):
    coeffs, mode = perspective_coefficients(startpoints, endpoints, coefficients), check_interpolation(interpolation)
    return F1.F_pil.perspective(image, coeffs, interpolation=F1.pil_modes_mapping[mode], fill=fill)


def _perspective_boxes(boxes, startpoints, endpoints, format, canvas_size, clamping_mode="soft", coefficients=None):
    move = perspective_move(perspective_coefficients(startpoints, endpoints, coefficients))
    return boxes_through(move, boxes, format, canvas_size, clamping_mode)


def _perspective_points(points, startpoints, endpoints, canvas_size, coefficients=None):
    move = perspective_move(perspective_coefficients(startpoints, endpoints, coefficients))
    values = points if points.is_floating_point() else points.float()
    return move(values).to(points.dtype)


def elastic_image(image, displacement, interpolation=BILINEAR, fill=None):
    """Return the image read at places shifted by a displacement (1, H, W, 2)."""
    if not isinstance(displacement, torch.Tensor):
        raise TypeError("Argument displacement should be a Tensor")
    expected = (1, *image.shape[-2:], 2)
    if expected != tuple(displacement.shape):
        raise ValueError(f"Argument displacement shape should be {expected}, but given {displacement.shape}")
    mode = check_interpolation(interpolation)
    return as_batch(lambda batch: F_t.elastic_transform(batch, displacement, mode.value, fill), image)


def _elastic_pillow(image, displacement, interpolation=BILINEAR, fill=None):
    return F1.through_tensor(lambda tensor: elastic_image(tensor, displacement, interpolation, fill), image)


def _elastic_boxes(boxes, displacement, format, canvas_size, clamping_mode="soft"):
    move = elastic_move(displacement, canvas_size)
    return boxes_through(move, boxes, format, canvas_size, clamping_mode, whole=True)


def _elastic_points(points, displacement, canvas_size):
    values = points if points.is_floating_point() else points.float()
    return elastic_move(displacement, canvas_size)(values).to(points.dtype)


def five_crop_image(image, size):
    """Return the four corners and the middle of the image."""
    return F1.five_crop(image, size)


def ten_crop_image(image, size, vertical_flip=False):
    """Return the four corners and the middle of the image, and of its mirror image."""
    return F1.ten_crop(image, size, vertical_flip)


horizontal_flip = functional("horizontal_flip", horizontal_flip_image, F1.hflip, horizontal_flip_image,
                             flip_boxes(0), flip_points(0))
vertical_flip = functional("vertical_flip", vertical_flip_image, F1.vflip, vertical_flip_image, flip_boxes(1),
                           flip_points(1))
hflip, vflip = horizontal_flip, vertical_flip
resize = functional("resize", resize_image, _resize_pillow, of_mask(resize_image, interpolation=NEAREST), _resize_boxes,
                    _resize_points)
pad = functional("pad", pad_image, F1.pad, _pad_mask, _pad_boxes, _pad_points)
crop = functional("crop", crop_image, F1.crop, of_mask(crop_image), _crop_boxes, _crop_points)
center_crop = functional("center_crop", center_crop_image, F1.center_crop, of_mask(center_crop_image),
                         _center_crop_boxes, _center_crop_points)
resized_crop = functional("resized_crop", resized_crop_image, _resized_crop_pillow,
                          of_mask(resized_crop_image, interpolation=NEAREST), _resized_crop_boxes, _resized_crop_points)
affine = functional("affine", affine_image, _affine_pillow, of_mask(affine_image, interpolation=NEAREST),
                    _affine_boxes, _affine_points)
rotate = functional("rotate", rotate_image, _rotate_pillow, of_mask(rotate_image, interpolation=NEAREST),
                    _rotate_boxes, _rotate_points)
perspective = functional("perspective", perspective_image, _perspective_pillow,
                         of_mask(perspective_image, interpolation=NEAREST), _perspective_boxes, _perspective_points)
elastic = functional("elastic", elastic_image, _elastic_pillow, of_mask(elastic_image, interpolation=NEAREST),
                     _elastic_boxes, _elastic_points)
elastic_transform = elastic
five_crop = functional("five_crop", five_crop_image, F1.five_crop, several=True)
ten_crop = functional("ten_crop", ten_crop_image, F1.ten_crop, several=True)
