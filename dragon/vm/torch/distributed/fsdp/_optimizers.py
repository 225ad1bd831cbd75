"""States of optimizers of wrapped modules, by the names and shapes that parameters have unwrapped."""
import copy
import enum

from dragon.vm.torch.core.dtypes import dtype
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.distributed import objects
from dragon.vm.torch.distributed.fsdp import _traversal_utils
from dragon.vm.torch.distributed.fsdp.api import StateDictType
from dragon.vm.torch.distributed.making import get_rank

_WRAPPERS = ("_fsdp_wrapped_module.", "_checkpoint_wrapped_module.")


class OptimStateKeyType(enum.Enum):
    """What parameters are called in an optimizer's state."""

    PARAM_NAME = enum.auto()
    PARAM_ID = enum.auto()


def _clean(name):
    for word in _WRAPPERS:
        name = name.replace(word, "")
    return name


class _Names:
    """The names of a model's parameters, and which flat parameters they are in.

    Parameters
    ----------
    model : Module
        The model.

    """

    def __init__(self, model):
        wrapped = set(_traversal_utils._get_fsdp_states(model))
        self.wrapped = {}  # the wrapped module of each name
        self.handles, self.of = [], {}  # [(flat parameter's handle, names of its pieces)], {parameter: its names}
        for prefix, module in model.named_modules():
            if module not in wrapped or module._handle is None:
                continue
            handle = module._handle
            names = [_clean(f"{prefix}.{piece.name}" if prefix else piece.name) for piece in handle.pieces]
            self.handles.append((handle, names))
            self.wrapped.update(dict.fromkeys(names, module))
            if handle.keeps_originals:
                self.of.update((piece.param, [name]) for piece, name in zip(handle.pieces, names))
            else:
                self.of[handle.flat_param] = names
        for name, param in model.named_parameters():
            self.of.setdefault(param, [_clean(name)])

    def of_group(self, group):
        """Return the names of an optimizer's group of parameters."""
        return [name for param in group["params"] for name in self.of[param]]


def _groups(model, optim_input, optim):
    """Return an optimizer's groups of parameters, or those that it was made of."""
    if optim is not None and optim_input is not None:
        raise ValueError("optim_input and optim are both given, expected one of them")
    if optim is not None:
        return optim.param_groups
    given = list(model.parameters() if optim_input is None else optim_input)
    return given if given and isinstance(given[0], dict) else [{"params": given}]


def _numbers(groups):
    """Return {parameter: its number in an optimizer's state}."""
    return {param: place for place, param in enumerate(param for group in groups for param in group["params"])}


def _whole_states(handle, found):
    """Return the states of a flat parameter's pieces, whole: [{word: value}, or None].

    Parameters
    ----------
    handle : Handle
        The flat parameter.
    found : Callable[[Parameter], Optional[dict]]
        Returns the state of a parameter of the optimizer.

    Returns
    -------
    List[Optional[Dict[str, Any]]]
        One for each piece; None for those that no process has a state of.

    """
    pieces = handle.pieces
    mine = [found(piece.param if handle.keeps_originals else handle.flat_param) or {} for piece in pieces]
    if handle.keeps_originals:  # who has nothing of a piece takes no steps of it: its count of them says nothing
        mine = [{} if piece.numel and not piece.param.numel() else state for piece, state in zip(pieces, mine)]
    kinds = [{word: value.dtype if isinstance(value, Tensor) and value.dim() else value
              for word, value in state.items()} for state in mine]
    known = [kinds]
    if handle.is_sharded and handle.keeps_originals:  # others may have parts of what there is nothing of here
        known = [None] * handle.group.size
        # The objects travel as tensors of the flat parameter's own group.
        objects.all_gather_object(known, kinds, _Group(handle.group))
    made = [{} for _ in pieces]
    for word in sorted({word for each in known for state in each for word in state}):
        said = [[each[place][word] for each in known if word in each[place]] for place in range(len(pieces))]
        first = next(values[0] for values in said if values)
        if not isinstance(first, dtype):
            for place, values in enumerate(said):
                if values:
                    made[place][word] = copy.deepcopy(values[0])
            continue
        part = ops.zeros(handle.part_size, dtype=first, device=handle.flat_param.device)
        for piece, state in zip(pieces, mine):
            if word not in state:
                continue
            if handle.keeps_originals:
                handle.local(piece, part).copy_(state[word].view(handle.local(piece, part).shape))
            else:
                part = state[word]
        for place, (values, value) in enumerate(zip(said, handle.split(handle.gather(part)))):
            if values:
                made[place][word] = value.clone()
    return [state or None for state in made]


class _Group:
    """A group of the engine's, as objects are sent over it."""

    def __init__(self, core):
        self._core, self.rank, self.size = core, lambda: core.rank, lambda: core.size


def _require_type(model, who):
    settings = _traversal_utils.settings_of(model)
    if settings is not None and settings.state_dict_type is StateDictType.LOCAL_STATE_DICT:
        raise NotImplementedError(f"{who}: got LOCAL_STATE_DICT, expected FULL_STATE_DICT or SHARDED_STATE_DICT: the "
                                  "state of flat parts is the optimizer's own state_dict()")
    return settings


def optim_state_dict(model, optim, optim_state_dict=None, group=None):
    """Return the state of an optimizer by the names of parameters, whole or in parts as `state_dict_type` has it.

    Parameters
    ----------
    model : Module
        The model, of which parts are wrapped.
    optim : Optimizer
        The optimizer of its parameters.
    optim_state_dict : Dict[str, Any], optional
        Its state, if not as it is now.
    group : ProcessGroup, optional
        Accepted: the flat parameters have theirs.

    Returns
    -------
    Dict[str, Any]
        The state; nothing where only the first process is to have it.

    """
    settings = _require_type(model, "optim_state_dict")
    config = None if settings is None else settings.optim_state_dict_config
    made = _named_state(model, optim.param_groups, optim_state_dict or optim.state_dict())
    if settings is not None and settings.state_dict_type is StateDictType.SHARDED_STATE_DICT:
        return _in_parts(model, made)
    return {} if getattr(config, "rank0_only", False) and get_rank() else made


def _named_state(model, groups, given):
    names, numbers, state = _Names(model), _numbers(groups), {}
    is_named = any(isinstance(key, str) for key in given["state"])

    def found(param):
        if is_named:
            return next((given["state"][name] for name in names.of[param] if name in given["state"]), None)
        return given["state"].get(numbers.get(param))
    taken = set()
    for handle, called in names.handles:
        taken.update(called)
        state.update((name, value) for name, value in zip(called, _whole_states(handle, found)) if value is not None)
    for param in numbers:
        for name in names.of[param]:
            if name not in taken and found(param) is not None:
                state[name] = copy.deepcopy(found(param))
    return {"state": state, "param_groups": [
        {**{key: value for key, value in options.items() if key != "params"}, "params": names.of_group(group)}
        for group, options in zip(groups, given["param_groups"])]}


def _local_state(model, groups, given):
    """Return a state by names as an optimizer of this process has it, by numbers."""
    names, numbers, state = _Names(model), _numbers(groups), {}
    given_states = {_clean(key): value for key, value in given["state"].items()}
    taken = set()
    for handle, called in names.handles:
        taken.update(called)
        held = [given_states.get(name, {}) for name in called]
        for param, value in _parts_of(handle, held):
            if param in numbers and value:
                state[numbers[param]] = value
    for param, number in numbers.items():
        name = names.of[param][0]
        if name not in taken and name in given_states:
            state[number] = copy.deepcopy(given_states[name])
    made, at = [], 0
    for group in groups:
        called = set(names.of_group(group))
        options = next((each for each in given["param_groups"] if called & set(map(_clean, each["params"]))), None)
        if options is None:
            raise ValueError(f"optim_state_dict_to_load: got no group with any of {sorted(called)[:5]}, expected one "
                             "in param_groups")
        count = len(group["params"])
        made.append({**{key: value for key, value in options.items() if key != "params"},
                     "params": list(range(at, at + count))})
        at += count
    return {"state": state, "param_groups": made}


def _parts_of(handle, held):
    """Yield the parameters that an optimizer has for a flat parameter, and this process's part of their states."""
    words, mine = sorted({word for state in held for word in state}), [{} for _ in handle.pieces]
    flat = {}
    for word in words:
        first = next(state[word] for state in held if word in state)
        if not (isinstance(first, Tensor) and first.dim()):
            flat[word] = copy.deepcopy(first)
            for state, own in zip(held, mine):
                if word in state:
                    own[word] = copy.deepcopy(state[word])
            continue
        values = [_whole(state[word]) if word in state else ops.zeros(
            piece.shape, dtype=first.dtype, device=first.device)
                  for state, piece in zip(held, handle.pieces)]
        part = handle.take_part(ops.cat([value.detach().reshape(-1) for value in values], 0)).clone()
        flat[word] = part
        for piece, state, own in zip(handle.pieces, held, mine):
            if word in state:
                own[word] = handle.local(piece, part).clone()
    if handle.keeps_originals:
        yield from zip((piece.param for piece in handle.pieces), mine)
    else:
        yield handle.flat_param, flat


def _whole(value):
    return value.full_tensor() if hasattr(value, "full_tensor") else value


def optim_state_dict_to_load(model, optim, optim_state_dict, is_named_optimizer=False, load_directly=False, group=None):
    """Return a state by names as an optimizer of this process loads it.

    Parameters
    ----------
    model : Module
        The model, of which parts are wrapped.
    optim : Optimizer
        The optimizer of its parameters.
    optim_state_dict : Dict[str, Any]
        The state; where the first process alone has it, it sends it to all.
    is_named_optimizer : bool, optional, default=False
        Whether the optimizer calls parameters by name.
    load_directly : bool, optional, default=False
        Whether it is loaded, too.
    group : ProcessGroup, optional
        Accepted: the flat parameters have theirs.

    Returns
    -------
    Dict[str, Any]
        The state.

    """
    settings = _require_type(model, "optim_state_dict_to_load")
    if settings is not None and getattr(settings.optim_state_dict_config, "rank0_only", False):
        held = [optim_state_dict if get_rank() == 0 else None]
        objects.broadcast_object_list(held, 0)
        optim_state_dict = held[0]
    made = _local_state(model, optim.param_groups, optim_state_dict)
    if is_named_optimizer:
        made = rekey_optim_state_dict(made, OptimStateKeyType.PARAM_NAME, model, optim=optim)
    if load_directly:
        optim.load_state_dict(made)
    return made


def full_optim_state_dict(model, optim, optim_input=None, rank0_only=True, group=None):
    """Return the whole state of an optimizer by the names of parameters; nothing but in the first process."""
    made = _named_state(model, _groups(model, optim_input, None if optim_input is not None else optim),
                        optim.state_dict())
    return {} if rank0_only and get_rank(group) else made


def sharded_optim_state_dict(model, optim, group=None):
    """Return the state of an optimizer by the names of parameters, of tensors on a mesh."""
    return _in_parts(model, _named_state(model, optim.param_groups, optim.state_dict()))


def flatten_sharded_optim_state_dict(sharded_optim_state_dict, model, optim):
    """Return a state of tensors on a mesh, by names, as an optimizer of this process loads it."""
    return _local_state(model, optim.param_groups, sharded_optim_state_dict)


def _in_parts(model, state):
    from dragon.vm.torch.distributed.fsdp._distributed_parts import states_to_parts
    return states_to_parts(state, _Names(model).wrapped)


def shard_full_optim_state_dict(full_optim_state_dict, model, optim_input=None, optim=None):
    """Return a whole state by names as an optimizer of this process loads it."""
    return _local_state(model, _groups(model, optim_input, optim), full_optim_state_dict)


def scatter_full_optim_state_dict(full_optim_state_dict, model, optim_input=None, optim=None, group=None):
    """Return the first process's whole state by names as an optimizer of this process loads it."""
    held = [full_optim_state_dict if get_rank(group) == 0 else None]
    objects.broadcast_object_list(held, group=group, group_src=0)
    return _local_state(model, _groups(model, optim_input, optim), held[0])


def rekey_optim_state_dict(optim_state_dict, optim_state_key_type, model, optim_input=None, optim=None):
    """Return an optimizer's state with names in place of numbers, or numbers in place of names."""
    groups = _groups(model, optim_input, optim)
    names = [name for group in groups for param in group["params"] for name in _Names(model).of[param]]
    if optim_state_key_type is OptimStateKeyType.PARAM_NAME:
        key_of = dict(enumerate(names)).__getitem__
    elif optim_state_key_type is OptimStateKeyType.PARAM_ID:
        key_of = {name: place for place, name in enumerate(names)}.__getitem__
    else:
        raise ValueError(f"rekey_optim_state_dict: got {optim_state_key_type!r}, expected an OptimStateKeyType")
    return {"state": {key_of(key): value for key, value in optim_state_dict["state"].items()},
            "param_groups": [{**group, "params": sorted(map(key_of, group["params"]))}
                             for group in optim_state_dict["param_groups"]]}
