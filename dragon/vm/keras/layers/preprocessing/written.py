"""Lookups in functions that are written into files, whose tokens come when these run."""
from dragon.vm.shared.autograph.hosting import assert_true
from dragon.vm.shared.tensors.dtypes import as_dtype, int64, string
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.shared.written.tables import WrittenTable, hashed


def look_up_written(layer, inputs):
    """Return the numbers of tokens, or the tokens of numbers where the layer is inverted.

    Parameters
    ----------
    layer : IndexLookup
        The layer.
    inputs : Union[Tensor, WrittenStrings]
        The tokens.

    Returns
    -------
    Union[Tensor, WrittenStrings]
        Of the same shape.

    """
    kind = as_dtype(layer.vocabulary_dtype)
    if layer.invert:
        known = layer._tokens_by_number()
        table = _kept_table(layer, WrittenTable(list(known), list(known.values()), int64, kind))
        return table.lookup(inputs, layer._key(layer.oov_token))
    table = _kept_table(layer, WrittenTable(list(layer._table), list(layer._table.values()), kind, int64))
    first, count = layer._oov_start_index(), layer.num_oov_indices
    found = table.lookup(inputs, first if count == 1 else -1)
    if count == 1:
        return found
    unknown = ops.eq(found, -1)
    if not count:
        assert_true(ops.logical_not(ops.any(unknown)), [
            "When `num_oov_indices=0` all inputs should be in vocabulary, found OOV values", found])
        return found
    if kind is not string and layer.oov_method != "farmhash":
        bucket = ops.remainder(ops.cast(inputs, "int64"), count)
    else:
        bucket = hashed(inputs, count, layer.salt)
    return ops.where(unknown, ops.add(bucket, first), found)


def _kept_table(layer, table):
    """Return a layer's table, the same one for all functions of a file, as long as its tokens are."""
    kept = layer.__dict__.get("_kept")
    if kept is None or (kept.keys, kept.values) != (table.keys, table.values):
        layer.__dict__["_kept"] = kept = table
    return kept
