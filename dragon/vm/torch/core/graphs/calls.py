"""Calls in the form in which graphs have them: PyTorch's functions of Python name what has a default."""
import inspect

from dragon.vm.torch.core.graphs.naming import place_of

WRITTEN = ("torch.nn.functional.", "torch.functional.")


def as_written(function, args, kwargs):
    """Return the arguments of a call as PyTorch hands them on.

    Its compiled functions hand on what came; those of Python give what is required by place, and the rest by name, with
    defaults.

    Parameters
    ----------
    function : Callable
        The function of the API.
    args : Tuple[Any, ...]
        The positional arguments.
    kwargs : Dict[str, Any]
        The arguments by name.

    Returns
    -------
    Tuple[tuple, dict]
        The arguments.

    """
    place = place_of(function)
    if place is None or not place.startswith(WRITTEN):
        return tuple(args), dict(kwargs)
    try:
        signature = inspect.signature(function)
        bound = signature.bind(*args, **kwargs)
    except (TypeError, ValueError):
        return tuple(args), dict(kwargs)
    bound.apply_defaults()
    is_engine = not hasattr(function, "__module__")  # an operator takes `out` of every one, as PyTorch's does not
    positional, named = [], {}
    for name, parameter in signature.parameters.items():
        value = bound.arguments[name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional.extend(value)
        elif parameter.kind is parameter.VAR_KEYWORD:
            named.update(value)
        elif parameter.default is parameter.empty and place not in BY_NAME.get(name, ()):
            positional.append(value)
        elif not (is_engine and parameter.kind is parameter.KEYWORD_ONLY):
            named[name] = value
    return tuple(positional), named


BY_NAME = {"shape": ("torch.functional.unravel_index",)}  # required, and yet named
