"""Means of parameters over processes."""
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.distributed import collectives
from dragon.vm.torch.distributed.making import _group, _rank_not_in_group
from dragon.vm.torch.nn.parameter import Parameter


def average_parameters(params, process_group):
    """Set parameters to their means over a group, all at once.

    Parameters
    ----------
    params : Iterable[Parameter]
        The parameters.
    process_group : Optional[ProcessGroup]
        The processes.

    """
    group, params = _group(process_group), list(params)
    if _rank_not_in_group(group) or not params:
        return
    flat = ops.cat([param.detach().reshape(-1) for param in params], 0) / group.size()
    collectives.all_reduce(flat, group=group)
    at = 0
    for param in params:
        param.data = flat[at:at + param.numel()].view(param.shape).to(param.dtype)
        at += param.numel()


def get_params_to_average(params):
    """Return the parameters that have a gradient, of parameters or of an optimizer's groups of them."""
    found = []
    for param in params:
        if not isinstance(param, (Parameter, dict)):
            raise NotImplementedError(f"Parameter input of type {type(param)} is not supported")
        found += [each for each in (param["params"] if isinstance(param, dict) else [param]) if each.grad is not None]
    return found


def average_parameters_or_parameter_groups(params, process_group):
    """Set parameters that have a gradient to their means over a group."""
    average_parameters(get_params_to_average(params), process_group)
