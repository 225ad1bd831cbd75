"""Layers that drop elements or channels at random while training."""
from dragon.vm.torch.nn.modules._applied import Applied


class _DropoutNd(Applied, takes="p=0.5, inplace=False"):
    """The base of all of them.

    Parameters
    ----------
    p : float, optional, default=0.5
        Probability of dropping.
    inplace : bool, optional, default=False
        Overwrite the input.

    """

    def _settle(self):
        if self.p < 0 or self.p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {self.p}")

    def extra_repr(self):
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd, call="dropout(input; training=self.training)"):
    """Put zero in the place of elements, and scale the rest so that the mean stays.

    Parameters
    ----------
    p : float, optional, default=0.5
        How probable it is that an element becomes 0.
    inplace : bool, optional, default=False
        Overwrite the input.

    Examples
    --------
    >>> layer = nn.Dropout(p=0.5)
    >>> layer(torch.ones(1000)).unique()
    tensor([0., 2.])
    >>> layer.eval()(torch.ones(3))
    tensor([1., 1., 1.])

    """


class Dropout1d(_DropoutNd, call="dropout1d(input; training=self.training)"):
    """Drop whole channels of `(N, C, L)`."""


class Dropout2d(_DropoutNd, call="dropout2d(input; training=self.training)"):
    """Drop whole channels of `(N, C, H, W)`."""


class Dropout3d(_DropoutNd, call="dropout3d(input; training=self.training)"):
    """Drop whole channels of `(N, C, D, H, W)`."""


class AlphaDropout(_DropoutNd, call="alpha_dropout(input; training=self.training)"):
    """Drop elements so that mean and variance stay what SELU made them."""

    _settled = ["inplace"]  # as in PyTorch, whose layer never overwrites either


class FeatureAlphaDropout(_DropoutNd, call="feature_alpha_dropout(input; training=self.training)"):
    """Drop whole channels as AlphaDropout drops elements."""

    _settled = ["inplace"]  # as in PyTorch, whose layer never overwrites either
