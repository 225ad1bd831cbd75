"""Layers that drop elements or channels at random while training."""
from dragon.vm.torch.nn import functional as F
from dragon.vm.torch.nn.modules.module import Module


class _DropoutNd(Module):
    """What all of them share.

    Parameters
    ----------
    p : float, optional, default=0.5
        Probability of dropping.
    inplace : bool, optional, default=False
        Overwrite the input.

    """

    __constants__ = ["p", "inplace"]

    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def extra_repr(self):
        """Return the options as text."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """Put zero in the place of elements, and scale the rest so that the mean stays."""

    def forward(self, input):
        """Return the input with elements dropped."""
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """Drop whole channels of `(N, C, L)`."""

    def forward(self, input):
        """Return the input with channels dropped."""
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """Drop whole channels of `(N, C, H, W)`."""

    def forward(self, input):
        """Return the input with channels dropped."""
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """Drop whole channels of `(N, C, D, H, W)`."""

    def forward(self, input):
        """Return the input with channels dropped."""
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Drop elements so that mean and variance stay what SELU made them."""

    def forward(self, input):
        """Return the input with elements dropped."""
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """Drop whole channels as AlphaDropout drops elements."""

    def forward(self, input):
        """Return the input with channels dropped."""
        return F.feature_alpha_dropout(input, self.p, self.training)
