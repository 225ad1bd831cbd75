"""Batches of pictures beside Pillow's crops and sizes, to the bit, and what is done to colours and numbers after."""
import pickle

import numpy as np
import pytest

from dragon import _C
from dragon.io.errors import DataError
from dragon.io.pictures import (colour_matrix, decode, encode, Geometry, jpeg_library, letterbox, make_batch,
                                random_colours, Recipe, resized_center_crop)
from harness.photographs import Draws, jpeg, photograph, pillow_pixels
from harness.subresults import each

Image = pytest.importorskip("PIL.Image")
FILTERS = {"nearest": Image.Resampling.NEAREST, "box": Image.Resampling.BOX, "bilinear": Image.Resampling.BILINEAR,
           "hamming": Image.Resampling.HAMMING, "bicubic": Image.Resampling.BICUBIC,
           "lanczos": Image.Resampling.LANCZOS}


def by_pillow(pixels, region, size, filter="bilinear"):
    """Return Pillow's crop of a picture at a size."""
    top, left, height, width = region or (0, 0, *pixels.shape[:2])
    picture = Image.fromarray(pixels).crop((left, top, left + width, top + height))
    return np.asarray(picture.resize(size[::-1], FILTERS[filter]))


def differ(made, expected):
    """Return the largest difference and the part of numbers that differ."""
    difference = np.abs(made.astype(int) - expected)
    return difference.max(initial=0), (difference > 0).mean()


@pytest.mark.parametrize("filter", FILTERS)
def test_regions_are_resized_as_by_pillow(filter):
    draw = np.random.default_rng(0)
    pixels = photograph(150, 200)
    data = jpeg(pixels)
    whole, differing = pillow_pixels(data), []
    for index in range(60):
        height, width = (int(side) for side in draw.integers(1, (151, 201)))
        region = int(draw.integers(151 - height)), int(draw.integers(201 - width)), height, width
        size = tuple(int(side) for side in draw.integers(1, 170, 2))
        made, failures = make_batch([data if index % 2 else whole], size, [region], dtype="uint8", layout="NHWC",
                                    filter=filter)
        assert not failures
        most, part = differ(made[0], by_pillow(whole, region, size, filter))
        # Releases of Pillow differ in which of both axes is resized first, which rounding shows.
        assert most <= (2 if filter in ("bicubic", "lanczos") else 1), (region, size)
        differing.append(part > 0)
    assert np.mean(differing) < 0.5


def test_a_region_needs_no_more_than_it_is():
    """Where only the region is decoded, edges see nothing beyond it, as after a crop."""
    data = jpeg(photograph(64, 64))
    region = 16, 16, 32, 32
    made, _ = make_batch([data], 32, [region], dtype="uint8", layout="NHWC")
    np.testing.assert_array_equal(made[0], pillow_pixels(data)[16:48, 16:48])


def test_arrays_at_any_strides():
    pixels = photograph(40, 60)
    expected, _ = make_batch([pixels], (20, 30), dtype="uint8")
    four = np.concatenate((pixels, pixels[:, :, :1]), 2)
    turned = np.ascontiguousarray(pixels.transpose(2, 0, 1)).transpose(1, 2, 0)
    spread = np.repeat(np.repeat(pixels, 2, 0), 3, 1)[::2, ::3]
    backwards = np.ascontiguousarray(pixels[::-1, ::-1])[::-1, ::-1]
    for given in (four, turned, spread, backwards, np.asfortranarray(pixels)):
        np.testing.assert_array_equal(make_batch([given], (20, 30), dtype="uint8")[0], expected)
    with_alpha, _ = make_batch([four, pixels], (20, 30), dtype="uint8", channels=4)
    np.testing.assert_array_equal(with_alpha[0, 3], with_alpha[0, 0])
    assert (with_alpha[1, 3] == 255).all() and (with_alpha[1, :3] == expected[0]).all()
    grey = pixels[:, :, 0]
    np.testing.assert_array_equal(make_batch([grey], (20, 30), dtype="uint8")[0][0, 2],
                                  by_pillow(grey, None, (20, 30)))
    np.testing.assert_array_equal(make_batch([grey, grey[:, :, None]], (20, 30), dtype="uint8", channels=1)[0][1, 0],
                                  by_pillow(grey, None, (20, 30)))
    luma = np.asarray(Image.fromarray(pixels).convert("L"))
    np.testing.assert_array_equal(make_batch([pixels], (40, 60), dtype="uint8", channels=1)[0][0, 0], luma)


@each("channels", [1, 3, 4])
@each("layout", ["NCHW", "NHWC"])
@each("dtype", ["uint8", "float16", "float32"])
def test_layouts_and_dtypes(channels, layout, dtype):
    pixels = photograph(37, 53)[:, :, :channels] if channels < 4 else np.concatenate(
        (photograph(37, 53), photograph(37, 53, 1)[:, :, :1]), 2)
    bytes_, _ = make_batch([pixels], (18, 23), dtype="uint8", layout="NHWC", channels=channels)
    made, _ = make_batch([pixels], (18, 23), dtype=dtype, layout=layout, channels=channels)
    made = made if layout == "NHWC" else made.transpose(0, 2, 3, 1)
    expected = bytes_ if dtype == "uint8" else (bytes_ / np.float32(255)).astype(dtype)
    np.testing.assert_allclose(made.astype(float), expected.astype(float), rtol=1e-3 if dtype == "float16" else 1e-6)


def test_mean_and_deviation():
    data = jpeg(photograph(37, 53))
    mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    bytes_, _ = make_batch([data], 20, dtype="uint8", layout="NHWC")
    expected = (bytes_[0] / 255 - mean) / std
    for layout, axes in (("NHWC", (0, 1, 2)), ("NCHW", (1, 2, 0))):
        made, _ = make_batch([data], 20, mean=mean, std=std, layout=layout)
        np.testing.assert_allclose(made[0].transpose(axes), expected, atol=2e-6)
    made, _ = make_batch([data], 20, mean=0.5, layout="NHWC")
    np.testing.assert_allclose(made[0], bytes_[0] / 255 - 0.5, atol=1e-6)


def test_flips():
    data = jpeg(photograph(37, 53))
    plain, _ = make_batch([data], (20, 24))
    np.testing.assert_array_equal(make_batch([data], (20, 24), flips=[True])[0], plain[..., ::-1])
    both = [Geometry(mirror=True, upside_down=True)]
    np.testing.assert_array_equal(make_batch([data], (20, 24), both)[0], plain[..., ::-1, ::-1])
    same, _ = make_batch([data], (37, 53))
    np.testing.assert_array_equal(make_batch([data], (37, 53), both)[0], same[..., ::-1, ::-1])


def test_without_antialiasing_results_lie_between_two_samples():
    pixels = photograph(40, 60)
    made, _ = make_batch([pixels], (10, 20), dtype="float32", layout="NHWC", antialias=False)
    y, x = 4 * np.arange(10) + 1, 3 * np.arange(20) + 1  # the middle of 4 lies between two, that of 3 on one
    expected = (pixels[y].astype(float) + pixels[y + 1])[:, x] / 2
    assert np.abs(made[0] * 255 - expected).max() <= 0.5 + 1e-4


def test_boxes_between_pixels_are_those_of_pillow():
    pixels = photograph(90, 120)
    box = 10.25, 20.75, 60.5, 70.125
    for filter in ("bilinear", "bicubic", "box"):
        made, _ = make_batch([pixels], (31, 33), [Geometry((0, 0, 90, 120), box)], dtype="uint8", layout="NHWC",
                             filter=filter)
        expected = np.asarray(Image.fromarray(pixels).resize(
            (33, 31), FILTERS[filter], (box[1], box[0], box[1] + box[3], box[0] + box[2])))
        assert differ(made[0], expected)[0] <= 1
    with pytest.raises(DataError, match="box"):
        make_batch([pixels], 8, [Geometry((0, 0, 20, 20), (0, 0, 21, 20))])
    with pytest.raises(DataError, match="box"):
        make_batch([pixels], 8, [Geometry((0, 0, 20, 20), (0, 0, float("nan"), 20))])


@pytest.mark.parametrize("height, width", [(150, 200), (200, 150), (40, 333), (30, 31)])
def test_the_middle_of_a_resized_picture(height, width):
    data = jpeg(photograph(height, width))
    made, _ = make_batch([data], 56, [resized_center_crop((height, width), 56, 64)], dtype="uint8", layout="NHWC")
    rows, columns = (64, int(64 * width / height)) if height <= width else (int(64 * height / width), 64)
    resized = by_pillow(pillow_pixels(data), None, (rows, columns))
    top, left = round((rows - 56) / 2), round((columns - 56) / 2)
    assert differ(made[0], resized[top:top + 56, left:left + 56])[0] <= 1


def test_a_letterbox_is_filled():
    data = jpeg(photograph(30, 60))
    made, _ = make_batch([data], 40, [letterbox((30, 60), 40)], dtype="uint8", layout="NHWC", fill=(1, 2, 3))
    assert (made[0, :10] == (1, 2, 3)).all() and (made[0, 30:] == (1, 2, 3)).all()
    np.testing.assert_array_equal(made[0, 10:30], by_pillow(pillow_pixels(data), None, (20, 40)))
    for layout in ("NCHW", "NHWC"):
        for dtype in ("float16", "float32"):
            way = letterbox((30, 60), 40, center=False)
            made, _ = make_batch([data], 40, [way], dtype=dtype, layout=layout, fill=51)
            below = made[0, :, 20:] if layout == "NCHW" else made[0, 20:]
            np.testing.assert_allclose(below.astype(float), 0.2, rtol=1e-3)


def test_colours_are_mixed():
    pixels = photograph(20, 30)
    matrix = colour_matrix(1.2, 0.8, 0.5, 0.1)
    rows = np.array(matrix).reshape(3, 4)
    expected = (pixels @ rows[:, :3].T + rows[:, 3]).clip(0, 255)
    made, _ = make_batch([pixels] * 2, (20, 30), matrices=[matrix, None], layout="NHWC", dtype="uint8")
    assert np.abs(made[0] - expected).max() <= 0.51
    np.testing.assert_array_equal(made[1], pixels)
    made, _ = make_batch([pixels], (20, 30), matrices=[matrix])
    np.testing.assert_allclose(made[0].transpose(1, 2, 0), expected / 255, atol=1e-6)
    np.testing.assert_allclose(np.reshape(colour_matrix(), (3, 4)), np.eye(3, 4), atol=1e-12)
    grey = np.full((2, 2, 3), 90, np.uint8)
    made, _ = make_batch([grey], 2, matrices=[colour_matrix(hue=0.3, saturation=1.7)], dtype="uint8")
    assert np.abs(made.astype(int) - 90).max() <= 1  # grey has no hue
    assert random_colours(Draws(0), 0.4, 0.4, 0.4, 0.1) == random_colours(Draws(0), 0.4, 0.4, 0.4, 0.1)
    assert random_colours(Draws(0)) == colour_matrix()


def test_fast_batches_are_nearly_the_same():
    data = jpeg(photograph(400, 600), quality=92)
    exact, _ = make_batch([data], 64, dtype="uint8")
    fast, _ = make_batch([data], 64, dtype="uint8", fast=True)
    assert 0 < np.abs(fast.astype(int) - exact).mean() < 2
    same, _ = make_batch([data], 250, dtype="uint8", fast=True)  # of which a half would be too small
    np.testing.assert_array_equal(same, make_batch([data], 250, dtype="uint8")[0])
    region = [(33, 57, 300, 301)]
    exact, _ = make_batch([data], 40, region, dtype="uint8")
    fast, _ = make_batch([data], 40, region, dtype="uint8", fast=True)
    assert np.abs(fast.astype(int) - exact).mean() < 2.5


def test_many_kinds_of_samples_in_one_batch_by_threads():
    pixels = photograph(40, 60)
    samples = [jpeg(pixels), encode(pixels, "PNG"), pixels, jpeg(pixels[:, :, 0]), encode(pixels, "WEBP")] * 5
    alone, _ = make_batch(samples, 32)
    np.testing.assert_array_equal(make_batch(samples, 32, threads=3)[0], alone)
    assert make_batch([], 32)[0].shape == (0, 3, 32, 32)


@pytest.mark.parametrize("threads", [1, 2])
def test_what_cannot_be_read_is_told(threads):
    data = jpeg(photograph(40, 60))
    samples = [data, data[:200], b"text", data, np.zeros((4, 4, 2), np.uint8), np.zeros((0, 4, 3), np.uint8),
               np.zeros((4, 4, 3)), encode(photograph(9, 9), "PNG")[:60]]
    out = np.full((8, 3, 16, 16), 7, np.float32)
    made, failures = make_batch(samples, 16, out=out, errors="skip", threads=threads)
    assert made is out and [number for number, _ in failures] == [1, 2, 4, 5, 6, 7]
    assert all(words for _, words in failures) and "truncated" in failures[0][1] and "2 channels" in failures[2][1]
    assert not out[[1, 2, 4, 5, 6, 7]].any()
    np.testing.assert_array_equal(out[3], make_batch([data], 16)[0][0])
    with pytest.raises(DataError, match="sample 1: .*truncated"):
        make_batch(samples[:2], 16)
    _, failures = make_batch([data, data[:200], data], 16, errors="skip", threads=threads)
    assert [number for number, _ in failures] == [1]


def test_wrong_calls():
    data = jpeg(photograph(16, 16))
    for words, options in (("size", {"size": 0}), ("filter", {"filter": "best"}), ("dtype", {"dtype": "float64"}),
                           ("layout", {"layout": "CHWN"}), ("channels", {"channels": 2}), ("std", {"std": 0.0}),
                           ("mean", {"mean": (1.0, 2.0)}), ("errors", {"errors": "hide"}),
                           ("mean or std", {"mean": 0.5, "dtype": "uint8"}), ("flips", {"flips": [1, 2]}),
                           ("out", {"out": np.zeros((1, 3, 8, 9), np.float32)})):
        with pytest.raises(ValueError, match=words):
            make_batch([data], **{"size": 8, **options})
    for region in ((0, 0, 17, 3), (0, 0, 0, 0), (-1, 0, 3, 3)):
        with pytest.raises(ValueError, match="region"):
            make_batch([data], 8, [region])
    with pytest.raises(TypeError):
        make_batch(["text"], 8)
    batch = _C.PictureBatch((8, 8))
    with pytest.raises(ValueError, match="5 bytes, expected at least 768"):
        batch.write(jpeg_library(), [(data, None, 0, None, None, None)], bytearray(5))
    with pytest.raises(BufferError):
        batch.write(jpeg_library(), [(data, None, 0, None, None, None)], bytes(768))


def test_extreme_sizes():
    tall = np.arange(65500, dtype=np.uint32).astype(np.uint8).reshape(65500, 1, 1).repeat(3, 2)
    made, _ = make_batch([tall], 1, dtype="uint8", layout="NHWC")
    np.testing.assert_array_equal(made[0], by_pillow(tall, None, (1, 1)))
    one = np.full((1, 1, 3), 9, np.uint8)
    assert (make_batch([one], (3, 70), dtype="uint8", filter="lanczos")[0] == 9).all()
    data = jpeg(np.zeros((3, 65500, 3), np.uint8))
    assert make_batch([data], 8, [(0, 65400, 3, 100)])[0].shape == (1, 3, 8, 8)


def test_recipes_are_pickled():
    recipe = pickle.loads(pickle.dumps(Recipe((8, 9), 0.5, 0.25, "NHWC", "float16", channels=1)))
    assert (recipe.shape(2), recipe.nbytes(2), recipe.dtype) == ((2, 8, 9, 1), 288, "float16")
    assert decode(jpeg(photograph(8, 9))).shape == (8, 9, 3)


def test_regions_are_resized_as_by_torchvision():
    try:
        from harness import genuine_torchvision
        genuine_torchvision.load()
    except ImportError:
        pytest.skip("genuine torchvision is not installed")
    import torch
    from torchvision.transforms import InterpolationMode, v2
    pixels = photograph(150, 200)
    draw, differing = np.random.default_rng(1), []
    for filter, mode in (("bilinear", InterpolationMode.BILINEAR), ("bicubic", InterpolationMode.BICUBIC)):
        for _ in range(20):
            height, width = (int(side) for side in draw.integers(20, (151, 201)))
            region = int(draw.integers(151 - height)), int(draw.integers(201 - width)), height, width
            size = tuple(int(side) for side in draw.integers(8, 100, 2))
            made, _ = make_batch([pixels], size, [region], dtype="uint8", filter=filter)
            expected = v2.functional.resized_crop(torch.from_numpy(pixels).permute(2, 0, 1), *region, list(size), mode,
                                                  antialias=True).numpy()
            most, part = differ(made[0], expected)
            assert most <= (1 if filter == "bilinear" else 2)
            differing.append(part)
    assert np.mean(differing) < 0.1
