"""`tf.data.experimental`: tables of datasets, data bases, sparse batches, filled-up datasets, beside genuine ones."""
import sqlite3

import pytest

from dragon.vm import tensorflow as ours
from harness import genuine
from harness.expressions import assert_same, check, evaluate, plain
from harness.subresults import each

PAIRS = """E, D = tf.data.experimental, tf.data.Dataset
pairs = D.from_tensor_slices((["a", "b"], tf.constant([1, 2], tf.int64)))
keys, numbers = D.from_tensor_slices(["x", "y", "z"]), D.from_tensor_slices(tf.constant([10, 20], tf.int64))
rows = D.from_generator(lambda: iter([[1], [2, 3], [4, 5, 6]]), tf.int32, output_shapes=[None])
named = D.range(3).map(lambda x: {"a": x})
"""
PROGRAMS = """
tf.lookup.StaticHashTable(E.DatasetInitializer(pairs), -1).lookup(tf.constant(["a", "z"]))
[E.DatasetInitializer(pairs).key_dtype.name, E.DatasetInitializer(pairs).value_dtype.name]
E.DatasetInitializer(pairs.batch(2))
E.table_from_dataset(pairs, default_value=-1).lookup(tf.constant(["a", "q"]))
E.table_from_dataset(pairs, default_value=-1, vocab_size=1).lookup(tf.constant(["a", "b"]))
E.table_from_dataset(pairs, num_oov_buckets=3).lookup(tf.constant(["a", "q", "r", "s"]))
E.table_from_dataset(pairs, num_oov_buckets=-1)
E.table_from_dataset(pairs, vocab_size=0)
E.index_table_from_dataset(keys).lookup(tf.constant(["y", "q"]))
E.index_table_from_dataset(keys, vocab_size=2, num_oov_buckets=1).lookup(tf.constant(["x", "z", "q"]))
E.index_table_from_dataset(numbers, key_dtype=tf.int64).lookup(tf.constant([20, 3], tf.int64))
E.index_table_from_dataset(pairs)
E.index_table_from_dataset(keys.batch(2))
[(x.indices, x.values, x.dense_shape) for x in rows.apply(E.dense_to_sparse_batch(2, [4]))]
[(x.indices, x.values, x.dense_shape) for x in rows.apply(E.dense_to_sparse_batch(2, [None]))]
list(rows.apply(E.dense_to_sparse_batch(2, [2])))
str(rows.apply(E.dense_to_sparse_batch(2, [4])).element_spec)
list(named.apply(E.pad_to_cardinality(5)))
named.apply(E.pad_to_cardinality(5)).cardinality()
list(keys.map(lambda x: {"a": x}).apply(E.pad_to_cardinality(5)))
[(x.indices, x.values, x.dense_shape) for x in keys.map(lambda x: [x, x]).apply(E.dense_to_sparse_batch(2, [3]))]
str(named.apply(E.pad_to_cardinality(5, mask_key="m")).element_spec)
list(named.apply(E.pad_to_cardinality(3)))
D.range(3).apply(E.pad_to_cardinality(5))
named.apply(E.pad_to_cardinality(2))
named.repeat().apply(E.pad_to_cardinality(2))
E.TFRecordWriter("nowhere").write(3)
"""
QUERIES = {"select n, i, f from s order by n": "tf.string, tf.int32, tf.float64",
           "select n, i, f from s where n = 'bob'": "tf.string, tf.int64, tf.string",
           "select i, i, i, f, f from s where n = 'bob'": "tf.bool, tf.int8, tf.uint8, tf.int32, tf.bool",
           "select i from nothing": "tf.int32,", "select i, i from s": "tf.int32,", "select i from s": "tf.float32,",
           "select n from s where i > 99": "tf.string,"}


@each("text", PROGRAMS.strip().split("\n"))
def test_expression(text):
    check(f"{PAIRS}return {text}")


@pytest.mark.parametrize("query", QUERIES)
def test_a_query(query, tmp_path):
    with sqlite3.connect(tmp_path / "rows.db") as connection:
        connection.execute("create table s (n text, i integer, f real)")
        connection.execute("insert into s values ('bob', 3, 2.5), ('al', null, -1)")
    connection.close()
    check(f"return list(tf.data.experimental.SqlDataset('sqlite', {str(tmp_path / 'rows.db')!r}, {query!r}, "
          f"({QUERIES[query]})))")


@pytest.mark.parametrize("dtype", "string int8 uint16 int32 int64 bool float64".split())
def test_cells_of_other_kinds(dtype, tmp_path):
    path = str(tmp_path / "odd #1?mode=rwc&%41.db")
    with sqlite3.connect(path) as connection:
        connection.execute("create table s (x)")
        connection.executemany("insert into s values (?)", [
            ("9007199254740993",), ("12abc",), (" 7",), ("inf",), ("1e3",), (".5.",), ("é",), (b"\xff\xfe",), (9e18,),
            (0.1,), (1e300,), (-1e300,), (float("inf"),), (float("-inf"),), (300,), (-1,), (1 << 32,), (None,)])
        connection.execute("insert into s values (cast(x'ff41' as text))")
    connection.close()
    check(f"return list(tf.data.experimental.SqlDataset('sqlite', {path!r}, 'select x from s', (tf.{dtype},)))")


def test_a_data_base_that_is_not_known():
    check("tf.data.experimental.SqlDataset('mysql', 'x', 'select', (tf.int32,))")


@pytest.mark.parametrize("compression", [None, "", "GZIP", "ZLIB"])
def test_records_of_a_dataset(compression, tmp_path):
    text = """
writer = tf.data.experimental.TFRecordWriter(path, compression)
writer.write(tf.data.Dataset.from_tensor_slices(["a", "", "longer"]))
return list(tf.data.TFRecordDataset(path, compression))"""
    mine, theirs = (evaluate(text, tf, path=str(tmp_path / name), compression=compression)
                    for tf, name in ((ours, "mine"), (genuine.tf, "theirs")))
    assert_same(plain(mine), plain(theirs))
    with pytest.raises(TypeError, match="single strings"):
        ours.data.experimental.TFRecordWriter(str(tmp_path / "x")).write(ours.data.Dataset.range(2))
