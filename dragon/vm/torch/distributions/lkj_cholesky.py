"""The LKJ distribution of correlation matrices."""
import math

from dragon.vm import torch
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions.beta import Beta
from dragon.vm.torch.distributions.distribution import Distribution


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices: Lewandowski, Kurowicka and Joe, J. Multivariate Analysis 100, 2009.

    Parameters
    ----------
    dim : int
        The size of the matrices.
    concentration : Union[float, Tensor], optional, default=1.0
        Larger ones draw towards the identity.

    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky
    _expands = ("dim", "concentration", "_beta")

    def __init__(self, dim, concentration=1.0, validate_args=None):
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        if isinstance(concentration, torch.Tensor):
            self.concentration = concentration
        else:
            self.concentration = torch.tensor(concentration, dtype=torch.get_default_dtype())
        # The onion method: each row is a point on a sphere, at a radius drawn from a beta distribution.
        marginal = self.concentration + 0.5 * (self.dim - 2)
        offset = torch.arange(self.dim - 1, dtype=self.concentration.dtype, device=self.concentration.device)
        offset = torch.cat([offset.new_zeros((1,)), offset])
        self._beta = Beta(offset + 0.5, marginal.unsqueeze(-1) - 0.5 * offset)
        super().__init__(self.concentration.size(), Size((dim, dim)), validate_args)

    def sample(self, sample_shape=Size()):
        with torch.no_grad():
            radius = self._beta.sample(sample_shape).unsqueeze(-1)
            normal = torch.randn(self._extended_shape(sample_shape), dtype=radius.dtype, device=radius.device).tril(-1)
            direction = normal / normal.norm(dim=-1, keepdim=True)
            direction[..., 0, :].fill_(0.0)  # the first row has no direction
            w = torch.sqrt(radius) * direction
            diagonal = torch.clamp(1 - torch.sum(w ** 2, dim=-1), min=torch.finfo(w.dtype).tiny).sqrt()
            return w + torch.diag_embed(diagonal)

    def log_prob(self, value):
        """Return the logarithm of the density of a Cholesky factor."""
        self._check_value(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = torch.arange(2, self.dim + 1, device=self.concentration.device)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        unnormalized = torch.sum(order * diagonal.log(), dim=-1)
        below = self.dim - 1
        alpha = self.concentration + 0.5 * below
        denominator = torch.lgamma(alpha) * below
        numerator = torch.mvlgamma(alpha - 0.5, below)
        constant = 0.5 * below * math.log(math.pi)
        return unnormalized - (constant + numerator - denominator)
