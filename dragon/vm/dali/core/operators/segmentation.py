"""Masks: random pixels and boxes of what they mark, and polygons of some objects."""
import numpy as np

from dragon.vm.dali.core.operators.values import number, vector
from dragon.vm.dali.core.refusals import got
from dragon.vm.dali.core.schema import Laid, operator

FORMATS = ("anchor_shape", "start_end", "box")


@operator("segmentation.random_mask_pixel")
def random_mask_pixel(mask, *, foreground=0, value=None, threshold=0.0, seed=None, context):
    """Return the place of a random pixel of a mask, of one that is marked if wanted."""
    if number(foreground):
        marked = mask == number(value) if value is not None else mask > number(threshold)
        places = np.flatnonzero(marked)
        if len(places):
            return Laid(np.array(np.unravel_index(context.draws.choice(places), mask.shape), np.int64), "")
    return Laid(np.array([context.draws.integer(size) for size in mask.shape], np.int64), "")


def islands(marked):
    """Return the boxes (start, end) of what hangs together in a mask, by its faces."""
    label = np.zeros(marked.shape, np.int64)
    label[marked] = np.arange(1, marked.sum() + 1)
    while True:  # each takes its neighbours' greatest number, until nothing changes
        before = label.copy()
        for axis in range(marked.ndim):
            moved = np.moveaxis(label, axis, 0)
            np.maximum(moved[1:], moved[:-1], out=moved[1:])
            moved[np.moveaxis(~marked, axis, 0)] = 0
            np.maximum(moved[:-1], moved[1:], out=moved[:-1])
            moved[np.moveaxis(~marked, axis, 0)] = 0
        if np.array_equal(before, label):
            break
    return [(places.min(0), places.max(0) + 1) for places in (
        np.argwhere(label == one) for one in np.unique(label[marked]))]


def _count(arguments):
    boxes = 1 if arguments.get("format") == "box" else 2
    return boxes + bool(arguments.get("output_class"))


@operator("segmentation.random_object_bbox", outputs=_count)
def random_object_bbox(mask, *, background=0, classes=None, class_weights=None, foreground_prob=1.0, ignore_class=False,
                       k_largest=None, output_class=False, threshold=None, format="anchor_shape", seed=None,
                       context):
    """Return the box of a random object of a mask, or of the whole."""
    if format not in FORMATS:
        raise RuntimeError(got("fn.segmentation.random_object_bbox", f"format={format!r}", f"one of {FORMATS}"))
    draws, nothing = context.draws, int(number(background))
    start, end, label = np.zeros(mask.ndim, int), np.array(mask.shape), nothing
    if draws.chance(number(foreground_prob)):
        found = _choose(mask, nothing, classes, class_weights, ignore_class, draws)
        if found is not None:
            label, marked = found
            boxes = islands(marked)
            if threshold is not None:
                least = vector(threshold, mask.ndim)
                boxes = [box for box in boxes if np.all(box[1] - box[0] >= least)]
            if k_largest:
                boxes = sorted(boxes, key=lambda box: -np.prod(box[1] - box[0]))[:int(k_largest)]
            if boxes:
                start, end = draws.choice(boxes)
            else:
                label = nothing
    if format == "box":
        results = [np.concatenate([start, end]).astype(np.int32)]
    else:
        results = [start.astype(np.int32), (end - start if format == "anchor_shape" else end).astype(np.int32)]
    if output_class:
        results.append(np.asarray(label, np.int32))
    return tuple(Laid(result, "") for result in results) if len(results) > 1 else Laid(results[0], "")


def _choose(mask, nothing, classes, weights, ignore_class, draws):
    """Return a label and what has it, or None where there is none."""
    if ignore_class:
        return (1, mask != nothing) if np.any(mask != nothing) else None
    wanted = None if classes is None else [int(one) for one in np.ravel(classes)]
    there = [int(one) for one in np.unique(mask) if one != nothing and (wanted is None or one in wanted)]
    if weights is not None:
        row = vector(weights)
        names = wanted or list(range(len(row))) if wanted is not None else [
            one for one in range(len(row) + 1) if one != nothing][:len(row)]
        chances = [dict(zip(names, row)).get(one, 0.0) for one in there]
        total = sum(chances)
        if not total:
            return None
        place = int(np.searchsorted(np.cumsum(chances), draws.uniform(0, total), "right"))
        label = there[min(place, len(there) - 1)]
    elif there:
        label = draws.choice(there)
    else:
        return None
    return label, mask == label


@operator("segmentation.select_masks", outputs=2)
def select_masks(numbers, polygons, vertices, *, reindex_masks=False):
    """Return the polygons, and their vertices, of some objects only."""
    wanted = [int(one) for one in np.ravel(numbers)]
    known = set(polygons[:, 0].tolist())
    for one in wanted:
        if one not in known:
            raise RuntimeError(got("fn.segmentation.select_masks", f"mask {one}", f"one of {sorted(known)}"))
    rows, points = [], []
    for place, one in enumerate(wanted):
        for _, start, end in (row for row in polygons.tolist() if row[0] == one):
            begin = sum(map(len, points))
            part = vertices[start:end]
            rows.append((place if reindex_masks else one, begin, begin + len(part)))
            points.append(part)
    return (np.array(rows, polygons.dtype).reshape(-1, 3),
            np.concatenate(points) if points else vertices[:0])
