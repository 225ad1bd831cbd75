"""Nested structures: what a layer takes and gives may be a list, a tuple, a dict of tensors, or all of them."""
import collections

from dragon.vm.keras.core.tracking import TrackedSet

PLAIN = (list, tuple, dict, collections.deque, TrackedSet)  # a plain set is a leaf


class MAP_TO_NONE:
    """What `traverse` takes for an answer that is None itself."""


def is_nested(structure):
    """Tell whether something is a list, a tuple, a dict or a deque."""
    return isinstance(structure, PLAIN)


def _children(structure):
    """Return the keys and the values of a nested structure, in the order in which they are flattened."""
    if isinstance(structure, dict):
        if isinstance(structure, collections.OrderedDict):
            return list(structure), list(structure.values())
        try:
            keys = sorted(structure)
        except TypeError:  # keys that do not compare
            keys = sorted(structure, key=lambda key: (type(key).__qualname__, str(key)))
        return keys, [structure[key] for key in keys]
    return range(len(structure)), list(structure) if isinstance(structure, TrackedSet) else structure


def _rebuild(structure, values):
    """Return a structure like another one with other values, given in flattened order."""
    kind = type(structure)
    if kind is list:
        return list(values)
    if kind is tuple:
        return tuple(values)
    if isinstance(structure, dict):
        made = dict(zip(_children(structure)[0], values))
        ordered = [(key, made[key]) for key in structure]
        if isinstance(structure, collections.defaultdict):
            return kind(structure.default_factory, ordered)
        return dict(ordered) if kind is dict else kind(ordered)
    if hasattr(structure, "_fields"):
        return kind(*values)
    if isinstance(structure, collections.deque):
        return kind(values, structure.maxlen)
    return kind(values)


def flatten(structure):
    """Return the leaves of a structure as a list; dicts go in the order of their keys."""
    if not isinstance(structure, PLAIN):
        return [structure]
    leaves = []
    _collect(structure, leaves)
    return leaves


def _collect(structure, leaves):
    for value in _children(structure)[1]:
        if isinstance(value, PLAIN):
            _collect(value, leaves)
        else:
            leaves.append(value)


def flatten_with_path(structure):
    """Return pairs of a leaf's path (a tuple of keys) and the leaf."""
    if not isinstance(structure, PLAIN):
        return [((), structure)]
    keys, values = _children(structure)
    return [((key, *path), leaf) for key, value in zip(keys, values) for path, leaf in flatten_with_path(value)]


def _check_alike(structure, other):
    """Raise ValueError unless two nested structures are of one kind and size."""
    if isinstance(structure, dict):
        if not isinstance(other, dict):
            raise ValueError(f"Expected an instance of dict, got {_told(other)!r}.")
        if set(structure) != set(other):
            missing = sorted((key for key in structure if key not in other), key=str)
            extra = sorted((key for key in other if key not in structure), key=str)
            raise ValueError(f"dictionary key mismatch; expected key(s): {list(_children(structure)[0])}, got key(s): "
                             f"{list(_children(other)[0])}, missing key(s): {missing}, extra key(s): {extra}; "
                             f"dict: {_told(other)}.")
        return
    if type(structure) is not type(other):
        if hasattr(structure, "_fields"):
            raise ValueError(f"Expected a namedtuple of type {type(structure).__name__}, got {_told(other)!r}.")
        raise ValueError(f"Expected an instance of {type(structure).__name__}, got {_told(other)!r}.")
    if len(structure) != len(other):
        raise ValueError(f"{type(structure).__name__} arity mismatch; expected: {len(structure)}, got: {len(other)}; "
                         f"{type(structure).__name__}: {_told(other)!r}.")


class _Shape(str):
    """What is told of a tensor in an error: nothing that its numbers must be read for."""

    __repr__ = str.__str__


def _told(structure):
    return _map_one(lambda leaf: _Shape(f"<{type(leaf).__name__} shape={tuple(leaf.shape)}>")
                    if hasattr(leaf, "shape") else leaf, structure, True)


def _values_of(like, other):
    """Return the children of a structure in the order of another one that is alike."""
    return [other[key] for key in _children(like)[0]] if isinstance(like, dict) else other


def map_structure(func, *structures, none_is_leaf=True):
    """Return a structure of what a function makes of the leaves of structures that are alike.

    Parameters
    ----------
    func : Callable
        Takes one leaf of each structure.
    *structures : Any
        The structures.
    none_is_leaf : bool, optional, default=True
        Whether None is handed to the function; else it stays None.

    """
    if len(structures) == 1:
        return _map_one(func, structures[0], none_is_leaf)
    if not structures:
        raise ValueError("Must provide at least one structure")
    for other in structures[1:]:
        assert_same_structure(structures[0], other)
    return map_structure_up_to(structures[0], func, *structures, none_is_leaf=none_is_leaf)


def _map_one(func, structure, none_is_leaf):
    if not isinstance(structure, PLAIN):
        return None if structure is None and not none_is_leaf else func(structure)
    return _rebuild(structure, [_map_one(func, value, none_is_leaf) for value in _children(structure)[1]])


def map_structure_up_to(shallow_structure, func, *structures, none_is_leaf=True):
    """Return what a function makes of structures, looking only as deep as a shallow one."""
    if not isinstance(shallow_structure, PLAIN):
        return None if shallow_structure is None and not none_is_leaf else func(*structures)
    for other in structures:
        if other is not shallow_structure:
            _check_alike(shallow_structure, other)
    columns = [_values_of(shallow_structure, other) for other in structures]
    return _rebuild(shallow_structure, [
        map_structure_up_to(child, func, *values, none_is_leaf=none_is_leaf)
        for child, *values in zip(_children(shallow_structure)[1], *columns)])


def traverse(func, structure, top_down=True):
    """Return a structure in which every part for which a function returns something is replaced by that.

    Parameters
    ----------
    func : Callable
        Returns None for what shall stay, `MAP_TO_NONE` for what shall become None.
    structure : Any
        The structure.
    top_down : bool, optional, default=True
        Whether a part is asked about before its own parts are.

    """
    if top_down:
        answer = func(structure)
        if answer is not None:
            return None if answer is MAP_TO_NONE or isinstance(answer, MAP_TO_NONE) else answer
    made = structure
    if isinstance(structure, PLAIN):
        made = _rebuild(structure, [traverse(func, value, top_down) for value in _children(structure)[1]])
    if top_down:
        return made
    answer = func(made)
    if answer is None:
        return made
    return None if answer is MAP_TO_NONE or isinstance(answer, MAP_TO_NONE) else answer


def assert_same_structure(a, b, check_types=None):
    """Raise ValueError unless two structures have the same kinds, sizes and keys; `check_types` has no effect."""
    if check_types is not None:
        from dragon.core import warnings
        warnings.warn("`check_types` has no effect any more; `keras.tree.assert_same_paths()` is a looser check. "
                      f"Received: check_types={check_types}", DeprecationWarning)
    if isinstance(a, PLAIN) != isinstance(b, PLAIN):
        raise ValueError("Structures don't have the same nested structure. " + (
            f"Expected an instance of {type(a).__name__}, got {_told(b)!r}." if isinstance(a, PLAIN)
            else f"Expected a leaf, got {_told(b)!r}."))
    if isinstance(a, PLAIN):
        _check_alike(a, b)
        for first, second in zip(_children(a)[1], _values_of(a, b)):
            assert_same_structure(first, second)


def assert_same_paths(a, b):
    """Raise ValueError unless two structures have their leaves under the same keys; lists and tuples count as one."""
    first, second = ({path for path, _ in flatten_with_path(structure)} for structure in (a, b))
    if first != second:
        lines = ["`a` and `b` don't have the same paths."]
        lines += [f"Paths in `a` missing in `b`:\n{first - second}"] if first - second else []
        lines += [f"Paths in `b` missing in `a`:\n{second - first}"] if second - first else []
        raise ValueError("\n".join(lines))


def pack_sequence_as(structure, flat_sequence):
    """Return a structure like another one with these leaves."""
    leaves = list(flat_sequence)
    if not isinstance(structure, PLAIN):
        if len(leaves) != 1:
            raise ValueError(f"Too {'many' if leaves else 'few'} leaves for PyTreeSpec; expected: 1"
                             f"{', got: 0' if not leaves else ''}.")
        return leaves[0]
    expected = len(flatten(structure))
    if len(leaves) != expected:
        raise ValueError(f"Too {'few' if len(leaves) < expected else 'many'} leaves for PyTreeSpec; "
                         f"expected: {expected}, got: {len(leaves)}.")
    rest = iter(leaves)
    return _map_one(lambda _: next(rest), structure, True)


def lists_to_tuples(structure):
    """Return a structure whose lists have become tuples."""
    if isinstance(structure, list):
        return tuple(lists_to_tuples(value) for value in structure)
    if isinstance(structure, PLAIN):
        return _rebuild(structure, [lists_to_tuples(value) for value in _children(structure)[1]])
    return structure


def _is_shape(structure):
    return isinstance(structure, (list, tuple)) and all(
        size is None or isinstance(size, int) for size in structure)


def map_shape_structure(func, structure):
    """Return what a function makes of a structure's leaves; a tuple or list of numbers is one shape."""
    if not isinstance(structure, PLAIN) or _is_shape(structure):
        return func(structure)
    return _rebuild(structure, [map_shape_structure(func, value) for value in _children(structure)[1]])


def register_tree_node_class(cls):
    """Return the class: structures of its own kind are leaves here, as they have been."""
    return cls
