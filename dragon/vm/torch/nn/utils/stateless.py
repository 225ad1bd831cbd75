"""Call a module with other parameters than its own."""

from dragon.core import warnings
from dragon.core.scopes import contextmanager
from dragon.vm.torch.nn.utils._named_member_accessor import NamedMemberAccessor


def _untie_named_tensors_map(module, tensors):
    """Return the tensors, also under the further names of those that the module has under several."""
    names = {}
    for members in (module.named_parameters(remove_duplicate=False), module.named_buffers(remove_duplicate=False)):
        for name, tensor in members:
            names.setdefault(id(tensor), set()).add(name)
    groups = {name: same for same in names.values() for name in same}
    untied = dict(tensors)
    for name, value in tensors.items():
        for other in groups.get(name, ()):
            if other in tensors and tensors[other] is not value:
                raise ValueError(f"functional_call got multiple values for keys {sorted((name, other))}, which are "
                                 "tied. Consider using tie_weights=False")
            untied[other] = value
    return untied


@contextmanager
def _reparametrize_module(module, parameters_and_buffers, tie_weights=False, strict=False, stack_weights=False):
    """Put tensors into a module for a `with` block, and its own back after it."""
    tensors = _untie_named_tensors_map(module, parameters_and_buffers) if tie_weights else parameters_and_buffers
    accessor = NamedMemberAccessor(module)
    if strict:
        missing, unexpected = accessor.check_keys(tensors)
        if missing or unexpected:
            said = [f"{word} key(s): {', '.join(map(repr, keys))}."
                    for word, keys in (("Unexpected", unexpected), ("Missing", missing)) if keys]
            raise RuntimeError(f"Error(s) in reparametrizing for {module._get_name()}:\n\t" + "\n\t".join(said))
    own = {}
    try:
        own, _ = accessor.swap_tensors_dict(tensors, allow_missing=True)
        yield
    finally:
        if stack_weights:  # names that occur twice go back in the opposite order
            own = dict(reversed(own.items()))
        now, _ = accessor.swap_tensors_dict(own, allow_missing=True)
        # What forward has put in a buffer's place is the caller's to see.
        parameters_and_buffers.update((name, now[name]) for name in list(parameters_and_buffers) if name in now)


def functional_call(module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """Return what a module makes of its arguments with other tensors in the place of its own.

    Parameters
    ----------
    module : Module
        The module.
    parameters_and_buffers : Dict[str, Tensor]
        Tensors by their dotted names.
    args, kwargs, tie_weights, strict
        See `torch.func.functional_call`.

    Returns
    -------
    Any
        The result.

    """
    warnings.warn("torch.nn.utils.stateless.functional_call is deprecated, use torch.func.functional_call instead",
                  FutureWarning)
    return _functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)


def _functional_call(module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False):
    if args is None:
        args = ()
    elif not isinstance(args, tuple):
        args = (args,)
    with _reparametrize_module(module, parameters_and_buffers, tie_weights=tie_weights, strict=strict):
        return module(*args, **(kwargs or {}))
