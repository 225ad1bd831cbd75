"""Operators of strings."""
from dragon.vm.shared.data.rows import array_of
from dragon.vm.shared.errors import UnimplementedError
from dragon.vm.tensorflow import strings
from dragon.vm.tensorflow.core.saved_model.table import operator, row_function
from dragon.vm.tensorflow.core.saved_model.values import tensor, text
from dragon.vm.tensorflow.core.text.mapping import map_rows, object_array


def of_strings(items, shape=None):
    """Return bytes as a tensor of strings."""
    from dragon.vm.shared.data.rows import over_strings
    return over_strings(object_array(items, [len(items)] if shape is None else shape))


@row_function
def encoded(value):
    """Return an attribute of text as bytes."""
    return value if isinstance(value, bytes) else value.encode()


@operator("StringSplit")
def _old_split(node, x, mark):
    import re
    mark = text(mark)
    cut = mark and re.compile(b"[" + b"".join(re.escape(mark[place:place + 1]) for place in range(len(mark))) + b"]")

    def parts(item):
        if not mark:
            return [item[place:place + 1] for place in range(len(item))]
        return [part for part in cut.split(item) if part or not node.get("skip_empty")]
    found = map_rows(tensor(x), parts, "StringSplit").to_sparse()
    return found.indices, found.values, found.dense_shape


@operator("StringNGrams")
def _ngrams(node, data, splits):
    from dragon.vm.shared.ragged.making import from_row_splits
    sides = (node.get("left_pad", ""), node.get("right_pad", ""))
    rows_ = from_row_splits(tensor(data), tensor(splits))
    pad = node.get("pad_width", 0)
    if pad and not any(sides):
        raise UnimplementedError(None, None, "saved_model: StringNGrams padded by empty strings is not supported "
                                 f"(node '{node.name}' of function '{node.where}')")
    found = strings.ngrams(rows_, tuple(node.get("ngram_widths")), node.get("separator", ""),
                           sides if any(sides) else None, pad if any(sides) and pad > 0 else None,
                           node.get("preserve_short_sequences", False))
    return found.values, found.row_splits


@row_function
def flat(x):
    """Return strings as a vector."""
    return of_strings(array_of(x).reshape(-1).tolist())


@operator("UnicodeScript")
def _script(node, x):
    raise UnimplementedError(None, None, "saved_model: UnicodeScript is not supported (node "
                             f"'{node.name}' of function '{node.where}')")
