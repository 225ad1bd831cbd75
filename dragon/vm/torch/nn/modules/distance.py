"""Distances and similarities as layers."""
from dragon.vm.torch.nn.modules._applied import Applied


class PairwiseDistance(Applied, call="pairwise_distance(x1, x2; p=self.norm, eps=self.eps, keepdim=self.keepdim)"):
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


class CosineSimilarity(Applied, call="cosine_similarity(x1, x2; dim=1, eps=1e-8)"):
    """The cosine of the angle between vectors in pairs.

    Parameters
    ----------
    dim : int, optional, default=1
        The axis that vectors lie along.
    eps : float, optional, default=1e-08
        The smallest norm to divide by.

    """

    _shown = ()
