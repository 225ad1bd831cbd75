"""Normal vectors with a covariance of low rank and a diagonal."""
import math
from operator import attrgetter

from dragon.vm import torch
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions.distribution import Distribution
from dragon.vm.torch.distributions.multivariate_normal import _batch_mahalanobis, _batch_mv
from dragon.vm.torch.distributions.utils import _standard_normal, lazy_property


def _batch_capacitance_tril(factor, diagonal):
    """Return the Cholesky factor of I + W^T D^-1 W."""
    scaled = factor.mT / diagonal.unsqueeze(-2)
    capacitance = torch.matmul(scaled, factor).contiguous()
    rank = factor.size(-1)
    capacitance.view(-1, rank * rank)[:, ::rank + 1] += 1
    return torch.linalg.cholesky(capacitance)


def _batch_lowrank_logdet(diagonal, capacitance_tril):
    """Return log |W W^T + D|, by the matrix determinant lemma."""
    return 2 * capacitance_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1) + diagonal.log().sum(-1)


def _batch_lowrank_mahalanobis(factor, diagonal, x, capacitance_tril):
    """Return x^T (W W^T + D)^-1 x, by Woodbury's identity."""
    scaled = factor.mT / diagonal.unsqueeze(-2)
    inner = _batch_mahalanobis(capacitance_tril, _batch_mv(scaled, x))
    return (x.pow(2) / diagonal).sum(-1) - inner


class LowRankMultivariateNormal(Distribution):
    """Normal vectors with covariances `cov_factor @ cov_factor.T + diag(cov_diag)`.

    Parameters
    ----------
    loc : Tensor
        The mean.
    cov_factor : Tensor
        The factor of low rank.
    cov_diag : Tensor
        The diagonal.

    """

    arg_constraints = {"loc": constraints.real_vector, "cov_factor": constraints.independent(constraints.real, 2),
                       "cov_diag": constraints.independent(constraints.positive, 1)}
    support = constraints.real_vector
    has_rsample = True
    _expands = ("loc", "cov_factor", "cov_diag")
    _keeps = ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril")

    def __init__(self, loc, cov_factor, cov_diag, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event_shape = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        if cov_factor.shape[-2:-1] != event_shape:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {event_shape[0]} x m")
        if cov_diag.shape[-1:] != event_shape:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event_shape}")
        column = loc.unsqueeze(-1)
        column, self.cov_factor, diagonal = _broadcast(column, cov_factor, cov_diag.unsqueeze(-1))
        self.loc, self.cov_diag = column[..., 0], diagonal[..., 0]
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        self._capacitance_tril = _batch_capacitance_tril(cov_factor, cov_diag)
        super().__init__(self.loc.shape[:-1], event_shape, validate_args=validate_args)

    mean = property(attrgetter("loc"), doc="The mean.")

    mode = mean

    @lazy_property
    def variance(self):
        """The variances of the entries."""
        total = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return total.expand(self._batch_shape + self._event_shape)

    def _full(self, matrix):
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def scale_tril(self):
        """The covariances' Cholesky factor."""
        root = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / root
        inner = torch.matmul(scaled, scaled.mT).contiguous()
        n = self._event_shape[0]
        inner.view(-1, n * n)[:, ::n + 1] += 1
        return self._full(root * torch.linalg.cholesky(inner))

    @lazy_property
    def covariance_matrix(self):
        """The covariances."""
        factor = self._unbroadcasted_cov_factor
        return self._full(torch.matmul(factor, factor.mT) + torch.diag_embed(self._unbroadcasted_cov_diag))

    @lazy_property
    def precision_matrix(self):
        """The inverse of the covariances."""
        scaled = self._unbroadcasted_cov_factor.mT / self._unbroadcasted_cov_diag.unsqueeze(-2)
        a = torch.linalg.solve_triangular(self._capacitance_tril, scaled, upper=False)
        return self._full(torch.diag_embed(self._unbroadcasted_cov_diag.reciprocal()) - a.mT @ a)

    def rsample(self, sample_shape=Size()):
        shape = self._extended_shape(sample_shape)
        few = _standard_normal(shape[:-1] + self.cov_factor.shape[-1:], dtype=self.loc.dtype, device=self.loc.device)
        many = _standard_normal(shape, dtype=self.loc.dtype, device=self.loc.device)
        return (self.loc + _batch_mv(self._unbroadcasted_cov_factor, few)
                + self._unbroadcasted_cov_diag.sqrt() * many)

    def log_prob(self, value):
        self._check_value(value)
        length = _batch_lowrank_mahalanobis(self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag,
                                            value - self.loc, self._capacitance_tril)
        log_det = _batch_lowrank_logdet(self._unbroadcasted_cov_diag, self._capacitance_tril)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + log_det + length)

    def entropy(self):
        log_det = _batch_lowrank_logdet(self._unbroadcasted_cov_diag, self._capacitance_tril)
        entropy = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + log_det)
        return entropy if len(self._batch_shape) == 0 else entropy.expand(self._batch_shape)


def _broadcast(column, factor, diagonal):
    """Return the three with one batch shape."""
    batch = torch.broadcast_shapes(column.shape[:-2], factor.shape[:-2], diagonal.shape[:-2])
    return tuple(x.expand(batch + x.shape[-2:]) for x in (column, factor, diagonal))
