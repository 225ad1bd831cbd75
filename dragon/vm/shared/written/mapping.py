"""Maps over strings that come when a file's function runs: loops go over what stands for them."""
from dragon.vm.shared import nest
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.written.nodes import kind_of, stand_in_of, wrap


def over_stand_ins(fn, elems):
    """Return a map over strings that come when a file's function runs as one over what stands for them.

    Parameters
    ----------
    fn : Callable
        Given an entry, returns what it becomes.
    elems : Any
        The entries; strings among them.

    Returns
    -------
    Tuple[Callable, Any, Callable]
        The function and the entries as numbers, and a function that makes strings of numbers again.

    """
    kinds, found = [kind_of(item) for item in nest.flatten(elems)], []

    def call(row):
        items = [wrap(item, kind) for item, kind in zip(nest.flatten(row), kinds)]
        made = nest.map_structure(convert_to_tensor, fn(nest.pack_sequence_as(elems, items)))
        found[:] = [kind_of(item) for item in nest.flatten(made)]
        return nest.map_structure(stand_in_of, made)

    def back(results):
        made = [wrap(item, kind) for item, kind in zip(nest.flatten(results), found)]
        return nest.pack_sequence_as(results, made)
    return call, nest.map_structure(stand_in_of, elems), back
