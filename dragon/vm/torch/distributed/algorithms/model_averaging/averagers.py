"""When parameters are averaged: every so many steps."""
import abc

from dragon.core import warnings
from dragon.vm.torch.distributed.algorithms.model_averaging import utils
from dragon.vm.torch.distributed.making import _group


def warn_of_every_step(which):
    """Warn that to average parameters in each step gains nothing."""
    warnings.warn(f"When {which} is 1, no need to use model averaging because the communication cost of all-reducing "
                  "parameters will be no less than the cost of all-reducing gradients by DistributedDataParallel in "
                  "the backward pass. Therefore, only DistributedDataParallel should be used for this case.")


class ModelAverager(abc.ABC):
    """The base of what averages parameters.

    Parameters
    ----------
    process_group : ProcessGroup, optional
        The processes; all by default.

    """

    def __init__(self, process_group=None):
        self.process_group, self.step = _group(process_group), 0

    @abc.abstractmethod
    def average_parameters(self, params):
        """Average parameters if it is time to, and count the step."""
        raise NotImplementedError


class PeriodicModelAverager(ModelAverager):
    """Average parameters in every step of a period.

    Parameters
    ----------
    period : int
        Steps from one to the next.
    warmup_steps : int, optional, default=0
        Steps before the first one.
    process_group : ProcessGroup, optional
        The processes; all by default.

    """

    def __init__(self, period, warmup_steps=0, process_group=None):
        super().__init__(process_group)
        if warmup_steps < 0:
            raise ValueError("Arg ``warmup_steps`` must be a non-negative number.")
        if period < 1:
            raise ValueError("Arg ``period`` must be a positive value.")
        if period == 1:
            warn_of_every_step("period")
        self.period, self.warmup_steps = period, warmup_steps

    def average_parameters(self, params):
        """Average parameters, or those of an optimizer's groups, if it is time to, and count the step."""
        if self.step >= self.warmup_steps and (self.step - self.warmup_steps) % self.period == 0:
            utils.average_parameters_or_parameter_groups(params, self.process_group)
        self.step += 1
