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
    _expands = ()

    def __init__(self, df, validate_args=None):
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    df = property(lambda self: self.concentration * 2, doc="The degrees of freedom.")
