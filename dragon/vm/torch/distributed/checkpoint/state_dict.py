"""States of models and optimizers under the names that parameters have in the model, whatever it is wrapped in."""
from dataclasses import dataclass

from dragon.vm import torch
from dragon.vm.torch.distributed.checkpoint._flat import is_flat, load_optimizer, read_optimizer, told_as
from dragon.vm.torch.distributed.checkpoint._optimizers import (_init_optim_state, flatten, load_optimizers,
                                                                named_state, unflatten)
from dragon.vm.torch.distributed.checkpoint._sharded import shared_out, whole
from dragon.vm.torch.distributed.checkpoint._sharing import is_left_out, of_first
from dragon.vm.torch.nn.modules._state import _IncompatibleKeys


@dataclass
class StateDictOptions:
    """How states are taken and given back.

    Parameters
    ----------
    full_state_dict : bool, optional, default=False
        Whether whole tensors come out, as they do from one process; what a dictionary lacks is left as it is.
    cpu_offload : bool, optional, default=False
        Whether tensors come out on the CPU; whole ones do so in the first process alone, others get nothing.
    ignore_frozen_params : bool, optional, default=False
        Whether parameters that do not learn are left out.
    keep_submodule_prefixes : bool, optional, default=True
        Whether the names of a part's parameters begin with the part's.
    strict : bool, optional, default=True
        Whether names that are missing or too many raise.
    broadcast_from_rank0 : bool, optional, default=False
        Whether the first process sends to the others; asks for `full_state_dict`.
    flatten_optimizer_state_dict : bool, optional, default=False
        Whether an optimizer's state has one level, with names such as "state.weight.exp_avg".
    dsd_fqn_modifiers : str, optional, default="_fqn_modifiers"
        The method of a module that gives {attribute: name}, by which its parameters are called otherwise.

    """

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False
    dsd_fqn_modifiers: str = "_fqn_modifiers"


def _checked(options):
    options = options or StateDictOptions()
    if options.broadcast_from_rank0 and not options.full_state_dict:
        raise ValueError("full_state_dict must be True when broadcast_from_rank0 is True.")
    return options


def _name_of(model, key, options):
    """Return a name of a model's state without the names of what the model, or a part of it, is wrapped in."""
    wrappers = {"module": torch.nn.parallel.DistributedDataParallel, "_orig_mod": torch._dynamo.OptimizedModule,
                "_fsdp_wrapped_module": torch.distributed.fsdp.FullyShardedDataParallel}
    parts, here = [], model
    for part in key.split("."):
        if not (part in wrappers and isinstance(here, wrappers[part])):
            renamed = getattr(here, options.dsd_fqn_modifiers, dict)()
            parts.append(renamed.get(part, part))
        here = getattr(here, part, None)
    return ".".join(parts)


def _as_asked(state, options):
    """Return a dictionary with its tensors where they are asked for, and whole if they are asked for whole."""
    if options.full_state_dict:
        state = whole(state)
    return {} if is_left_out(options) else _placed(state, options)


def _placed(state, options):
    if isinstance(state, dict):
        return {key: _placed(value, options) for key, value in state.items()}
    if isinstance(state, (list, tuple)):
        return type(state)(_placed(value, options) for value in state)
    if isinstance(state, torch.Tensor) and options.cpu_offload:
        return state.detach().cpu()
    return state


def _only_parts(model, state, submodules, options):
    """Return the state of some parts of a model."""
    if not submodules:
        return state
    kept = {}
    for name, module in model.named_modules():
        if module in submodules:
            prefix = f"{_name_of(model, name, options)}."
            kept.update({key if options.keep_submodule_prefixes else key[len(prefix):]: value
                         for key, value in state.items() if key.startswith(prefix)})
    return kept


def get_model_state_dict(model, *, submodules=None, options=None):
    """Return a model's state, by the names that its parameters have unwrapped.

    Parameters
    ----------
    model : torch.nn.Module
        The model, perhaps in `DistributedDataParallel` or compiled.
    submodules : Set[torch.nn.Module], optional
        The parts whose state is asked for; all otherwise.
    options : StateDictOptions, optional
        How it comes out.

    Returns
    -------
    Dict[str, Any]
        The state.

    """
    options = _checked(options)
    frozen = {_name_of(model, key, options) for key, value in model.named_parameters() if not value.requires_grad}
    with told_as(model, options):
        state = {_name_of(model, key, options): value for key, value in model.state_dict().items()}
    if options.ignore_frozen_params:
        state = {name: value for name, value in state.items() if name not in frozen}
    return _as_asked(_only_parts(model, state, submodules, options), options)


def set_model_state_dict(model, model_state_dict, *, options=None):
    """Load a model's state, by the names that its parameters have unwrapped.

    Parameters
    ----------
    model : torch.nn.Module
        The model.
    model_state_dict : Dict[Union[str, torch.nn.Module], Any]
        The state; or the state of each of some parts.
    options : StateDictOptions, optional
        How it goes in.

    Returns
    -------
    NamedTuple
        The names that are missing, and those that are too many.

    """
    options = _checked(options)
    given = _by_name(model, model_state_dict, options) if model_state_dict else {}
    if options.broadcast_from_rank0:
        given = of_first(given)
    if not given:
        return _IncompatibleKeys({}, {})
    with told_as(model, options):
        return _load(model, given, options)


def _load(model, given, options):
    own, loaded = model.state_dict(), {}
    for key, value in own.items():
        name = _name_of(model, key, options)
        if name in given:
            loaded[key] = shared_out(given.pop(name), value)
        elif options.full_state_dict:
            loaded[key] = value
        elif name != key and options.strict:
            raise RuntimeError(f"Missing key: {name}.")
    unmade = any(isinstance(value, torch.Tensor) and value.is_meta for value in own.values())
    return model.load_state_dict({**loaded, **given}, strict=options.strict,
                                 assign=unmade and options.full_state_dict)


def _by_name(model, given, options):
    """Return a state by names, of one that may be by parts."""
    if not isinstance(next(iter(given)), torch.nn.Module):
        return dict(given)
    names = {module: _name_of(model, name, options) for name, module in model.named_modules()}
    return {f"{names[module]}.{key}" if names[module] else key: value
            for module, state in given.items() for key, value in state.items()}


def _listed(optimizers):
    return (optimizers,) if isinstance(optimizers, torch.optim.Optimizer) else tuple(optimizers)


def _names_of_parameters(model, options):
    return {parameter: _name_of(model, key, options) for key, parameter in model.named_parameters()}


def get_optimizer_state_dict(model, optimizers, *, submodules=None, options=None):
    """Return the state of a model's optimizers, by its parameters' names; what has no state yet gets its first.

    Parameters
    ----------
    model : torch.nn.Module
        The model.
    optimizers : Union[torch.optim.Optimizer, Iterable[torch.optim.Optimizer]]
        Its optimizers.
    submodules : Set[torch.nn.Module], optional
        The parts whose parameters' state is asked for; all otherwise.
    options : StateDictOptions, optional
        How it comes out.

    Returns
    -------
    Dict[str, Any]
        The state.

    """
    options = _checked(options)
    names, flat = _names_of_parameters(model, options), is_flat(model)
    if submodules:
        wanted = {parameter for module in submodules for parameter in module.parameters()}
        names = {parameter: name for parameter, name in names.items() if parameter in wanted}
    state = {"state": {}, "param_groups": []}
    for optimizer in _listed(optimizers):
        _init_optim_state(optimizer)
        if flat:
            found = _of_names(read_optimizer(model, optimizer, options), set(names.values()) if submodules else None)
        else:
            found = named_state(optimizer, names, partly=bool(submodules))
        state["state"].update(found["state"])
        state["param_groups"] += found["param_groups"]
    return _as_asked(flatten(state) if options.flatten_optimizer_state_dict else state, options)


def _of_names(state, names):
    """Return what the state of an optimizer has of some names; all of it for None."""
    if names is None:
        return state
    return {"state": {name: value for name, value in state["state"].items() if name in names},
            "param_groups": [{**group, "params": [name for name in group["params"] if name in names]}
                             for group in state["param_groups"]]}


def set_optimizer_state_dict(model, optimizers, optim_state_dict, *, options=None):
    """Load the state of a model's optimizers, by its parameters' names.

    Parameters
    ----------
    model : torch.nn.Module
        The model.
    optimizers : Union[torch.optim.Optimizer, Iterable[torch.optim.Optimizer]]
        Its optimizers.
    optim_state_dict : Dict[str, Any]
        The state.
    options : StateDictOptions, optional
        How it goes in.

    """
    options = _checked(options)
    if options.broadcast_from_rank0:
        optim_state_dict = of_first(optim_state_dict)
    if not optim_state_dict:
        return
    state = unflatten(optim_state_dict) if options.flatten_optimizer_state_dict else optim_state_dict
    if is_flat(model):
        for optimizer in _listed(optimizers):
            load_optimizer(model, optimizer, state, options)
        return
    named = {_name_of(model, key, options): parameter for key, parameter in model.named_parameters()}
    state = {**state, "state": {name: {key: shared_out(value, named.get(name)) for key, value in held.items()}
                                for name, held in state["state"].items()}}
    load_optimizers(_listed(optimizers), _names_of_parameters(model, options), state, options.strict)


def get_state_dict(model, optimizers, *, submodules=None, options=None):
    """Return (the model's state, the state of its optimizers); see the functions for one of them."""
    return (get_model_state_dict(model, submodules=submodules, options=options),
            get_optimizer_state_dict(model, optimizers, submodules=submodules, options=options))


def set_state_dict(model, optimizers, *, model_state_dict, optim_state_dict, options=None):
    """Load the state of a model and of its optimizers, and return what of the model's is missing or too many."""
    set_optimizer_state_dict(model, optimizers, optim_state_dict, options=options)
    return set_model_state_dict(model, model_state_dict, options=options)
