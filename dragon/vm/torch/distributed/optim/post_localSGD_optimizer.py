"""An optimizer after whose steps parameters are averaged over processes now and then."""
from dragon.core import warnings
from dragon.vm.torch.optim.optimizer import Optimizer


class PostLocalSGDOptimizer(Optimizer):
    """An optimizer of this process's gradients, and an averager of parameters.

    Parameters
    ----------
    optim : Optimizer
        What takes the steps.
    averager : ModelAverager
        What averages parameters.

    """

    def __init__(self, optim, averager):
        self.optim, self.averager, self.param_groups = optim, averager, optim.param_groups

    @property
    def state(self):
        """The state of the optimizer."""
        return self.optim.state

    def __repr__(self):
        return repr(self.optim)

    def state_dict(self):
        """Return the optimizer's state, and the averager's count of steps as "step"."""
        return {**self.optim.state_dict(), "step": self.averager.step}

    def load_state_dict(self, state_dict):
        """Load the optimizer's state, and the averager's count of steps."""
        self.optim.load_state_dict(state_dict)
        if "step" not in state_dict:
            warnings.warn("Loaded state dict does not contain a step counter for an averager. Setting step counter "
                          "to 0.")
        self.averager.step = state_dict.get("step", 0)

    def step(self):
        """Take a step, and average parameters if it is time to."""
        self.optim.step()
        self.averager.average_parameters(params=self.param_groups)

    def zero_grad(self, set_to_none=True):
        """Take the gradients away, or set them to zero."""
        self.optim.zero_grad(set_to_none=set_to_none)

    def add_param_group(self, param_group):
        """Add parameters."""
        self.optim.add_param_group(param_group)
