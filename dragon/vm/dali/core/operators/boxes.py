"""Boxes: random crops that keep some of them, and what a detector learns for its anchors."""
import numpy as np

from dragon.vm.dali.core.operators.values import number, vector
from dragon.vm.dali.core.operators.warping import canvas, rotation
from dragon.vm.dali.core.refusals import got
from dragon.vm.dali.core.schema import Laid, operator


def overlaps(boxes, others):
    """Return, for each pair of boxes, the area that both have over the area that either has."""
    low = np.maximum(boxes[:, None, :2], others[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], others[None, :, 2:])
    shared = np.prod(np.maximum(high - low, 0), -1)
    first, second = (np.prod(one[:, 2:] - one[:, :2], -1) for one in (boxes, others))
    either = first[:, None] + second[None] - shared
    return np.where(either > 0, shared / np.where(either > 0, either, 1), 0)


@operator("box_encoder", outputs=2)
def box_encoder(boxes, labels, *, anchors, criteria=0.5, means=(0, 0, 0, 0), stds=(1, 1, 1, 1), offset=False,
                scale=1.0):
    """Match boxes with anchors: each anchor gets the box, and the label, that it overlaps with enough."""
    anchors = np.asarray(anchors, np.float32).reshape(-1, 4)
    boxes, labels = boxes.astype(np.float32).reshape(-1, 4), labels.reshape(-1)
    classes, matched = np.zeros(len(anchors), np.int32), anchors.copy()
    hit = np.zeros(len(anchors), bool)
    if len(boxes):
        table = overlaps(boxes, anchors)
        # The best anchor of each box is its own. Of equal ones, the last is the best.
        table[np.arange(len(boxes)), len(anchors) - 1 - table[:, ::-1].argmax(1)] = 2
        chosen, value = len(boxes) - 1 - table[::-1].argmax(0), table.max(0)
        hit = value > criteria
        matched[hit], classes[hit] = boxes[chosen[hit]], labels[chosen[hit]]
    center, size = (matched[:, :2] + matched[:, 2:]) / 2, matched[:, 2:] - matched[:, :2]
    if not offset:
        return np.concatenate([center, size], 1).astype(np.float32), classes
    scale = np.float32(scale)
    own_center, own_size = (anchors[:, :2] + anchors[:, 2:]) / 2, anchors[:, 2:] - anchors[:, :2]
    moved = (center * scale - own_center * scale) / (own_size * scale)
    with np.errstate(divide="ignore"):
        told = np.concatenate([moved, np.log(size / own_size)], 1)
    told = (told - np.asarray(means, np.float32)) / np.asarray(stds, np.float32)
    told[~hit] = 0
    return told.astype(np.float32), classes


def _to_corners(boxes, layout, ltrb, who="fn.random_bbox_crop"):
    order = layout or ("xyXY" if ltrb else "xyWH")
    if sorted(order.lower()) != sorted("xyXY".lower()) and sorted(order.lower()) != sorted("xywh"):
        raise RuntimeError(got(who, f"bbox_layout={order!r}", "letters of xyXY or xyWH"))
    columns = {letter: boxes[:, place] for place, letter in enumerate(order)}
    right = columns["X"] if "X" in columns else columns["x"] + columns["W"]
    bottom = columns["Y"] if "Y" in columns else columns["y"] + columns["H"]
    return np.stack([columns["x"], columns["y"], right, bottom], 1), order


def _from_corners(corners, order):
    left, top, right, bottom = corners.T
    known = {"x": left, "y": top, "X": right, "Y": bottom, "W": right - left, "H": bottom - top}
    return np.stack([known[letter] for letter in order], 1).astype(np.float32)


@operator("random_bbox_crop", outputs=lambda arguments: 3 + (arguments["_inputs"] > 1)
          + bool(arguments.get("output_bbox_indices")))
def random_bbox_crop(boxes, labels=None, *, thresholds=(0.0,), threshold_type="iou", aspect_ratio=(1.0, 1.0),
                     scaling=(1.0, 1.0), num_attempts=1, total_num_attempts=-1, allow_no_crop=True, ltrb=True,
                     bbox_layout="", shape_layout="", input_shape=None, crop_shape=None, bbox_prune_threshold=None,
                     all_boxes_above_threshold=True, output_bbox_indices=False, seed=None, context):
    """Draw a region that overlaps enough with boxes; return its place, its shape, and the boxes in it."""
    if threshold_type not in ("iou", "overlap"):
        raise RuntimeError(got("fn.random_bbox_crop", f"threshold_type={threshold_type!r}", "'iou' or 'overlap'"))
    corners, order = _to_corners(boxes.astype(np.float64).reshape(-1, 4), bbox_layout, ltrb)
    whole = None if input_shape is None else vector(input_shape)[:2]
    if whole is not None and shape_layout.startswith("H"):
        whole = whole[::-1]
    fixed = None if crop_shape is None else vector(crop_shape, 2)
    if fixed is not None and shape_layout.startswith("H"):
        fixed = fixed[::-1]
    rules = [float(one) for one in np.ravel(thresholds)] + ([None] if allow_no_crop else [])
    left = total_num_attempts if total_num_attempts > 0 else 1 << 16
    found = None
    while found is None and left > 0:
        rule = context.draws.choice(rules)
        if rule is None:
            found = np.array([0.0, 0, 1, 1]), np.ones(len(corners), bool)
            break
        for _ in range(num_attempts):
            left -= 1
            region = _draw(context.draws, scaling, aspect_ratio, whole, fixed)
            if region is None:
                continue
            kept = _kept(region, corners, rule, threshold_type, all_boxes_above_threshold, bbox_prune_threshold)
            if kept is not None:
                found = region, kept
                break
    region, kept = found or (np.array([0.0, 0, 1, 1]), np.ones(len(corners), bool))
    return _cropped(region, kept, corners, labels, order, whole if fixed is not None or whole is not None else None,
                    shape_layout, output_bbox_indices)


def _draw(draws, scaling, aspect_ratio, whole, fixed):
    """Return a random region of the unit square, or None if what was drawn does not fit."""
    if fixed is not None:
        size = fixed / whole
    else:
        scale = draws.uniform(*map(float, scaling))
        least, most = map(float, aspect_ratio)
        pixels = np.ones(2) if whole is None else whole
        for _ in range(16):
            width, height = draws.uniform(*map(float, scaling)), draws.uniform(*map(float, scaling))
            size = np.array([width, height])
            ratio = width * pixels[0] / (height * pixels[1])
            if least <= ratio <= most:
                break
        else:
            ratio = np.exp(draws.uniform(np.log(least), np.log(most))) * pixels[1] / pixels[0]
            size = scale * np.array([min(1, ratio), min(1, 1 / ratio)])
    if np.any(size > 1 + 1e-9):
        return None
    start = np.array([draws.uniform(0, max(0, 1 - one)) for one in size])
    return np.concatenate([start, start + size])


def _kept(region, corners, rule, kind, every, prune):
    """Return which boxes stay, or None if the region will not do."""
    if not len(corners):
        return np.zeros(0, bool)
    low, high = np.maximum(corners[:, :2], region[:2]), np.minimum(corners[:, 2:], region[2:])
    shared = np.prod(np.maximum(high - low, 0), 1)
    own = np.prod(corners[:, 2:] - corners[:, :2], 1)
    share = shared / np.maximum(own, 1e-12)
    value = overlaps(corners, region[None])[:, 0] if kind == "iou" else share
    touched = shared > 0
    enough = (value >= rule)[touched] if every else (value >= rule)
    if not touched.any() or not (enough.all() if every else enough.any()):
        return None
    if prune is not None:
        kept = share >= prune
    else:
        middle = (corners[:, :2] + corners[:, 2:]) / 2
        kept = np.all((middle >= region[:2]) & (middle <= region[2:]), 1)
    return kept if kept.any() else None


def _cropped(region, kept, corners, labels, order, whole, shape_layout, indices):
    start, size = region[:2], region[2:] - region[:2]
    inside = np.clip((corners[kept] - np.tile(start, 2)) / np.tile(size, 2), 0, 1)
    if whole is not None:
        start, size = np.rint(start * whole), np.rint(size * whole)
        if shape_layout.startswith("H"):
            start, size = start[::-1], size[::-1]
    results = [Laid(start.astype(np.float32), ""), Laid(size.astype(np.float32), ""),
               Laid(_from_corners(inside, order), "")]
    if labels is not None:
        results.append(Laid(labels[kept], ""))
    if indices:
        results.append(Laid(np.flatnonzero(kept).astype(np.int32), ""))
    return tuple(results)


MODES = {"expand": 0.0, "halfway": 0.5, "fixed": 1.0}  # how much of what turning has added is taken away


@operator("bbox_rotate", outputs=lambda arguments: arguments["_inputs"])
def bbox_rotate(boxes, labels=None, *, angle, input_shape, shape_layout="HW", bbox_layout="xyXY", bbox_normalized=True,
                keep_size=False, size=None, mode="expand", remove_threshold=0.1):
    """Return the boxes around boxes of a picture that is turned, but for those of which too little is left in it."""
    who = "fn.bbox_rotate"
    if mode not in MODES:
        raise ValueError(got(who, f"mode={mode!r}", f"one of {list(MODES)}"))
    if keep_size and size is not None:
        raise RuntimeError(got(who, "keep_size and size", "one of them"))
    corners, order = _to_corners(boxes.astype(np.float32).reshape(-1, 4), bbox_layout, True, who)
    places = [shape_layout.find(letter) for letter in "WH"]
    if -1 in places or max(places) >= np.size(input_shape):
        raise RuntimeError(got(who, f"shape_layout={shape_layout!r} for {np.size(input_shape)} sizes",
                               "a letter for each, H and W among them"))
    extents = vector(input_shape)[places]
    turn = rotation(number(angle)).T
    wide = extents if keep_size else canvas(extents.astype(int), turn) if size is None else np.floor(
        vector(size, 2)[::-1])
    scale = extents if bbox_normalized else np.ones(2)
    points = corners[:, [[0, 1], [2, 1], [0, 3], [2, 3]]] * scale - extents / 2
    turned = points @ turn.T + wide / 2
    low, high = turned.min(1), turned.max(1)
    if MODES[mode]:
        before, now = points[:, 3] - points[:, 0], high - low
        # A box that was wide and is high has changed its sides.
        swapped = (before[:, 0] < before[:, 1]) != (now[:, 0] < now[:, 1])
        added = (now - np.where(swapped[:, None], before[:, ::-1], before)) / 2 * MODES[mode]
        low, high = low + added, high - added
    area = np.prod(high - low, 1)
    low, high = np.clip(low, 0, wide), np.clip(high, 0, wide)
    with np.errstate(all="ignore"):
        kept = np.prod(high - low, 1) / area >= np.float32(remove_threshold)
    told = _from_corners((np.concatenate([low, high], 1) / np.tile(wide if bbox_normalized else np.ones(2), 2))[kept],
                         order)
    return Laid(told, "") if labels is None else (Laid(told, ""), Laid(labels[kept], ""))
