"""What a module that was fully sharded does before and after its forward pass."""
from dragon.vm.torch.distributed.fsdp._passes import Passes, convert


class ModuleState:
    """A fully sharded module in passes.

    Parameters
    ----------
    modules : List[Module]
        The modules of one call.
    group : ParameterGroup, optional
        Their parameters; None if they have none of their own.
    policy : MixedPrecisionPolicy
        Dtypes.

    """

    def __init__(self, modules, group, policy):
        self.modules, self.group, self.policy = modules, group, policy
        self.is_root, self.passes = None, None
        self.forward_prefetch, self.backward_prefetch = [], []
        for module in modules:
            module.register_forward_pre_hook(self._enter, prepend=True, with_kwargs=True)
            module.register_forward_hook(self._leave, prepend=False, always_call=False)

    @property
    def _fsdp_param_groups(self):
        return [] if self.group is None else [self.group]

    def begin(self):
        """Become the outermost module, if no other has."""
        if self.is_root is not None:
            return
        inner = []
        for module in self.modules:
            for each in module.modules():
                state = each.__dict__.get("_fsdp_state")
                if state is not None and state not in inner:
                    inner.append(state)
        if any(state.is_root for state in inner):
            raise RuntimeError("FSDP state has already been lazily initialized for a module within this one: "
                               "fully_shard requires running forward through the root module first")
        passes = Passes([state.group for state in inner if state.group is not None], True, False)
        for state in inner:
            state.is_root, state.passes = state is self, passes

    def _enter(self, module, args, kwargs):
        self.begin()
        if self.is_root:
            self.passes.begin_forward()
        if self.policy.cast_forward_inputs and self.policy.param_dtype is not None:
            args, kwargs = convert(args, self.policy.param_dtype), convert(kwargs, self.policy.param_dtype)
        if self.group is not None:
            self.passes.enter_forward(self.group)
            for state in self.forward_prefetch:
                state.group.begin_unshard()
        return args, kwargs

    def _leave(self, module, args, made):
        if self.group is not None and self.group.is_last_call(module):
            frees = not self.is_root if self.group.frees is None else self.group.frees
            self.group.leave_forward(keeps=not frees)
        if self.group is not None or self.is_root:
            self.passes.watch(self.group, made, [state.group for state in self.backward_prefetch])
        return made if self.policy.output_dtype is None else convert(made, self.policy.output_dtype)
