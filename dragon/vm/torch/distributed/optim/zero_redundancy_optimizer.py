"""An optimizer whose state is spread over processes: each steps some of the parameters, and sends them to all."""
from dragon.core import warnings
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.distributed import collectives, objects
from dragon.vm.torch.distributed.algorithms.join import Join, Joinable, JoinHook
from dragon.vm.torch.distributed.making import _group, get_global_rank
from dragon.vm.torch.distributed.optim._overlap import KINDS, Overlap
from dragon.vm.torch.distributed.optim._shares import copy_to_cpu, share_out
from dragon.vm.torch.optim.optimizer import Optimizer


class ZeroRedundancyOptimizer(Optimizer, Joinable):
    """An optimizer of which each process has a part: the state of its own parameters.

    Parameters
    ----------
    params : Iterable[Union[Parameter, Dict[str, Any]]]
        The parameters, or groups of them; the same on all processes.
    optimizer_class : type
        The class of the optimizer that takes each process's steps.
    process_group : ProcessGroup, optional
        The processes; all by default.
    parameters_as_bucket_view : bool, optional, default=False
        Whether the parameters of a process lie in one tensor, and are sent at once.
    overlap_with_ddp : bool, optional, default=False
        Whether steps are taken within the backward pass of a `DistributedDataParallel`, by a hook that
        `hook_with_zero_step` or `hook_with_zero_step_interleaved` makes; `step` does nothing then.
    **defaults
        The optimizer's options.

    """

    def __init__(self, params, optimizer_class, process_group=None, parameters_as_bucket_view=False,
                 overlap_with_ddp=False, **defaults):
        params = self._checked(params)
        self.initialized, self._overlap_with_ddp = False, bool(overlap_with_ddp)
        if self._overlap_with_ddp and optimizer_class not in KINDS:
            raise ValueError(f"ZeroRedundancyOptimizer: got {optimizer_class}, expected one of "
                             f"{', '.join(kind.__name__ for kind in KINDS)}: Using `ddp_with_overlap=True` requires "
                             "using a functional optimizer, but there is no supported functional optimizer equivalent "
                             f"for {optimizer_class}")
        Optimizer.__init__(self, params, defaults)
        Joinable.__init__(self)
        self.process_group = _group(process_group)
        self.world_size, self.rank = self.process_group.size(), self.process_group.rank()
        self.global_rank = get_global_rank(self.process_group, self.rank)
        self.parameters_as_bucket_view = parameters_as_bucket_view
        self._all_state_dicts, self._buckets = [], []
        self._overlap = Overlap(self) if overlap_with_ddp else None
        if overlap_with_ddp:
            self._wait_for_buckets(optimizer_class, defaults)
            return
        self._divide()
        self.optim = optimizer_class(self._partition_parameters()[self.rank], **defaults)
        _copy_options(self.optim.param_groups, self.param_groups)
        self._build_buckets()
        self.initialized = True

    def _wait_for_buckets(self, optimizer_class, defaults):
        """Be an optimizer whose parts are shared out once the buckets of gradients are known."""
        if len(self.param_groups) > 1:
            raise RuntimeError(f"ZeroRedundancyOptimizer: got {len(self.param_groups)} groups of parameters, expected "
                               "one: Overlapping DDP with ZeRO only supports a single parameter group")
        if self.parameters_as_bucket_view:
            warnings.warn("`parameters_as_bucket_view=True` will be ignored since `overlap_with_ddp=True`; instead, a "
                          "different bucketing strategy will be used")
            self.parameters_as_bucket_view = False
        self._make, self.optim, self._parts = lambda groups: optimizer_class(groups, **defaults), None, []
        self._index_parameters()
        self.initialized = True

    def _begin_overlap(self, params_of):
        """Take the parameters of each process, as buckets were shared out."""
        options = {key: value for key, value in self.param_groups[0].items() if key != "params"}
        missing = {id(param) for param in self._index_to_param if param.requires_grad} - {
            id(param) for held in params_of for param in held}
        if missing:
            raise RuntimeError(f"ZeroRedundancyOptimizer: got {len(missing)} parameters that are in no bucket of the "
                               "DistributedDataParallel, expected the module's own")
        self._parts = [[{"params": held, **options}] for held in params_of]
        self.optim = self._make(self._parts[self.rank]) if params_of[self.rank] else None
        self._index_parameters()
        self._learning = [param.requires_grad for param in self._index_to_param]

    def _step_some(self, params, gradients):
        """Step some of this process's parameters with gradients of theirs."""
        _copy_options(self.param_groups, self.optim.param_groups)
        every = self.optim.param_groups[0]["params"]
        before, given = [param.grad for param in every], {id(param): grad for param, grad in zip(params, gradients)}
        try:
            for param in every:
                param.grad = given.get(id(param))
            self.optim.step()
        finally:
            for param, gradient in zip(every, before):
                param.grad = gradient

    def _check_divided(self):
        if self._overlap_with_ddp and not self._parts:
            raise RuntimeError("ZeroRedundancyOptimizer: got no buckets of gradients yet, expected backward passes "
                               "before: This method should not be called until this ZeroRedundancyOptimizer instance "
                               "has been fully initialized")

    def _checked(self, params):
        """Return parameters or groups as a list; raise for what is neither."""
        if isinstance(params, Tensor):
            raise TypeError("`params` argument should be an iterable of Tensors, but got torch.FloatTensor")
        try:
            params = list(params)
        except TypeError:
            raise TypeError("`params` argument should be an iterable of Tensors or dicts, but got "
                            f"{type(params).__name__}") from None
        if not params:
            raise ValueError("ZeroRedundancyOptimizer got an empty parameter list")
        are_dicts = all(isinstance(each, dict) for each in params)
        if not are_dicts and not all(isinstance(each, Tensor) for each in params):
            raise TypeError("`params` argument should be an iterable of Tensors or dicts")
        if are_dicts and any("params" not in each for each in params):
            raise ValueError("Each parameter group passed-in via `params` must have a 'params' key mapping to the "
                             "parameters in the group")
        every = [param for each in params for param in each["params"]] if are_dicts else params
        kinds = {f"torch.{'sparse.' if each.is_sparse else ''}{each.dtype}" for each in every}
        if len(kinds) > 1 or any(each.is_sparse for each in every):
            raise ValueError("ZeroRedundancyOptimizer only supports using the same dense type for all parameters but "
                             f"got {' and '.join(sorted(kinds))}")
        return params

    def _divide(self):
        self._parts = share_out(self.param_groups, self.world_size)
        self._index_parameters()

    def _index_parameters(self):
        every = [param for group in self.param_groups for param in group["params"]]
        self._index_to_param, self._param_to_index = every, {param: place for place, param in enumerate(every)}
        self._param_to_rank = {param: rank for rank, groups in enumerate(self._parts) for group in groups
                               for param in group["params"]}

    def _partition_parameters(self):
        """Return the groups of each process."""
        return self._parts

    def _params_of(self, rank):
        return [param for group in self._parts[rank] for param in group["params"]]

    def _build_buckets(self):
        """Have the parameters that learn, of each process, lie in one tensor, if asked to."""
        self._learning = [param.requires_grad for param in self._index_to_param]
        if not self.parameters_as_bucket_view:
            return
        self._buckets = []
        for rank in range(self.world_size):
            params = [param for param in self._params_of(rank) if param.requires_grad]
            if not params:
                continue
            bucket, at = ops.cat([param.detach().reshape(-1) for param in params], 0), 0
            for param in params:
                param.data = bucket[at:at + param.numel()].view(param.shape)
                at += param.numel()
            self._buckets.append((rank, bucket))

    def add_param_group(self, param_group):
        """Add parameters; all processes call this."""
        if self.initialized and self._overlap_with_ddp:
            raise RuntimeError("ZeroRedundancyOptimizer with `overlap_with_ddp=True` only supports a single parameter "
                               "group")
        super().add_param_group(param_group)
        if self.initialized:
            self._divide()
            self.optim.add_param_group(self._parts[self.rank][-1])
            self._build_buckets()

    def step(self, closure=None, **kwargs):
        """Step this process's parameters, and get those of the others.

        Parameters
        ----------
        closure : Callable, optional
            Computes the loss again.
        **kwargs
            Given to the optimizer's step.

        Returns
        -------
        Any
            What the optimizer's step returns.

        """
        if self._overlap_with_ddp:
            warnings.warn("`step()` should not be included in the training loop when `overlap_with_ddp=True`")
            return None
        Join.notify_join_context(self)
        if self._learning != [param.requires_grad for param in self._index_to_param]:
            warnings.warn("ZeroRedundancyOptimizer detected that the trainable parameters changed; rebuilding the "
                          "parameter buckets if enabled")
            self._build_buckets()
        _copy_options(self.param_groups, self.optim.param_groups)
        loss = self.optim.step(**kwargs) if closure is None else self.optim.step(closure=closure, **kwargs)
        _copy_options(self.optim.param_groups, self.param_groups)
        self._sync_params()
        return loss

    def _sync_params(self):
        """Send this process's parameters to all, and receive those of the others."""
        held = self._buckets if self.parameters_as_bucket_view else [
            (rank, param.detach()) for rank in range(self.world_size) for param in self._params_of(rank)
            if param.requires_grad]
        for rank, tensor in held:
            collectives.broadcast(tensor, group=self.process_group, group_src=rank)

    def consolidate_state_dict(self, to=0):
        """Have one process collect the state of all; all processes call this.

        Parameters
        ----------
        to : int, optional, default=0
            Its rank in the group; `state_dict` works there from then on.

        """
        self._check_divided()
        state = {"state": {}, "param_groups": [{"params": []}]}
        if self.optim is not None:
            _copy_options(self.param_groups, self.optim.param_groups)
            state = self.optim.state_dict()
        found = [None] * self.world_size if self.rank == to else None
        objects.gather_object(copy_to_cpu(state), found, group=self.process_group, group_dst=to)
        self._all_state_dicts = found or []

    def state_dict(self):
        """Return the state of all parameters, as one process has it; what `consolidate_state_dict` has collected."""
        self._check_divided()
        if not self._all_state_dicts:
            raise RuntimeError("Optimizer state has not been consolidated on this rank. Please call "
                               f"`consolidate_state_dict(to={self.rank})` on all ranks beforehand if you meant to save "
                               "the global state.")
        made, found = super().state_dict(), {}
        for part, local in zip(self._parts, self._all_state_dicts):
            for group, local_group in zip(part, local["param_groups"]):
                for param, place in zip(group["params"], local_group["params"]):
                    if place in local["state"]:
                        found[self._param_to_index[param]] = local["state"][place]
        made["state"] = dict(sorted(found.items()))
        return made

    def load_state_dict(self, state_dict):
        """Load the state of all parameters; each process keeps that of its own."""
        self._check_divided()
        mine = {place: value for place, value in state_dict["state"].items()
                if self._param_to_rank[self._index_to_param[place]] == self.rank}
        super().load_state_dict({**state_dict, "state": mine})
        for place in mine:
            param = self._index_to_param[place]
            self.optim.state[param] = self.state[param]
        if self.optim is not None:
            _copy_options(self.param_groups, self.optim.param_groups)

    def join_hook(self, **kwargs):
        """Return what a process does once its own batches are done: it steps with what gradients it has."""
        if self._overlap_with_ddp:
            raise RuntimeError("ZeroRedundancyOptimizer: got overlap_with_ddp=True in `Join`, expected False: "
                               "processes whose batches are done have no backward passes to step in")
        return _StepsOn(self)

    @property
    def join_device(self):
        """torch.device: where the parameters are."""
        return self._index_to_param[0].device

    @property
    def join_process_group(self):
        """ProcessGroup: the processes."""
        return self.process_group


class _StepsOn(JoinHook):
    """The steps of a process whose batches are done.

    Parameters
    ----------
    zero : ZeroRedundancyOptimizer
        The optimizer.

    """

    def __init__(self, zero):
        self.zero = zero

    def main_hook(self):
        """Take a step beside the others."""
        self.zero.step()


def _copy_options(given, groups):
    """Give groups of parameters the options of others."""
    for source, group in zip(given, groups):
        group.update({key: value for key, value in source.items() if key != "params"})
