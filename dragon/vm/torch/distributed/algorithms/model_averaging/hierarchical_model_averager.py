"""Parameters that are averaged over few processes often, and over many seldom."""
from dragon.vm.torch.distributed.algorithms.model_averaging import averagers, utils
from dragon.vm.torch.distributed.making import get_world_size, new_subgroups


class HierarchicalModelAverager(averagers.ModelAverager):
    """Average parameters over groups of several sizes, each in every step of its own period.

    Parameters
    ----------
    period_group_size_dict : Dict[int, int]
        {steps from one to the next: processes in each group}, the smallest first; the last is all processes.
    warmup_steps : int, optional, default=0
        Steps before the first one.
    process_group : ProcessGroup, optional
        The processes; all by default.

    """

    def __init__(self, period_group_size_dict=None, warmup_steps=0, process_group=None):
        super().__init__(process_group)
        if not period_group_size_dict:
            raise ValueError("Arg ``period_group_size_dict`` must not be empty.")
        self._periods = list(period_group_size_dict)
        if self._periods[0] <= 0:
            raise ValueError("The minimum period in arg ``period_group_size_dict`` must be a positive value.")
        if self._periods[-1] == 1:
            averagers.warn_of_every_step("the maximum period in arg ``period_group_size_dict``")
        size, last = get_world_size(self.process_group), list(period_group_size_dict.values())[-1]
        if last != size:
            raise ValueError(f"The last value in arg ``period_group_size_dict`` {last} must be equal to the size of "
                             f"arg ``process_group`` {size}.")
        if warmup_steps < 0:
            raise ValueError("Arg ``warmup_steps`` must be a non-negative number.")
        self.warmup_steps = warmup_steps
        self.period_process_group_dict = {
            period: self.process_group if few == size else new_subgroups(few, self.process_group)[0]
            for period, few in period_group_size_dict.items()}

    def _find_process_group(self):
        """Return the group of the longest period that this step ends; None if it ends none."""
        return next((self.period_process_group_dict[period] for period in reversed(self._periods)
                     if self.step % period == 0), None)

    def average_parameters(self, params):
        """Average parameters, or those of an optimizer's groups, if it is time to, and count the step."""
        if self.step >= self.warmup_steps:
            group = self._find_process_group()
            if group is not None:
                utils.average_parameters_or_parameter_groups(params, group)
        self.step += 1
