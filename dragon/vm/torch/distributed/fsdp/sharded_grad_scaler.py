"""A scaler of losses whose processes skip a step together."""
from dragon.vm.torch.amp.grad_scaler import GradScaler
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.distributed import collectives
from dragon.vm.torch.distributed.making import _group


class ShardedGradScaler(GradScaler):
    """A scaler of losses for gradients that are spread: what one process finds infinite, all do.

    Parameters
    ----------
    device : str, optional
        Where gradients are.
    init_scale, backoff_factor, growth_factor, growth_interval, enabled
        See `torch.amp.GradScaler`.
    process_group : ProcessGroup, optional
        The processes; all by default.

    """

    def __init__(self, device="cuda", init_scale=2.0 ** 16, backoff_factor=0.5, growth_factor=2.0, growth_interval=2000,
                 enabled=True, process_group=None):
        super().__init__(device, init_scale=init_scale, backoff_factor=backoff_factor, growth_factor=growth_factor,
                         growth_interval=growth_interval, enabled=enabled)
        self.process_group = _group(process_group) if enabled else process_group

    def unscale_(self, optimizer):
        """Divide an optimizer's gradients by the scale, and have all processes know what one finds infinite."""
        super().unscale_(optimizer)
        if not self._enabled:
            return
        found = self._per_optimizer_states[id(optimizer)]["found_inf_per_device"]
        # One that has no gradient takes part, too.
        told = ops.full((), max((float(each.item()) for each in found.values()), default=0.0))
        collectives.all_reduce(told, collectives.ReduceOp.MAX, self.process_group)
        for place in found or (told.device,):
            found[place] = told.clone()
