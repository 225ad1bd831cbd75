"""What files call to make nested tensors anew."""
import math

from dragon.vm.torch.core.nested.making import check_places, table_of
from dragon.vm.torch.core.nested.parts import make, make_strided, new_form
from dragon.vm.torch.core.tensor import Tensor, ops


def _rebuild_njt(constructor_kwargs):
    """Return a jagged tensor from what files keep of it."""
    if type(constructor_kwargs) is not dict:
        raise RuntimeError("load: got a jagged tensor without a dictionary of its parts")
    told = dict(constructor_kwargs)
    values, offsets, lengths = told.pop("values"), told.pop("offsets"), told.pop("lengths", None)
    known = told.pop("_metadata_cache", None) or {}
    for one in (values, offsets, *known.values(), *([] if lengths is None else [lengths])):
        if type(one) is not Tensor:
            raise RuntimeError(f"load: got a {type(one).__name__} as a part of a jagged tensor, expected a tensor")
    # What is known of the lengths is kept as the shape of a tensor without elements.
    known = {name: one.shape[0] for name, one in known.items()}
    dim, wanted = told.pop("_ragged_idx", 1), told.pop("requires_grad", False)
    if told or not 1 <= dim <= values.ndim:
        raise RuntimeError(f"load: got a jagged tensor with {', '.join(told) or f'ragged dim {dim}'}, expected values, "
                           f"offsets and a ragged dim of 1 to {values.ndim}")
    # A file may have been written by anybody: its offsets are looked at before they are used.
    check_places("load", values, offsets, lengths, dim)
    made = make(values, new_form(offsets, lengths, dim, known.get("min_seqlen"), known.get("max_seqlen")))
    return made.requires_grad_() if wanted and not made.requires_grad else made


def _rebuild_nested_tensor(buffer, sizes, strides, storage_offsets):
    """Return a nested tensor of layout `torch.strided` from its numbers, and where and how its samples lie in them."""
    shapes = [tuple(row) for row in sizes.tolist()] if sizes.ndim == 2 else []  # of no samples there is no table
    if shapes and (strides.shape != sizes.shape or tuple(storage_offsets.shape) != (len(shapes),)):
        raise RuntimeError(f"load: got sizes of shape {tuple(sizes.shape)}, strides of {tuple(strides.shape)} and "
                           f"offsets of {tuple(storage_offsets.shape)}, expected as many strides as sizes, and an "
                           "offset for each sample")
    # Samples share no numbers, so that a small file cannot ask for much memory.
    if sum(map(math.prod, shapes)) > buffer.numel():
        raise RuntimeError(f"load: got samples of shapes {shapes}, expected no more than the {buffer.numel()} numbers "
                           "of the file")
    found, wanted, buffer = [], buffer.requires_grad, buffer.detach()
    for shape, steps, start in zip(shapes, strides.tolist() if shapes else [], storage_offsets.tolist()):
        last = start + sum((size - 1) * step for size, step in zip(shape, steps))
        if any(size < 0 for size in (*shape, *steps, start)) or 0 not in shape and last >= buffer.numel():
            raise RuntimeError(f"load: got a sample of shape {shape} at {start}, expected it within the "
                               f"{buffer.numel()} numbers of the file")
        found.append(ops.as_strided(buffer, shape, tuple(steps), start if 0 not in shape else 0))
    flat = [ops.reshape(one, (-1,)) for one in found]
    rank = sizes.shape[1] if sizes.ndim == 2 else 0
    made = make_strided(table_of(shapes, rank), ops.cat(flat, 0) if flat else buffer)
    return made.requires_grad_() if wanted else made


_rebuild_nested_tensor.__module__ = __name__.replace("core.nested.rebuilding", "_utils")  # where files look for them
_rebuild_njt.__module__ = __name__.replace("core.nested.rebuilding", "nested._internal.nested_tensor")
