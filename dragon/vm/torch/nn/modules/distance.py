"""Distances and similarities as layers."""
from dragon.vm.torch.nn import functional as F
from dragon.vm.torch.nn.modules.module import Module


class PairwiseDistance(Module):
    """The distance between vectors in pairs.

    Parameters
    ----------
    p : float, optional, default=2.0
        The norm.
    eps : float, optional, default=1e-06
        Added to differences.
    keepdim : bool, optional, default=False
        Keep the last axis, of size 1.

    """

    __constants__ = ["norm", "eps", "keepdim"]

    def __init__(self, p=2.0, eps=1e-6, keepdim=False):
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1, x2):
        """Return the distances."""
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """The cosine of the angle between vectors in pairs.

    Parameters
    ----------
    dim : int, optional, default=1
        The axis that vectors lie along.
    eps : float, optional, default=1e-08
        The smallest norm to divide by.

    """

    __constants__ = ["dim", "eps"]

    def __init__(self, dim=1, eps=1e-8):
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1, x2):
        """Return the cosines."""
        return F.cosine_similarity(x1, x2, self.dim, self.eps)
