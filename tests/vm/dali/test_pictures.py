"""Pictures: those of files, and those that the engine makes in one pass over their bytes."""
import numpy as np
import pytest

from dragon.vm.dali import fn
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
