"""Tensors row by row: what `tf.map_fn` and its kin take apart, and put together again."""
import functools

from dragon.core.capture.control import part
from dragon.vm.shared import nest
from dragon.vm.shared.autograph.hosting import require
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.tensors.convert import convert_to_tensor, is_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.shared.tensors.tensor import Base, ops


def _is_ragged(value):
    """Return whether a value is a ragged tensor, whose room is not loaded before there is one."""
    return hasattr(type(value), "row_splits")


def first_axis(elems, who):
    """Return the flat tensors of a structure, and the length of their first axes."""
    flat = [item if is_tensor(item) or isinstance(item, Base) or _is_ragged(item) else convert_to_tensor(item)
            for item in nest.flatten(elems)]
    if not flat:
        raise ValueError(f"{who}: elems must be a Tensor or a nonempty structure of them. Received: {elems!r}")
    lengths = []
    for item in flat:
        if not item.shape.rank and not hasattr(item, "_component_tensors"):
            raise ValueError(f"{who}: elems must have at least one axis. Received: {item!r}")
        lengths.append(int(item.shape[0]) if item.shape[0] is not None else item.nrows())
    if len(set(lengths)) != 1:
        raise ValueError(f"{who}: elems must agree in the first axis. Received lengths: {lengths}")
    return flat, lengths[0]


def stack_structures(results, like, form=None):
    """Return equal structures of tensors as one structure of stacked tensors.

    Parameters
    ----------
    results : Sequence
        The structures.
    like : Any
        What has their form.
    form : Any, optional
        What the structure is like; where it has ragged tensors, or their specs, the results are rows of such.

    Returns
    -------
    Any
        The structure.

    """
    rows, kinds = [nest.flatten(result) for result in results], nest.flatten(form)
    ragged = [_is_ragged(kind) or hasattr(type(kind), "row_splits_dtype") for kind in kinds]
    ragged = ragged if len(ragged) == len(rows[0]) else [False] * len(rows[0])
    return nest.pack_sequence_as(like, [_stack(column, one) for one, column in zip(ragged, zip(*rows))])


def _stack(items, is_ragged):
    if is_ragged or any(map(_is_ragged, items)):
        from dragon.vm.shared.ragged.making import stack_rows
        return stack_rows([item if _is_ragged(item) else convert_to_tensor(item) for item in items])
    items = [convert_to_tensor(item) for item in items]
    if getattr(type(items[0]), "is_string_tensor", False):
        return convert_to_tensor(items)
    return ops.stack(items)


def of_dtypes(results, wanted):
    """Return results of the dtypes that are asked for, or raise; in a branch, when that runs."""
    def one(item):
        asked = next(dtypes, None)
        found = item if _is_ragged(item) else convert_to_tensor(item)
        if asked is None or found.dtype == asked:
            return item
        text = (f"TensorArray dtype is {as_dtype(asked).name} but fn returned a value of dtype {found.dtype.name}; "
                "name the dtype with fn_output_signature")
        if part() is None or _is_ragged(found):
            raise invalid_argument(text)
        require(ops.any(ops.zeros_like(found, dtype="bool")), functools.partial(invalid_argument, text))
        return ops.cast(found, asked)
    dtypes = iter(wanted)
    return nest.map_structure(one, results)
