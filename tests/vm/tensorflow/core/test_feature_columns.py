"""`tf.feature_column` beside the genuine one: what columns are called, refuse, tell of themselves and make."""
import importlib

import pytest

from dragon.vm import tensorflow as ours
from dragon.vm.tensorflow.core.columns import column
from harness import genuine
from harness.expressions import assert_same, check, evaluate, plain
from harness.subresults import each

SETTINGS = """
n = f.numeric_column("x")
v = f.categorical_column_with_vocabulary_list("v", ["r", "g"])
o = f.categorical_column_with_vocabulary_list("v", ["r", "g"], num_oov_buckets=2)
k = f.categorical_column_with_vocabulary_list("k", [7, 9], default_value=1)
h = f.categorical_column_with_hash_bucket("h", 10)
d = f.categorical_column_with_identity("i", 4, default_value=0)
b = f.bucketized_column(f.numeric_column("y", shape=2), [0.0, 1.0])
"""
COLUMNS = """
n
f.numeric_column("x", shape=(2, 1), default_value=[[1.0], [2.0]], dtype=tf.float64)
f.numeric_column("x", shape=3, default_value=2)
v
o
k
h
f.categorical_column_with_hash_bucket("h", 10, tf.int64)
d
b
f.indicator_column(v)
f.crossed_column(["v", "h"], 10)
f.crossed_column([b, "v", k], 10, hash_key=5)
f.weighted_categorical_column(v, "w")
f.sequence_numeric_column("s", shape=2)
f.sequence_categorical_column_with_identity("i", 5)
f.sequence_categorical_column_with_hash_bucket("h", 5)
f.sequence_categorical_column_with_vocabulary_list("v", ["r"])
"""
REFUSED = """
f.numeric_column("x", shape=(0,))
f.numeric_column("x", shape=(1.5,))
f.numeric_column(3)
f.numeric_column("x", dtype=tf.string)
f.numeric_column("x", default_value=[1.0, 2.0])
f.numeric_column("x", default_value="a")
f.numeric_column("x", normalizer_fn=3)
f.bucketized_column(v, [0.0])
f.bucketized_column(f.numeric_column("x", shape=(2, 2)), [0.0])
f.bucketized_column(n, [])
f.bucketized_column(n, [1.0, 0.0])
f.categorical_column_with_hash_bucket("h", 0)
f.categorical_column_with_hash_bucket("h", None)
f.categorical_column_with_hash_bucket("h", 3, tf.float32)
f.categorical_column_with_identity("i", 0)
f.categorical_column_with_identity("i", 3, default_value=3)
f.categorical_column_with_vocabulary_list("v", [])
f.categorical_column_with_vocabulary_list("v", ["a", "a"])
f.categorical_column_with_vocabulary_list("v", [1.5])
f.categorical_column_with_vocabulary_list("v", ["a"], dtype=tf.int32)
f.categorical_column_with_vocabulary_list("v", ["a"], default_value=2, num_oov_buckets=1)
f.categorical_column_with_vocabulary_list("v", ["a"], num_oov_buckets=-1)
f.categorical_column_with_vocabulary_file("v", "")
f.crossed_column(["a"], 10)
f.crossed_column(["a", "b"], 0)
f.crossed_column(["a", 3], 10)
f.crossed_column(["a", h], 10)
f.indicator_column(n)
f.embedding_column(v, 0)
f.embedding_column(v, 2, ckpt_to_load_from="x")
f.embedding_column(v, 2, initializer=3)
f.weighted_categorical_column(v, "w", dtype=tf.string)
f.shared_embeddings([v, o], 2)
f.make_parse_example_spec([n, 3])
f.make_parse_example_spec([n, f.numeric_column("x", shape=2)])
"""
# Columns, and what is asked of them with these features.
FEATURES = """{"x": [1.0, -2.0], "v": [["r", ""], ["zz", "g"]], "h": [["a", "b"], ["c", ""]], "k": [[7], [8]],
 "i": [[1, -1], [9, 3]], "y": [[-1.0, 0.5], [1.0, 7.0]], "w": [[0.5, 0.0], [2.0, 3.0]], "hi": [[1], [-7]]}"""
ASKED = """
n.get_dense_tensor(cache, None)
f.numeric_column("x", normalizer_fn=lambda x: x * 2.0).get_dense_tensor(cache, None)
parts(cache.get(v, None))
parts(cache.get(o, None))
parts(cache.get(k, None))
parts(cache.get(h, None))
parts(cache.get(f.categorical_column_with_hash_bucket("hi", 10, tf.int64), None))
parts(cache.get(d, None))
parts(cache.get(f.categorical_column_with_identity("k", 20), None))
parts(b.get_sparse_tensors(cache, None).id_tensor)
b.get_dense_tensor(cache, None)
f.indicator_column(v).get_dense_tensor(cache, None)
f.indicator_column(o).get_dense_tensor(cache, None)
f.indicator_column(b).get_dense_tensor(cache, None)
f.indicator_column(f.weighted_categorical_column(h, "w")).get_dense_tensor(cache, None)
[parts(x) for x in cache.get(f.weighted_categorical_column(v, "w"), None)]
parts(cache.get(f.crossed_column(["v", "h"], 100), None))
parts(cache.get(f.crossed_column([b, "v", k], 1000, hash_key=5), None))
cache.get(f.numeric_column("nothing"), None)
cache.get(3, None)
cache.get(f.categorical_column_with_hash_bucket("x", 3), None)
cache.get(f.categorical_column_with_hash_bucket("v", 3, tf.int64), None)
f.indicator_column(f.sequence_categorical_column_with_identity("i", 5, 2)).get_sequence_dense_tensor(cache, None)
f.indicator_column(f.sequence_categorical_column_with_identity("i", 5, 2)).get_dense_tensor(cache, None)
f.indicator_column(v).get_sequence_dense_tensor(cache, None)
f.embedding_column(v, 2, initializer=tf.keras.initializers.Constant(3.0)).variable_shape.as_list()
"""
PARTS = "parts = lambda x: (x.indices, x.values, x.dense_shape)"


def cached(tf):
    """Return the class of features that are transformed once."""
    return column if tf is ours else importlib.import_module("tensorflow.python.feature_column.feature_column_v2")


def both(text):
    """Compare what a program gives on both sides; it has the cache of features."""
    found = []
    for tf in (ours, genuine.tf):
        values = {key: tf.constant(value) for key, value in eval(FEATURES).items()}
        cache = cached(tf).FeatureTransformationCache(values)
        found.append(evaluate(f"f = tf.feature_column\n{SETTINGS}\n{PARTS}\nreturn {text}", tf, cache=cache))
    mine, theirs = found
    if isinstance(theirs, Exception):
        assert type(theirs).__name__ in {kind.__name__ for kind in type(mine).__mro__}, (mine, theirs)
        return
    if isinstance(mine, Exception):
        raise AssertionError(f"{text}: got an error, expected {theirs!r}") from mine
    assert_same(plain(mine), plain(theirs))


@each("text", COLUMNS.strip().split("\n"))
def test_what_a_column_tells(text):
    check(f"""
f = tf.feature_column
{SETTINGS.strip()}
c = {text}
again = type(c).from_config(c.get_config())
return [repr(c), c.name, str(c.parse_example_spec), repr(c.get_config()), again == c, getattr(c, "num_buckets", None),
        str(f.make_parse_example_spec([c, n]))]""")


@each("text", REFUSED.strip().split("\n"))
def test_what_is_refused(text):
    check(f"f = tf.feature_column\n{SETTINGS.strip()}\nreturn {text}")


@each("text", ASKED.strip().split("\n"))
def test_what_is_made(text):
    both(text)


def test_a_vocabulary_in_a_file(tmp_path):
    (tmp_path / "words.txt").write_text("r\ng\nzz\n", encoding="utf-8")
    for rest in ("", ", vocabulary_size=2", ", vocabulary_size=2, num_oov_buckets=3", ", default_value=1"):
        both(f"parts(cache.get(f.categorical_column_with_vocabulary_file('v', {str(tmp_path / 'words.txt')!r}{rest}), "
             "None))")


@pytest.mark.parametrize("combiner", ["mean", "sqrtn", "sum"])
def test_an_embedding(combiner):
    f, cache = ours.feature_column, column.FeatureTransformationCache({"v": ours.constant([["r", "g"], ["", "zz"]])})
    embedded = f.embedding_column(f.categorical_column_with_vocabulary_list("v", ["r", "g"]), 2, combiner,
                                  initializer=lambda shape, dtype: ours.constant([[1.0, 2.0], [3.0, 4.0]]))
    manager = column.StateManager()
    embedded.create_state(manager)
    scale = {"mean": 0.5, "sqrtn": 0.5 ** 0.5, "sum": 1.0}[combiner]
    with ours.GradientTape() as tape:
        made = embedded.get_dense_tensor(cache, manager)
        table = manager.get_variable(embedded, "embedding_weights")
        total = ours.reduce_sum(made)
    assert_same(plain(made), plain(ours.constant([[4.0 * scale, 6.0 * scale], [0.0, 0.0]])))
    slope = ours.convert_to_tensor(tape.gradient(total, table))
    assert_same(plain(slope), plain(ours.fill([2, 2], scale)))
    with pytest.raises(ValueError, match="already exists"):
        embedded.create_state(manager)


def test_gradients_reach_dense_weights():
    f, weights = ours.feature_column, ours.constant([[2.0, 0.0], [3.0, 4.0]])
    weighted = f.weighted_categorical_column(f.categorical_column_with_identity("i", 3), "w")
    with ours.GradientTape() as tape:
        tape.watch(weights)
        cache = column.FeatureTransformationCache({"w": weights, "i": ours.sparse.from_dense([[1, 0], [2, 2]])})
        _, kept = cache.get(weighted, None)
        total = ours.reduce_sum(kept.values * kept.values)
    assert tape.gradient(total, weights).numpy().tolist() == [[4.0, 0.0], [6.0, 8.0]]


def test_steps_of_numbers():
    f = ours.feature_column
    sparse = ours.SparseTensor([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0], [2, 2])
    pair = f.sequence_numeric_column("s").get_sequence_dense_tensor(
        column.FeatureTransformationCache({"s": sparse}), None)
    assert pair.dense_tensor.numpy().tolist() == [[[1.0], [2.0]], [[3.0], [0.0]]]
    assert pair.sequence_length.numpy().tolist() == [2, 1]
