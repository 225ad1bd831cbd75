"""`DistributedDataParallel`: a module whose gradients are the mean over all processes."""
from contextlib import contextmanager

from dragon.core import modes
from dragon.vm.torch.core.device import as_device
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.distributed import collectives, objects
from dragon.vm.torch.distributed.algorithms.join import Join, Joinable, JoinHook, _JoinConfig
from dragon.vm.torch.distributed.groups import ReduceOp
from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.nn.parallel.reducer import FIRST_BUCKET_BYTES, Reducer
from dragon.vm.torch.nn.parallel.scatter_gather import scatter_kwargs


class DistributedDataParallel(Module):
    """A module whose gradients are averaged over the processes of a group.

    Parameters
    ----------
    module : Module
        The module, kept as `module`.
    device_ids : Sequence[Union[int, device]], optional
        None, or one device, on which the module is and to which arguments are moved.
    process_group : Any, optional
        The group of processes; that of the world by default.
    device_mesh : DeviceMesh, optional
        A mesh of one axis whose group it is, in place of `process_group`. Where it is part of another mesh, parameters
        that lie on other axes of that one are averaged as this process has them.
    broadcast_buffers, forward_sync_buffers : bool, optional, default=True
        Whether each forward pass gives all processes the first one's buffers; where both are given the second counts.
    init_sync : bool, optional, default=True
        Whether all processes get the first one's parameters and buffers now.
    bucket_cap_mb : float, optional, default=25
        How many megabytes of small gradients are sent at once.
    bucket_cap_mb_list : List[float], optional
        The same for each bucket in turn; the last one holds for all that follow.
    find_unused_parameters, static_graph : bool, optional, default=False
        Whether parameters may get no gradient.
    gradient_as_bucket_view : bool, optional, default=False
        Whether gradients are views of what is sent.
    output_device, dim, check_reduction, skip_all_reduce_unused_params, batched_grad_copy
        Accepted: of devices of several kinds, of old, or of how buckets are filled.
    delay_all_reduce_named_params, param_to_hook_all_reduce, mixed_precision
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
                 "param_to_hook_all_reduce": param_to_hook_all_reduce}
        for name, value in given.items():
            if value is not None:
                raise NotImplementedError(f"DistributedDataParallel: got {name}, expected None: Dragon lacks it")
        if not any(param.requires_grad for param in module.parameters()):
            raise RuntimeError("DistributedDataParallel is not needed when a module doesn't have any parameter that "
                               "requires a gradient.")
        if device_ids is not None and len(device_ids) > 1:
            raise ValueError("device_ids can only be None or contain a single element.")
        _check_devices(module, device_ids, output_device)
        self.process_group = _require_group(process_group) if device_mesh is None else _group_of(
            device_mesh, process_group, module)
        self.module = module
        self.device = next(iter(module.parameters())).device
        self.device_ids = [as_device(device) for device in device_ids] if device_ids else None
        self.output_device = self.device_ids[0] if self.device_ids and output_device is None else output_device
        self.dim = dim
        told = broadcast_buffers if forward_sync_buffers is None else forward_sync_buffers
        self.broadcast_buffers = self.forward_sync_buffers = True if told is None else bool(told)
        self.find_unused_parameters = find_unused_parameters
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.static_graph = static_graph
        caps = bucket_cap_mb_list or [25 if bucket_cap_mb is None else bucket_cap_mb]
        self.bucket_bytes_cap = int(max(caps) * 2 ** 20)
        self.require_backward_grad_sync = True
        self.require_forward_param_sync = True
        self._join_config, self._divides_by_all = _JoinConfig.construct_disabled_join_config(), True
        self.parameters_to_ignore = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        named = [(name, param) for name, param in module.named_parameters() if name not in self.parameters_to_ignore]
        self._shared = [param for _, param in named if param.requires_grad]
        self._names = {id(param): name for name, param in named}
        if init_sync:
            _check_alike(named, self.process_group)
            self._share([param for _, param in named] + self._buffers_to_share())
        first = [] if bucket_cap_mb_list else [min(self.bucket_bytes_cap, FIRST_BUCKET_BYTES)]
        self.reducer = Reducer(self._shared, self.process_group, [*first, *(int(cap * 2 ** 20) for cap in caps)],
                               gradient_as_bucket_view, find_unused_parameters or static_graph)

    def _buffers_to_share(self):
        return [each for name, each in self.module.named_buffers() if name not in self.parameters_to_ignore]

    def _share(self, tensors, source=0):
        """Give all processes the tensors of one, the first one's."""
        for tensor in tensors:
            collectives.broadcast(tensor.detach(), group=self.process_group, group_src=source)

    def _share_buffers(self, joins=False, is_done=False):
        """Give all processes the buffers of one that has batches left."""
        source = self.find_common(not is_done) if joins else 0
        self._share(self._buffers_to_share(), source)

    def find_common(self, may_be):
        """Return the highest rank of those that say they may be it."""
        return int(self._reduced(self.process_group.rank() if may_be else -1, ReduceOp.MAX))

    def any_sync(self, syncs):
        """Return whether any process averages gradients in this step."""
        return bool(self._reduced(1 if syncs else 0, ReduceOp.MAX))

    def _reduced(self, number, op):
        held = ops.full((1,), float(number), device=self.device)
        collectives.all_reduce(held, op, self.process_group)
        return held.item()

    def forward(self, *inputs, **kwargs):
        """Return what the module makes of its arguments."""
        syncs = modes.is_recording() and self.require_backward_grad_sync
        if syncs:
            self._check_finished()
        joins = self._join_config.enable
        work = Join.notify_join_context(self) if modes.is_recording() else None
        if work is not None:
            work.wait()
            self.reducer.divisor = None if self._divides_by_all else work.result()[0].item()
        if self.broadcast_buffers and self.require_forward_param_sync and self.process_group.size() > 1:
            self._share_buffers(joins)
        if joins and modes.is_recording():
            self.any_sync(syncs)
        if self.device_ids:
            parts, keyword_parts = scatter_kwargs(inputs, kwargs, self.device_ids, self.dim)
            inputs, kwargs = parts[0], keyword_parts[0]
        made = self.module(*inputs, **kwargs)
        if syncs:
            self.require_forward_param_sync = True
            self.reducer.prepare(self._find_unused(made) if self.reducer.finds_unused else ())
        else:
            self.require_forward_param_sync = False
        return made

    def _check_finished(self):
        if self.reducer.is_complete or not self._begun():
            return
        missing = [self._names[id(param)] for param in self.reducer.missing()]
        raise RuntimeError(
            "Expected to have finished reduction in the prior iteration before starting a new one. This error "
            "indicates that your module has parameters that were not used in producing loss. DistributedDataParallel "
            f"got no gradient of {missing[:10]}{'...' if len(missing) > 10 else ''}, expected one of each; with "
            "find_unused_parameters=True those that the output does not depend on are left out")

    def _begun(self):
        """Return whether a backward pass has begun since the last call."""
        return len(self.reducer.missing()) < len(self._shared)

    def _find_unused(self, made):
        """Return the parameters that no output depends on."""
        stack, seen, used = [tensor.grad_fn if tensor.grad_fn is not None else tensor for tensor in _tensors_of(made)
                             if tensor.requires_grad], set(), set()
        walked = []
        while stack:
            node = stack.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            walked.append(node)  # so that no other gets its id
            if isinstance(node, Tensor):
                used.add(id(node))
                continue
            if hasattr(node, "variable"):
                used.add(id(node.variable))
            stack.extend(following for following, _ in node.next_functions if following is not None)
        return [param for param in self._shared if id(param) not in used]

    @contextmanager
    def no_sync(self):
        """Do not average gradients within a `with` block: they add up, and are averaged with those that come after."""
        before = self.require_backward_grad_sync
        self.require_backward_grad_sync = False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def join(self, divide_by_initial_world_size=True, enable=True, throw_on_early_termination=False):
        """Return a context manager in which processes may have different numbers of batches.

        Parameters
        ----------
        divide_by_initial_world_size : bool, optional, default=True
            Whether gradients are divided by the number of all processes, or of those that have batches left.
        enable : bool, optional, default=True
            Whether it does anything.
        throw_on_early_termination : bool, optional, default=False
            Whether all raise as soon as one is done.

        Returns
        -------
        Join
            The context manager.

        """
        return Join([self], enable, throw_on_early_termination,
                    divide_by_initial_world_size=divide_by_initial_world_size)

    def join_hook(self, **kwargs):
        """Return what a process does once its own batches are done."""
        return JoinedModule(self, kwargs.get("divide_by_initial_world_size", True))

    @property
    def join_device(self):
        """torch.device: where the parameters are."""
        return self.device

    @property
    def join_process_group(self):
        """ProcessGroup: the processes."""
        return self.process_group

    def register_comm_hook(self, state, hook):
        """Have a function average each bucket.

        Parameters
        ----------
        state : Any
            Given to it.
        hook : Callable[[Any, GradBucket], torch.futures.Future]
            Returns a future of a tensor.

        """
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        if self.reducer.hook is not None:
            raise RuntimeError("register_comm_hook or register_builtin_comm_hook can only be called once.")
        self.reducer.state, self.reducer.hook = state, hook

    def _set_static_graph(self):
        self.static_graph = True

    def _get_ddp_logging_data(self):
        return {"world_size": self.process_group.size(), "rank": self.process_group.rank()}

    @classmethod
    def _set_params_and_buffers_to_ignore_for_model(cls, module, params_and_buffers_to_ignore):
        module._ddp_params_and_buffers_to_ignore = params_and_buffers_to_ignore


class JoinedModule(JoinHook):
    """The collectives of a process whose batches are done.

    Parameters
    ----------
    ddp : DistributedDataParallel
        The module.
    divides_by_all : bool
        Whether gradients are divided by the number of all processes.

    """

    def __init__(self, ddp, divides_by_all):
        self._ddp = ddp
        ddp._divides_by_all = divides_by_all

    def main_hook(self):
        """Take part in a step of the others: their buffers, and zeros for gradients."""
        ddp = self._ddp
        if ddp.broadcast_buffers and ddp.require_forward_param_sync:
            ddp._share_buffers(joins=True, is_done=True)
        syncs = ddp.any_sync(False)
        ddp.require_forward_param_sync = syncs
        if syncs:
            ddp.reducer.send_zeros()

    def post_hook(self, is_last_joiner):
        """Give all the parameters and buffers of the one that was done last."""
        ddp = self._ddp
        held = [*ddp.module.parameters(), *ddp._buffers_to_share()]
        ddp._share(held, ddp.find_common(is_last_joiner))


Joinable.register(DistributedDataParallel)


def _check_devices(module, device_ids, output_device):
    """Raise where a device is named and the module is on others."""
    found = {param.device for param in module.parameters()}
    kinds = {device.type for device in found}
    if len(kinds) > 1:
        raise ValueError("DistributedDataParallel's input module must be on the same type of devices, but input module "
                         f"parameters locate in {kinds}.")
    named = [as_device(device) for device in (*(device_ids or ()), *([] if output_device is None else [output_device]))]
    if named and (len(found) > 1 or kinds == {"cpu"} or any(each not in found for each in named[:1])):
        raise ValueError("DistributedDataParallel device_ids and output_device arguments only work with single-device/"
                         f"multiple-device GPU modules or CPU modules, but got device_ids {device_ids}, output_device "
                         f"{output_device}, and module parameters {found}.")


def _group_of(mesh, process_group, module):
    """Return the group of a mesh of one axis, and make a module ready whose parameters lie on others."""
    from dragon.vm.torch.distributed.tensor.parallel.ddp import _pre_dp_module_transform  # it asks for modules
    if process_group is not None:
        raise RuntimeError("DistributedDataParallel: Cannot specify both process_group and device_mesh arguments.")
    if not hasattr(mesh, "get_group"):
        raise TypeError(f"DistributedDataParallel: got device_mesh={mesh!r}, expected a DeviceMesh")
    if mesh.ndim != 1:
        raise RuntimeError(f"DistributedDataParallel: Only 1D device mesh is supported, but got {mesh}.")
    if mesh._get_root_mesh() != mesh:
        _pre_dp_module_transform(module)
    return mesh.get_group(0)


def _require_group(group):
    """Return the group of processes, or raise if there is none."""
    from dragon.vm.torch import distributed
    if not distributed.is_initialized():
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    return distributed.group.WORLD if group is None else group


def _tensors_of(value):
    """Return the tensors that are anywhere in a module's output."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    elif hasattr(value, "__dataclass_fields__"):
        value = [getattr(value, name) for name in value.__dataclass_fields__]
    elif not isinstance(value, (list, tuple)):
        return []
    return [tensor for part in value for tensor in _tensors_of(part)]


def _check_alike(named, group):
    """Raise unless all processes have parameters of the same shapes."""
    if group.size() == 1:
        return
    mine = [(name, tuple(param.shape), str(param.dtype)) for name, param in named]
    all_of_them = [None] * group.size()
    objects.all_gather_object(all_of_them, mine, group)
    for rank, theirs in enumerate(all_of_them):
        if theirs != mine:
            other = next(((one, two) for one, two in zip(mine, theirs) if one != two), (len(mine), len(theirs)))
            raise RuntimeError(f"DistributedDataParallel: got {other[0]} on rank {group.rank()} and {other[1]} on rank "
                               f"{rank}, expected parameters of the same names, shapes and dtypes on all")
