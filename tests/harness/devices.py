"""One call on both sides: the host's kernels and the device's, on the same numbers."""
import os

import numpy

import dragon
from harness import engine


def is_there():
    """Whether there is a CUDA device, or a machine that stands for one and that `DRAGON_SIMT` names."""
    return bool(os.environ.get("DRAGON_SIMT")) or dragon._C.device_count("cuda") > 0


def last(x):
    """Return a tensor's numbers with its channels (axis 1) side by side in memory."""
    there = [0, *range(2, x.ndim), 1]
    back = [0, x.ndim - 1, *range(1, x.ndim - 1)]
    return dragon.ops.permute(dragon.ops.contiguous(dragon.ops.permute(x, there)), back)


def tensor(array, dtype=None, channels_last=False, device="cpu"):
    """Return a tensor of a NumPy array, in another dtype and layout, on a device."""
    x = dragon.from_numpy(numpy.array(array, order="C"))
    x = dragon.ops.to_device(dragon.ops.cast(x, getattr(dragon, dtype)) if dtype else x, device)
    return last(x) if channels_last else x


def results(value):
    """Return a call's results as NumPy arrays."""
    items = value if isinstance(value, tuple | list) else [value]
    return [engine.array(dragon.ops.to_device(item, "cpu")) for item in items]


def both(call, arrays, dtype=None, channels_last=False):
    """Return what `call(*tensors)` gives on the host and on the device; integers stay as they are."""
    def side(device):
        made = []
        for array in arrays:
            floats = array is not None and array.dtype.kind == "f"
            made.append(None if array is None else tensor(array, dtype if floats else None,
                                                          channels_last and array.ndim > 2, device))
        return results(call(*made))
    return side("cpu"), side("cuda")


def agree(call, arrays, dtype=None, channels_last=False, tolerance=1e-5):
    """Hold that both sides give the same, to within a part of the largest number."""
    for index, (wanted, got) in enumerate(zip(*both(call, arrays, dtype, channels_last), strict=True)):
        wide = wanted.astype(numpy.float64) if wanted.dtype.kind != "c" else wanted
        finite = numpy.abs(wide[numpy.isfinite(wide)])
        scale = max(1.0, finite.max() if finite.size else 1.0)
        numpy.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance * scale, err_msg=f"result {index}")
