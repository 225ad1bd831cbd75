"""`tf.strings`: functions of tensors of strings, ragged ones included."""
from dragon.vm.guest import lookup as _lookup
from dragon.vm.shared import errors as _errors
from dragon.vm.shared.data.rows import array_of as _array_of, over_strings as _over, wrap_array as _wrap
from dragon.vm.shared.ragged.tensor import RaggedTensor as _RaggedTensor
from dragon.vm.shared.tensors.convert import convert_to_tensor as _convert
from dragon.vm.shared.tensors.dtypes import as_dtype as _as_dtype
from dragon.vm.shared.written.texts import written as _written
from dragon.vm.tensorflow.core.text import mapping as _text

__getattr__, __dir__ = _lookup(globals(), {
    "core.text.unicode": "unicode_decode unicode_decode_with_offsets unicode_encode unicode_split "
                         "unicode_split_with_offsets unicode_transcode",
    "core.text.joining": "join reduce_join unsorted_segment_join ngrams format as_string"})


def _invalid(message):
    return _errors.InvalidArgumentError(None, None, message)


@_written("lower")
def lower(input, encoding="", name=None):
    """Return strings in lower case; letters beyond ASCII only with the encoding "utf-8"."""
    return _text.map_strings(input, _case(bytes.lower, str.lower, encoding), "lower")


@_written("upper")
def upper(input, encoding="", name=None):
    """Return strings in upper case; letters beyond ASCII only with the encoding "utf-8"."""
    return _text.map_strings(input, _case(bytes.upper, str.upper, encoding), "upper")


def _case(of_bytes, of_text, encoding):
    if encoding not in ("", "utf-8"):
        raise _invalid(f"only utf8 or '' (no encoding) is supported. Received: encoding={encoding!r}")
    if not encoding:
        return of_bytes
    return lambda item: of_text(item.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


@_written("strip")
def strip(input, name=None):
    """Return strings without white space at their ends."""
    return _text.map_strings(input, lambda item: item.strip(b" \t\n\r\f\v"), "strip")


@_written("length")
def length(input, unit="BYTE", name=None):
    """Return how many bytes, or characters with the unit "UTF8_CHAR", strings have."""
    count = {"BYTE": len, "UTF8_CHAR": lambda item: sum(byte & 0xC0 != 0x80 for byte in item)}.get(unit)
    if count is None:
        raise _invalid(f"length: unit must be 'BYTE' or 'UTF8_CHAR'. Received: {unit!r}")
    return _text.map_numbers(input, count, "int32", "length")


@_written("substr")
def substr(input, pos, len, unit="BYTE", name=None):
    """Return a part of each string.

    Parameters
    ----------
    pos : Tensor
        Where parts begin; negative places count from the end.
    len : Tensor
        How long parts are.
    unit : str, optional, default="BYTE"
        "BYTE", or "UTF8_CHAR" for characters.

    """
    import numpy as np
    if unit not in ("BYTE", "UTF8_CHAR"):
        raise _invalid(f"substr: unit must be 'BYTE' or 'UTF8_CHAR'. Received: {unit!r}")
    tensor = _text.as_input(input, "substr")
    if isinstance(tensor, _RaggedTensor):
        return tensor.with_flat_values(substr(tensor.flat_values, pos, len, unit))
    arrays = np.broadcast_arrays(_array_of(tensor), _convert(pos).numpy(), _convert(len).numpy())
    characters = unit == "UTF8_CHAR"
    parts = []
    for item, begin, size in zip(*(array.reshape(-1).tolist() for array in arrays)):
        item = item.decode("utf-8", "surrogateescape") if characters else item
        total = item.__len__()
        if begin > total or begin < -total:
            raise _invalid(f"pos {begin} out of range for string b'{item!r}' at index {parts.__len__()}")
        begin += total if begin < 0 else 0
        part = item[begin:max(begin + size, begin)]
        parts.append(part.encode("utf-8", "surrogateescape") if characters else part)
    return _over(_text.object_array(parts, arrays[0].shape))


@_written("split")
def split(input, sep=None, maxsplit=-1, name=None):
    """Return the parts of each string as a row: a ragged tensor, or a vector for a single string.

    Parameters
    ----------
    sep : str, optional
        What stands between parts; any white space by default.
    maxsplit : int, optional, default=-1
        How often a string is cut at most.

    """
    mark = None if sep is None else _convert(sep).numpy()
    return _text.map_rows(input, lambda item: _parts(item, mark, int(maxsplit)), "split")


def _parts(item, mark, most):
    """Return the parts of a string; what is left behind the last cut is one, even if it is empty."""
    if mark or most < 0:
        return item.split(mark or None, most)
    found, rest = [], item
    while most and rest.strip():
        word, rest = (rest.split(None, 1) + [b""])[:2]
        found.append(word)
        most -= 1
    return [*found, rest] if not most else found


@_written("bytes_split")
def bytes_split(input, name=None):
    """Return the bytes of each string as a row of strings."""
    return _text.map_rows(input, lambda item: [item[place:place + 1] for place in range(len(item))], "bytes_split")


@_written("regex_replace")
def regex_replace(input, pattern, rewrite, replace_global=True, name=None):
    r"""Return strings with what matches a pattern replaced.

    Parameters
    ----------
    pattern : str
        The regular expression.
    rewrite : str
        What takes the place; `\1` stands for the first group, `\0` for the match.
    replace_global : bool, optional, default=True
        Whether all matches are replaced, or the first.

    """
    import re
    compiled = _text.pattern_of(pattern, "regex_replace")
    mark = re.sub(r"\\(\d)", r"\\g<\1>", _text.as_text(_convert(rewrite).numpy()))
    count = 0 if replace_global else 1
    try:
        return _text.map_strings(input, lambda item: compiled.sub(mark, _text.as_text(item), count).encode(
            "utf-8", "surrogateescape"), "regex_replace")
    except re.error as error:
        raise _invalid(f"regex_replace: Invalid rewrite: {error}. Received: {rewrite!r}") from None


@_written("regex_full_match")
def regex_full_match(input, pattern, name=None):
    """Return whether the whole of each string matches a pattern."""
    compiled = _text.pattern_of(pattern, "regex_full_match")
    return _text.map_numbers(input, lambda item: compiled.fullmatch(_text.as_text(item)) is not None, "bool",
                             "regex_full_match")


@_written("to_number")
def to_number(input, out_type="float32", name=None):
    """Return strings as the numbers they say."""
    dtype = _as_dtype(out_type)
    if dtype.name not in ("float32", "float64", "int32", "int64"):
        raise TypeError(f"to_number: out_type must be float32, float64, int32 or int64. Received: {out_type!r}")
    read = float if dtype.is_floating else int

    def number(item):
        try:
            if b"_" in item:
                raise ValueError
            value = read(item)
        except ValueError:
            raise _invalid(f"StringToNumberOp could not correctly convert string: {item.decode(errors='replace')}"
                           ) from None
        if not dtype.is_floating and not dtype.min <= value <= dtype.max:
            raise _invalid(f"StringToNumberOp could not correctly convert string: {item.decode()}")
        return value
    return _text.map_numbers(input, number, dtype, "to_number")


def _hashed(input, num_buckets, key, who):
    from dragon.vm.shared.hashing import buckets
    tensor, count = _text.as_input(input, who), int(num_buckets)
    if count < 1:
        raise _invalid(f"{who}: num_buckets must be at least 1. Received: {num_buckets}")
    if isinstance(tensor, _RaggedTensor):
        return tensor.with_flat_values(_hashed(tensor.flat_values, count, key, who))
    return _wrap(buckets(_text.items_of(tensor), count, key).reshape(_array_of(tensor).shape))


@_written("to_hash_bucket")
def to_hash_bucket(input, num_buckets, name=None):
    """Return a number below `num_buckets` for each string, as old models have them; others use `..._fast`."""
    from dragon.vm.tensorflow.core.text.hashing import old_hash
    return _text.map_numbers(input, lambda item: old_hash(item) % int(num_buckets), "int64", "to_hash_bucket")


@_written("to_hash_bucket_fast")
def to_hash_bucket_fast(input, num_buckets, name=None):
    """Return a number below `num_buckets` for each string, the same everywhere and always."""
    return _hashed(input, num_buckets, None, "to_hash_bucket_fast")


@_written("to_hash_bucket_strong")
def to_hash_bucket_strong(input, num_buckets, key, name=None):
    """Return a number below `num_buckets` for each string, which nobody without the key can foresee."""
    key = [int(number) for number in key]
    if len(key) != 2:
        raise _invalid(f"Key must have 2 elements. Received: {key}")
    return _hashed(input, num_buckets, key, "to_hash_bucket_strong")
