"""The structure of a dataset's elements: tuples and dicts around tensors; a list is a tensor, not a structure."""
from dragon.vm.shared import errors
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.tensor import Tensor
from dragon.vm.shared.tensors.type_spec import TypeSpec


def is_attrs(value):
    """Return whether a value is of a class made by the package `attrs`."""
    return hasattr(type(value), "__attrs_attrs__")


def has_fields(value):
    """Return whether a value is an object of an extension type, or the spec of one."""
    return hasattr(type(value), "_with_leaves")


class Unfilled:
    """An object of an extension type whose tensors are still to be read.

    Parameters
    ----------
    form : Any
        Another object of the type.
    parts : Sequence
        What stands for its tensors.

    """

    def __init__(self, form, parts):
        self._form, self._parts = form, list(parts)

    def _component_tensors(self):
        return self._parts

    def _with_leaves(self, leaves):
        return rebuild(self._form, list(leaves))


def is_nested(value):
    """Return whether a value is a structure rather than a component."""
    return isinstance(value, (tuple, dict)) or is_attrs(value) or has_fields(value)


def children(value):
    """Return the parts of a structure, those of a dict by sorted key."""
    if isinstance(value, dict):
        return [value[key] for key in sorted(value)]
    if isinstance(value, tuple):
        return value
    if has_fields(value):
        return value._component_tensors()
    return [getattr(value, field.name) for field in type(value).__attrs_attrs__]


def rebuild(value, parts):
    """Return a structure like another one, of other parts in the order of `children`."""
    kind = type(value)
    if has_fields(value):
        ready = all(hasattr(type(part), "dtype") or is_component(part) or isinstance(part, TypeSpec) for part in parts)
        return value._with_leaves(iter(parts)) if ready else Unfilled(value, parts)
    if isinstance(value, dict):
        by_key = dict(zip(sorted(value), parts))
        filled = ((key, by_key[key]) for key in value)
        if hasattr(value, "default_factory"):
            return kind(value.default_factory, filled)
        return kind(filled)
    if hasattr(value, "_fields"):
        return kind(*parts)
    return kind(parts) if isinstance(value, tuple) else kind(*parts)


def flatten(value):
    """Return the components of a structure as a list."""
    if not is_nested(value):
        return [value]
    return [leaf for part in children(value) for leaf in flatten(part)]


def pack(structure, leaves):
    """Return a structure like another one with these components."""
    leaves = iter(leaves)
    return map_structure(lambda _: next(leaves), structure)


def map_structure(function, first, *others):
    """Return a structure of what a function gives for the components of one structure, or of several alike."""
    if not is_nested(first):
        return function(first, *others)
    columns = [children(other) for other in others]
    return rebuild(first, [map_structure(function, *parts) for parts in zip(children(first), *columns)])


def check_same(first, second, who):
    """Raise unless two structures have the same form."""
    if is_nested(first) != is_nested(second):
        raise TypeError(f"{who}: the two structures do not have the same nesting. Received: {first} and {second}")
    if not is_nested(first):
        return
    if type(first) is not type(second):
        raise TypeError(f"{who}: the two structures are of different types. Received: {type(first).__name__} and "
                        f"{type(second).__name__}")
    if len(children(first)) != len(children(second)) or (isinstance(first, dict) and set(first) != set(second)):
        raise ValueError(f"{who}: the two structures do not have the same parts. Received: {first} and {second}")
    for one, other in zip(children(first), children(second)):
        check_same(one, other, who)


def is_component(value):
    """Return whether a value is a component that is no dense tensor: ragged, sparse, a dataset, an optional, None."""
    return value is None or hasattr(type(value), "_type_spec")


def to_element(value):
    """Return what a user's function gave as an element: structures stay, all else becomes a tensor."""
    kind = type(value)
    if kind is Tensor:
        return value
    if kind is tuple:
        return tuple([to_element(part) for part in value])
    if kind is dict:
        return {key: to_element(part) for key, part in value.items()}
    if is_nested(value):
        return rebuild(value, [to_element(part) for part in children(value)])
    if is_component(value):
        return value
    return convert_to_tensor(value)


def call(function, element):
    """Return what a user's function gives for an element: a tuple is its arguments."""
    try:
        return function(*element) if type(element) is tuple else function(element)
    except StopIteration as error:  # which would end the data in silence
        raise errors.InvalidArgumentError(
            None, None, f"Function invocation produced OutOfRangeError: StopIteration: {error}") from error


def to_result(value):
    """Return what a user's function gave as an element; a list of tensors counts as a tuple."""
    return to_element(tuple(value) if type(value) is list else value)
