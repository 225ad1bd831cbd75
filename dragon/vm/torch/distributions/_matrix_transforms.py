"""Transforms of vectors and matrices, and of several parts side by side; `transforms` shows them all."""
import math
from operator import attrgetter

from dragon.vm import torch
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions._transform import Transform, _OneOfAKind
from dragon.vm.torch.distributions.utils import _sum_rightmost, lazy_property, tril_matrix_to_vec, vec_to_tril_matrix
from dragon.vm.torch.nn import functional


class CorrCholeskyTransform(Transform):
    """Vectors of D (D - 1) / 2 numbers to Cholesky factors of D x D correlation matrices."""

    domain, codomain = constraints.real_vector, constraints.corr_cholesky
    bijective = True

    def _call(self, x):
        x = torch.tanh(x)
        eps = torch.finfo(x.dtype).eps
        x = x.clamp(min=-1 + eps, max=1 - eps)
        r = vec_to_tril_matrix(x, diag=-1)
        left = (1 - r ** 2).sqrt().cumprod(-1)
        r = r + torch.eye(r.shape[-1], dtype=r.dtype, device=r.device)
        return r * functional.pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y):
        left = 1 - torch.cumsum(y * y, dim=-1)
        left = functional.pad(left[..., :-1], [1, 0], value=1)
        t = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return (t.log1p() - t.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x, y, intermediates=None):
        left = tril_matrix_to_vec(1 - (y * y).cumsum(dim=-1), diag=-2)
        stick = 0.5 * left.log().sum(-1)
        return stick - 2.0 * (x + functional.softplus(-2.0 * x) - math.log(2.0)).sum(dim=-1)

    def forward_shape(self, shape):
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        count = shape[-1]
        size = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != count:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return shape[:-1] + (size, size)

    def inverse_shape(self, shape):
        if len(shape) < 2:
            raise ValueError("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return shape[:-2] + (shape[-1] * (shape[-1] - 1) // 2,)


def _need_axis(shape):
    if len(shape) < 1:
        raise ValueError("Too few dimensions on input")
    return shape


class SoftmaxTransform(_OneOfAKind):
    """Exponentials divided by their sum; not one to one."""

    domain, codomain = constraints.real_vector, constraints.simplex

    def _call(self, x):
        probs = (x - x.max(-1, True)[0]).exp()
        return probs / probs.sum(-1, True)

    def _inverse(self, y):
        return y.log()

    def forward_shape(self, shape):
        return _need_axis(shape)

    def inverse_shape(self, shape):
        return _need_axis(shape)


class StickBreakingTransform(_OneOfAKind):
    """Vectors to a simplex with one more entry, by breaking a stick."""

    domain, codomain = constraints.real_vector, constraints.simplex
    bijective = True

    def _call(self, x):
        offset = x.shape[-1] + 1 - x.new_ones(x.shape[-1]).cumsum(-1)
        z = torch.sigmoid(x - offset.log()).clamp(min=torch.finfo(x.dtype).tiny, max=1 - torch.finfo(x.dtype).eps)
        left = (1 - z).cumprod(-1)
        return functional.pad(z, [0, 1], value=1) * functional.pad(left, [1, 0], value=1)

    def _inverse(self, y):
        cropped = y[..., :-1]
        offset = y.shape[-1] - y.new_ones(cropped.shape[-1]).cumsum(-1)
        left = torch.clamp(1 - cropped.cumsum(-1), min=torch.finfo(y.dtype).tiny)
        return cropped.log() - left.log() + offset.log()

    def log_abs_det_jacobian(self, x, y):
        """Return the logarithm of the Jacobian's determinant."""
        offset = x.shape[-1] + 1 - x.new_ones(x.shape[-1]).cumsum(-1)
        x = x - offset.log()
        return (-x + functional.logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape):
        return _need_axis(shape)[:-1] + (shape[-1] + 1,)

    def inverse_shape(self, shape):
        return _need_axis(shape)[:-1] + (shape[-1] - 1,)


class LowerCholeskyTransform(_OneOfAKind):
    """Matrices to Cholesky factors: the diagonal through exp, the upper part dropped."""

    domain, codomain = constraints.independent(constraints.real, 2), constraints.lower_cholesky

    def _call(self, x):
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y):
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(_OneOfAKind):
    """Matrices to positive definite ones, by way of Cholesky factors."""

    domain, codomain = constraints.independent(constraints.real, 2), constraints.positive_definite

    def _call(self, x):
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y):
        return LowerCholeskyTransform().inv(torch.linalg.cholesky(y))


class _Joined(Transform):
    """Transforms side by side along an axis; a class says in `_join` what their constraints are then."""

    def __init__(self, tseq, dim, cache_size):
        if not all(isinstance(part, Transform) for part in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        super().__init__(cache_size=cache_size)
        self.transforms = [part.with_cache(cache_size) for part in tseq] if cache_size else list(tseq)
        self.dim = dim

    bijective = property(lambda self: all(part.bijective for part in self.transforms),
                         doc="Whether all parts are one to one.")

    @constraints.dependent_property
    def domain(self):
        """The arguments."""
        return self._join([part.domain for part in self.transforms])

    @constraints.dependent_property
    def codomain(self):
        """The values."""
        return self._join([part.codomain for part in self.transforms])

    def _check_dim(self, value):
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"dim {self.dim} out of range for a tensor with {value.dim()} dimensions")


class CatTransform(_Joined):
    """Transforms of consecutive pieces of an axis."""

    _made_of = ("transforms", "dim", "lengths")

    def __init__(self, tseq, dim=0, lengths=None, cache_size=0):
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"lengths must match tseq: got {len(self.lengths)} and {len(self.transforms)}")

    @lazy_property
    def event_dim(self):
        """The most axes that make one value of a piece."""
        return max(part.event_dim for part in self.transforms)

    @lazy_property
    def length(self):
        """The length of the axis."""
        return sum(self.lengths)

    def _pieces(self, *values):
        for value in values:
            self._check_dim(value)
            if value.size(self.dim) != self.length:
                raise AssertionError(f"size of dim {self.dim} is {value.size(self.dim)}, expected {self.length}")
        start = 0
        for part, length in zip(self.transforms, self.lengths):
            yield (part, *(value.narrow(self.dim, start, length) for value in values))
            start += length

    def _call(self, x):
        return torch.cat([part(piece) for part, piece in self._pieces(x)], dim=self.dim)

    def _inverse(self, y):
        return torch.cat([part.inv(piece) for part, piece in self._pieces(y)], dim=self.dim)

    def log_abs_det_jacobian(self, x, y):
        """Return log |dy / dx|, piece by piece."""
        terms = []
        for part, before, after in self._pieces(x, y):
            term = part.log_abs_det_jacobian(before, after)
            if part.event_dim < self.event_dim:
                term = _sum_rightmost(term, self.event_dim - part.event_dim)
            terms.append(term)
        dim = self.dim - x.dim() if self.dim >= 0 else self.dim
        dim += self.event_dim
        return torch.cat(terms, dim=dim) if dim < 0 else sum(terms)

    def _join(self, sides):
        return constraints.cat(sides, self.dim, self.lengths)


class StackTransform(_Joined):
    """Transforms of the entries of an axis."""

    _made_of = ("transforms", "dim")

    def __init__(self, tseq, dim=0, cache_size=0):
        super().__init__(tseq, dim, cache_size)

    def _slices(self, value):
        self._check_dim(value)
        if value.size(self.dim) != len(self.transforms):
            raise AssertionError(f"size of dim {self.dim} is {value.size(self.dim)}, expected {len(self.transforms)}")
        return [value.select(self.dim, index) for index in range(value.size(self.dim))]

    def _call(self, x):
        return torch.stack([part(piece) for piece, part in zip(self._slices(x), self.transforms)], dim=self.dim)

    def _inverse(self, y):
        return torch.stack([part.inv(piece) for piece, part in zip(self._slices(y), self.transforms)], dim=self.dim)

    def log_abs_det_jacobian(self, x, y):
        """Return log |dy / dx|, entry by entry."""
        return torch.stack([part.log_abs_det_jacobian(before, after) for before, after, part in
                            zip(self._slices(x), self._slices(y), self.transforms)], dim=self.dim)

    def _join(self, sides):
        return constraints.stack(sides, self.dim)


class CumulativeDistributionTransform(Transform):
    """A distribution's cumulative distribution function."""

    bijective = True
    codomain = constraints.unit_interval
    sign = +1
    _made_of = ("distribution",)

    def __init__(self, distribution, cache_size=0):
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    domain = property(attrgetter("distribution.support"), doc="The distribution's support.")

    def _call(self, x):
        return self.distribution.cdf(x)

    def _inverse(self, y):
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x, y):
        """Return the logarithm of the density."""
        return self.distribution.log_prob(x)
