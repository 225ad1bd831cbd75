"""Operators of strings."""
from dragon.vm.shared.data.rows import array_of
from dragon.vm.shared.errors import UnimplementedError
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow import io, strings
from dragon.vm.tensorflow.core.saved_model.table import operator, rows
from dragon.vm.tensorflow.core.saved_model.values import number, numbers, tensor, text
from dragon.vm.tensorflow.core.text.mapping import map_rows, object_array

rows(strings, """
StringStrip strip
""")
rows(io, """
DecodeBase64 decode_base64
ReadFile read_file
WriteFile write_file
MatchingFiles matching_files
""")


def of_strings(items, shape=None):
    """Return bytes as a tensor of strings."""
    from dragon.vm.shared.data.rows import over_strings
    return over_strings(object_array(items, [len(items)] if shape is None else shape))


@operator("StringLower StringUpper")
def _case(node, x):
    function = strings.lower if node.op == "StringLower" else strings.upper
    return function(tensor(x), node.get("encoding", ""))


@operator("StringLength")
def _length(node, x):
    return strings.length(tensor(x), node.get("unit", "BYTE"))


@operator("Substr")
def _substr(node, x, place, length):
    return strings.substr(tensor(x), tensor(place), tensor(length), node.get("unit", "BYTE"))


@operator("StringJoin")
def _join(node, *parts):
    return strings.join([tensor(part) for part in parts], node.get("separator", ""))


@operator("ReduceJoin")
def _reduce_join(node, x, axes):
    return strings.reduce_join(tensor(x), numbers(axes), node.get("keep_dims", False), node.get("separator", ""))


@operator("UnsortedSegmentJoin")
def _segment_join(node, x, ids, count):
    return strings.unsorted_segment_join(tensor(x), tensor(ids), number(count), node.get("separator", ""))


@operator("StringFormat")
def _format(node, *values):
    return strings.format(node.get("template", "%s"), [tensor(value) for value in values],
                          node.get("placeholder", "%s"), node.get("summarize", 3))


@operator("AsString")
def _as_string(node, x):
    return strings.as_string(tensor(x), node.get("precision", -1), node.get("scientific", False),
                             node.get("shortest", False), node.get("width", -1), node.get("fill", ""))


@operator("StringToNumber")
def _to_number(node, x):
    return strings.to_number(tensor(x), node.get("out_type", "float32"))


@operator("StaticRegexReplace")
def _replace(node, x):
    return strings.regex_replace(tensor(x), _bytes(node.get("pattern")), _bytes(node.get("rewrite")),
                                 node.get("replace_global", True))


@operator("RegexReplace")
def _replace_by(node, x, pattern, rewrite):
    return strings.regex_replace(tensor(x), text(pattern), text(rewrite), node.get("replace_global", True))


@operator("StaticRegexFullMatch")
def _match(node, x):
    return strings.regex_full_match(tensor(x), _bytes(node.get("pattern")))


@operator("RegexFullMatch")
def _match_by(node, x, pattern):
    return strings.regex_full_match(tensor(x), text(pattern))


def _bytes(value):
    return value if isinstance(value, bytes) else value.encode()


@operator("StringToHashBucketFast StringToHashBucket")
def _hash(node, x):
    function = strings.to_hash_bucket_fast if node.op == "StringToHashBucketFast" else strings.to_hash_bucket
    return function(tensor(x), node.get("num_buckets"))


@operator("StringToHashBucketStrong")
def _hash_strong(node, x):
    return strings.to_hash_bucket_strong(tensor(x), node.get("num_buckets"), node.get("key"))


@operator("StringSplitV2")
def _split(node, x, mark):
    found = strings.split(tensor(x), text(mark) or None, node.get("maxsplit", -1)).to_sparse()
    return found.indices, found.values, found.dense_shape


@operator("StringSplit")
def _old_split(node, x, mark):
    import re
    mark = text(mark)
    cut = mark and re.compile(b"[" + b"".join(re.escape(mark[place:place + 1]) for place in range(len(mark))) + b"]")

    def parts(item):
        if not mark:
            return [item[place:place + 1] for place in range(len(item))]
        return [part for part in cut.split(item) if part or not node.get("skip_empty", True)]
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


# --- characters

def _rows_of(found, node):
    """Return where rows end, and what they hold, in the dtype that a node wants."""
    return ops.cast(found.row_splits, node.get("Tsplits", "int64"))


@operator("UnicodeDecode UnicodeDecodeWithOffsets")
def _decode(node, x):
    options = (node.get("input_encoding"), node.get("errors", "replace"), node.get("replacement_char", 65533))
    control = node.get("replace_control_characters", False)
    x = _vector(x)
    found = strings.unicode_decode(x, *options, control)
    splits = _rows_of(found, node)
    if node.op == "UnicodeDecode":
        return splits, found.values, None
    return splits, found.values, strings.unicode_decode_with_offsets(x, *options, control)[1].values


def _vector(x):
    x = tensor(x)
    return of_strings(array_of(x).reshape(-1).tolist())


@operator("UnicodeEncode")
def _encode(node, values, splits):
    from dragon.vm.shared.ragged.making import from_row_splits
    return strings.unicode_encode(from_row_splits(tensor(values), tensor(splits)), node.get("output_encoding"),
                                  node.get("errors", "replace"), node.get("replacement_char", 65533))


@operator("UnicodeTranscode")
def _transcode(node, x):
    return strings.unicode_transcode(tensor(x), node.get("input_encoding"), node.get("output_encoding"),
                                     node.get("errors", "replace"), node.get("replacement_char", 65533),
                                     node.get("replace_control_characters", False))


@operator("UnicodeScript")
def _script(node, x):
    raise UnimplementedError(None, None, "saved_model: UnicodeScript is not supported (node "
                             f"'{node.name}' of function '{node.where}')")


# --- bytes

@operator("DecodeRaw")
def _decode_raw(node, x):
    return io.decode_raw(tensor(x), node.get("out_type"), node.get("little_endian", True))


@operator("DecodePaddedRaw")
def _decode_padded(node, x, length):
    return io.decode_raw(tensor(x), node.get("out_type"), node.get("little_endian", True), number(length))


@operator("EncodeBase64")
def _encode_base64(node, x):
    return io.encode_base64(tensor(x), node.get("pad", False))


@operator("DecodeCompressed")
def _decompress(node, x):
    return io.decode_compressed(tensor(x), node.get("compression_type", ""))


@operator("SerializeTensor")
def _serialize(node, x):
    return io.serialize_tensor(tensor(x))


@operator("ParseTensor")
def _parse_tensor(node, x):
    return io.parse_tensor(tensor(x), node.get("out_type"))


@operator("DecodeCSV")
def _decode_csv(node, x, *defaults):
    columns = node.get("select_cols", [])
    return list(io.decode_csv(tensor(x), [tensor(one) for one in defaults], node.get("field_delim", ","),
                              node.get("use_quote_delim", True), node.get("na_value", ""), columns or None))


@operator("ShardedFilename")
def _sharded(node, name, shard, count):
    return convert_to_tensor(b"%s-%05d-of-%05d" % (text(name), number(shard), number(count)))
