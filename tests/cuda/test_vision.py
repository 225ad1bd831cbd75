"""Images on the device beside the CPU's: sizes that cross the borders of blocks and warps, and what no row reaches."""
import numpy
import pytest

import dragon

ops = dragon.ops
RANDOM = numpy.random.default_rng(5)


def numbers(shape, dtype="float32", low=-2.0, high=2.0):
    """Return random numbers of a dtype on the CPU."""
    array = RANDOM.uniform(low, high, shape)
    return ops.cast(dragon.from_numpy(array.astype("float32")), getattr(dragon, dtype))


def there(x):
    return ops.to_device(x, "cuda") if hasattr(x, "dtype") else x


def array(x):
    x = ops.to_device(x.detach(), "cpu")
    return (ops.cast(x, dragon.float32) if "float16" in str(x.dtype) else x).numpy()


def beside(name, *arguments, close=1e-5):
    """Call an operator on both, and return what the device gave."""
    call = getattr(ops, name)
    wanted, got = call(*arguments), call(*map(there, arguments))
    wanted, got = [x if isinstance(x, (tuple, list)) else (x,) for x in (wanted, got)]
    for mine, theirs in zip(got, wanted, strict=True):
        assert str(mine.device) == "cuda:0" and mine.shape == theirs.shape
        numpy.testing.assert_allclose(array(mine), array(theirs), rtol=close, atol=close)
    return got


@pytest.mark.parametrize("mode, size", [("nearest", (9, 70)), ("bilinear", (33, 40)), ("bilinear", (5, 6)),
                                        ("bicubic", (20, 35)), ("area", (3, 4)), ("lanczos5", (12, 12)),
                                        ("coverage", (11, 5)), ("mitchell", (17, 33))])
@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("last", [False, True])
def test_resized_images(mode, size, antialias, last):
    if antialias and mode in ("nearest", "area", "coverage"):
        pytest.skip("has no antialiasing")
    for dtype in ("float32", "uint8"):
        x = numbers((3, 5, 17, 33), dtype, 0, 255)
        if last:
            x = ops.moveaxis(ops.contiguous(ops.moveaxis(x, (1,), (-1,))), (-1,), (1,))
        close = 1e-3 if dtype == "float32" else int(mode == "area")  # halves are rounded either way
        beside("resample", x, size, (0.0, 0.0), mode, False, antialias, close=close)
    beside("resample_backward", numbers((3, 5, *size)), (17, 33), (0.0, 0.0), mode, False, antialias, close=1e-4)


def test_resizing_drops_nothing_and_adds_nothing():
    """Copies keep infinities, signs of zeros and what is no number; sums of others stay apart from them."""
    x = numpy.zeros((1, 1, 4, 4), "float32")
    x[0, 0, 0], x[0, 0, 2] = -0.0, (numpy.inf, numpy.nan, -numpy.inf, -0.0)
    x = dragon.from_numpy(x)
    made = array(ops.resample(there(x), (8, 8), (0.0, 0.0), "nearest"))
    wanted = array(ops.resample(x, (8, 8), (0.0, 0.0), "nearest"))
    assert (made.view("uint32") == wanted.view("uint32")).all()
    beside("resample", x, (7, 6), (0.0, 0.0), "bilinear")


def test_volumes_and_lines():
    beside("resample", numbers((2, 3, 5, 6, 7)), (9, 3, 11), (0.0, 0.0, 0.0), "trilinear")
    beside("resample", numbers((2, 3, 5, 6, 7)), (9, 6, 7), (0.0, 0.0, 0.0), "area")
    beside("resample", numbers((2, 3, 300)), (77,), (0.0,), "linear")
    beside("resample", numbers((0, 3, 4, 4)), (2, 2), (0.0, 0.0), "bilinear")


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
def test_blurred_pictures(dtype):
    gentle = [0.25, 0.5, 0.25]
    long = list(numpy.hanning(61) / 30)
    close = {"uint8": 0, "float16": 1e-3}.get(dtype, 1e-5)
    for shape, across, down in (((2, 3, 17, 70), gentle, [0.5, 0.25, 0.0, -0.25, 0.125, 0.25, 0.125]),
                                ((1, 1, 1, 1), [1.0], [2.0]), ((1, 2, 40, 65), long, long),
                                ((0, 3, 4, 4), gentle, gentle)):
        x = numbers(shape, dtype, 0, 255 if dtype == "uint8" else 1)
        beside("blur", x, across, down, close=1 if across is long and dtype == "uint8" else close)
        if shape[0]:
            x = ops.moveaxis(ops.contiguous(ops.moveaxis(x, (1,), (-1,))), (-1,), (1,))
            beside("blur", x, across, down, close=1 if across is long and dtype == "uint8" else close)


@pytest.mark.parametrize("threshold", [0.1, 0.5, 0.9])
def test_many_boxes_that_hide_others(threshold):
    """More than a word, and than a band, of boxes."""
    for count in (0, 1, 63, 64, 65, 200, 700):
        corners = RANDOM.uniform(0, 10, (count, 2)).astype("float32")
        boxes = numpy.concatenate([corners, corners + RANDOM.uniform(0, 4, (count, 2))], 1).astype("float32")
        beside("suppress_boxes", dragon.from_numpy(boxes), threshold, close=0)


@pytest.mark.parametrize("sigma", [0.0, 0.5])
def test_the_best_of_many_boxes(sigma):
    boxes, scores = RANDOM.uniform(0, 10, (2, 150, 4)), RANDOM.uniform(0, 1, (4, 150))
    scores[0, :5], scores[1, 3:9] = numpy.nan, 0.5
    boxes, scores = dragon.from_numpy(boxes.astype("float32")), dragon.from_numpy(scores.astype("float32"))
    for limit in (0, 7, 150, 160):
        beside("select_boxes", boxes, scores, limit, 0.3, 0.1, sigma)


def test_boxes_of_images_that_there_are_not():
    """They read what lies outside of images, and give their gradient to nobody."""
    x, boxes = there(numbers((2, 4, 5, 3))), there(numbers((3, 4), low=0.0, high=1.0))
    for wrong in (-1, 2, 1 << 40):
        which = there(dragon.from_numpy(numpy.array([0, wrong, 1])))
        made = array(ops.crop_boxes(x, boxes, which, (3, 2), "bilinear", 7.0))
        assert (made[1] == 7).all() and not (made[0] == 7).all()
        dy = there(numbers((3, 3, 2, 3)))
        dx = ops.crop_boxes_backward(dy, boxes, which, (3, 2), (2, 4, 5), "bilinear", (0, 0))
        assert numpy.isfinite(array(dx)).all()


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_colours_of_large_pictures(dtype):
    white = 255 if dtype == "uint8" else 1
    for shape in ((3, 3, 70, 71), (3, 1, 1), (2, 1, 8, 8), (2, 0, 3, 4, 4)):
        x = numbers(shape, dtype, 0, white)
        for other in ("black", "grey", "mean")[::1 if shape[-3] == 3 else 2]:
            beside("blend_colours", x, 0.3, other, close=1 if dtype == "uint8" else 1e-5)
        if shape[-3] == 3:
            beside("turn_hue", x, 0.2, close=1 if dtype == "uint8" else 1e-4)
        if dtype == "float32":
            beside("standardize", x, [0.5], [2.0])
            beside("standardize", x, [0.1, 0.2, 0.3][:shape[-3]], [1.0, 2.0, 3.0][:shape[-3]])


def test_windows_of_pictures():
    x = numbers((2, 3, 19, 23))
    for size, dilation, padding, stride in (((3, 2), 1, 0, 1), ((2, 5), (2, 1), (3, 1), (2, 3)), ((1, 1), 1, 0, 4)):
        columns = ops.im2col(x, size, dilation, padding, stride)
        beside("im2col", x, size, dilation, padding, stride, close=0)
        beside("col2im", columns, (19, 23), size, dilation, padding, stride)


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("corners", [False, True])
def test_points_outside_and_of_no_number(mode, padding, corners):
    x = numbers((2, 37, 9, 11))
    grid = RANDOM.uniform(-1.4, 1.4, (2, 13, 29, 2)).astype("float32")
    grid[0, 0, :6, 0], grid[0, 0, 2:8, 1] = numpy.nan, numpy.inf
    grid[1, 1, 0] = (50.0, -70.0)
    beside("grid_sample", x, dragon.from_numpy(grid), mode, padding, corners)
