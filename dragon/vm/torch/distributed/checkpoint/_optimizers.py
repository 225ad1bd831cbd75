"""States of optimizers by their parameters' names, in two levels or in one."""
from dragon.vm import torch


def _init_optim_state(optimizer):
    """Give an optimizer that has no state yet its first one, by a step that changes no parameter."""
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    if optimizer.state or any(parameter.grad is not None for parameter in parameters):
        return
    for parameter in parameters:
        if parameter.requires_grad:
            parameter.grad = torch.zeros_like(parameter)
    rates = [group.get("lr") for group in optimizer.param_groups]
    for group, rate in zip(optimizer.param_groups, rates):
        if rate is not None:
            group["lr"] = torch.tensor(0.0) if isinstance(rate, torch.Tensor) else 0.0
    optimizer.step(closure=None)
    for group, rate in zip(optimizer.param_groups, rates):
        if rate is not None:
            group["lr"] = rate
    optimizer.zero_grad(set_to_none=True)


def named_state(optimizer, names, partly=False):
    """Return an optimizer's state with names in place of numbers; of the parameters that have names, if `partly`."""
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    if not partly:
        for number, parameter in enumerate(parameters):
            if parameter not in names:
                raise KeyError(f"get_optimizer_state_dict: got an optimizer whose parameter {number}, of shape "
                               f"{tuple(parameter.shape)}, is none of the model's, expected one of the model's "
                               "parameters")
    called = [names.get(parameter) for parameter in parameters]
    state = optimizer.state_dict()
    groups = [{**group, "params": [called[number] for number in group["params"] if called[number] is not None]}
              for group in state["param_groups"]]
    return {"state": {called[number]: value for number, value in state["state"].items() if called[number] is not None},
            "param_groups": groups}


def load_optimizers(optimizers, names, state, strict):
    """Give optimizers their state back, each that of its own parameters."""
    for optimizer in optimizers:
        _init_optim_state(optimizer)
        order, groups = [], []
        for group in optimizer.param_groups:
            called = [names[parameter] for parameter in group["params"]]
            options = next((given for given in state["param_groups"]
                            if set(called) & set(given["params"]) or not called and not given["params"]), None)
            if options is None and strict:
                raise RuntimeError(f"set_optimizer_state_dict: got no group with any of {called}, expected one in "
                                   "param_groups")
            held = {key: value for key, value in group.items() if key != "params"}
            kept = {} if options is None else {key: options[key] for key in held if key in options}
            groups.append({**held, **kept, "params": list(range(len(order), len(order) + len(called)))})
            order += zip(called, group["params"])
        found = {}
        for number, (name, parameter) in enumerate(order):
            if name in state["state"]:
                found[number] = state["state"][name]
            elif strict and parameter.requires_grad and optimizer.state.get(parameter):
                raise RuntimeError(f"Missing optimizer state for parameter '{name}' in checkpoint. The parameter "
                                   "requires gradients but has no saved optimizer state. To load anyway, use "
                                   "StateDictOptions(strict=False).")
        optimizer.load_state_dict({"state": found, "param_groups": groups})


def flatten(state):
    """Return an optimizer's state in one level, each option once for each parameter."""
    flat = {}

    def enter(prefix, value):
        if isinstance(value, dict):
            for key, inner in value.items():
                enter(f"{prefix}.{key}", inner)
        elif isinstance(value, (torch.Tensor, int, float)):
            flat[prefix] = value
        else:
            raise NotImplementedError("Flattening optimizer state_dict only supports tensor, int, float, dict states "
                                      f"now. Type is {type(value)}.")
    for name, values in state["state"].items():
        enter(f"state.{name}", values)
    for group in state["param_groups"]:
        for name in group["params"]:
            flat.update({f"param_groups.{name}.{key}": value for key, value in group.items() if key != "params"})
    return flat


def unflatten(flat):
    """Return an optimizer's state in levels, of one in one level; each parameter is a group of its own."""
    state, groups = {}, {}
    for key, value in flat.items():
        kind, _, rest = key.partition(".")
        name, _, word = rest.rpartition(".")
        if kind == "state":
            state.setdefault(name, {})[word] = value
        else:
            groups.setdefault(name, {"params": [name]})[word] = value
            state.setdefault(name, {})  # one level has no word of an empty state
    return {"state": state, "param_groups": list(groups.values())}
