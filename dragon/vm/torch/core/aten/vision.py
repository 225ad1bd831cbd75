"""Pictures in another size."""
from dragon.vm.torch.core.api import api


def resize(input, output_size, scale_factors, mode, align_corners=None, antialias=False):
    """Return a picture in another size: the one that is given, else by factors."""
    factors = None if scale_factors is None or output_size is not None else tuple(scale_factors)
    size = None if output_size is None else tuple(output_size)
    return api().nn.functional.interpolate(input, size, factors, mode, align_corners, antialias=antialias)
