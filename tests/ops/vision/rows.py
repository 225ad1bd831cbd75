"""Rows of resizing, grid sampling, sliding windows and pixel shuffling."""
import itertools

from harness import FLOATING, INEXACT, SINGLES, Given, Row, Sample, Wrong

LOOSE = {"float32": (1e-4, 1e-5, "weights are computed in another order"),
         "float16": (2e-2, 2e-2, "weights are computed in float"),
         "bfloat16": (5e-2, 5e-2, "weights are computed in float")}
LINE, IMAGE, VOLUME = (2, 3, 5), (2, 2, 5, 4), (1, 2, 3, 4, 2)
RESIZE = [
    Sample(LINE, (7,)), Sample(IMAGE, (3, 7)), Sample(VOLUME, (2, 5, 4)), Sample(IMAGE, scale_factor=(1.7, 0.6)),
    Sample(LINE, scale_factor=(2.0,)), Sample(IMAGE, (8, 6), mode="nearest-exact"),
    Sample(LINE, (7,), mode="linear"), Sample(LINE, (7,), mode="linear", align_corners=True),
    Sample(IMAGE, (3, 9), mode="bilinear"), Sample(IMAGE, (3, 9), mode="bilinear", align_corners=True),
    Sample(IMAGE, scale_factor=(1.7, 0.6), mode="bilinear"),
    Sample(IMAGE, scale_factor=(1.7, 0.6), mode="bilinear", recompute_scale_factor=True),
    Sample(IMAGE, (8, 3), mode="bicubic"), Sample(IMAGE, (8, 3), mode="bicubic", align_corners=True),
    Sample(VOLUME, (5, 3, 4), mode="trilinear"), Sample(VOLUME, (5, 3, 4), mode="trilinear", align_corners=True),
    Sample(IMAGE, (2, 7), mode="area"), Sample(IMAGE, (2, 7), mode="bilinear", antialias=True),
    Sample(IMAGE, (2, 7), mode="bicubic", antialias=True),
    Sample(IMAGE, (2, 7), mode="lanczos", antialias=True), Sample(IMAGE, (5, 4), mode="bilinear"),
    Sample(IMAGE, (1, 1), mode="bilinear"), Sample((1, 1, 1, 1), (3, 3), mode="bicubic"),
]
BAD_RESIZE = [
    Wrong(IMAGE, (2, 2), mode="cubic", says="cubic"), Wrong(IMAGE, (2, 2), mode="linear", says="linear"),
    Wrong(IMAGE, says="neither"), Wrong(IMAGE, (2, 2), (2.0, 2.0), says="both"), Wrong(IMAGE, (2, 2, 2), says="size"),
    Wrong(IMAGE, (2, 2), align_corners=True, says="align_corners"), Wrong((3, 4), (2,), says="axes"),
]


def resized(torch, x, size=None, scale_factor=None, mode="nearest", **more):
    """Return PyTorch's interpolation."""
    return torch.nn.functional.interpolate(x, size, list(scale_factor) if scale_factor else None, mode, **more)


def sampled(torch, x, grid, mode="bilinear", padding_mode="zeros", align_corners=False):
    """Return PyTorch's grid_sample."""
    return torch.nn.functional.grid_sample(x, grid, mode, padding_mode, align_corners)


GRIDS = [Sample((2, 3, 4, 5), Given((2, 3, 2, 2), low=-1.4, high=1.4), mode, padding, corners)
         for mode in ("bilinear", "nearest", "bicubic") for padding in ("zeros", "border", "reflection")
         for corners in (False, True)] + [
    Sample((1, 2, 3, 4, 2), Given((1, 2, 2, 3, 3), low=-1.4, high=1.4), mode, padding, False)
    for mode in ("bilinear", "nearest") for padding in ("zeros", "border", "reflection")] + [
    Sample((0, 2, 3, 3), (0, 2, 2, 2)), Sample((1, 2, 3, 3), (1, 0, 2, 2)), Sample((1, 1, 1, 1), (1, 2, 2, 2))]


def stays_oracle(torch, boxes, threshold):
    """Whether each box overlaps no better one that stays."""
    stays = []
    for box in boxes.double():
        kept = boxes.double()[:len(stays)][torch.tensor(stays, dtype=torch.bool)]
        size = (torch.minimum(kept[:, 2:], box[2:]) - torch.maximum(kept[:, :2], box[:2])).clamp(min=0)
        area = (kept[:, 2:] - kept[:, :2]).prod(1) + (box[2:] - box[:2]).prod()
        stays.append(not bool((size.prod(1) / (area - size.prod(1)) > threshold).any()))
    return torch.tensor(stays, dtype=torch.bool)


BOXES = Given(values=[[0, 0, 4, 4], [1, 1, 5, 5], [0, 0, 4, 3], [8, 8, 9, 9], [0, 0, 4, 4], [2, 2, 2, 2], [2, 2, 2, 2],
                      [8.0, 8, 9.5, 9.5]])


def best_oracle(torch, boxes, scores, limit, overlap=0.5, least=float("-inf"), sigma=0.0):
    """What a loop over boxes keeps, each time the best of those that are left."""
    kept, values = torch.zeros((len(scores), limit), dtype=torch.int32), scores.new_zeros((len(scores), limit))
    counts = torch.zeros(len(scores), dtype=torch.int32)
    for row in range(len(scores)):
        corners, own = boxes[row * len(boxes) // len(scores)].double(), scores[row].double().clone()
        low, high = torch.minimum(corners[:, :2], corners[:, 2:]), torch.maximum(corners[:, :2], corners[:, 2:])
        own[~(own > least)] = float("-inf")
        while counts[row] < limit and len(own) and own.max() > float("-inf"):
            best = int(own.argmax())
            kept[row, counts[row]], values[row, counts[row]] = best, own[best]
            counts[row] += 1
            own[best] = float("-inf")
            shared = (torch.minimum(high, high[best]) - torch.maximum(low, low[best])).clamp(min=0).prod(1)
            whole = (high - low).prod(1) + (high - low)[best].prod() - shared
            share = shared / torch.where(whole > 0, whole, 1.0)
            own = own * torch.exp(-0.5 * share ** 2 / sigma) if sigma else torch.where(
                share > overlap, float("-inf"), own)
            own[~(own > least)] = float("-inf")
    return kept, values, counts


def crops_oracle(torch, x, boxes, which, size, mode="bilinear", outside=0.0, slopes=(0, 0)):
    """Boxes of images read pixel by pixel."""
    height, width = size
    rows, columns = x.shape[1:3]

    def places(begin, end, count, length):
        if count == 1:
            return (0.5 * (begin + end) * (length - 1)).unsqueeze(1)
        return (begin.unsqueeze(1) + torch.arange(count) * ((end - begin) / (count - 1)).unsqueeze(1)) * (length - 1)

    def weights(at, length, slope):
        near = torch.arange(length) - at.unsqueeze(-1)
        if mode == "nearest":
            return (near == torch.floor(at + 0.5).unsqueeze(-1) - at.unsqueeze(-1)).to(x.dtype) * (slope == 0)
        if slope:
            low = torch.floor(at).unsqueeze(-1) - at.unsqueeze(-1)
            return ((near == low + 1).to(x.dtype) - (near == low).to(x.dtype)) * (low != 0)
        return (1 - near.abs()).clamp(min=0)
    ys, xs = places(boxes[:, 0], boxes[:, 2], height, rows), places(boxes[:, 1], boxes[:, 3], width, columns)
    down, across = weights(ys, rows, slopes[0]), weights(xs, columns, slopes[1])
    # Pixel by pixel: what is not read is not multiplied by 0, which would be no number where it is infinite.
    share = (down[:, :, None, :, None] * across[:, None, :, None, :]).unsqueeze(-1)
    made = torch.where(share == 0, 0.0, share * x[which][:, None, None]).sum((3, 4))
    inside = ((ys >= 0) & (ys <= rows - 1))[:, :, None] & ((xs >= 0) & (xs <= columns - 1))[:, None]
    return torch.where(inside.unsqueeze(-1), made, outside)


def projected_oracle(torch, x, transforms, size, mode="bilinear", outside="constant", fill=0.0):
    """Pixel by pixel, with an index for each; places just between two pixels are left to tests beside TensorFlow."""
    pad = {"constant": lambda at, n: at, "nearest": lambda at, n: at.clamp(0, n - 1),
           "reflect": lambda at, n: torch.minimum((at + 0.5) % (2 * n), 2 * n - (at + 0.5) % (2 * n)) - 0.5,
           "wrap": lambda at, n: torch.where(at < 0, at + n * (torch.floor(-at / (n - 1)) + 1), torch.where(
               at > n - 1, at - n * torch.floor(at / (n - 1)), at))}[outside]
    t = transforms.double().expand(len(x), 8)[:, :, None, None]
    down, across = torch.arange(size[0]).double()[:, None], torch.arange(size[1]).double()
    depth = t[:, 6] * across + t[:, 7] * down + 1
    found = []
    for axis, first in ((2, 3), (3, 0)):
        n = x.shape[axis]
        at = pad((t[:, first] * across + t[:, first + 1] * down + t[:, first + 2]) / depth, n)
        at = at if outside == "constant" else at.clamp(0, n - 1)
        if mode == "nearest":
            found.append([(torch.floor(at.abs() + 0.5) * at.sign(), torch.ones_like(at))])
        else:
            low = torch.floor(at)
            found.append([(low, low + 1 - at), (low + 1, at - low)])
    total, which = 0, torch.arange(len(x))[:, None, None]
    for (row, up), (column, side) in itertools.product(*found):
        inside = (row >= 0) & (row < x.shape[2]) & (column >= 0) & (column < x.shape[3])
        places = [at.nan_to_num().clamp(0, n - 1).long() for at, n in ((row, x.shape[2]), (column, x.shape[3]))]
        read = torch.where(inside[..., None], x.permute(0, 2, 3, 1)[which, places[0], places[1]].double(), fill)
        total = total + read * (up * side)[..., None]
    total = torch.where((depth == 0)[..., None], fill, total)
    return total.permute(0, 3, 1, 2).to(x.dtype)


KERNELS = {
    "triangle": lambda torch, x: (1 - x).clamp(min=0), "box": lambda torch, x: (x < 0.5) + (x == 0.5) * x,
    "keys": lambda torch, x: torch.where(x < 1, (1.5 * x - 2.5) * x * x + 1, torch.where(
        x < 2, ((-0.5 * x + 2.5) * x - 4) * x + 2, 0)),
    "mitchell": lambda torch, x: torch.where(x < 1, (7 * x - 12) * x * x / 6 + 16 / 18, torch.where(
        x < 2, ((-7 / 18 * x + 2) * x - 10 / 3) * x + 16 / 9, 0)),
    "gaussian": lambda torch, x: torch.where(x < 1.5, torch.exp(-2 * x * x), 0),
    **{f"lanczos{reach}": lambda torch, x, reach=reach: torch.where(x < reach, torch.sinc(x) * torch.sinc(x / reach), 0)
       for reach in (1, 3, 5)}}


def placed_oracle(torch, x, scale, translation, size, mode="triangle", antialias=True):
    """A matrix for each axis, in double precision."""
    made = x.double()
    for axis, (step, move, wanted) in enumerate(zip(1 / scale.double(), translation.double(), size), start=2):
        places = (torch.arange(wanted).double() + 0.5 - move) * step
        spread = step.clamp(min=1) if antialias else 1
        away = (places[:, None] - torch.arange(x.shape[axis]).double() - 0.5).abs() / spread
        weights = KERNELS[mode](torch, away) * ((places >= 0) & (places <= x.shape[axis]))[:, None]
        total = weights.sum(1, keepdim=True)
        weights = torch.where(total.abs() < 1e-30, 0, weights / total)
        made = torch.tensordot(made, weights, ([axis], [1])).moveaxis(-1, axis)
    return made.to(x.dtype)


def fixed(*numbers):
    """Return numbers that no gradient goes to."""
    return Given(values=list(numbers), dtype="float32", grad=False)


PLACED = [(fixed(1.37, 0.61), fixed(0.23, -0.71), (9, 4)), (fixed(0.43, 2.19), fixed(1.3, 2.7), (3, 17))]
TURNS = Given(values=[[0.91, 0.13, -1.17, -0.11, 0.87, 0.71, 0.013, -0.017],
                      [-1.07, 0.31, 7.13, 0.27, 1.23, -9.71, 0, 0]])
MOVES = Given(values=[[0.7, 0.0, 0.313, 0.0, 1.3, -0.527, 0.0, 0.0]])


def blurred_oracle(torch, x, across, down):
    """Images with mirrored edges, each channel by itself."""
    kernel = torch.tensor(down, dtype=x.dtype)[:, None] * torch.tensor(across, dtype=x.dtype)
    margins = [len(across) // 2] * 2 + [len(down) // 2] * 2
    padded = torch.nn.functional.pad(x, margins, mode="reflect")
    return torch.nn.functional.conv2d(padded, kernel.expand(x.shape[1], 1, *kernel.shape), groups=x.shape[1])


def blended_oracle(torch, x, ratio, other):
    """Pictures mixed with black, their grey or its mean."""
    if x.shape[-3] not in (1, 3):
        raise ValueError("pictures have 1 or 3 channels")
    grey = x if x.shape[-3] == 1 else sum(share * x[..., c:c + 1, :, :]
                                          for c, share in enumerate((0.2989, 0.587, 0.114)))
    rest = {"black": torch.zeros_like(grey), "grey": grey, "mean": grey.mean((-3, -2, -1), keepdim=True)}[other]
    return (x * ratio + rest * (1 - ratio)).clamp(0, 1)


def standardized_oracle(torch, x, *values):
    """Pictures less the means of their channels, by the deviations of these."""
    if any(len(value) not in (1, x.shape[-3]) for value in values):
        raise ValueError("there is one for each channel, or one for all")
    mean, deviation = (torch.tensor(value, dtype=x.dtype)[:, None, None] for value in values)
    return (x - mean) / deviation


def turned_oracle(torch, x, turn):
    """Pictures whose hues are turned, by the ramps that each colour follows around the circle."""
    r, g, b = x.unbind(-3)
    high, low = x.amax(-3), x.amin(-3)
    span = high - low
    safe = torch.where(span == 0, 1.0, span)
    sixths = torch.where(high == r, (g - b) / safe, torch.where(high == g, (b - r) / safe + 2, (r - g) / safe + 4))
    made = []
    for n in (5, 3, 1):
        place = torch.remainder(n + sixths + 6 * turn, 6)
        kept = (high - span * torch.minimum(place, 4 - place).clamp(0, 1)).clamp(0, 1)
        made.append(torch.where(place >= 4, high, kept))
    return torch.stack(made, -3)


PICTURE = Given((2, 3, 4, 5), low=0.0, high=1.0)
CORNERS = Given(values=[[0.11, 0.07, 0.83, 0.91], [0.71, 0.83, 0.13, 0.29], [-0.17, 0.31, 0.57, 1.23],
                        [0.41, 0.43, 0.41, 0.43]])
CROPPED = Given((3, 5, 7, 2))
OF_IMAGES = Given(values=[0, 2, 2, 1], dtype="int64")
MANY_BOXES = Given(values=[[[(row * 31 + box * (17 + 8 * side)) % 97 / 97 for side in range(4)] for box in range(40)]
                           for row in range(2)])
MANY_SCORES = Given(values=[[(row + box) * 37 % 61 / 61 for box in range(40)] for row in (0, 7, 29, 30)])
WINDOWS = [Sample((2, 3, 5, 6), 2), Sample((2, 3, 5, 6), (3, 2), (1, 2), (2, 1), (2, 1)), Sample((3, 4, 4), 2),
           Sample((0, 2, 3, 3), 2)]

ROWS = [
    Row("interpolate", RESIZE, torch=resized, dtypes=FLOATING, tolerance=LOOSE, errors=BAD_RESIZE),
    Row("interpolate", [Sample((1, 2, 5, 4), (3, 7)), Sample((1, 2, 5, 4), (7, 3), mode="nearest-exact"),
                        Sample((2, 3, 9, 8), (4, 13), mode="bilinear"), Sample((2, 5, 9, 8), (13, 4), mode="bicubic"),
                        Sample((1, 3, 19, 28), (7, 5), mode="bilinear", antialias=True),
                        Sample((1, 3, 19, 28), (23, 5), mode="bicubic", antialias=True),
                        Sample((1, 3, 19, 28), (7, 35), mode="lanczos", antialias=True),
                        Sample((1, 1, 1, 1), (3, 2), mode="bicubic"), Sample((0, 3, 4, 4), (2, 2), mode="bilinear")],
        torch=resized, dtypes=("uint8",), gradient=False),
    Row("grid_sample", GRIDS, torch=sampled, dtypes=SINGLES, tolerance=LOOSE,
        errors=[Wrong((2, 3, 4, 5), (1, 3, 2, 2), says="grid"),
                Wrong((1, 3, 4, 5), (1, 3, 2, 2), "cubic", says="cubic"),
                Wrong((1, 3, 0, 5), (1, 3, 2, 2), says="empty")]),
    Row("scale_and_translate", [Sample((2, 3, 5, 7), *where, mode, smooth) for mode in KERNELS
                                for where in PLACED for smooth in (True, False) if mode != "box"]
        + [Sample((1, 2, 5, 7), *PLACED[1], "box"), Sample((2, 1, 6), fixed(0.7), fixed(100.0), (4,)),
           Sample((1, 2, 3, 4, 5), fixed(1.3, 0.7, 1.1), fixed(0.2, 0.0, -1.3), (4, 3, 5), "keys"),
           Sample((0, 2, 3, 3), *PLACED[0]), Sample((2, 0, 3, 3), *PLACED[0])],
        torch=placed_oracle, dtypes=FLOATING,
        tolerance={**LOOSE, "float64": (1e-4, 1e-5, "kernels are asked in single precision, as TensorFlow does")},
        errors=[Wrong((1, 1, 3, 3), fixed(1.0), fixed(1.0), (2, 2), says="each of 2 axes"),
                Wrong((1, 1, 3, 3), *PLACED[0][:2], (2, 2), "linear", says="mode 'linear'"),
                Wrong((1, 1, 3, 3), *PLACED[0][:2], (2,), says="2 sizes"),
                Wrong((1, 1, 0, 3), *PLACED[0], says="at least 1")]),
    Row("project_images", [Sample((2, 3, 5, 7), TURNS, (5, 7), mode, outside, 0.5)
                           for mode in ("bilinear", "nearest")
                           for outside in ("constant", "nearest", "reflect", "wrap")]
        + [Sample((3, 1, 4, 4), MOVES, (9, 3)), Sample((0, 2, 3, 3), MOVES, (2, 2)),
           Sample((1, 0, 3, 3), MOVES, (2, 2))],
        torch=projected_oracle, dtypes=("float32",), tolerance=LOOSE, gradient="the inverse transform, as TensorFlow's",
        errors=[Wrong((2, 1, 3, 3), (3, 8), 2, says="(1, 8) or (N, 8)"), Wrong((2, 1, 3, 3), (1, 6), 2, says="(1, 8)"),
                Wrong((2, 1, 3, 3), (1, 8), 0, says="at least 1"), Wrong((2, 1, 3), (1, 8), 2, says="(N, C, H, W)"),
                Wrong((1, 1, 3, 3), (1, 8), 2, "cubic", says="cubic"),
                Wrong((1, 1, 3, 3), (1, 8), 2, "nearest", "mirror", says="mirror")]),
    Row("suppress_boxes", [Sample(BOXES, 0.3), Sample(BOXES, 0.5), Sample(BOXES, 1.0), Sample(BOXES, -1.0),
                           Sample((0, 4), 0.5)], torch=stays_oracle, gradient=False,
        errors=[Wrong((3, 5), 0.5, says="(N, 4)"), Wrong((4,), 0.5, says="(N, 4)")]),
    Row("crop_boxes", [Sample(CROPPED, CORNERS, OF_IMAGES, (4, 3)), Sample(CROPPED, CORNERS, OF_IMAGES, (1, 1)),
                       Sample(CROPPED, CORNERS, OF_IMAGES, (4, 3), "bilinear", 0.5)],
        torch=crops_oracle, dtypes=("float32",), tolerance=LOOSE, gradient="places on pixels have a gradient of 0",
        errors=[Wrong((1, 3, 4, 2), (1, 5), Given(values=[0], dtype="int64"), 2, says="(M, 4)"),
                Wrong((1, 3, 4, 2), (1, 4), Given(values=[1], dtype="int64"), 2, says="0 to 0"),
                Wrong((1, 3, 4, 2), (1, 4), Given(values=[0], dtype="int64"), 0, says="at least 1"),
                Wrong((1, 3, 4, 2), (1, 4), Given(values=[0], dtype="int64"), 2, "cubic", says="cubic")]),
    Row("crop_boxes", [Sample(CROPPED, CORNERS, OF_IMAGES, (4, 3), "nearest", 0.5)], torch=crops_oracle,
        dtypes=("float32",), gradient=False),
    Row("select_boxes", [Sample(MANY_BOXES, MANY_SCORES, 10, 0.3), Sample(MANY_BOXES, MANY_SCORES, 50, 0.1, 0.2),
                         Sample(MANY_BOXES, MANY_SCORES, 12, 0.5, 0.1, 0.4), Sample(MANY_BOXES, MANY_SCORES, 0),
                         Sample((1, 0, 4), (2, 0), 3), Sample((0, 5, 4), (0, 5), 3)],
        torch=best_oracle, gradient=False, dtypes=SINGLES,
        errors=[Wrong((1, 3, 5), (1, 3), 2, says="(S, N, 4)"), Wrong((2, 3, 4), (3, 3), 2, says="divides"),
                Wrong((1, 3, 4), (1, 3), -1, says="limit")]),
    Row("blur", [Sample((2, 3, 5, 7), (0.25, 0.5, 0.125), (0.5, -1.0, 0.25, 2.0, 0.125)),
                 Sample((1, 2, 40, 90), (0.5, 0.25, 1.0, 0.125, 0.5, 0.25, 0.5), (2.0,)),
                 Sample((1, 1, 1, 1), (2.0,), (0.5,)),
                 Sample((1, 1, 2, 2), (0.5, 0.25, 0.125), (0.5, 0.25, 0.125))],
        torch=blurred_oracle, dtypes=FLOATING, tolerance=LOOSE, gradient=False,
        errors=[Wrong((1, 1, 4, 4), (0.5, 0.5), (1.0,), says="odd"),
                Wrong((1, 1, 4, 4), (1.0,), (0.1,) * 9, says="9 weights in down for 4 pixels"),
                Wrong((1, 4, 4), (1.0,), (1.0,), says="(N, C, H, W)")]),
    Row("blend_colours", [Sample(shape, ratio, other) for shape in (PICTURE, (3, 70, 70), (3, 0, 2))
                          for ratio in (0.0, 0.4, 1.7) for other in ("black", "grey", "mean") if shape != (3, 0, 2)
                          or other != "mean"] + [Sample((2, 1, 3, 4), 0.4, "mean"), Sample((1, 1, 1), 0.4, "black")],
        torch=blended_oracle, dtypes=("float32",), tolerance=LOOSE, gradient=False,
        errors=[Wrong((1, 2, 2), 0.4, "grey", says="3 channels"), Wrong((2, 4, 4), 0.4, "mean", says="1 or 3"),
                Wrong((3, 4), 0.4, "black", says="(..., C, H, W)"), Wrong((3, 4, 4), 0.4, "white", says="white")]),
    Row("turn_hue", [Sample(PICTURE, turn) for turn in (-0.5, -0.11, 0.0, 0.27, 0.5)]
        + [Sample(Given((3, 70, 70), low=0.0, high=1.0), 0.37), Sample((3, 0, 2), 0.1)],
        torch=turned_oracle, dtypes=("float32",), tolerance=LOOSE, gradient=False,
        errors=[Wrong((1, 2, 2), 0.4, says="3 channels"), Wrong((4, 4), 0.4, says="(..., C, H, W)")]),
    Row("standardize", [Sample((2, 3, 4, 5), (0.5, -1.0, 2.0), (0.2, 3.0, -0.7)), Sample((3, 70, 70), (0.3,), (0.2,)),
                        Sample((2, 2, 1, 1), (0.3,), (0.2, 0.4)), Sample((0, 3, 4, 4), (0.1,), (0.5,))],
        torch=standardized_oracle, dtypes=SINGLES, gradient=False,
        errors=[Wrong((3, 4, 4), (0.1, 0.2), (0.5,), says="2 means"),
                Wrong((3, 4), (0.1,), (0.5,), says="(..., C, H, W)"),
                Wrong((3, 4, 4), (0.1,), (), says="0 deviations")]),
    Row("affine_grid", [Sample((2, 2, 3), (2, 3, 4, 5)), Sample((1, 3, 4), (1, 2, 2, 3, 4), True),
                        Sample((1, 2, 3), (1, 1, 1, 3), align_corners=True)],
        torch=lambda torch, theta, size, align_corners=False:
        torch.nn.functional.affine_grid(theta, size, align_corners), dtypes=SINGLES, tolerance=LOOSE,
        errors=[Wrong((2, 2, 3), (1, 3, 4, 5), says="theta")]),
    Row("im2col", WINDOWS, torch=lambda torch, x, *sizes: torch.nn.functional.unfold(x, *sizes), dtypes=INEXACT,
        errors=[Wrong((1, 1, 2, 2), 3, says="window"), Wrong((1, 1, 4, 4), 0, says="kernel_size"),
                Wrong((1, 1, 4, 4), 2, 1, 4611686018427387904, says="window")]),
    Row("col2im", [Sample((2, 12, 20), (5, 6), 2), Sample((12, 20), (5, 6), 2),
                   Sample((2, 12, 24), (5, 6), (3, 2), (1, 2), (2, 1), (2, 1))],
        torch=lambda torch, x, *sizes: torch.nn.functional.fold(x, *sizes), dtypes=INEXACT, tolerance=LOOSE,
        errors=[Wrong((2, 12, 21), (5, 6), 2, says="windows"), Wrong((2, 13, 20), (5, 6), 2, says="multiple")]),
    Row("pixel_shuffle", [Sample((2, 8, 3, 2), 2), Sample((9, 1, 2), 3)], dtypes=INEXACT,
        errors=[Wrong((1, 3, 2, 2), 2, says="channels"), Wrong((1, 4, 2, 2), 0, says="factor")]),
    Row("pixel_shuffle", [Sample((0, 4, 2, 2), 2)], dtypes=SINGLES, gradient="PyTorch's own fails on nothing"),
    Row("pixel_unshuffle", [Sample((2, 2, 6, 4), 2), Sample((1, 3, 3), 3)], dtypes=INEXACT,
        errors=[Wrong((1, 3, 2, 3), 2, says="multiples")]),
    Row("channel_shuffle", [Sample((2, 6, 2, 2), 3), Sample((1, 4, 3), 2)], dtypes=INEXACT,
        errors=[Wrong((1, 3, 2, 2), 2, says="groups")]),
]
