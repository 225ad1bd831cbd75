"""`DistributedDataParallel` for a world of one process: the gradients there are already the mean over all."""
from contextlib import contextmanager

from dragon.vm.torch.nn.modules.module import Module


class DistributedDataParallel(Module):
    """A module whose gradients are averaged over the processes of a group.

    Parameters
    ----------
    module : Module
        The module, kept as `module`.
    device_ids : Sequence[int], optional
        None, or one device.
    process_group : Any, optional
        The group of processes; it may have one member only.
    output_device, dim, broadcast_buffers, init_sync, bucket_cap_mb, find_unused_parameters, check_reduction,
    gradient_as_bucket_view, static_graph, skip_all_reduce_unused_params, bucket_cap_mb_list, batched_grad_copy,
    forward_sync_buffers
        Accepted: a world of one has nothing to send.
    delay_all_reduce_named_params, param_to_hook_all_reduce, mixed_precision, device_mesh
        Must be None.

    """

    def __init__(self, module, device_ids=None, output_device=None, dim=0, broadcast_buffers=None, init_sync=True,
                 process_group=None, bucket_cap_mb=None, find_unused_parameters=False, check_reduction=False,
                 gradient_as_bucket_view=False, static_graph=False, delay_all_reduce_named_params=None,
                 param_to_hook_all_reduce=None, mixed_precision=None, device_mesh=None,
                 skip_all_reduce_unused_params=False, bucket_cap_mb_list=None, batched_grad_copy=False,
                 forward_sync_buffers=None):
        super().__init__()
        given = {"delay_all_reduce_named_params": delay_all_reduce_named_params, "mixed_precision": mixed_precision,
                 "param_to_hook_all_reduce": param_to_hook_all_reduce, "device_mesh": device_mesh}
        for name, value in given.items():
            if value is not None:
                raise NotImplementedError(f"DistributedDataParallel: got {name}, expected None: Dragon lacks it")
        if not any(param.requires_grad for param in module.parameters()):
            raise RuntimeError("DistributedDataParallel is not needed when a module doesn't have any parameter that "
                               "requires a gradient.")
        if device_ids is not None and len(device_ids) > 1:
            raise ValueError("device_ids can only be None or contain a single element.")
        self.process_group = _require_one_process(process_group)
        self.module = module
        self.device = next(iter(module.parameters())).device
        self.device_ids = None if device_ids is None else list(device_ids)
        self.output_device = output_device
        self.dim = dim
        self.broadcast_buffers = True if broadcast_buffers is None else broadcast_buffers
        self.find_unused_parameters = find_unused_parameters
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.static_graph = static_graph
        self.require_backward_grad_sync = True
        self.require_forward_param_sync = True
        self.parameters_to_ignore = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))

    def forward(self, *inputs, **kwargs):
        """Return what the module makes of its arguments."""
        return self.module(*inputs, **kwargs)

    @contextmanager
    def no_sync(self):
        """Do not average gradients within a `with` block."""
        before = self.require_backward_grad_sync
        self.require_backward_grad_sync = False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    @contextmanager
    def join(self, divide_by_initial_world_size=True, enable=True, throw_on_early_termination=False):
        """Let processes have different numbers of batches within a `with` block; here there is one process."""
        yield

    def register_comm_hook(self, state, hook):
        """Raise: there is nothing to send, and nothing that a hook could be called for."""
        raise NotImplementedError("DistributedDataParallel.register_comm_hook: got a hook, expected none: in a world "
                                  "of one process nothing is sent")

    def _set_static_graph(self):
        self.static_graph = True

    def _get_ddp_logging_data(self):
        return {"world_size": 1, "rank": 0}

    @classmethod
    def _set_params_and_buffers_to_ignore_for_model(cls, module, params_and_buffers_to_ignore):
        module._ddp_params_and_buffers_to_ignore = params_and_buffers_to_ignore


def _require_one_process(group):
    """Return the group of processes, or raise if there is none or it has several members."""
    from dragon.vm.torch import distributed
    if not distributed.is_initialized():
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    if distributed.get_world_size(group) != 1:
        raise NotImplementedError(f"DistributedDataParallel: got a group of {distributed.get_world_size(group)} "
                                  "processes, expected one")
    return group if group is not None else getattr(distributed.group, "WORLD", None)
