"""Modules as functions of their parameters."""
from dragon.vm.torch.core.tensor import ops


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """Return what a module makes of its arguments with other tensors in the place of its own.

    Parameters
    ----------
    module : Module
        The module.
    parameter_and_buffer_dicts : Union[Dict[str, Tensor], Sequence[Dict[str, Tensor]]]
        Tensors by their dotted names.
    args : Union[Any, tuple], optional
        The positional arguments, or the only one.
    kwargs : dict, optional
        The keyword arguments.
    tie_weights : bool, optional, default=True
        Tensors that the module has under several names get one value.
    strict : bool, optional, default=False
        Whether missing and unexpected names are errors.

    Returns
    -------
    Any
        The result.

    """
    from dragon.vm.torch.nn.utils.stateless import _functional_call
    if isinstance(parameter_and_buffer_dicts, dict):
        tensors = parameter_and_buffer_dicts
    elif isinstance(parameter_and_buffer_dicts, (list, tuple)):
        if not all(isinstance(part, dict) for part in parameter_and_buffer_dicts):
            raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
        names = [name for part in parameter_and_buffer_dicts for name in part]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
        tensors = {name: value for part in parameter_and_buffer_dicts for name, value in part.items()}
    else:
        raise ValueError("Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
                         f"{type(parameter_and_buffer_dicts)}")
    return _functional_call(module, tensors, args, kwargs, tie_weights=tie_weights, strict=strict)


def stack_module_state(models):
    """Return the parameters and the buffers of models of one class, stacked by name; for `vmap` over the models.

    Parameters
    ----------
    models : Sequence[Module]
        Models of one class, all in training or all in evaluation.

    Returns
    -------
    Tuple[Dict[str, Tensor], Dict[str, Tensor]]
        Parameters and buffers with a new first axis; leaves if the models' own gather gradients.

    """
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({model.training for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if any(type(model) is not type(models[0]) for model in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    found = []
    for members in ("named_parameters", "named_buffers"):
        tables = [dict(getattr(model, members)()) for model in models]
        found.append({name: _stack([table[name] for table in tables], name) for name in tables[0]})
    return tuple(found)


def _stack(tensors, name):
    """Return a leaf with tensors along a new first axis."""
    if len({tensor.requires_grad for tensor in tensors}) > 1:
        raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
    stacked = ops.stack(tensors)
    return stacked.detach().requires_grad_() if tensors[0].requires_grad else stacked


def replace_all_batch_norm_modules_(root):
    """Have all batch normalizations of a module keep no running statistics, in place; returns the module."""
    from dragon.vm.torch.nn.modules.batchnorm import _BatchNorm
    for module in root.modules():
        if isinstance(module, _BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
