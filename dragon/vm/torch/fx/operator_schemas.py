"""`torch.fx.operator_schemas`: the arguments of calls by the signatures of what is called."""
import inspect
import typing
from typing import Any, Dict, NamedTuple, Tuple

from dragon.core import warnings
from dragon.vm.torch.core.graphs.naming import torch_module
from dragon.vm.torch.core.tensor import Tensor


class ArgsKwargsPair(NamedTuple):
    """The arguments of a call."""

    args: Tuple[Any, ...]
    kwargs: Dict[str, Any]


def get_signature_for_torch_op(op, return_schemas=False):
    """Return the signatures of a function of the API, None where it tells none.

    Parameters
    ----------
    op : Callable
        The function.
    return_schemas : bool, optional, default=False
        Return (signatures, schemas) instead.

    Returns
    -------
    Optional[List[inspect.Signature]]
        The signatures.

    """
    try:
        found = [inspect.signature(op)]
    except (TypeError, ValueError):
        found = None
    return (found, [getattr(op, "_schema", None)] if found else None) if return_schemas else found


def check_for_mutable_operation(target, args, kwargs):
    """Raise where a call writes to one of its arguments, as those of functions whose name ends in `_` do."""
    name = getattr(target, "__name__", "")
    writes = name.endswith("_") and not name.endswith("__") or kwargs.get("out") is not None
    if writes and getattr(target, "__module__", "") not in ("_operator", "operator", "builtins"):
        raise RuntimeError(f"Tried to trace mutable operation {name}. FX only supports functional code, so operations "
                           "that mutate operands in-place (e.g. via `out` arguments) are not supported")


def create_type_hint(x):
    """Return the type of an example: of its items, too, where it is a list or a tuple."""
    if isinstance(x, (list, tuple)):
        if isinstance(x, list):
            def holder(kind):
                return typing.List[kind]
        else:
            def holder(kind):
                return typing.Tuple[kind, ...]
        if not x:
            return holder(typing.Any)
        first = x[0]
        for item in x:
            if issubclass(first, item):
                first = item
            elif not issubclass(item, first):
                warnings.warn(f"We were not able to successfully create type hint from the type {x}")
                return holder(typing.Any)
        return holder(first)
    return x


def type_matches(signature_type, argument_type):
    """Return whether an argument of one type can be given where a signature says another."""
    origin = typing.get_origin(signature_type)
    if signature_type is argument_type:
        return True
    if origin is typing.Union and signature_type != argument_type:
        return any(type_matches(item, argument_type) for item in typing.get_args(signature_type))
    if origin is list and typing.get_args(signature_type) == (int,) and argument_type is int:
        return True  # an int stands for a list of one
    if origin is list and typing.get_origin(argument_type) in (list, tuple):
        wanted = typing.get_args(signature_type)[0]
        given = [item for item in typing.get_args(argument_type) if item is not ...]
        return all(item == wanted or inspect.isclass(item) and issubclass(item, wanted) for item in given)
    if signature_type in (float, int) and argument_type is int or signature_type is typing.Any:
        return True
    if signature_type == typing.List[int] and argument_type == typing.Tuple[int, ...]:
        return True
    return inspect.isclass(argument_type) and inspect.isclass(signature_type) and issubclass(
        argument_type, signature_type)


def normalize_function(target, args, kwargs=None, arg_types=None, kwarg_types=None,
                       normalize_to_only_use_kwargs=False):
    """Return a call's arguments by the function's signature, with its defaults.

    Parameters
    ----------
    target : Callable
        The function.
    args : Tuple[Any, ...]
        The positional arguments.
    kwargs : Dict[str, Any], optional
        The arguments by name.
    arg_types, kwarg_types : optional
        Their types; Dragon's functions have one signature each, which needs none.
    normalize_to_only_use_kwargs : bool, optional, default=False
        Give all by name.

    Returns
    -------
    Optional[ArgsKwargsPair]
        The arguments, None where the signature is not known or does not take them.

    """
    module = getattr(target, "__module__", None)
    if module in ("_operator", "operator", "builtins") or not callable(target):
        return None
    found = get_signature_for_torch_op(target)
    if not found:
        return None
    parameters = [item for item in found[0].parameters.values()
                  if not (item.kind is item.KEYWORD_ONLY and _is_engine(target))]
    signature = found[0].replace(parameters=[*parameters, *(
        item for item in found[0].parameters.values() if item not in parameters and item.name in (kwargs or {}))])
    if any(item.kind is item.VAR_POSITIONAL for item in parameters):
        return None
    return by_signature(signature, args, kwargs or {}, normalize_to_only_use_kwargs)


def _is_engine(target):
    return not hasattr(target, "__module__")


def normalize_module(root, target, args, kwargs=None, normalize_to_only_use_kwargs=False):
    """Return the arguments of a module's call by the signature of its `forward`, with its defaults.

    Parameters
    ----------
    root : Module
        Where the module is.
    target : str
        Its dotted name there.
    args : Tuple[Any, ...]
        The positional arguments.
    kwargs : Dict[str, Any], optional
        The arguments by name.
    normalize_to_only_use_kwargs : bool, optional, default=False
        Give all by name.

    Returns
    -------
    Optional[ArgsKwargsPair]
        The arguments, None where the module is not one of `torch.nn`.

    """
    try:
        module = root.get_submodule(target)
    except AttributeError as error:
        raise RuntimeError(f"Tried to normalize node with target {target} but root did not have that target!") \
            from error
    kind = type(module)
    if getattr(torch_module().nn, kind.__name__, None) is not kind:
        return None
    return by_signature(inspect.signature(module.forward), args, kwargs or {}, normalize_to_only_use_kwargs)


def by_signature(signature, args, kwargs, only_by_name=False):
    """Return arguments by a signature: those with defaults by name, and all if so asked; None where they do not fit."""
    kinds = {item.kind for item in signature.parameters.values()}
    if inspect.Parameter.VAR_POSITIONAL in kinds or inspect.Parameter.VAR_KEYWORD in kinds:
        return None
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return None
    bound.apply_defaults()
    positional, named = [], {}
    for place, (name, parameter) in enumerate(signature.parameters.items()):
        if not only_by_name and place < len(args) and parameter.kind is not parameter.KEYWORD_ONLY:
            positional.append(bound.arguments[name])
        else:
            named[name] = bound.arguments[name]
    return ArgsKwargsPair(tuple(positional), named)


def is_tensor_type(kind):
    """Return whether a type is that of tensors."""
    return inspect.isclass(kind) and issubclass(kind, Tensor)
