"""Boxes of all formats, keypoints and masks as images are moved, by the functions of one kind each."""
import inspect

import genuine
import numpy
import pytest
from compare import same

tv = genuine.load()
import torch  # noqa: E402
import torchvision.transforms.v2.functional as theirs  # noqa: E402

from dragon.vm import torch as dt  # noqa: E402
from dragon.vm.torchvision import tv_tensors  # noqa: E402
from dragon.vm.torchvision.transforms.v2 import functional as mine  # noqa: E402
from harness.subresults import each  # noqa: E402

CANVAS = (24, 32)
FORMATS = ("XYXY", "XYWH", "CXCYWH", "XYWHR", "CXCYWHR", "XYXYXYXY")
START, END = [[0, 0], [31, 0], [31, 23], [0, 23]], [[2, 1], [28, 3], [30, 20], [1, 22]]
MOVED = {
    "horizontal_flip": {}, "vertical_flip": {}, "resize": {"size": [12, 40]}, "pad": {"padding": [1, 2, 3, 4]},
    "crop": {"top": 3, "left": -2, "height": 15, "width": 20}, "center_crop": {"output_size": [10, 14]},
    "resized_crop": {"top": -9, "left": -8, "height": 42, "width": 50, "size": [30, 10]},
    "affine": {"angle": 21.0, "translate": [2, -3], "scale": 1.3, "shear": [5.0, -8.0]},
    "rotate": {"angle": 33.0}, "perspective": {"startpoints": START, "endpoints": END}, "elastic": {}}


def boxes_of(format, count=9):
    """Return boxes of a format, some of which reach beyond the canvas."""
    numbers = numpy.random.default_rng(3)
    ranges = ((6, 26), (6, 18), (2, 18), (2, 14))
    centres = numpy.stack([numbers.uniform(*ends, count) for ends in ranges], 1).astype("float32")
    turned = len(format) in (5, 7, 8)
    start = "CXCYWHR" if turned else "CXCYWH"
    values = numpy.concatenate((centres, numbers.uniform(-170, 170, (count, 1)).astype("float32")), 1)
    boxes = torch.from_numpy(values if turned else centres)
    return theirs.convert_bounding_box_format(boxes, start, format) if format != start else boxes


def both(name, given, options):
    """Return what both sides' functions of a name give."""
    found, wanted = (getattr(side, name) for side in (mine, theirs))
    assert list(inspect.signature(found).parameters) == list(inspect.signature(wanted).parameters)
    known = inspect.signature(wanted).parameters
    made = []
    for function, make, package in ((found, dt.tensor, tv_tensors), (wanted, torch.tensor, tv.tv_tensors)):
        mine_options = {key: make(value) if isinstance(value, numpy.ndarray) else value
                        for key, value in options.items() if key in known}
        if "format" in mine_options:
            mine_options["format"] = package.BoundingBoxFormat[mine_options["format"]]
        made.append(function(make(given), **mine_options))
    return made


def options_of(name):
    displaced = numpy.random.default_rng(1).uniform(-0.1, 0.1, (1, *CANVAS, 2)).astype("float32")
    return {**MOVED[name], **({"displacement": displaced} if name == "elastic" else {}), "canvas_size": CANVAS}


@each("mode", ["soft", "hard", None])
@each("format", FORMATS)
@each("name", MOVED)
def test_boxes(name, format, mode):
    options = {**options_of(name), "format": format, "clamping_mode": mode}
    for expand in ((False, True) if name == "rotate" else (False,)):
        found, wanted = both(f"{name}_bounding_boxes", boxes_of(format).numpy(), {**options, "expand": expand})
        if isinstance(wanted, tuple):
            assert tuple(found[1]) == tuple(wanted[1])
            found, wanted = found[0], wanted[0]
        same(found, wanted, 1e-4, 2e-3)


@each("dtype", ["float32", "int64"])
@each("name", MOVED)
def test_keypoints(name, dtype):
    points = (numpy.random.default_rng(2).uniform(0, 24, (5, 2)) * 1.3).astype(dtype)
    found, wanted = both(f"{name}_keypoints", points, options_of(name))
    if isinstance(wanted, tuple):
        assert tuple(found[1]) == tuple(wanted[1])
        found, wanted = found[0], wanted[0]
    same(found, wanted, 1e-5, 1e-4)


@each("shape", [CANVAS, (2, *CANVAS)])
@each("name", MOVED)
def test_masks(name, shape):
    mask = numpy.random.default_rng(2).integers(0, 9, shape).astype("uint8")
    same(*both(f"{name}_mask", mask, options_of(name)))


@pytest.mark.parametrize("mode", ["soft", "hard"])
@pytest.mark.parametrize("format", FORMATS[3:])
def test_turned_boxes_on_their_canvas(format, mode):
    given = boxes_of(format, 40).numpy()
    found = mine.clamp_bounding_boxes(dt.tensor(given), tv_tensors.BoundingBoxFormat[format], CANVAS, mode)
    wanted = theirs.clamp_bounding_boxes(torch.tensor(given), tv.tv_tensors.BoundingBoxFormat[format], CANVAS, mode)
    same(found, wanted, 1e-4, 2e-3)
    kept, which = mine.sanitize_bounding_boxes(dt.tensor(given), format, CANVAS, 3.0)
    right, those = theirs.sanitize_bounding_boxes(torch.tensor(given), format, CANVAS, 3.0)
    same(which, those)
    same(kept, right)


def test_what_was_said_by_place():
    """Arguments by place, as for images, reach the functions of each kind under their names."""
    mask = tv_tensors.Mask(dt.arange(12).reshape(3, 4))
    boxes = tv_tensors.BoundingBoxes([[0.0, 0, 2, 2]], format="XYXY", canvas_size=(3, 4))
    assert mine.resize(mask, [6, 8], "nearest").shape == (6, 8)
    moved = mine.affine(boxes, 0.0, [1, 0], 1.0, [0.0, 0.0], "nearest", None, [0, 0])
    assert moved.tolist() == [[1, 0, 3, 2]] and moved.canvas_size == (3, 4)
    for inpt in (mask, boxes, tv_tensors.KeyPoints([[1.0, 2.0]], canvas_size=(3, 4))):
        for args, options, match in (((1,), {}, "too many"), ((), {"antialais": True}, "antialais")):
            with pytest.raises(TypeError, match=match):
                mine.vertical_flip(inpt, *args, **options)
        with pytest.raises(TypeError, match="multiple values"):
            mine.resize(inpt, [3, 3], size=[4, 4])


def test_boxes_that_are_not_there():
    for format, width in (("XYXY", 4), ("CXCYWHR", 5), ("XYXYXYXY", 8)):
        boxes = tv_tensors.BoundingBoxes(dt.zeros(0, width), format=format, canvas_size=CANVAS)
        for name, options in MOVED.items():
            if name not in ("elastic", "resize", "pad", "crop", "center_crop", "resized_crop"):
                assert getattr(mine, name)(boxes, **options).shape == (0, width)
