"""The Wishart distribution."""
import math

from dragon.core import warnings
from dragon.vm import torch
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions.chi2 import Chi2
from dragon.vm.torch.distributions.exp_family import ExponentialFamily
from dragon.vm.torch.distributions.multivariate_normal import _only, _scale_tril_of
from dragon.vm.torch.distributions.utils import lazy_property


def _mvdigamma(x, p):
    """Return the sum of digamma(x - i / 2) for i below p."""
    if not x.gt((p - 1) / 2).all():
        raise AssertionError("Wrong domain for multivariate digamma function.")
    halves = torch.arange(p, dtype=x.dtype, device=x.device).div(2)
    return torch.digamma(x.unsqueeze(-1) - halves.expand(x.shape + (-1,))).sum(-1)


class Wishart(ExponentialFamily):
    """Sums of outer products of normal vectors.

    Parameters
    ----------
    df : Union[float, Tensor]
        How many: the degrees of freedom, more than the size of the matrices less one.
    covariance_matrix : Tensor, optional
        The vectors' covariances; or

    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0
    _expands = ("df", "covariance_matrix", "scale_tril", "precision_matrix")

    @property
    def arg_constraints(self):
        return {"covariance_matrix": constraints.positive_definite, "precision_matrix": constraints.positive_definite,
                "scale_tril": constraints.lower_cholesky, "df": constraints.greater_than(self.event_shape[-1] - 1)}

    def __init__(self, df, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        name, matrix = _only(covariance_matrix=covariance_matrix, scale_tril=scale_tril,
                             precision_matrix=precision_matrix)
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        if not isinstance(df, torch.Tensor):
            df = torch.tensor(df, dtype=matrix.dtype, device=matrix.device)
        batch_shape, event_shape = torch.broadcast_shapes(matrix.shape[:-2], df.shape), matrix.shape[-2:]
        self.df = df.expand(batch_shape)
        if self.df.le(event_shape[-1] - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {event_shape[-1] - 1}.")
        setattr(self, name, matrix.expand(batch_shape + (-1, -1)))
        self._unbroadcasted_scale_tril = _scale_tril_of(name, matrix)
        self._batch_dims = [-(axis + 1) for axis in range(len(batch_shape))]
        super().__init__(batch_shape, event_shape, validate_args=validate_args)
        self._make_chi2()

    def _make_chi2(self):
        size = self._event_shape[-1]
        less = torch.arange(size, dtype=self._unbroadcasted_scale_tril.dtype,
                            device=self._unbroadcasted_scale_tril.device).expand(self._batch_shape + (-1,))
        self._dist_chi2 = Chi2(df=self.df.unsqueeze(-1) - less)

    def expand(self, batch_shape, _instance=None):
        new = super().expand(batch_shape, _instance)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril.expand(new.batch_shape + self.event_shape)
        new._batch_dims = [-(axis + 1) for axis in range(len(new.batch_shape))]
        new._make_chi2()
        return new

    def _full(self, matrix):
        return matrix.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self):
        """The covariances' Cholesky factor."""
        return self._full(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self):
        """The covariances."""
        return self._full(self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT)

    @lazy_property
    def precision_matrix(self):
        """The inverse of the covariances."""
        size = self._event_shape[-1]
        identity = torch.eye(size, device=self._unbroadcasted_scale_tril.device,
                             dtype=self._unbroadcasted_scale_tril.dtype)
        return self._full(torch.cholesky_solve(identity, self._unbroadcasted_scale_tril))

    @property
    def mean(self):
        return self.df.view(self._batch_shape + (1, 1)) * self.covariance_matrix

    @property
    def mode(self):
        """The mode; NaN where there is none."""
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        factor = torch.where(factor <= 0, torch.full_like(factor, torch.nan), factor)
        return factor.view(self._batch_shape + (1, 1)) * self.covariance_matrix

    @property
    def variance(self):
        """The variances of the entries."""
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        products = torch.einsum("...i,...j->...ij", diagonal, diagonal)
        return self.df.view(self._batch_shape + (1, 1)) * (v.pow(2) + products)

    def _bartlett_sampling(self, sample_shape=Size()):
        size = self._event_shape[-1]
        noise = self._dist_chi2.rsample(sample_shape).sqrt().diag_embed(dim1=-2, dim2=-1)
        i, j = torch.tril_indices(size, size, offset=-1)
        noise[..., i, j] = torch.randn(Size(sample_shape) + self._batch_shape + (int(size * (size - 1) / 2),),
                                       dtype=noise.dtype, device=noise.device)
        chol = self._unbroadcasted_scale_tril @ noise
        return chol @ chol.mT

    def rsample(self, sample_shape=Size(), max_try_correction=None):
        """Draw as a differentiable function of the parameters; singular draws are drawn again.

        Parameters
        ----------
        sample_shape : Size, optional
            The shape of draws.
        max_try_correction : int, optional
            How often to draw again; 3 for batches and 10 for single matrices by default.

        """
        if max_try_correction is None:
            max_try_correction = 3 if len(self._batch_shape) > 0 else 10
        sample_shape = Size(sample_shape)
        sample = self._bartlett_sampling(sample_shape)
        is_singular = self.support.check(sample).logical_not()
        if self._batch_shape:
            is_singular = is_singular.amax(self._batch_dims)
        if torch.any(is_singular):
            warnings.warn("Singular sample detected.")
            for _ in range(max_try_correction):
                again = self._bartlett_sampling(is_singular[is_singular].shape)
                sample[is_singular] = again
                still = self.support.check(again).logical_not()
                if self._batch_shape:
                    still = still.amax(self._batch_dims)
                is_singular[is_singular.clone()] = still
                if not torch.any(is_singular):
                    break
        return sample

    def log_prob(self, value):
        self._check_value(value)
        nu, p = self.df, self._event_shape[-1]
        log_det = self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        return (-nu * (p * math.log(2.0) / 2.0 + log_det) - torch.mvlgamma(nu / 2.0, p=p)
                + (nu - p - 1) / 2.0 * torch.linalg.slogdet(value).logabsdet
                - torch.cholesky_solve(value, self._unbroadcasted_scale_tril).diagonal(dim1=-2, dim2=-1).sum(dim=-1)
                / 2.0)

    def entropy(self):
        nu, p = self.df, self._event_shape[-1]
        log_det = self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        return ((p + 1) * (p * math.log(2.0) / 2.0 + log_det) + torch.mvlgamma(nu / 2.0, p=p)
                - (nu - p - 1) / 2 * _mvdigamma(nu / 2.0, p=p) + nu * p / 2)

    @property
    def _natural_params(self):
        nu, p = self.df, self._event_shape[-1]
        return -self.precision_matrix / 2, (nu - p - 1) / 2

    def _log_normalizer(self, x, y):
        p = self._event_shape[-1]
        return (y + (p + 1) / 2) * (-torch.linalg.slogdet(-2 * x).logabsdet + math.log(2.0) * p) + torch.mvlgamma(
            y + (p + 1) / 2, p=p)
