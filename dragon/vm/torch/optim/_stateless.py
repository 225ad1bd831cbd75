"""An optimizer that works for a while on other parameters, with another state."""
import collections

from dragon.core.scopes import contextmanager

WHO = "swap_in_optimizer_params_and_state"


def _match(optimizer, parameters, state_dict):
    """Return (state by number, [(group, its new options, its new parameters)]); raise where they do not fit."""
    if not optimizer.state:
        raise RuntimeError(f"{WHO} requires initialized optimizer state: got none, expected an optimizer that has "
                           "taken a step")
    if not isinstance(state_dict, dict) or not isinstance(state_dict.get("state"), dict):
        raise RuntimeError(f"{WHO}: got {type(state_dict).__name__}, expected what optimizer.state_dict() returns")
    groups = state_dict.get("param_groups")
    if not isinstance(groups, (list, tuple)) or len(groups) != len(optimizer.param_groups):
        raise RuntimeError(f"{WHO}: got param_groups of another number than the optimizer's "
                           f"{len(optimizer.param_groups)}")
    given, known, matched = iter(parameters.values()), set(), []
    for place, (live, group) in enumerate(zip(optimizer.param_groups, groups)):
        if set(group) != set(live) or len(group["params"]) != len(live["params"]):
            raise RuntimeError(f"{WHO}: got other entries or another number of parameters in group {place} than the "
                               "optimizer has")
        chosen = [tensor for _, tensor in zip(group["params"], given)]
        if len(chosen) < len(group["params"]):
            raise RuntimeError(f"{WHO}: got {len(parameters)} parameters, expected one for each that param_groups name")
        known.update(group["params"])
        matched.append((live, group, chosen))
    extra = [number for number in state_dict["state"] if number not in known]
    if extra:
        raise RuntimeError(f"{WHO}: got state with extra keys {extra!r}, expected the numbers of parameters in "
                           "param_groups alone")
    return state_dict["state"], matched


@contextmanager
def swap_in_optimizer_params_and_state(optimizer, swapin_parameters, swapin_optim_state):
    """Have an optimizer step other parameters, with another state, within a `with` block.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer, which has a state already.
    swapin_parameters : Dict[str, Tensor]
        The tensors to take the place of its parameters, in their order.
    swapin_optim_state : dict
        As `optimizer.state_dict()` returns it. Tensors in it are stepped in place; other changes are forgotten.

    """
    state, matched = _match(optimizer, swapin_parameters, swapin_optim_state)
    before, kept = optimizer.state, [dict(group) for group in optimizer.param_groups]
    try:
        swapped = collections.defaultdict(dict)
        for live, group, chosen in matched:
            live.update(group, params=chosen)
            swapped.update((tensor, dict(state.get(number, {}))) for tensor, number in zip(chosen, group["params"]))
        optimizer.state = swapped
        yield
    finally:
        for live, options in zip(optimizer.param_groups, kept):
            live.clear()
            live.update(options)
        optimizer.state = before
