"""`tf.nest`: lists, tuples, dictionaries and classes of attributes as trees; dictionaries are walked by sorted key."""
import collections.abc

from dragon import _C


def is_nested(seq):
    """Return whether something is a list, tuple, dictionary or the like, rather than a leaf."""
    kind = type(seq)
    if kind is list or kind is tuple or kind is dict:
        return True
    if isinstance(seq, (str, bytes, _C.Tensor, _C.Shape)):
        return False
    return isinstance(seq, (list, tuple, collections.abc.Mapping)) or hasattr(kind, "__attrs_attrs__") or (
        isinstance(seq, collections.abc.Sequence) and hasattr(kind, "__tf_flatten__"))


def _sorted_keys(mapping):
    try:
        return sorted(mapping)
    except TypeError:
        raise TypeError(f"tf.nest only supports dicts with sortable keys. Received keys: {list(mapping)!r}") from None


def children(structure):
    """Return (key, value) of everything directly inside a nested structure."""
    if isinstance(structure, collections.abc.Mapping):
        return [(key, structure[key]) for key in _sorted_keys(structure)]
    if hasattr(type(structure), "__attrs_attrs__"):
        return [(field.name, getattr(structure, field.name)) for field in type(structure).__attrs_attrs__]
    return list(enumerate(structure))


def like(structure, values):
    """Return a structure of the same kind with other values inside, in the order of `children`."""
    kind = type(structure)
    if isinstance(structure, collections.abc.Mapping):
        by_key = dict(zip(_sorted_keys(structure), values))
        items = [(key, by_key[key]) for key in structure]
        if isinstance(structure, collections.defaultdict):
            return kind(structure.default_factory, items)
        return kind(items)
    if hasattr(kind, "__attrs_attrs__"):
        return kind(*values)
    if isinstance(structure, tuple) and hasattr(kind, "_fields"):
        return kind(*values)
    return kind(values)


def flatten(structure, expand_composites=False):
    """Return the leaves of a structure as a list.

    Parameters
    ----------
    structure : Any
        A leaf, or anything nested.
    expand_composites : bool, optional, default=False
        Whether ragged and sparse tensors are taken apart into their parts.

    Returns
    -------
    list
        Depth first; dictionaries by sorted key.

    """
    leaves = []
    _flatten_into(structure, leaves, expand_composites)
    return leaves


def _flatten_into(structure, leaves, expand_composites):
    if is_nested(structure):
        for _, value in children(structure):
            _flatten_into(value, leaves, expand_composites)
    elif expand_composites and hasattr(structure, "_component_tensors"):
        leaves.extend(structure._component_tensors())
    else:
        leaves.append(structure)


def pack_sequence_as(structure, flat_sequence, expand_composites=False):
    """Return leaves in the form of a structure.

    Parameters
    ----------
    structure : Any
        The form.
    flat_sequence : Sequence
        As many leaves as the form has.
    expand_composites : bool, optional, default=False
        Whether ragged and sparse tensors are made of their parts.

    Returns
    -------
    Any
        Something of the same form.

    """
    if not isinstance(flat_sequence, (list, tuple)):
        raise TypeError(f"flat_sequence must be a sequence, not a {type(flat_sequence).__name__}:\n{flat_sequence!r}")
    if not is_nested(structure) and not (expand_composites and hasattr(structure, "_component_tensors")):
        if len(flat_sequence) != 1:
            raise ValueError(f"The target structure is of type `{type(structure)}`\n  {structure!r}\nHowever the input "
                             f"is a sequence of length {len(flat_sequence)}:\n  {flat_sequence!r}\n"
                             "nest cannot guarantee that it is safe to map one to the other.")
        return flat_sequence[0]
    leaves = len(flatten(structure, expand_composites))
    if leaves != len(flat_sequence):
        raise ValueError(f"Could not pack sequence. Structure had {leaves} atoms, but flat_sequence had "
                         f"{len(flat_sequence)} items. Structure: {structure!r}, flat_sequence: {flat_sequence!r}.")
    return _pack(structure, iter(flat_sequence), expand_composites)


def _pack(structure, leaves, expand_composites):
    if is_nested(structure):
        return like(structure, [_pack(value, leaves, expand_composites) for _, value in children(structure)])
    if expand_composites and hasattr(structure, "_component_tensors"):
        return structure._from_components([next(leaves) for _ in structure._component_tensors()])
    return next(leaves)


def assert_same_structure(nest1, nest2, check_types=True, expand_composites=False):
    """Raise a ValueError or TypeError unless two structures have the same form.

    Parameters
    ----------
    nest1, nest2 : Any
        The structures.
    check_types : bool, optional, default=True
        Whether the kinds of lists, tuples and dictionaries must agree too.
    expand_composites : bool, optional, default=False
        Whether ragged and sparse tensors count as nested.

    """
    try:
        _assert_same(nest1, nest2, check_types)
    except (ValueError, TypeError) as error:
        raise type(error)(f"The two structures don't have the same nested structure.\n\nFirst structure: {nest1!r}\n\n"
                          f"Second structure: {nest2!r}\n\nMore specifically: {error}") from None


def _assert_same(first, second, check_types):
    if is_nested(first) != is_nested(second):
        inner, outer = (second, first) if is_nested(first) else (first, second)
        raise ValueError(f"Substructure {outer!r} is a sequence, while substructure {inner!r} is not")
    if not is_nested(first):
        return
    mappings = isinstance(first, collections.abc.Mapping) and isinstance(second, collections.abc.Mapping)
    if check_types and type(first) is not type(second) and not mappings:
        raise TypeError(f"The two namedtuples or sequences don't have the same sequence type. First structure has type "
                        f"{type(first).__name__}, while second structure has type {type(second).__name__}.")
    if mappings and set(first) != set(second):
        raise ValueError(f"The two dictionaries don't have the same set of keys. First structure has keys "
                         f"{list(first)}, while second structure has keys {list(second)}.")
    mine, theirs = children(first), children(second)
    if len(mine) != len(theirs):
        raise ValueError(f"The two structures don't have the same number of elements. First structure has {len(mine)} "
                         f"elements, second structure has {len(theirs)} elements.")
    for (_, one), (_, other) in zip(mine, theirs):
        _assert_same(one, other, check_types)


def map_structure(func, *structure, **kwargs):
    """Return a structure of what a function makes of the leaves of structures of one form.

    Parameters
    ----------
    func : Callable
        Called with one leaf of each structure.
    *structure : Any
        The structures.
    **kwargs : bool
        `check_types` (default True) and `expand_composites` (default False), as for `assert_same_structure`.

    Returns
    -------
    Any
        In the form of the first structure.

    """
    check_types, expand = kwargs.pop("check_types", True), kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError("Only valid keyword arguments are `check_types` and `expand_composites`, "
                         f"not: `{'`, `'.join(kwargs)}`")
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func!r}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    first, *others = structure
    for other in others:
        assert_same_structure(first, other, check_types, expand)
    rows = zip(*(flatten(item, expand) for item in structure))
    return pack_sequence_as(first, [func(*row) for row in rows], expand)


def flatten_with_paths(structure, path=()):
    """Return (path, leaf) of every leaf; a path is a tuple of keys and indices."""
    if not is_nested(structure):
        return [(path, structure)]
    found = []
    for key, value in children(structure):
        found += flatten_with_paths(value, (*path, key))
    return found
