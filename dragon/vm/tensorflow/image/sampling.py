"""Boxes drawn at random that still show enough of an object: TensorFlow's draws, bit by bit."""
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.seed import next_stream
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import float32
from dragon.vm.shared.tensors.tensor import ops

SMALLEST = 1.0  # area of a box that counts
WORDS = 4  # of an attempt, as far as streams are concerned: others are drawn again at need


class _Words:
    """A stream of words of 32 bits."""

    def __init__(self, stream):
        self.stream, self.words, self.place = stream, [], 0

    def take(self):
        """Return the next word."""
        if self.place == len(self.words):
            count = max(64, 4 * len(self.words))
            self.words = ops.stateless_integers(self.stream, (count,), dtype="int32").numpy().view("uint32").tolist()
        self.place += 1
        return self.words[self.place - 1]

    def take_share(self):
        """Return a number in [0, 1), made of 23 bits."""
        return (self.take() & 0x7FFFFF) / 2 ** 23

    def take_below(self, limit):
        """Return a number below a limit, each as often as the others."""
        if limit & (limit - 1) == 0:
            return self.take() & (limit - 1) if limit else self.take() * 0
        least = (2 ** 32 - 1) % limit + 1
        while True:
            word = self.take()
            if word >= least:
                return word % limit


def _area(box):
    return float(max(box[2] - box[0], 0) * max(box[3] - box[1], 0))


def _shows(crop, boxes, share):
    """Return whether a crop covers enough of any box; boxes are (left, top, right, bottom)."""
    if _area(crop) < SMALLEST:
        return False
    for box in boxes:
        area = _area(box)
        if area < SMALLEST:
            continue
        common = (max(crop[0], box[0]), max(crop[1], box[1]), min(crop[2], box[2]), min(crop[3], box[3]))
        if _area(common) / area >= share:
            return True
    return False


def _draw_crop(columns, rows, areas, ratio, words):
    """Return a crop (left, top, right, bottom) of an aspect ratio, or None where that does not fit."""
    import numpy as np
    single = np.float32
    if areas[1] <= 0 or ratio <= 0 or columns <= 0 or rows <= 0 or areas[0] > areas[1]:
        return None
    least, most = (single(area) * single(columns) * single(rows) for area in areas)
    height, highest = (int(np.rint(np.sqrt(area / ratio))) for area in (least, most))
    if int(np.rint(single(highest) * ratio)) > columns:
        highest = int(single(columns + 0.5 - 1e-7) / ratio)
        highest -= int(np.rint(single(highest) * ratio)) > columns
    highest = min(highest, rows)
    height = min(height, highest)
    if height < highest:
        height += words.take_below(highest - height + 1)

    def wide(height):
        return int(np.rint(single(height) * ratio))
    if wide(height) * height < least:
        height += 1
    if wide(height) * height > most:
        height -= 1
    width = wide(height)
    if not least <= width * height <= most or not 0 < width <= columns or not 0 < height <= rows:
        return None
    top = words.take_below(rows - height) if height < rows else 0
    left = words.take_below(columns - width) if width < columns else 0
    return left, top, left + width, top + height


def _check(size, boxes, share, ratios, areas, attempts):
    """Raise an error for arguments that make no sense."""
    if size.dtype.kind not in "iu" or size.shape != (3,):
        raise invalid_argument(f"image_size must be of 3 integers. Received: {size}")
    if boxes.ndim != 3 or boxes.shape[-1] != 4:
        raise invalid_argument(f"bounding_boxes must be of shape [batch, boxes, 4]. Received: {list(boxes.shape)}")
    if boxes.size and not (0 <= boxes.min() and boxes.max() <= 1):
        raise invalid_argument(f"All bounding box coordinates must be in [0.0, 1.0]. Received: {boxes}")
    if not share >= 0:
        raise invalid_argument(f"Min object covered must be non-negative. Received: min_object_covered={share}")
    if len(ratios) != 2 or min(ratios) <= 0:
        raise invalid_argument(f"Aspect ratio range must be of 2 positive numbers. Received: "
                               f"aspect_ratio_range={ratios}")
    if len(areas) != 2 or min(areas) <= 0 or max(areas) > 1:
        raise invalid_argument(f"Area range must be of 2 numbers within (0, 1]. Received: area_range={areas}")
    if attempts <= 0:
        raise invalid_argument(f"Max attempts must be positive. Received: max_attempts={attempts}")


def _sample(stream, image_size, bounding_boxes, share, ratios, areas, attempts, whole):
    """Return the beginning, the size and the box that a stream of words draws."""
    import numpy as np
    size, boxes = convert_to_tensor(image_size), convert_to_tensor(bounding_boxes, dtype_hint=float32).numpy()
    share = float(convert_to_tensor(share, dtype_hint=float32))
    ratios, areas = ratios or (0.75, 1.33), areas or (0.05, 1.0)
    attempts = 100 if attempts is None else int(attempts)
    _check(size.numpy(), boxes, share, ratios, areas, attempts)
    rows, columns, _ = size.tolist()
    if not boxes.size and not whole:
        raise invalid_argument("No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes "
                               f"if you wish to not provide any bounding boxes. Received: {boxes}")
    scale = np.array([columns, rows, columns, rows], np.float32)
    found = [tuple(map(int, box[[1, 0, 3, 2]] * scale)) for box in boxes.reshape(-1, 4)]
    found = found or [(0, 0, columns, rows)]
    words, low, high = _Words(stream(attempts)), np.float32(ratios[0]), np.float32(ratios[1])
    crop = (0, 0, columns, rows)
    for _ in range(attempts):
        ratio = np.float32(words.take_share()) * (high - low) + low
        drawn = _draw_crop(columns, rows, areas, ratio, words)
        if drawn is not None and _shows(drawn, found, share):
            crop = drawn
            break
    left, top, right, bottom = crop
    box = np.array([[[top, left, bottom, right]]], np.float32) / scale[[1, 0, 1, 0]]
    return (ops.cast(convert_to_tensor([top, left, 0]), size.dtype),
            ops.cast(convert_to_tensor([bottom - top, right - left, -1]), size.dtype), convert_to_tensor(box))


def sample_distorted_bounding_box(image_size, bounding_boxes, seed=0, min_object_covered=0.1, aspect_ratio_range=None,
                                  area_range=None, max_attempts=None, use_image_if_no_bounding_boxes=None, name=None):
    """Return a random box that still shows enough of an object.

    Parameters
    ----------
    image_size : Tensor
        Height, width and channels.
    bounding_boxes : Tensor
        (batch, boxes, 4): rows of y1, x1, y2, x2 between 0 and 1.
    seed : int, optional, default=0
        Together with `tf.random.set_seed` it fixes the box; 0 for none.
    min_object_covered : float, optional, default=0.1
        The part of any box that is to be seen.
    aspect_ratio_range : Tuple[float, float], optional, default=(0.75, 1.33)
        Width by height.
    area_range : Tuple[float, float], optional, default=(0.05, 1.0)
        The part of the picture that is to be seen.
    max_attempts : int, optional, default=100
        After so many the whole picture is taken.
    use_image_if_no_bounding_boxes : bool, optional, default=False
        Whether the whole picture counts as a box where there is none.

    Returns
    -------
    Tuple[Tensor, Tensor, Tensor]
        Where to begin and how much to take, for `tf.slice`; and the box, for `draw_bounding_boxes`.

    """
    def stream(attempts):
        return _restart() if not seed else next_stream(seed, "sample_distorted_bounding_box", attempts, WORDS // 4)
    return _sample(stream, image_size, bounding_boxes, min_object_covered, aspect_ratio_range, area_range,
                   max_attempts, use_image_if_no_bounding_boxes)


def _restart():
    """Return a stream that nobody can foresee."""
    import secrets
    return convert_to_tensor([secrets.randbits(31) for _ in range(3)], "int64")


def stateless_sample_distorted_bounding_box(image_size, bounding_boxes, seed, min_object_covered=0.1,
                                            aspect_ratio_range=None, area_range=None, max_attempts=None,
                                            use_image_if_no_bounding_boxes=None, name=None):
    """Return a random box, a function of a seed of two integers; see `sample_distorted_bounding_box`."""
    words = ops.cast(convert_to_tensor(seed, dtype_hint="int32"), "int64")
    if tuple(words.shape) != (2,):
        raise invalid_argument(f"seed must have shape [2], not {list(words.shape)}. Received: seed={seed}")
    return _sample(lambda attempts: words, image_size, bounding_boxes, min_object_covered, aspect_ratio_range,
                   area_range, max_attempts, use_image_if_no_bounding_boxes)
