"""Functions of strings give what genuine ones do, for dense and ragged strings."""
import numpy as np
import pytest
from harness import genuine
from harness.subresults import each

from dragon.vm import tensorflow as dtf

WORDS = ["Hello  World", "", " été à ", "a,b,,c"]


def rows(tf):
    """Return ragged strings."""
    return tf.ragged.constant([["ab", "Cd e"], [], ["ü"]])


CALLS = {
    "lower": lambda tf, s: s.lower(WORDS),
    "lower_utf8": lambda tf, s: s.lower(["ÀÉ"], encoding="utf-8"),
    "upper": lambda tf, s: s.upper(WORDS),
    "upper_ragged": lambda tf, s: s.upper(rows(tf)),
    "strip": lambda tf, s: s.strip([" a b\n", "\t"]),
    "length": lambda tf, s: s.length(WORDS),
    "length_characters": lambda tf, s: s.length(WORDS, unit="UTF8_CHAR"),
    "substr": lambda tf, s: s.substr(["hello", "world"], 1, 3),
    "substr_each": lambda tf, s: s.substr(["hello", "world"], [-2, 2], [1, 9]),
    "substr_characters": lambda tf, s: s.substr("été", 1, 2, unit="UTF8_CHAR"),
    "split": lambda tf, s: s.split(WORDS),
    "split_scalar": lambda tf, s: s.split("a b  c"),
    "split_mark": lambda tf, s: s.split(WORDS, sep=","),
    "split_most": lambda tf, s: s.split(["a b c d"], maxsplit=2),
    "split_matrix": lambda tf, s: s.split([["a b", "c"], ["", "d e f"]]),
    "split_ragged": lambda tf, s: s.split(rows(tf)),
    "bytes_split": lambda tf, s: s.bytes_split(["abc", ""]),
    "replace": lambda tf, s: s.regex_replace(WORDS, "[aeo]+", "<\\0>"),
    "replace_groups": lambda tf, s: s.regex_replace("ab cd", r"(\w)(\w)", r"\2\1"),
    "replace_first": lambda tf, s: s.regex_replace("aaa", "a", "b", replace_global=False),
    "full_match": lambda tf, s: s.regex_full_match(["abc", "abcd", ""], "[a-c]+"),
    "to_number": lambda tf, s: s.to_number(["1.5", "-2", "1e3", "inf"]),
    "to_number_int": lambda tf, s: s.to_number(["12", "-7"], tf.int64),
    "fast": lambda tf, s: s.to_hash_bucket_fast([*WORDS, "x" * 100], 1000003),
    "old": lambda tf, s: s.to_hash_bucket([*WORDS, "12345678", "x" * 21], 1000003),
    "strong": lambda tf, s: s.to_hash_bucket_strong(WORDS, 1000003, [1, 2]),
    "fast_ragged": lambda tf, s: s.to_hash_bucket_fast(rows(tf), 97),
    "join": lambda tf, s: s.join([["a", "b"], "-", ["c", "d"]]),
    "join_mark": lambda tf, s: s.join(["a", "b", "c"], separator=", "),
    "reduce_join": lambda tf, s: s.reduce_join([["a", "b"], ["c", "d"]], axis=0, separator="+"),
    "reduce_join_all": lambda tf, s: s.reduce_join([["a", "b"], ["c", "d"]]),
    "reduce_join_keep": lambda tf, s: s.reduce_join([["a", "b"], ["c", "d"]], axis=-1, keepdims=True),
    "reduce_join_ragged": lambda tf, s: s.reduce_join(rows(tf), axis=1, separator=" "),
    "segment_join": lambda tf, s: s.unsorted_segment_join(["a", "b", "c"], [1, 0, 1], 3, separator=":"),
    "ngrams": lambda tf, s: s.ngrams([["a", "b", "c"], ["d", "e", "f"]], 2),
    "ngrams_ragged": lambda tf, s: s.ngrams(rows(tf), [1, 2], separator="|"),
    "ngrams_padded": lambda tf, s: s.ngrams(["a", "b"], 3, pad_values=("<", ">")),
    "ngrams_short": lambda tf, s: s.ngrams(["a", "b"], 3, preserve_short_sequences=True),
    "format": lambda tf, s: s.format("x: {}, y: {}", (tf.constant([1, 2]), tf.constant(0.5))),
    "format_long": lambda tf, s: s.format("{}", tf.constant(np.arange(20).reshape(2, 10))),
    "as_string": lambda tf, s: s.as_string([1, -25]),
    "as_string_float": lambda tf, s: s.as_string([1.5, 3.14159265], precision=2),
    "as_string_default": lambda tf, s: s.as_string([0.1, 1e10]),
    "as_string_shortest": lambda tf, s: s.as_string([0.1, 1e10], shortest=True),
    "as_string_scientific": lambda tf, s: s.as_string([12345.678], scientific=True),
    "as_string_fill": lambda tf, s: s.as_string([7, 12], width=5, fill="0"),
    "as_string_bool": lambda tf, s: s.as_string([True, False]),
    "decode": lambda tf, s: s.unicode_decode(["été", "a😀"], "UTF-8"),
    "decode_scalar": lambda tf, s: s.unicode_decode("été", "UTF-8"),
    "decode_broken": lambda tf, s: s.unicode_decode([b"a\xffb"], "UTF-8"),
    "decode_ignore": lambda tf, s: s.unicode_decode([b"a\xffb"], "UTF-8", errors="ignore"),
    "decode_offsets": lambda tf, s: s.unicode_decode_with_offsets(["été", "a😀b"], "UTF-8")[1],
    "unicode_split": lambda tf, s: s.unicode_split(["été", ""], "UTF-8"),
    "encode": lambda tf, s: s.unicode_encode([[104, 228], [8364, 97]], "UTF-8"),
    "encode_ragged": lambda tf, s: s.unicode_encode(tf.ragged.constant([[104], [8364, 97]]), "UTF-16-BE"),
    "transcode": lambda tf, s: s.unicode_transcode(["é", b"\xff"], "UTF-8", "UTF-16-BE"),
}


def plain(value):
    """Return a tensor, ragged or dense, in a form to compare."""
    if hasattr(value, "to_list"):
        return value.dtype.name, value.to_list()
    array = np.asarray(value.numpy())
    return value.dtype.name, list(array.shape), array.tolist()


@each("name", CALLS)
def test_call_is_as_genuine(name):
    assert plain(CALLS[name](dtf, dtf.strings)) == plain(CALLS[name](genuine.tf, genuine.tf.strings))


@pytest.mark.parametrize("call", [
    lambda s: s.to_number("abc"), lambda s: s.substr("abc", 5, 1), lambda s: s.regex_replace("a", "(", ""),
    lambda s: s.unicode_decode(b"\xff", "UTF-8", errors="strict"), lambda s: s.join([["a"], ["b", "c"]]),
    lambda s: s.to_number("1.5", "int32"), lambda s: s.lower("a", encoding="latin"),
])
def test_bad_input_raises(call):
    for tf in (dtf, genuine.tf):
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
            call(tf.strings)
