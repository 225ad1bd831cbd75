"""Functions of strings, saved here: genuine TensorFlow makes of texts what its own functions make of them."""
import io

import numpy as np
import pytest

from dragon.vm import tensorflow as ours
from harness import genuine

TEXTS = ["Apple  pie é", "kiwi", "", "a-b-a"]

PROGRAMS = {
    "case": lambda tf, x: (tf.strings.lower(x), tf.strings.upper(x, "utf-8"), tf.strings.strip("  " + x + " ")),
    "lengths": lambda tf, x: (tf.strings.length(x), tf.strings.length(x, "UTF8_CHAR")),
    "parts": lambda tf, x: tf.strings.substr(tf.strings.join([x, "0123456789"]), 2, 3),
    "patterns": lambda tf, x: (tf.strings.regex_replace(x, "[aeiou]", "<\\0>"), tf.strings.regex_full_match(x, "k.*")),
    "numbers": lambda tf, x: tf.strings.to_number(tf.strings.as_string(tf.strings.length(x) * 3), "int64") + 1,
    "digits": lambda tf, x: tf.strings.as_string(tf.cast(tf.strings.length(x), tf.float32) / 3.0, precision=2),
    "buckets": lambda tf, x: (tf.strings.to_hash_bucket_fast(x, 1000), tf.strings.to_hash_bucket(x, 1000),
                              tf.strings.to_hash_bucket_strong(x, 1000, [3, 4])),
    "joined": lambda tf, x: (tf.strings.join([x, "!", x], "-"), tf.strings.reduce_join(x, separator=","),
                             tf.strings.reduce_join(tf.stack([x, x]), 1, keepdims=True)),
    "segments": lambda tf, x: tf.strings.unsorted_segment_join(x, [1, 0, 1, 2], 4, "+"),
    "compared": lambda tf, x: (x == "kiwi", tf.where(x != "kiwi", x, "none"), tf.equal(x, tf.reverse(x, [0]))),
    "split": lambda tf, x: tf.strings.split(x),
    "split by a mark": lambda tf, x: tf.strings.split(x, "-", 1),
    "split and filled": lambda tf, x: tf.strings.split(x).to_tensor("?", shape=[None, 3]),
    "lengths of rows": lambda tf, x: tf.strings.split(x, "-").row_lengths(),
    "one split": lambda tf, x: tf.strings.split(x[0]),
    "bytes": lambda tf, x: tf.strings.bytes_split(x),
    "characters": lambda tf, x: (tf.strings.unicode_split(x, "UTF-8"), tf.strings.unicode_decode(x, "UTF-8")),
    "transcoded": lambda tf, x: tf.strings.unicode_transcode(x, "UTF-8", "UTF-16-BE"),
    "runs": lambda tf, x: tf.strings.ngrams(tf.strings.split(x, "-"), 2, pad_values=("<", ">")),
    "rows of lower case": lambda tf, x: tf.strings.lower(tf.strings.split(x)),
    "formatted": lambda tf, x: tf.strings.format("{} of {}", [tf.strings.length(x), x]),
    "moved": lambda tf, x: (tf.gather(x, [1, 0]), tf.reshape(x, [-1, 1]), tf.concat([x, ["z"]], 0), x[1:2],
                            tf.expand_dims(x, 1), tf.stack([x, x], 1), tf.tile(x, [2]), tf.transpose(tf.stack([x, x]))),
    "shapes": lambda tf, x: (tf.shape(x), tf.size(x)),
    "constants": lambda tf, x: (tf.constant("hello"), tf.constant(["a", "b"])),
    "base64": lambda tf, x: tf.io.decode_base64(tf.io.encode_base64(x)),
    "raw": lambda tf, x: tf.io.decode_raw(tf.strings.join([x, "00000000"])[1], "uint8"),
    "raw and filled": lambda tf, x: tf.io.decode_raw(x, "int16", fixed_length=8),
    "branch": lambda tf, x: tf.cond(tf.size(x) > 2, lambda: tf.strings.upper(x), lambda: x + "!"),
    "map to numbers": lambda tf, x: tf.map_fn(tf.strings.length, x, fn_output_signature=tf.int32),
    "map to strings": lambda tf, x: tf.map_fn(lambda text: text + "!", x),
    "map over rows": lambda tf, x: tf.map_fn(lambda text: tf.size(tf.strings.split(text)), x,
                                             fn_output_signature=tf.int32)}


def plain(result):
    """Return results as lists and arrays of Python's."""
    if isinstance(result, (tuple, list)):
        return [plain(one) for one in result]
    return result.to_list() if hasattr(result, "to_list") else np.asarray(result).tolist()


def save(function, folder, signature):
    module = ours.Module()
    module.f = ours.function(function, input_signature=signature)
    ours.saved_model.save(module, str(folder))
    return [tf.saved_model.load(str(folder)) for tf in (genuine.tf, ours)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_strings(tmp_path, name):
    function, tf = PROGRAMS[name], genuine.tf
    theirs, again = save(lambda x: function(ours, x), tmp_path, [ours.TensorSpec([None], ours.string)])
    for given in (TEXTS, TEXTS[::-1]):
        expected = plain(function(tf, tf.constant(given)))
        assert plain(theirs.f(tf.constant(given))) == expected
        assert plain(again.f(ours.constant(given))) == expected
    if name != "segments":
        assert plain(theirs.f(tf.constant(TEXTS[:2]))) == plain(function(tf, tf.constant(TEXTS[:2])))


def test_prints_of_strings(tmp_path, capfd):
    theirs, _ = save(lambda x: (ours.print("texts", x), ours.strings.lower(x))[1], tmp_path,
                     [ours.TensorSpec([None], ours.string)])
    capfd.readouterr()
    theirs.f(["A", "b"])
    assert capfd.readouterr().err == 'texts ["A" "b"]\n'


def picture(height, width):
    """Return a PNG of random colours as bytes."""
    from PIL import Image
    colours = np.random.default_rng(height).integers(0, 256, (height, width, 3)).astype("uint8")
    file = io.BytesIO()
    Image.fromarray(colours).save(file, "PNG")
    return file.getvalue()


def look(tf, contents):
    """Return pictures of one size, as servers of images take them."""
    def one(content):
        decoded = tf.cast(tf.io.decode_png(content, channels=3), tf.float32)
        return tf.image.resize(decoded, [5, 4]) / 255.0
    return tf.map_fn(one, contents, fn_output_signature=tf.float32)


def test_pictures(tmp_path):
    theirs, again = save(lambda x: look(ours, x), tmp_path, [ours.TensorSpec([None], ours.string)])
    given = [picture(7, 9), picture(12, 3), picture(4, 4)]
    expected = look(genuine.tf, genuine.tf.constant(given)).numpy()
    np.testing.assert_allclose(theirs.f(genuine.tf.constant(given)).numpy(), expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(again.f(ours.constant(given)).numpy(), expected, rtol=1e-5, atol=1e-5)


class Tables:
    """Tables of all kinds that do not change, in either framework."""

    def __init__(self, tf, path):
        make = tf.lookup.KeyValueTensorInitializer
        self.tf, self.module = tf, tf.Module()
        self.module.words = tf.lookup.StaticHashTable(make(["apple", "kiwi"], tf.constant([1, 2], tf.int64)), -1)
        self.module.names = tf.lookup.StaticHashTable(make(tf.constant([1, 2], tf.int64), ["one", "two"]), "none")
        lines = tf.lookup.TextFileInitializer(path, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64,
                                              tf.lookup.TextFileIndex.LINE_NUMBER)
        self.module.vocabulary = tf.lookup.StaticVocabularyTable(lines, 3)
        columns = tf.lookup.TextFileInitializer(path, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64,
                                                tf.lookup.TextFileIndex.LINE_NUMBER, value_index_offset=0)
        self.module.lines = tf.lookup.StaticHashTable(columns, 99)

    def __call__(self, x):
        m, found = self.module, self.module.words.lookup(x)
        within = self.tf.cond(self.tf.size(x) > 1, lambda: m.words[x] * 10, lambda: m.lines.lookup(x))
        return found, m.names.lookup(found), m.vocabulary.lookup(x), within, m.words.lookup(self.tf.strings.lower(x))


def test_tables(tmp_path):
    path = tmp_path / "fruit.txt"
    path.write_text("apple\nkiwi\nplum\n")
    mine, reference = Tables(ours, str(path)), Tables(genuine.tf, str(path))
    mine.module.f = ours.function(mine.__call__, input_signature=[ours.TensorSpec([None], ours.string)])
    ours.saved_model.save(mine.module, str(tmp_path / "program"))
    expected = [plain(reference(genuine.tf.constant(given))) for given in (["kiwi", "plum", "zz", "APPLE"], ["plum"])]
    path.unlink()
    for tf in (genuine.tf, ours):
        loaded = tf.saved_model.load(str(tmp_path / "program"))
        for given, found in zip((["kiwi", "plum", "zz", "APPLE"], ["plum"]), expected):
            assert plain(loaded.f(tf.constant(given))) == found
        assert plain(loaded.words.size() if tf is ours else tf.constant(2, tf.int64)) == 2


def test_what_is_not_written(tmp_path):
    module = ours.Module()
    module.table = ours.lookup.experimental.MutableHashTable(ours.string, ours.int64, -1)
    with pytest.raises(NotImplementedError, match="tables that do not change"):
        ours.saved_model.save(module, str(tmp_path))
    module = ours.Module()
    module.f = ours.function(lambda x: x.numpy()[0], input_signature=[ours.TensorSpec([None], ours.string)])
    with pytest.raises(NotImplementedError, match="looks at strings"):
        ours.saved_model.save(module, str(tmp_path))
    module.f = ours.function(lambda x: ours.io.decode_png(x[0]), input_signature=[ours.TensorSpec([None], ours.string)])
    with pytest.raises(NotImplementedError, match="number of channels"):
        ours.saved_model.save(module, str(tmp_path))
