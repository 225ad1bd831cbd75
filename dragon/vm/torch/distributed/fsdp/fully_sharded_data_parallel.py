"""`FullyShardedDataParallel`: a module whose parameters are spread over processes, and gathered where they are used."""
import math

from dragon.core import modes, warnings
from dragon.core.scopes import contextmanager
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.distributed import collectives
from dragon.vm.torch.distributed.fsdp import _making, _optimizers, _summon, _traversal_utils
from dragon.vm.torch.distributed.fsdp._flat_param import FlatParameter, Handle, find_pieces  # noqa: F401
from dragon.vm.torch.distributed.fsdp._optimizers import OptimStateKeyType  # noqa: F401
from dragon.vm.torch.distributed.fsdp._passes import Passes, Unit, convert
from dragon.vm.torch.distributed.fsdp._states import ModelStates
from dragon.vm.torch.distributed.fsdp.api import (  # noqa: F401
    CONFIGS, BackwardPrefetch, CPUOffload, FullOptimStateDictConfig, FullStateDictConfig, LocalOptimStateDictConfig,
    LocalStateDictConfig, MixedPrecision, OptimStateDictConfig, ShardedOptimStateDictConfig, ShardedStateDictConfig,
    ShardingStrategy, StateDictConfig, StateDictSettings, StateDictType)
from dragon.vm.torch.distributed.fsdp.wrap import modules_within, wrap_by_policy
from dragon.vm.torch.nn.modules.container import ModuleDict, ModuleList
from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.nn.utils import clip_grad_norm_

FSDP_WRAPPED_MODULE = "_fsdp_wrapped_module"
FSDP_PREFIX = FSDP_WRAPPED_MODULE + "."
_FREEING = (ShardingStrategy.FULL_SHARD, ShardingStrategy.HYBRID_SHARD)


class FullyShardedDataParallel(ModelStates, Module):
    """A module whose parameters, gradients and optimizer's state are spread over processes.

    Parameters
    ----------
    module : Module
        The module.
    process_group : Union[ProcessGroup, Tuple[ProcessGroup, ProcessGroup]], optional
        The processes; of hybrid strategies those that have parts, and those that have copies.
    sharding_strategy : ShardingStrategy, optional
        What is spread; all of it by default.
    cpu_offload : CPUOffload, optional
        Accepted: parameters are on the CPU.
    auto_wrap_policy : Union[Callable, ModuleWrapPolicy, CustomPolicy], optional
        Which modules within are wrapped by themselves.
    backward_prefetch : BackwardPrefetch, optional
        Whether the next part is gathered while the backward pass is at this one.
    mixed_precision : MixedPrecision, optional
        Dtypes to compute and to send in.
    ignored_modules : Iterable[Module], optional
        Modules within that are left as they are.
    param_init_fn : Callable[[Module], Any], optional
        Gives a module, whose parameters are only shapes, its own.
    device_id : Union[int, device], optional
        None or the CPU.
    sync_module_states : bool, optional, default=False
        Whether all begin with the parameters and buffers of the first process.
    forward_prefetch : bool, optional, default=False
        Whether the next part is gathered while the forward pass is at this one.
    limit_all_gathers : bool, optional, default=True
        Accepted: there is never more than one part under way.
    use_orig_params : bool, optional, default=False
        Whether modules keep their parameters, as views of this process's part.
    ignored_states : Iterable[Union[Parameter, Module]], optional
        Parameters, or modules, that are left as they are.
    device_mesh : DeviceMesh, optional
        The processes, in place of `process_group`.

    """

    def __init__(self, module, process_group=None, sharding_strategy=None, cpu_offload=None, auto_wrap_policy=None,
                 backward_prefetch=BackwardPrefetch.BACKWARD_PRE, mixed_precision=None, ignored_modules=None,
                 param_init_fn=None, device_id=None, sync_module_states=False, forward_prefetch=False,
                 limit_all_gathers=True, use_orig_params=False, ignored_states=None, device_mesh=None):
        super().__init__()
        if isinstance(module, (ModuleDict, ModuleList)):
            warnings.warn(f"FSDP will not all-gather parameters for containers that do not implement forward: {module}")
        self.compute_device = _making.find_device(module, device_id)
        if ignored_modules is not None and ignored_states is not None:
            raise ValueError("Cannot pass both ignored_modules and ignored_states at the same time. Please just pass "
                             "ignored_states.")
        given = list(ignored_states or ignored_modules or ())
        are_modules = ignored_states is None or bool(given) and isinstance(given[0], Module)
        self._ignored_modules = modules_within(given) if are_modules else set()
        self._ignored_params = {param for each in self._ignored_modules for param in each._parameters.values()
                                if param is not None} if are_modules else set(given)
        strategy = ShardingStrategy.FULL_SHARD if sharding_strategy is None else sharding_strategy
        group, copies = _making.find_groups(process_group, device_mesh, strategy)
        if auto_wrap_policy is not None:
            wrap_by_policy(module, auto_wrap_policy, type(self), self._ignored_modules, self._ignored_params, {
                "process_group": process_group if device_mesh is not None else
                (group if copies is None else (group, copies)), "sharding_strategy": strategy,
                "cpu_offload": cpu_offload, "backward_prefetch": backward_prefetch, "mixed_precision": mixed_precision,
                "param_init_fn": param_init_fn, "device_id": device_id, "sync_module_states": sync_module_states,
                "forward_prefetch": forward_prefetch, "limit_all_gathers": limit_all_gathers,
                "use_orig_params": use_orig_params, "device_mesh": device_mesh,
                "ignored_states": given or None})
        self.process_group, self._inter_node_pg = group, copies
        self.rank, self.world_size = group.rank(), group.size()
        self.sharding_strategy = _making.checked_strategy(strategy, group)
        self.cpu_offload, self.mixed_precision = cpu_offload or CPUOffload(), mixed_precision or MixedPrecision()
        self.backward_prefetch, self.forward_prefetch = backward_prefetch, forward_prefetch
        self.limit_all_gathers, self._use_orig_params = limit_all_gathers, use_orig_params
        self._device_mesh = device_mesh
        self._is_root, self._passes, self._buffers_are_cast = None, None, False
        self._state_dict_type = StateDictType.FULL_STATE_DICT
        self._state_dict_config, self._optim_state_dict_config = FullStateDictConfig(), FullOptimStateDictConfig()
        _making.materialize(self._own_modules(module), self._ignored_params, param_init_fn,
                            self.compute_device)
        pieces = find_pieces(module, self._stands_alone, self._ignored_params)
        if sync_module_states:
            _making.share_states([piece.param for piece in pieces], list(module.buffers()), (group, copies))
        self._unit = self._make_unit(pieces) if pieces else None
        self._fsdp_wrapped_module = module
        if self._unit is not None and not use_orig_params:
            module._parameters["_flat_param"] = self._handle.flat_param
        self._watch_loading()

    def _stands_alone(self, module):
        return isinstance(module, FullyShardedDataParallel) or module in self._ignored_modules

    def _own_modules(self, module):
        """Return the modules whose parameters are this one's."""
        found = [module]
        for child in module.children():
            if not self._stands_alone(child):
                found += self._own_modules(child)
        return found

    def _make_unit(self, pieces):
        mixed, strategy = self.mixed_precision, self.sharding_strategy
        handle = Handle(pieces, self.process_group._core, strategy is not ShardingStrategy.NO_SHARD,
                        self._use_orig_params, mixed.param_dtype)
        copies = None if self._inter_node_pg is None or self._inter_node_pg.size() == 1 else self._inter_node_pg._core
        return Unit(handle, copies, strategy in _FREEING, mixed.reduce_dtype, mixed.keep_low_precision_grads)

    @property
    def module(self):
        """Module: what is wrapped."""
        return getattr(self._fsdp_wrapped_module, "_checkpoint_wrapped_module", self._fsdp_wrapped_module)

    @property
    def _handle(self):
        return None if self._unit is None else self._unit.handle

    @property
    def _flat_param(self):
        return None if self._unit is None else self._handle.flat_param

    @property
    def _has_params(self):
        return self._unit is not None

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name == FSDP_WRAPPED_MODULE:
                raise
            return getattr(self._fsdp_wrapped_module, name)

    def __getitem__(self, key):
        return self._fsdp_wrapped_module[key]

    @staticmethod
    def fsdp_modules(module, root_only=False):
        """Return the wrapped modules within one, or the outermost of them."""
        return _traversal_utils._get_fsdp_roots(module) if root_only else _traversal_utils._get_fsdp_states(module)

    def check_is_root(self):
        """Return whether this is an outermost one."""
        self._begin()
        return self._is_root

    def _begin(self):
        """Become the outermost one, if no other has."""
        if self._is_root is not None:
            return
        inner = self.fsdp_modules(self)
        if any(each._is_root for each in inner):
            raise RuntimeError("FullyShardedDataParallel: got a module within this one that was called by itself "
                               "before, expected the outermost one to be called first")
        units = [each._unit for each in inner if each._unit is not None]
        passes = Passes(units, self.backward_prefetch is BackwardPrefetch.BACKWARD_PRE, self.forward_prefetch)
        for each in inner:
            each._is_root, each._passes = each is self, passes

    def forward(self, *args, **kwargs):
        """Return what the module makes of its arguments, with its parameters gathered."""
        self._begin()
        if self._is_root:
            self._passes.begin_forward()
        mixed, unit = self.mixed_precision, self._unit
        self._cast_buffers()
        if mixed.param_dtype is not None and (mixed.cast_root_forward_inputs if self._is_root else
                                              mixed.cast_forward_inputs):
            args, kwargs = convert(args, mixed.param_dtype), convert(kwargs, mixed.param_dtype)
        if unit is None:
            made = self._fsdp_wrapped_module(*args, **kwargs)
        else:
            self._passes.enter_forward(unit)
            try:
                made = self._fsdp_wrapped_module(*args, **kwargs)
            finally:
                # The outermost one's turn in the backward pass comes at once.
                unit.leave_forward(keeps=self._is_root or not unit.frees_after_forward)
        if self._is_root or unit is not None:
            self._passes.watch(unit, made)
        return made

    def _cast_buffers(self):
        kind = self.mixed_precision.buffer_dtype
        if kind is None or self._buffers_are_cast:
            return
        self._buffers_are_cast = True
        for module in self._own_modules(self._fsdp_wrapped_module):
            for name, buffer in module._buffers.items():
                if buffer is not None and buffer.is_floating_point():
                    module._buffers[name] = buffer.to(kind)

    @contextmanager
    def no_sync(self):
        """Do not reduce gradients within a `with` block: whole ones add up, until those that come after."""
        self._begin()
        if not self._is_root:
            raise RuntimeError("`no_sync()` on inner FSDP instances is not supported. Please call `no_sync()` on root "
                               "FSDP module.")
        before = [(unit, unit.syncs) for unit in self._passes.units]
        for unit, _ in before:
            unit.syncs = False
        try:
            yield
        finally:
            for unit, syncs in before:
                unit.syncs = syncs

    def register_comm_hook(self, state, hook):
        """Have a function reduce gradients.

        Parameters
        ----------
        state : Any
            Given to it.
        hook : Callable
            Called with the state, a whole gradient, and the part to fill; without the latter where nothing is spread.

        """
        if not self.check_is_root():
            raise AssertionError("register_comm_hook can only be called on a root instance.")
        for unit in self._passes.units:
            if unit.hook is not None:
                raise AssertionError("A communication hook is already registered")
            if unit.replicas is not None:
                raise AssertionError("Communication hook is not supported for hybrid strategies")
            unit.state, unit.hook = state, hook

    def apply(self, fn):
        """Call a function with all modules within, whose parameters are whole meanwhile."""
        with self.summon_full_params(self):
            return super().apply(fn)

    @staticmethod
    @contextmanager
    def summon_full_params(module, recurse=True, writeback=True, rank0_only=False, offload_to_cpu=False,
                           with_grads=False):
        """Have parameters be whole within a `with` block.

        Parameters
        ----------
        module : Module
            The module.
        recurse : bool, optional, default=True
            Whether those of wrapped modules within are, too.
        writeback : bool, optional, default=True
            Whether what is written to them stays.
        rank0_only : bool, optional, default=False
            Whether they are so in the first process only.
        offload_to_cpu : bool, optional, default=False
            Accepted: they are on the CPU.
        with_grads : bool, optional, default=False
            Whether gradients are whole, too.

        """
        states = _traversal_utils._get_fsdp_states(module)
        if not recurse:
            states = [each for each in states if each is module]
        with _summon.whole(states, writeback, rank0_only, with_grads):
            yield

    def _apply(self, fn, recurse=True):
        made = super()._apply(fn, recurse)
        for handle in _traversal_utils._get_fsdp_handles(self):
            held = [piece.param for piece in handle.pieces] if handle.keeps_originals else [handle.flat_param]
            for param in held:
                if param.dtype != handle.kept_dtype:
                    raise NotImplementedError(
                        f"FullyShardedDataParallel: got parameters of {handle.kept_dtype} that are to be of "
                        f"{param.dtype}, expected that before the module is wrapped; mixed_precision computes in "
                        "another")
        return made

    def named_parameters(self, *args, **kwargs):
        """Yield names and parameters; while parameters are whole, by the names that they have unwrapped."""
        for name, param in super().named_parameters(*args, **kwargs):
            yield (name.replace(FSDP_PREFIX, "") if self._is_summoned else name), param

    def named_buffers(self, *args, **kwargs):
        """Yield names and buffers; while parameters are whole, by the names that they have unwrapped."""
        for name, buffer in super().named_buffers(*args, **kwargs):
            yield (name.replace(FSDP_PREFIX, "") if self._is_summoned else name), buffer

    def clip_grad_norm_(self, max_norm, norm_type=2.0):
        """Scale gradients so that the norm of all of them, over all processes, is no more than a number.

        Parameters
        ----------
        max_norm : float
            The number.
        norm_type : float, optional, default=2.0
            Which norm; may be infinite.

        Returns
        -------
        Tensor
            The norm before.

        """
        if not self.check_is_root():
            raise RuntimeError("`clip_grad_norm_()` should only be called on the root FSDP instance")
        spread = {id(param) for unit in self._passes.units if unit.handle.is_sharded for param in
                  ([piece.param for piece in unit.handle.pieces] if unit.handle.keeps_originals
                   else [unit.handle.flat_param])}
        params = [param for param in self.parameters() if param.grad is not None]
        if not spread:
            return clip_grad_norm_(params, max_norm, norm_type)
        with modes.no_grad():
            total = self._total_norm([param.grad for param in params if id(param) in spread],
                                     [param.grad for param in params if id(param) not in spread], float(norm_type))
            if not params:
                warnings.warn(f"Called FSDP.clip_grad_norm_() on rank {self.rank} with no gradients -- returning the "
                              f"total norm in the default dtype {total.dtype}")
            factor = (max_norm / (total + 1e-6)).clamp(max=1.0)
            for param in params:
                param.grad.detach().mul_(factor.to(param.grad.dtype))
        return total

    def _total_norm(self, parts, wholes, order):
        norms = [[ops.linalg_vector_norm(each.detach(), order, dtype=OBJECTS["float32"]) for each in held]
                 for held in (parts, wholes)]
        if order == math.inf:
            total = ops.stack([*norms[0], ops.zeros((), device=self.compute_device)], 0).amax()
            collectives.all_reduce(total, collectives.ReduceOp.MAX, self.process_group)
            return ops.stack([total, *norms[1]], 0).amax()
        total = ops.stack([*norms[0], ops.zeros((), device=self.compute_device)], 0).pow(order).sum()
        collectives.all_reduce(total, group=self.process_group)
        return (total + sum(each ** order for each in norms[1])) ** (1 / order)

    @staticmethod
    def set_state_dict_type(module, state_dict_type, state_dict_config=None, optim_state_dict_config=None):
        """Say what states have from now on.

        Parameters
        ----------
        module : Module
            The module.
        state_dict_type : StateDictType
            Which states.
        state_dict_config, optim_state_dict_config : optional
            How they come out; of the classes that belong to the type.

        Returns
        -------
        StateDictSettings
            What was said before.

        """
        kinds = CONFIGS[state_dict_type]
        configs = [kind() if given is None else given
                   for kind, given in zip(kinds, (state_dict_config, optim_state_dict_config))]
        for kind, config, name in zip(kinds, configs, ("state_dict_config", "optim_state_dict_config")):
            if type(config) is not kind:
                raise RuntimeError(f"Expected {name} of type {kind} but got {type(config)}")
        before = FullyShardedDataParallel.get_state_dict_type(module)
        for each in _traversal_utils._get_fsdp_states(module):
            each._state_dict_type, (each._state_dict_config, each._optim_state_dict_config) = state_dict_type, configs
        return before

    @staticmethod
    def get_state_dict_type(module):
        """Return what states have, the same for all wrapped modules within one; None if there are none."""
        return _traversal_utils.settings_of(module)

    @staticmethod
    @contextmanager
    def state_dict_type(module, state_dict_type, state_dict_config=None, optim_state_dict_config=None):
        """Say what states have within a `with` block; see `set_state_dict_type`."""
        own = FullyShardedDataParallel
        before = own.set_state_dict_type(module, state_dict_type, state_dict_config, optim_state_dict_config)
        try:
            yield
        finally:
            if before is not None:
                own.set_state_dict_type(module, before.state_dict_type, before.state_dict_config,
                                        before.optim_state_dict_config)

    optim_state_dict = staticmethod(_optimizers.optim_state_dict)
    optim_state_dict_to_load = staticmethod(_optimizers.optim_state_dict_to_load)
    full_optim_state_dict = staticmethod(_optimizers.full_optim_state_dict)
    sharded_optim_state_dict = staticmethod(_optimizers.sharded_optim_state_dict)
    flatten_sharded_optim_state_dict = staticmethod(_optimizers.flatten_sharded_optim_state_dict)
    shard_full_optim_state_dict = staticmethod(_optimizers.shard_full_optim_state_dict)
    scatter_full_optim_state_dict = staticmethod(_optimizers.scatter_full_optim_state_dict)
    rekey_optim_state_dict = staticmethod(_optimizers.rekey_optim_state_dict)
