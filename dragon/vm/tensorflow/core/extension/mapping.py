"""`tf.map_fn` over extension types: over the first axes of all their tensors."""
from dragon.vm.shared import nest
from dragon.vm.shared.data.structure import has_fields


def map_fields(map_fn, function, elems, signature, options):
    """Return what `map_fn` makes of a function for structures with extension types among their leaves.

    Parameters
    ----------
    map_fn : Callable
        What goes through tensors.
    function : Callable
        Called with one entry, in the form of `elems`.
    elems : Any
        The structure.
    signature : Any
        Specs of the results; None where they are like `elems`.
    options : Dict[str, Any]
        What `map_fn` takes besides.

    Returns
    -------
    Any
        In the form of the specs.

    """
    def call(rows):
        return _tensors_of(function(_packed(elems, iter(rows))))
    form = elems if signature is None else signature
    found = map_fn(call, tuple(_tensors_of(elems)), fn_output_signature=tuple(_tensors_of(form)), **options)
    return _packed(form, iter(found))


def _tensors_of(structure):
    """Return the tensors, or specs, of a structure; those of extension types one by one."""
    return tuple(leaf for item in nest.flatten(structure)
                 for leaf in (item._component_tensors() if has_fields(item) else [item]))


def _packed(structure, leaves):
    return nest.map_structure(lambda item: item._with_leaves(leaves) if has_fields(item) else next(leaves), structure)
