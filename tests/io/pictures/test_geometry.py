"""Regions, and boxes, masks and points that follow them."""
import numpy as np
import pytest

from dragon.io.pictures import (Geometry, letterbox, make_batch, move_boxes, move_mask, move_points, random_crop,
                                random_resized_crop, resized_center_crop)
from harness.photographs import Draws

WAYS = [Geometry(), Geometry((10, 20, 50, 60)), Geometry((10, 20, 50, 60), mirror=True),
        Geometry((10, 20, 50, 60), upside_down=True, mirror=True), letterbox((100, 140), 64),
        letterbox((100, 140), (64, 32), center=False)._replace(mirror=True), resized_center_crop((100, 140), 48, 56),
        Geometry((0, 0, 100, 140), (10.5, 20.25, 40.0, 50.5), (4, 5, 30, 40), mirror=True)]
SIZES = [(64, 64)] * 4 + [(64, 64), (64, 32), (48, 48), (64, 64)]


@pytest.mark.parametrize("way, size", list(zip(WAYS, SIZES)))
def test_what_is_moved_lies_where_its_picture_went(way, size):
    x1, y1, x2, y2 = 40, 30, 62, 48
    picture = np.zeros((100, 140, 3), np.uint8)
    picture[y1:y2, x1:x2] = 255
    made, _ = make_batch([picture], size, [way], dtype="uint8", layout="NHWC")
    rows, columns = np.nonzero(made[0, :, :, 0] > 127)
    left, top, right, bottom = move_boxes([x1, y1, x2, y2], way, (100, 140), size)
    assert np.abs(np.array([left, top, right, bottom])
                  - (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)).max() <= 1
    middle = move_points([(x1 + x2) / 2, (y1 + y2) / 2], way, (100, 140), size)
    np.testing.assert_allclose(middle, ((left + right) / 2, (top + bottom) / 2))
    mask = move_mask((picture[:, :, 0] > 0).astype(np.int16), way, size)
    assert mask.dtype == np.int16 and mask.shape == size
    assert (mask != (made[0, :, :, 0] > 127)).mean() < 0.03


def test_masks_are_resized_as_pictures_to_the_nearest():
    mask = np.random.default_rng(0).integers(0, 256, (33, 47), np.uint8)
    for way in (Geometry(), Geometry((3, 4, 20, 30), mirror=True), Geometry((3, 4, 20, 30), upside_down=True)):
        made, _ = make_batch([mask], (21, 50), [way], dtype="uint8", channels=1, filter="nearest")
        np.testing.assert_array_equal(move_mask(mask, way, (21, 50)), made[0, 0])


def test_boxes_outside_have_no_area():
    given = [[0, 0, 5, 5], [15, 5, 30, 30], [90, 90, 99, 99]]
    boxes = move_boxes(given, Geometry((10, 20, 50, 60)), (100, 140), (50, 60))
    np.testing.assert_array_equal(boxes, [[0, 0, 0, 0], [0, 0, 10, 20], [60, 50, 60, 50]])
    assert move_boxes(np.zeros((0, 4)), Geometry(), (10, 10), 5).shape == (0, 4)


def test_random_regions():
    draws = Draws(0)
    regions = np.array([random_resized_crop((300, 400), draws) for _ in range(4000)])
    top, left, height, width = regions.T
    assert (top >= 0).all() and (top + height <= 300).all() and (left >= 0).all() and (left + width <= 400).all()
    area, ratio = height * width / 120000, width / height
    assert area.min() >= 0.079 and 0.9 < area.max() <= 1 and 0.4 < area.mean() < 0.5
    assert ratio.min() > 0.73 and ratio.max() < 1.36 and abs(np.log(ratio).mean()) < 0.05
    assert random_resized_crop((300, 400), Draws(5)) == random_resized_crop((300, 400), Draws(5))
    # No allowed shape fits: the middle.
    assert random_resized_crop((10, 1000), draws, scale=(1.0, 1.0)) == (0, 493, 10, 13)
    assert random_resized_crop((1000, 10), draws, scale=(1.0, 1.0)) == (493, 0, 13, 10)
    assert random_resized_crop((1, 1), draws) == (0, 0, 1, 1)


def test_regions_of_a_size():
    assert random_crop((20, 30), Draws(0), (20, 30)) == (0, 0, 20, 30)
    corners = {random_crop((21, 31), Draws(seed), (20, 30))[:2] for seed in range(50)}
    assert corners == {(0, 0), (0, 1), (1, 0), (1, 1)}
    with pytest.raises(ValueError, match="21 x 30 of a picture of 20 x 30"):
        random_crop((20, 30), Draws(0), (21, 30))
    assert letterbox((10, 10), 40, enlarge=False).place == (15, 15, 10, 10)
    assert letterbox((10, 20), (40, 80)) == Geometry()
    assert letterbox((1, 1000), 10).place == (4, 0, 1, 10)
    small = resized_center_crop((10, 100), 56, 20)  # what is wanted is larger than what there is
    assert small.place == (18, 0, 20, 56)
    with pytest.raises(ValueError, match="size"):
        letterbox((10, 10), 0)
