"""Pictures in another size."""
from dragon.vm.torch.core.api import api


def resize(input, output_size, scale_factors, mode, align_corners=None, antialias=False):
    """Return a picture in another size; factors, where all are given, decide how places are counted."""
    interpolate = api().nn.functional.interpolate
    size = None if output_size is None else tuple(output_size)
    if scale_factors is None or None in scale_factors:
        return interpolate(input, size, None, mode, align_corners, antialias=antialias)
    made = interpolate(input, None, tuple(scale_factors), mode, align_corners, antialias=antialias)
    if size is not None and tuple(made.shape[2:]) != size:
        raise NotImplementedError(f"upsample: got size {size} and factors {tuple(scale_factors)} for "
                                  f"{tuple(input.shape[2:])}, expected the size that they come to")
    return made
