"""Functions of strings as calls of TensorFlow's operators, by the names and arguments that `tf.strings` has."""
import functools

from dragon.core.capture.host_calls import free_size, is_writing
from dragon.vm.shared.letters import expect
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype, int32, int64, string
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.shared.written.nodes import is_tensor, is_written, join as join_, kind_of, like, node
from dragon.vm.shared.written.ragged import WrittenRagged, row_splits_of

BAD_CHARACTER = 0xFFFD


def written(name, tensors=False):
    """Return a decorator for functions that are calls of TensorFlow's operators where a file is written.

    Parameters
    ----------
    name : str
        The function here that makes the calls; it takes the same arguments.
    tensors : bool, optional, default=False
        Whether tensors of numbers are such a case as well, since what they become are strings.

    """
    def decorate(function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            if is_writing():
                given = [*args, *kwargs.values()]
                if isinstance(given[0], WrittenRagged) and name not in ("join", "ngrams"):
                    return given[0].with_flat_values(call(given[0].flat_values, *args[1:], **kwargs))
                if any(is_written(one) or tensors and is_tensor(one) for one in given):
                    kwargs.pop("name", None)
                    return globals()[name](*args, **kwargs)
            return function(*args, **kwargs)
        return call
    return decorate


def _constant(value, who):
    """Return text that must be known when a file is written."""
    if is_written(value):
        raise NotImplementedError(f"saved_model.save: tf.strings.{who} with a pattern or separator that comes when the "
                                  "function runs is not written; pass text")
    return value if isinstance(value, str) else value.decode() if isinstance(value, bytes) else (
        convert_to_tensor(value).numpy().decode())


def lower(input, encoding=""):
    """Return strings in lower case."""
    return like("StringLower", input, encoding=encoding)


def upper(input, encoding=""):
    """Return strings in upper case."""
    return like("StringUpper", input, encoding=encoding)


def strip(input):
    """Return strings without white space at their ends."""
    return like("StringStrip", input)


def length(input, unit="BYTE"):
    """Return how long strings are."""
    return like("StringLength", input, int32, unit=unit)


def substr(input, pos, len, unit="BYTE"):
    """Return a part of each string."""
    pos, len = (ops.cast(convert_to_tensor(one), "int32") for one in (pos, len))
    shape = tuple(input.shape) if input.ndim >= pos.ndim else tuple(pos.shape)
    return node("Substr", [input, pos, len], [("output", string, shape)], T=int32, unit=unit)[0]


def regex_replace(input, pattern, rewrite, replace_global=True):
    """Return strings with what matches a pattern replaced."""
    return like("StaticRegexReplace", input, pattern=_constant(pattern, "regex_replace"),
                rewrite=_constant(rewrite, "regex_replace"), replace_global=bool(replace_global))


def regex_full_match(input, pattern):
    """Return whether the whole of each string matches a pattern."""
    return like("StaticRegexFullMatch", input, "bool", pattern=_constant(pattern, "regex_full_match"))


def to_number(input, out_type="float32"):
    """Return strings as the numbers they say."""
    return like("StringToNumber", input, out_type, out_type=as_dtype(out_type))


def to_hash_bucket(input, num_buckets):
    """Return a number below a bound for each string, as old models have them."""
    return like("StringToHashBucket", input, int64, num_buckets=int(num_buckets))


def to_hash_bucket_fast(input, num_buckets):
    """Return a number below a bound for each string."""
    return like("StringToHashBucketFast", input, int64, num_buckets=int(num_buckets))


def to_hash_bucket_strong(input, num_buckets, key):
    """Return a number below a bound for each string, by a key."""
    return like("StringToHashBucketStrong", input, int64, num_buckets=int(num_buckets), key=[int(one) for one in key])


def join(inputs, separator=""):
    """Return strings at the same places, joined; rows keep their lengths."""
    if any(isinstance(one, WrittenRagged) for one in inputs):
        ragged = next(one for one in inputs if isinstance(one, WrittenRagged))
        return ragged.with_flat_values(join([getattr(one, "flat_values", one) for one in inputs], separator))
    return join_(inputs, _constant(separator, "join"))


def reduce_join(inputs, axis=None, keepdims=False, separator=""):
    """Return the strings along axes, joined."""
    rank = inputs.ndim
    axes = list(range(rank)) if axis is None else [
        int(one) % max(rank, 1) for one in (axis if isinstance(axis, (list, tuple)) else [axis])]
    shape = [1 if place in axes else size for place, size in enumerate(inputs.shape) if keepdims or place not in axes]
    return node("ReduceJoin", [inputs, convert_to_tensor(axes, "int32")], [("output", string, shape)],
                keep_dims=bool(keepdims), separator=_constant(separator, "reduce_join"))[0]


def unsorted_segment_join(inputs, segment_ids, num_segments, separator=""):
    """Return the strings of each number, joined."""
    return node("UnsortedSegmentJoin", [inputs, segment_ids, convert_to_tensor(num_segments, "int32")],
                [("output", string, (int(num_segments),))], separator=_constant(separator, "unsorted_segment_join"),
                Tindices=kind_of(convert_to_tensor(segment_ids)), Tnumsegments=int32)[0]


def as_string(input, precision=-1, scientific=False, shortest=False, width=-1, fill=""):
    """Return numbers as text."""
    input = convert_to_tensor(input)
    return like("AsString", input, T=kind_of(input), precision=precision, scientific=scientific, shortest=shortest,
                width=width, fill=fill)


def format(template, inputs, placeholder="{}", summarize=3):
    """Return a text with tensors put in the places of a placeholder."""
    inputs = [convert_to_tensor(one) for one in (inputs if isinstance(inputs, (list, tuple)) else [inputs])]
    return node("StringFormat", inputs, [("output", string, ())], T=[kind_of(one) for one in inputs],
                template=expect(template, str, "format", "template"), placeholder=placeholder, summarize=summarize)[0]


# --- strings as rows

def _rows(input, cut):
    """Return what an operator of a vector makes of strings of any shape, in rows.

    Parameters
    ----------
    input : WrittenStrings
        The strings.
    cut : Callable
        Given a vector, returns its rows.

    """
    if input.ndim == 1:
        return cut(input)
    if input.ndim == 0:
        return cut(type(input)(ops.reshape(input.stand_in, (1,)))).flat_values
    raise NotImplementedError("saved_model.save: strings are cut into rows where they are single ones or vectors. "
                              f"Received: shape={input.shape}")


def split(input, sep=None, maxsplit=-1):
    """Return the parts of each string as a row, or those of a single string."""
    mark = convert_to_tensor("" if sep is None else sep)

    def cut(vector):
        count = free_size()
        places, values, shape = node("StringSplitV2", [vector, mark], [
            ("indices", int64, (count, 2)), ("values", string, (count,)), ("shape", int64, (2,))],
            maxsplit=int(maxsplit))
        return WrittenRagged(values, row_splits_of(places[:, 0], vector.shape[0]))
    return _rows(input, cut)


def bytes_split(input):
    """Return the bytes of each string as a row of strings."""
    def cut(vector):
        count = free_size()
        places, values, _ = node("StringSplit", [vector, convert_to_tensor("")], [
            ("indices", int64, (count, 2)), ("values", string, (count,)), ("shape", int64, (2,))], skip_empty=False)
        return WrittenRagged(values, row_splits_of(places[:, 0], vector.shape[0]))
    return _rows(input, cut)


def unicode_decode(input, input_encoding, errors="replace", replacement_char=BAD_CHARACTER,
                   replace_control_characters=False):
    """Return the numbers of each string's characters as a row."""
    def cut(vector):
        splits, values = node("UnicodeDecode", [vector], [
            ("row_splits", int64, (vector.shape[0] + 1,)), ("char_values", int32, (free_size(),))],
            input_encoding=input_encoding, errors=errors, replacement_char=replacement_char,
            replace_control_characters=bool(replace_control_characters), Tsplits=int64)
        return WrittenRagged(values, splits)
    return _rows(input, cut)


def unicode_split(input, input_encoding, errors="replace", replacement_char=BAD_CHARACTER):
    """Return the characters of each string as a row of strings."""
    def cut(vector):
        numbers = unicode_decode(vector, input_encoding, errors, replacement_char)
        values = numbers.flat_values
        count = values.shape[0]
        ends = ops.arange(count + 1, dtype="int64")
        return numbers.with_flat_values(node("UnicodeEncode", [values, ends], [("output", string, (count,))],
                                             output_encoding=input_encoding, errors=errors,
                                             replacement_char=replacement_char, Tsplits=int64)[0])
    return _rows(input, cut)


def unicode_transcode(input, input_encoding, output_encoding, errors="replace", replacement_char=BAD_CHARACTER,
                      replace_control_characters=False):
    """Return strings in another encoding."""
    return like("UnicodeTranscode", input, input_encoding=input_encoding, output_encoding=output_encoding,
                errors=errors, replacement_char=replacement_char,
                replace_control_characters=bool(replace_control_characters))


def ngrams(data, ngram_width, separator=" ", pad_values=None, padding_width=None, preserve_short_sequences=False):
    """Return the runs of neighbouring strings of each row, joined."""
    if not isinstance(data, WrittenRagged):
        raise NotImplementedError("saved_model.save: tf.strings.ngrams is written for ragged tensors, such as "
                                  f"tf.strings.split returns. Received: {data!r}")
    left, right = (pad_values, pad_values) if isinstance(pad_values, str) else pad_values or ("", "")
    width = 0 if pad_values is None else -1 if padding_width is None else padding_width
    widths = list(ngram_width) if isinstance(ngram_width, (list, tuple)) else [ngram_width]
    values, splits = node("StringNGrams", [data.flat_values, data.row_splits], [
        ("ngrams", string, (free_size(),)), ("ngrams_splits", int64, tuple(data.row_splits.shape))],
        ngram_widths=widths, separator=separator, left_pad=left, right_pad=right, pad_width=width,
        preserve_short_sequences=bool(preserve_short_sequences), Tsplits=int64)
    return WrittenRagged(values, splits)


# --- bytes

def decode_raw(input_bytes, out_type, little_endian=True, fixed_length=None):
    """Return the bytes of strings as numbers."""
    kind, shape = as_dtype(out_type), tuple(input_bytes.shape)
    if fixed_length is not None:
        return node("DecodePaddedRaw", [input_bytes, convert_to_tensor(int(fixed_length), "int32")],
                    [("output", kind, (*shape, int(fixed_length) // kind.size))], out_type=kind,
                    little_endian=bool(little_endian))[0]
    return node("DecodeRaw", [input_bytes], [("output", kind, (*shape, free_size()))], out_type=kind,
                little_endian=bool(little_endian))[0]


def decode_base64(input):
    """Return what strings say in base 64."""
    return like("DecodeBase64", input)


def encode_base64(input, pad=False):
    """Return strings in base 64."""
    return like("EncodeBase64", input, pad=bool(pad))


def decode_compressed(bytes, compression_type=""):
    """Return what was compressed."""
    return like("DecodeCompressed", bytes, compression_type=compression_type)


def parse_tensor(serialized, out_type):
    """Refuse: files know the number of axes of all results."""
    raise NotImplementedError("saved_model.save: tf.io.parse_tensor is not written: how many axes its result has is "
                              "known when the function runs alone")


def serialize_tensor(tensor):
    """Return a tensor as bytes."""
    tensor = convert_to_tensor(tensor)
    return node("SerializeTensor", [tensor], [("serialized", string, ())], T=kind_of(tensor))[0]


def read_file(filename):
    """Return what files hold."""
    return like("ReadFile", filename, result="contents")


# --- pictures

def _picture(op, contents, channels, kind="uint8", **attributes):
    if not channels:
        raise NotImplementedError(f"saved_model.save: {op} is written with a number of channels. Received: "
                                  f"channels={channels}")
    return node(op, [contents], [("image", kind, (free_size(), free_size(), channels))], channels=channels,
                **attributes)[0]


def decode_png(contents, channels=0, dtype="uint8"):
    """Return a PNG picture, or one of another format, as a tensor."""
    return _picture("DecodePng", contents, channels, dtype, dtype=as_dtype(dtype))


def decode_bmp(contents, channels=0):
    """Return a BMP picture as a tensor."""
    return _picture("DecodeBmp", contents, channels)


def decode_jpeg(contents, channels=0, ratio=1, fancy_upscaling=True, try_recover_truncated=False,
                acceptable_fraction=1, dct_method=""):
    """Return a JPEG picture, or one of another format, as a tensor."""
    return _picture("DecodeJpeg", contents, channels, ratio=ratio, fancy_upscaling=fancy_upscaling,
                    try_recover_truncated=try_recover_truncated, acceptable_fraction=float(acceptable_fraction),
                    dct_method=dct_method)


def decode_image(contents, channels=None, dtype="uint8", expand_animations=True):
    """Return a picture as a tensor [height, width, channels]."""
    if expand_animations:
        raise NotImplementedError("saved_model.save: tf.io.decode_image is written with expand_animations=False: else "
                                  "how many axes its result has is known when the function runs alone")
    return _picture("DecodeImage", contents, channels, dtype, dtype=as_dtype(dtype), expand_animations=False)
