"""Gradients averaged over all processes at first, and later over those of a subgroup."""
from dragon.vm.torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from dragon.vm.torch.distributed.algorithms.ddp_comm_hooks.debugging_hooks import noop_hook
from dragon.vm.torch.distributed.making import new_subgroups


class PostLocalSGDState:
    """What the hook knows.

    Parameters
    ----------
    process_group : Optional[ProcessGroup]
        All processes.
    subgroup : Optional[ProcessGroup]
        Those that average later; by default those of one machine.
    start_localSGD_iter : int
        The step from which on they do.
    post_local_gradient_allreduce : bool, optional, default=True
        Whether gradients are averaged at all from then on.

    """

    __slots__ = ["process_group", "subgroup", "start_localSGD_iter", "post_local_gradient_allreduce", "iter"]

    def __init__(self, process_group, subgroup, start_localSGD_iter, post_local_gradient_allreduce=True):
        self.process_group, self.subgroup = process_group, subgroup
        self.start_localSGD_iter, self.iter = start_localSGD_iter, 0
        self.post_local_gradient_allreduce = post_local_gradient_allreduce

    def maybe_increase_iter(self, bucket):
        """Count a step with its last bucket."""
        self.iter += bucket.is_last()


def post_localSGD_hook(state, bucket):
    """Average a bucket over all processes, and from a step on over a subgroup; an averager of models does the rest."""
    if state.iter < state.start_localSGD_iter:
        state.maybe_increase_iter(bucket)
        return default_hooks.allreduce_hook(state.process_group, bucket)
    if not state.post_local_gradient_allreduce:
        return noop_hook(None, bucket)
    if state.subgroup is None:
        state.subgroup, _ = new_subgroups()
    return default_hooks.allreduce_hook(state.subgroup, bucket)
