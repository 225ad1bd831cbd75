"""Walks through states: containers within containers, and the paths in them."""
from collections.abc import Mapping

from dragon.vm import torch


def _is_tensor(value):
    return isinstance(value, torch.Tensor)


def _is_leaf(value, keep_traversing):
    """Return whether a value is visited whole: no container, or a list of neither dictionaries nor tensors."""
    if isinstance(value, Mapping):
        return False
    if not isinstance(value, list):
        return True
    return not any(isinstance(entry, (Mapping, list)) and not _is_leaf(entry, keep_traversing)
                   or keep_traversing is not None and keep_traversing(entry) for entry in value)


def traverse_state_dict(state_dict, visitor, keep_traversing=_is_tensor):
    """Call a function with the path and the value of each leaf of a state.

    Parameters
    ----------
    state_dict : Dict[str, Any]
        The state.
    visitor : Callable[[Tuple, Any], None]
        The function; paths have texts for keys and numbers for places in lists.
    keep_traversing : Callable[[Any], bool], optional
        Which values in a list have the list taken apart; tensors by default.

    """
    def visit(path, value):
        if isinstance(value, Mapping):
            for key, inner in value.items():
                visit((*path, str(key)), inner)
        elif _is_leaf(value, keep_traversing):
            visitor(path, value)
        else:
            for place, inner in enumerate(value):
                visit((*path, place), inner)
    for key, value in state_dict.items():
        visit((str(key),), value)


def set_element(root_dict, path, value):
    """Put a value at a path; containers that are not there are made, and lists that are short grow."""
    here = root_dict
    for part, following in zip(path, path[1:]):
        _grow(here, part)
        there = here.get(part) if isinstance(here, Mapping) else here[part]
        if there is None:
            there = here[part] = {} if isinstance(following, str) else []
        here = there
    _grow(here, path[-1])
    here[path[-1]] = value


def _grow(container, place):
    if isinstance(container, list):
        container.extend([None] * (place + 1 - len(container)))


def get_element(root_dict, path, default_value=None):
    """Return the value at a path; something else where there is none."""
    here = root_dict
    for part in path:
        if isinstance(part, int):
            if not isinstance(here, list) or len(here) <= part:
                return default_value
        elif not isinstance(here, Mapping) or part not in here:
            return default_value
        here = here[part]
    return here


def print_tensor(path, value, print_fun=print):
    """Print a path and what is there."""
    said = f"Tensor size: {value.size()}" if isinstance(value, torch.Tensor) else f"Type: {type(value)}"
    print_fun(f"{path} {said}")
