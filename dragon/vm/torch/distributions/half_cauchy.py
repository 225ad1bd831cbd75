"""The half-Cauchy distribution."""
import math
from operator import attrgetter

from dragon.vm import torch
from dragon.vm.torch.distributions.cauchy import Cauchy
from dragon.vm.torch.distributions.half_normal import _Half
from dragon.vm.torch.distributions.transforms import AbsTransform


class HalfCauchy(_Half):
    """Absolute values of Cauchy numbers around 0.

    Parameters
    ----------
    scale : Union[float, Tensor]
        The scale of the Cauchy numbers.

    """

    _expands = ()

    def __init__(self, scale, validate_args=None):
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    @property
    def mean(self):
        """Infinite."""
        return torch.full(self._extended_shape(), math.inf, dtype=self.scale.dtype, device=self.scale.device)

    variance = property(attrgetter("base_dist.variance"), doc="Infinite.")

    def log_prob(self, value):
        self._check_value(value)
        return super().log_prob(torch.as_tensor(value, dtype=self.scale.dtype, device=self.scale.device))
