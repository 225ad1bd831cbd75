"""Attention over jagged tensors: samples of equal lengths are computed together, none is padded."""
from dragon.vm.torch.core.nested.parts import NestedTensor, form_of, is_jagged, lengths_of, make, rule, values_of
from dragon.vm.torch.core.nested.products import refuse
from dragon.vm.torch.core.sparse.keys import count_up
from dragon.vm.torch.core.tensor import Tensor, ops

WHO = "scaled_dot_product_attention"


def check(query, key, value, attn_mask):
    """Raise unless three jagged tensors can attend to each other."""
    three, names = (query, key, value), ("query", "key", "value")
    if not all(map(is_jagged, three)):
        told = ", ".join(f"{name}.is_nested: {isinstance(x, NestedTensor)}" for name, x in zip(names, three))
        raise ValueError(f"{WHO}: Expected query, key, and value to be nested tensors, but got {told} instead.")
    for what, find in (("dtype", lambda x: x.dtype), ("device type", lambda x: x.device)):
        found = [find(x) for x in three]
        if len(set(found)) > 1:
            raise ValueError(f"{WHO}: Expected query, key, and value to have the same {what}, but got {found} instead.")
    if min(x.ndim for x in three) < 3:
        raise ValueError(f"{WHO}: Expected query, key, and value to all be at least 3 dimensional, but got "
                         f"{[x.ndim for x in three]} instead.")
    dims = [form_of(x).dim for x in three]
    if len(set(dims)) > 1:
        raise ValueError(f"{WHO}: Expected query, key, and value to all be ragged on the same dimension, but got "
                         f"ragged dims {dims}.")
    if attn_mask is not None:
        raise ValueError(f"{WHO}: got attn_mask for jagged tensors, expected None: Masks are not yet supported!")
    batches = [form_of(x).offsets.shape[0] for x in three]
    if len(set(batches)) > 1 or lengths_of(form_of(key)).tolist() != lengths_of(form_of(value)).tolist():
        raise RuntimeError(f"{WHO}: got key and value whose samples differ in length, or batches of "
                           f"{[size - 1 for size in batches]} samples, expected as many, and keys and values as long")


@rule(WHO)
def attend(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """Return for each query of a sample the values of that sample, weighted by how its keys fit."""
    from dragon.vm.torch.nn.functional import scaled_dot_product_attention
    check(query, key, value, attn_mask)
    options = {"dropout_p": dropout_p, "is_causal": is_causal, "scale": scale, "enable_gqa": enable_gqa}
    form = form_of(query)
    held = [values_of(x) for x in (query, key, value)]
    if query.ndim > 3 and form.dim == 1:  # the sequence is not the ragged dim
        return make(scaled_dot_product_attention(*held, **options), form)
    if form.dim != query.ndim - 2:
        raise refuse(WHO, query, key)
    lengths = lengths_of(form), lengths_of(form_of(key))
    groups = {}
    for sample, pair in enumerate(zip(*(one.tolist() for one in lengths))):
        groups.setdefault(pair, []).append(sample)
    made, places = [], []
    for (queries, keys), samples in groups.items():
        rows = [rows_of(form_of(x), samples, count) for x, count in ((query, queries), (key, keys), (value, keys))]
        parts = [batched(part, index, len(samples)) for part, index in zip(held, rows)]
        made.append(unbatched(scaled_dot_product_attention(*parts, **options)))
        places.append(rows[0])
    if not groups:
        return make(ops.zeros((*held[0].shape[:-1], held[2].shape[-1]), dtype=held[0].dtype), form)
    return make(in_order(made, places, held[0].shape[-2]), form)


def rows_of(form, samples, count):
    """Return the rows of the values that some samples of one length are."""
    chosen = Tensor.new_tensor(form.offsets, samples)
    begins = ops.index_select(form.offsets, 0, chosen)
    return ops.reshape(ops.add(ops.unsqueeze(begins, 1), ops.unsqueeze(count_up(count, begins), 0)), (-1,))


def batched(values, rows, count):
    """Return rows of values as so many samples, along a first axis."""
    *heads, _, width = values.shape
    found = ops.index_select(values, len(heads), rows)
    found = ops.reshape(found, (*heads, count, rows.shape[0] // count, width))
    return ops.movedim(found, len(heads), 0)


def unbatched(samples):
    """Return samples one after the other, as values hold them."""
    axis = samples.ndim - 3
    moved = ops.movedim(samples, 0, axis)
    count, length, width = moved.shape[axis:]
    return ops.reshape(moved, (*moved.shape[:axis], count * length, width))


def in_order(made, places, rows):
    """Return what groups of samples gave as rows of values; zeros where no sample is."""
    found, places = ops.cat(made, -2), ops.cat(places, 0)
    axis = found.ndim - 2
    if places.shape[0] < rows:
        whole = ops.zeros((*found.shape[:axis], rows, found.shape[-1]), dtype=found.dtype, device=found.device)
        return ops.index_add(whole, axis, places, found)
    return ops.index_select(found, axis, ops.argsort(places, 0))
