"""Layers that make images larger."""
from dragon.vm.torch.nn import functional as F
from dragon.vm.torch.nn.modules.module import Module


class Upsample(Module):
    """Resample to a size or by a factor.

    Parameters
    ----------
    size : Union[int, Tuple[int, ...]], optional
        The output's size.
    scale_factor : Union[float, Tuple[float, ...]], optional
        The factor.
    mode : {"nearest", "linear", "bilinear", "bicubic", "trilinear", "nearest-exact"}, optional
        How to resample.
    align_corners : bool, optional
        Let the corners' centres meet.
    recompute_scale_factor : bool, optional
        Take the factor from the sizes, as they come out.

    Examples
    --------
    >>> nn.Upsample(scale_factor=2)(torch.tensor([[[[1.0, 2.0]]]]))
    tensor([[[[1., 1., 2., 2.],
              [1., 1., 2., 2.]]]])

    """

    __constants__ = ["size", "scale_factor", "mode", "align_corners", "name", "recompute_scale_factor"]

    def __init__(self, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None):
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        if isinstance(scale_factor, tuple):
            self.scale_factor = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input):
        """Return the larger image."""
        return F.interpolate(input, self.size, self.scale_factor, self.mode, self.align_corners,
                             recompute_scale_factor=self.recompute_scale_factor)

    def __setstate__(self, state):
        super().__setstate__(state)
        self.__dict__.setdefault("recompute_scale_factor", True)

    def extra_repr(self):
        name = "size" if self.scale_factor is None else "scale_factor"
        return f"{name}={getattr(self, name)!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Upsample two axes with the nearest pixel."""

    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Upsample two axes bilinearly, corners aligned."""

    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
