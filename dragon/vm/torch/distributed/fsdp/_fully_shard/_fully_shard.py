"""`fully_shard`, and what the modules that it was called for can do."""
import functools

from dragon.core.scopes import contextmanager
from dragon.vm.torch.core.device import device_count
from dragon.vm.torch.distributed.fsdp._flat_param import find_pieces
from dragon.vm.torch.distributed.fsdp._fully_shard._group import ParameterGroup
from dragon.vm.torch.distributed.fsdp._fully_shard._policies import MixedPrecisionPolicy, OffloadPolicy
from dragon.vm.torch.distributed.fsdp._fully_shard._sharded import ShardedParameter
from dragon.vm.torch.distributed.fsdp._fully_shard._state import ModuleState
from dragon.vm.torch.distributed.device_mesh import init_device_mesh
from dragon.vm.torch.distributed.making import _get_default_group, get_world_size
from dragon.vm.torch.distributed.tensor import DTensor, Replicate, Shard
from dragon.vm.torch.nn.modules.container import ModuleDict, ModuleList

_classes = {}  # {class of a module: the class that it has once it is fully sharded}
_makes_anew = True


def get_cls_to_fsdp_cls():
    """Return {class of a module: the class that it has once it is fully sharded}."""
    return _classes


@contextmanager
def disable_fsdp_module_new_init():
    """Have calls of a fully sharded module's class not initialize what they make, within a `with` block."""
    global _makes_anew
    before, _makes_anew = _makes_anew, False
    try:
        yield
    finally:
        _makes_anew = before


def fully_shard(module, *, mesh=None, reshard_after_forward=None, shard_placement_fn=None,
                mp_policy=MixedPrecisionPolicy(), offload_policy=OffloadPolicy(), ignored_params=None,
                dp_mesh_dims=None):
    """Spread a module's parameters over processes, but for those of modules within that were spread before.

    Parameters
    ----------
    module : Union[Module, List[Module]]
        The module, or several whose parameters are gathered together.
    mesh : DeviceMesh, optional
        The processes; of two axes, copies and parts. All processes by default. Parameters that lie on another part
        of the same mesh, as `mesh["tensor"]` beside `mesh["data"]`, are cut again.
    reshard_after_forward : Union[bool, int], optional
        Whether parameters are given up between the passes; by default they are, but for the outermost module.
    shard_placement_fn : Callable[[Parameter], Optional[Shard]], optional
        Says along which axis a parameter is cut; the first by default.
    mp_policy : MixedPrecisionPolicy, optional
        Dtypes to compute and to send in.
    offload_policy : OffloadPolicy, optional
        Accepted: parts are on the CPU.
    ignored_params : Set[Parameter], optional
        Parameters that are left as they are.
    dp_mesh_dims : optional
        Must be None.

    Returns
    -------
    Union[Module, List[Module]]
        What was given.

    """
    modules = list(module) if isinstance(module, (list, tuple)) else [module]
    for each in modules:
        if isinstance(each, (ModuleList, ModuleDict)):
            raise ValueError(f"fully_shard does not support containers that do not implement forward: {each}")
        if isinstance(each, FSDPModule):
            raise AssertionError(f"Each distinct composable distributed API can only be applied to a module once: "
                                 f"fully_shard got {type(each).__name__} again")
    if dp_mesh_dims is not None:
        raise NotImplementedError("fully_shard: got dp_mesh_dims, expected None: name the axes by a mesh of them, as "
                                  'mesh["copies", "parts"]')
    mesh = init_device_mesh(_kind_of(modules), (get_world_size(),)) if mesh is None else mesh
    if mesh.ndim not in (1, 2):
        raise ValueError(f"fully_shard expects a 1D or 2D DeviceMesh but got {mesh}")
    _move(modules, mesh.device_type)
    size = mesh.size(mesh.ndim - 1)
    frees = _read_resharding(reshard_after_forward, size)
    params = _shard_params(modules, mesh, shard_placement_fn, mp_policy, set(ignored_params or ()))
    copies = mesh.get_group(0) if mesh.ndim == 2 else None
    group = ParameterGroup(params, modules, mesh.get_group(mesh.ndim - 1), copies, mp_policy, frees) if params else None
    state = ModuleState(modules, group, mp_policy)
    for each in modules:
        kind = type(each)
        if kind not in _classes:
            _classes[kind] = type(f"FSDP{kind.__name__}", (FSDPModule, kind), {"__module__": kind.__module__})
        each.__class__ = _classes[kind]
        each.__dict__["_fsdp_state"] = state
    return module


def _kind_of(modules):
    """Return the kind of device on which modules compute: CUDA, where there is one that groups reach, or the host."""
    services = _get_default_group()._core.services
    is_there = device_count("cuda") and services.get("cuda", "nobody") != "nobody"
    first = next((param for each in modules for param in each.parameters()), None)
    return "cuda" if is_there or first is not None and first.is_cuda else "cpu"


def _move(modules, kind):
    """Move the parameters and buffers of modules to a mesh's device, if that is not where they are."""
    if kind == "cpu":
        return
    for each in modules:
        for tensor in (*each.parameters(), *each.buffers()):
            if tensor.device.type != kind and not tensor.is_meta and not isinstance(tensor, DTensor):
                tensor.data = tensor.data.to(kind)


def _read_resharding(given, size):
    """Return whether parameters are given up between the passes; None: but for the outermost module."""
    if given is None or isinstance(given, bool):
        return given
    if given in (1, size):
        return given == size
    if not isinstance(given, int) or given < 1 or size % given:
        raise ValueError(f"If passing reshard_after_forward as an int, it should be a factor of {size}, not {given}")
    raise NotImplementedError(f"fully_shard: got reshard_after_forward={given}, expected a bool, 1 or {size}: Dragon "
                              "keeps parameters whole, or in as many parts as there are processes")


def _shard_params(modules, mesh, place, policy, ignored):
    found, seen = [], set()
    for module in modules:
        for piece in find_pieces(module, lambda each: isinstance(each, FSDPModule), ignored):
            if id(piece.param) in seen:
                continue
            seen.add(id(piece.param))
            if piece.param.dim() == 0:
                raise ValueError("fully_shard doesn't support scalar parameters. Change "
                                 f"{piece.name} to a 1D tensor with numel equal to 1.")
            cut = place(piece.param) if place is not None else None
            cut = Shard(0) if cut is None else cut
            if not isinstance(cut, Shard) or not -piece.param.dim() <= cut.dim < piece.param.dim():
                raise ValueError(f"fully_shard: got {cut!r} for {piece.name!r} of shape {piece.shape}, expected a "
                                 "Shard of one of its axes")
            placements = (Shard(cut.dim % piece.param.dim()),)
            placements = placements if mesh.ndim == 1 else (Replicate(), *placements)
            found.append(ShardedParameter(piece.param, [(each, name) for each, name, _ in piece.places], piece.name,
                                          mesh, placements, policy.param_dtype))
    return found


class UnshardHandle:
    """Parameters that are on their way.

    Parameters
    ----------
    group : ParameterGroup, optional
        The parameters.

    """

    def __init__(self, group=None):
        self._group = group

    def wait(self):
        """Wait until they are whole."""
        group, self._group = self._group, None
        if group is not None:
            group.unshard()


class FSDPModule:
    """What fully sharded modules can do, whatever class they have besides."""

    def __new__(cls, *args, **kwargs):
        """Make one of the class that the module had before: a part of a sharded module is none."""
        before = cls.__mro__[2]
        made = before.__new__(before)
        if _makes_anew:
            made.__init__(*args, **kwargs)
        return made

    def __deepcopy__(self, memo):
        raise AssertionError("FSDP does not support deepcopy. Please use state dict for serialization.")

    def _get_fsdp_state(self):
        return self.__dict__["_fsdp_state"]

    def _groups(self, recurse=False):
        states = [each.__dict__.get("_fsdp_state") for each in self.modules()] if recurse else [self._get_fsdp_state()]
        return list(dict.fromkeys(state.group for state in states if state is not None and state.group is not None))

    def _set(self, recurse=False, **values):
        for group in self._groups(recurse):
            for name, value in values.items():
                setattr(group, name, value)

    def reshard(self):
        """Have the module see its parameters as tensors on the mesh."""
        for group in self._groups():
            group.reshard()

    def unshard(self, async_op=False):
        """Have the module see its parameters whole; return a handle to wait for, if it is to go on meanwhile."""
        group = self._get_fsdp_state().group
        if not async_op:
            UnshardHandle(group).wait()
            return None
        if group is not None:
            group.begin_unshard()
        return UnshardHandle(group)

    def set_is_last_backward(self, is_last_backward):
        """Say whether another backward pass follows; gradients have come after each, whatever is said."""
        self._get_fsdp_state().is_last_backward = bool(is_last_backward)

    def set_requires_gradient_sync(self, requires_gradient_sync, *, recurse=True):
        """Say whether backward passes reduce gradients, or add up whole ones."""
        self._set(recurse, reduces=requires_gradient_sync, reduces_copies=requires_gradient_sync)

    def set_requires_all_reduce(self, requires_all_reduce, *, recurse=True):
        """Say whether backward passes reduce gradients over copies, or add up parts."""
        self._set(recurse, reduces_copies=requires_all_reduce)

    def set_reshard_after_forward(self, reshard_after_forward, recurse=True):
        """Say whether parameters are given up between the passes."""
        if not isinstance(reshard_after_forward, bool):
            raise ValueError(f"reshard_after_forward should be a bool, got {type(reshard_after_forward)}")
        self._set(recurse, frees=reshard_after_forward)

    def set_reshard_after_backward(self, reshard_after_backward, *, recurse=True):
        """Say whether parameters are given up after backward passes."""
        self._set(recurse, frees_after_backward=reshard_after_backward)

    def set_unshard_in_backward(self, unshard_in_backward):
        """Say whether backward passes gather parameters, which those that use none of them need not."""
        self._set(gathers_in_backward=unshard_in_backward)

    def set_modules_to_forward_prefetch(self, modules):
        """Have parameters of other modules be gathered while this one's forward pass is under way."""
        self._get_fsdp_state().forward_prefetch = _states(modules)

    def set_modules_to_backward_prefetch(self, modules):
        """Have parameters of other modules be gathered while this one's backward pass is under way."""
        self._get_fsdp_state().backward_prefetch = _states(modules)

    def set_custom_all_gather(self, comm):
        """Have somebody's own collective gather parameters."""
        self._set(own_gather=comm)

    def set_custom_reduce_scatter(self, comm):
        """Have somebody's own collective reduce gradients."""
        self._set(own_reduce=comm)

    def set_all_reduce_hook(self, hook, *, stream=None):
        """Have a function called with each reduced part of gradients, which it may write to."""
        if stream is not None:
            raise ValueError(f"set_all_reduce_hook: got stream={stream!r}, expected None: a CPU has no streams")
        self._set(all_reduce_hook=hook)

    def set_gradient_divide_factor(self, factor):
        """Have sums of gradients be divided by a number, in place of how many processes there are."""
        self._set(divisor=float(factor))

    set_reduce_scatter_divide_factor = set_gradient_divide_factor

    def set_reduce_scatter_unused_params(self, reduce_scatter_unused_params, *, recurse=True):
        """Say whether parameters without a gradient take part, with zeros, as where others have one."""
        self._set(recurse, counts_unused=reduce_scatter_unused_params)

    def set_force_sum_reduction_for_comms(self, enable):
        """Accept: averages and sums that are divided are the same here."""
        self._set(forces_sums=bool(enable))

    def set_reduce_scatter_max_input_buffers(self, max_input_buffers, *, recurse=True):
        """Accept a number: here no gradient waits longer than for the one before it."""
        if isinstance(max_input_buffers, bool) or not isinstance(max_input_buffers, int):
            raise TypeError(f"max_input_buffers must be an int, got {type(max_input_buffers).__name__}")
        if max_input_buffers < 1:
            raise ValueError(f"max_input_buffers must be a positive int, got {max_input_buffers}")
        self._set(recurse, most_buffers=max_input_buffers)

    def set_post_optim_event(self, event):
        """Accept: on a CPU steps of optimizers are done when they return."""
        self._get_fsdp_state().post_optim_event = event

    def _apply(self, *args, **kwargs):
        for group in self._groups(recurse=True):
            group.reshard()
        made = super()._apply(*args, **kwargs)
        for group in self._groups(recurse=True):
            for param in group.params:
                param.refresh()
        return made


def _states(modules):
    for module in modules:
        if not isinstance(module, FSDPModule):
            raise ValueError(f"Expects FSDPModule but got {type(module)}: {module}")
    return [state for state in (module._get_fsdp_state() for module in modules) if state.group is not None]


def register_fsdp_forward_method(module, method_name):
    """Have another method of a fully sharded module be as its forward pass: parameters are whole within it.

    Parameters
    ----------
    module : Module
        The module; nothing is done to others.
    method_name : str
        The method.

    """
    if not isinstance(module, FSDPModule):
        return
    if not hasattr(module, method_name):
        raise ValueError(f"{type(module)} does not have a method {method_name}")
    method, state = getattr(module, method_name), module._get_fsdp_state()

    @functools.wraps(method)
    def call(self, *args, **kwargs):
        args, kwargs = state._enter(self, args, kwargs)
        return state._leave(self, args, method(*args, **kwargs))
    setattr(module, method_name, call.__get__(module, type(module)))


def share_comm_ctx(modules):
    """Accept fully sharded modules, whose collectives have one order in each group anyway."""
    _states(modules)
