"""Structures and sets of objects: `util.nest` beside `tf.nest`, `util.object_identity`."""
from dragon.vm.shared import nest
from dragon.vm.shared.tensors.tensor import Reference


def _children(value):
    """Return (name, child) pairs of a structure."""
    if isinstance(value, dict):
        return [(key, value[key]) for key in sorted(value)]
    if hasattr(value, "_fields"):
        return [(name, getattr(value, name)) for name in value._fields]
    return list(enumerate(value))


def flatten_with_tuple_paths(structure, expand_composites=False):
    """Return (path, leaf) pairs, in the order of `flatten`; paths are tuples."""
    def walk(value, path):
        if not nest.is_nested(value):
            return [(path, value)]
        return [pair for name, child in _children(value) for pair in walk(child, (*path, name))]
    return walk(structure, ())


def flatten_with_joined_string_paths(structure, separator="/", expand_composites=False):
    """Return (path, leaf) pairs; paths are text."""
    return [(separator.join(map(str, path)), leaf) for path, leaf in flatten_with_tuple_paths(structure)]


def yield_flat_paths(nest_, expand_composites=False):
    """Yield the paths of the leaves."""
    yield from (path for path, _ in flatten_with_tuple_paths(nest_))


def flatten_up_to(shallow_tree, input_tree, check_types=True, expand_composites=False):
    """Return what stands where a shallow structure has its leaves."""
    if not nest.is_nested(shallow_tree):
        return [input_tree]
    if not nest.is_nested(input_tree):
        raise TypeError("If shallow structure is a sequence, input must also be a sequence. Input has type: "
                        f"{type(input_tree)}.")
    shallow, deep = _children(shallow_tree), dict(_children(input_tree))
    if len(shallow) != len(deep):
        raise ValueError(f"The two structures don't have the same sequence length. Input structure has length "
                         f"{len(deep)}, while shallow structure has length {len(shallow)}.")
    return [leaf for name, child in shallow for leaf in flatten_up_to(child, deep[name])]


def map_structure_up_to(shallow_tree, func, *inputs, **kwargs):
    """Return what a function gives for what stands where a shallow structure has its leaves."""
    if not inputs:
        raise ValueError("Argument `inputs` is empty. Cannot map over no sequences.")
    rows = zip(*[flatten_up_to(shallow_tree, one) for one in inputs])
    return nest.pack_sequence_as(shallow_tree, [func(*row) for row in rows])


def map_structure_with_paths(func, *structure, **kwargs):
    """Return what a function of a path, as text, and leaves gives for each of them."""
    rows = zip(*[flatten_with_joined_string_paths(one) for one in structure])
    return nest.pack_sequence_as(structure[0], [func(row[0][0], *(leaf for _, leaf in row)) for row in rows])


def map_structure_with_tuple_paths(func, *structure, **kwargs):
    """Return what a function of a path, as a tuple, and leaves gives for each of them."""
    rows = zip(*[flatten_with_tuple_paths(one) for one in structure])
    return nest.pack_sequence_as(structure[0], [func(row[0][0], *(leaf for _, leaf in row)) for row in rows])


class ObjectIdentityDictionary:
    """A dictionary whose keys are objects themselves, whatever they are equal to."""

    def __init__(self, *args, **kwargs):
        self._storage = {}
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __getitem__(self, key):
        return self._storage[Reference(key)]

    def __setitem__(self, key, value):
        self._storage[Reference(key)] = value

    def __delitem__(self, key):
        del self._storage[Reference(key)]

    def __contains__(self, key):
        return Reference(key) in self._storage

    def __len__(self):
        return len(self._storage)

    def __iter__(self):
        return (key.deref() for key in list(self._storage))

    def get(self, key, default=None):
        """Return an object's value."""
        return self._storage.get(Reference(key), default)

    def keys(self):
        """Return the objects."""
        return list(self)

    def values(self):
        """Return the values."""
        return list(self._storage.values())

    def items(self):
        """Return (object, value) pairs."""
        return list(zip(self.keys(), self.values()))

    def setdefault(self, key, default=None):
        """Return an object's value, `default` from now on if it has none."""
        return self._storage.setdefault(Reference(key), default)

    def pop(self, key, *default):
        """Return an object's value and forget it."""
        return self._storage.pop(Reference(key), *default)


class ObjectIdentitySet:
    """A set of objects themselves, whatever they are equal to."""

    def __init__(self, *args):
        self._storage = {Reference(one): None for one in (args[0] if args else ())}

    def __contains__(self, key):
        return Reference(key) in self._storage

    def __len__(self):
        return len(self._storage)

    def __iter__(self):
        return (key.deref() for key in list(self._storage))

    def add(self, key):
        """Put an object in."""
        self._storage[Reference(key)] = None

    def discard(self, key):
        """Take an object out, if it is in."""
        self._storage.pop(Reference(key), None)

    def update(self, items):
        """Put several objects in."""
        for one in items:
            self.add(one)

    def clear(self):
        """Take all objects out."""
        self._storage.clear()


_NEST = {"flatten_with_tuple_paths": flatten_with_tuple_paths, "yield_flat_paths": yield_flat_paths,
         "flatten_with_joined_string_paths": flatten_with_joined_string_paths, "flatten_up_to": flatten_up_to,
         "map_structure_up_to": map_structure_up_to, "map_structure_with_paths": map_structure_with_paths,
         "map_structure_with_tuple_paths": map_structure_with_tuple_paths, "is_sequence": nest.is_nested,
         "is_nested_or_composite": nest.is_nested}
MEMBERS = {
    "util.nest": _NEST,
    "util.object_identity": {"Reference": Reference, "ObjectIdentityDictionary": ObjectIdentityDictionary,
                             "ObjectIdentitySet": ObjectIdentitySet},
}
