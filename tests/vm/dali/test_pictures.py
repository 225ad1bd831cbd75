"""Pictures: those of files, and those that the engine makes in one pass over their bytes."""
import numpy as np
import pytest

from dragon.vm import dali
from dragon.vm.dali import fn, types
from vm.dali.run_call import run_call


def run(make, value, layout="HWC"):
    """Return what a pipeline makes of one sample, as an array."""
    return np.asarray(run_call(make, value, layout).at(0))


@pytest.mark.parametrize("orientation", [0, 1, 6, 9])
def test_sizes_of_files_are_those_of_their_pictures(orientation):
    image = pytest.importorskip("PIL.Image")
    from harness.photographs import jpeg, photograph
    exif = image.Exif()
    exif[0x0112] = orientation
    file = np.frombuffer(jpeg(photograph(20, 30, 0), exif=exif), np.uint8)
    shape = run(fn.decoders.image, file, None).shape
    assert tuple(run(fn.peek_image_shape, file, None)) == shape == ((30, 20, 3) if orientation == 6 else (20, 30, 3))


BYTES = np.random.RandomState(7).randint(0, 256, (4, 23, 31, 4)).astype(np.uint8)
CALLS = {
    "resize": lambda x, **kind: fn.resize(x, size=[11, 40], **kind),
    "region": lambda x, **kind: fn.resize(x, size=[7, 9], roi_start=[0.1, 0.2], roi_end=[0.7, 1.0], roi_relative=True,
                                          **kind),
    "blur": lambda x, **kind: fn.gaussian_blur(x, sigma=1.5, **kind),
    "wide blur": lambda x, **kind: fn.gaussian_blur(x, sigma=12.0, **kind),
}
COLOURS = {
    "twist": lambda x, **kind: fn.color_twist(x, hue=20, saturation=1.3, brightness=0.8, contrast=1.4, **kind),
    "blue first": lambda x, **kind: fn.hue(x, hue=70, image_type=types.BGR, **kind),
    "hsv": lambda x, **kind: fn.hsv(x, hue=-50, saturation=0.2, value=1.5, **kind),
}
LAYOUTS = {"HWC": BYTES[0], "CHW": BYTES[0].transpose(2, 0, 1), "HW": BYTES[0, ..., 0], "FHWC": BYTES[..., :3],
           "FCHW": BYTES.transpose(0, 3, 1, 2), "one pixel": BYTES[0, :1, :1, :1], "upside down": BYTES[0, ::-1, :, :3]}


def check_bytes(call, value, layout):
    """Compare bytes with floats that are rounded to bytes."""
    floats = run(lambda x: call(x, dtype=types.FLOAT), value, layout)
    whole = run(lambda x: call(x, dtype=types.UINT8), value, layout)
    assert whole.shape == floats.shape
    np.testing.assert_allclose(whole, np.clip(floats, 0, 255), atol=1.01)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_bytes_are_floats_that_are_rounded(name, layout):
    check_bytes(CALLS[name], LAYOUTS[layout], layout if layout in ("CHW", "HW", "FHWC", "FCHW") else "HWC")


@pytest.mark.parametrize("name", COLOURS)
def test_mixed_bytes_are_floats_that_are_rounded(name):
    check_bytes(COLOURS[name], BYTES[..., :3], "FHWC")
    check_bytes(COLOURS[name], BYTES[0, ::-1, ::2, 1:], "HWC")


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("kind", [types.FLOAT, types.FLOAT16])
def test_normalized_bytes_are_the_same_in_each_layout(channels, kind):
    numbers = {"mean": [100.0], "std": [3.0 * (place + 1) for place in range(channels)], "crop": [9, 8], "mirror": 1,
               "shift": 0.5, "scale": 2.0, "dtype": kind}

    def made(layout):
        return run(lambda x: fn.crop_mirror_normalize(x, output_layout=layout, **numbers), BYTES[..., :channels],
                   "FHWC")
    np.testing.assert_allclose(made("FCHW"), made("FHWC").transpose(0, 3, 1, 2), rtol=1e-3 if kind == types.FLOAT16
                               else 1e-5, atol=1e-4)


@pytest.mark.parametrize("fill", [None, 0.0, -1e9, np.nan])
def test_what_lies_outside_changes_nothing_inside(fill):
    picture = np.random.RandomState(8).randn(9, 12, 2).astype(np.float32)
    made = run(lambda x: fn.warp_affine(x, matrix=[1, 0, 3.25, 0, 1, -2], fill_value=fill), picture)
    np.testing.assert_allclose(made[2:, :8], 0.75 * picture[:-2, 3:11] + 0.25 * picture[:-2, 4:], atol=1e-5)
    np.testing.assert_allclose(made[:2, :8], fill if fill is not None else made[2:3, :8] * np.ones((2, 1, 1)),
                               rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(made[2:, 9:], fill if fill is not None else picture[:-2, -1:] * np.ones((1, 3, 1)),
                               rtol=1e-6, atol=1e-6)


def test_threads_find_the_same_as_one_caller():
    def made(threads):
        pipe = dali.Pipeline(8, threads, None, exec_pipelined=False)
        with pipe:
            x = fn.external_source(lambda: list(BYTES[..., :3]) * 2, layout="HWC")
            x = fn.rotate(fn.gaussian_blur(x, sigma=1.2), angle=30, fill_value=3)
            pipe.set_outputs(fn.laplacian(fn.color_twist(fn.resize(x, size=[40, 50]), hue=9), dtype=types.FLOAT))
        return [np.asarray(one) for one in pipe.run()[0]]
    for one, other in zip(made(1), made(4)):
        np.testing.assert_array_equal(one, other)


def test_nan_spoils_its_neighbours_only():
    picture = np.ones((20, 30, 2), np.float32)
    picture[3, 4, 1] = np.nan
    for size in ([10, 15], [40, 61]):
        lost = np.isnan(run(lambda x, size=size: fn.resize(x, size=size), picture))
        assert lost.any() and not lost[..., 0].any() and lost.mean() < 0.02


def test_numbers_are_no_halves_under_autocast():
    from dragon.vm import torch
    from dragon.vm.dali.experimental import eager
    picture = dali.tensors.TensorListCPU(BYTES[:1, ..., :3].astype(np.float32), layout="HWC")

    def made():
        filtered = eager.filter(picture, np.float32([[0, 1, 0], [1, -3.7, 1], [0, 1, 0]]))
        return np.asarray(eager.rotate(eager.resize(filtered, size=[30, 40]), angle=20).at(0))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        one = made()
    np.testing.assert_array_equal(one, made())
