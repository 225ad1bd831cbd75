"""The chi-squared distribution."""
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions.gamma import Gamma


class Chi2(Gamma):
    """Sums of squares of normal numbers.

    Parameters
    ----------
    df : Union[float, Tensor]
        How many: the degrees of freedom.

    """

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df, validate_args=None):
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """Return the distribution with a larger batch shape."""
        return super().expand(batch_shape, self._get_checked_instance(Chi2, _instance))

    @property
    def df(self):
        """The degrees of freedom."""
        return self.concentration * 2
