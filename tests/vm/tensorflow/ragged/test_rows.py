"""`tf.experimental.RowPartition` and `DynamicRaggedShape` beside genuine ones."""

from harness.expressions import check
from harness.subresults import each

ROWS = """
R.from_row_splits([0, 2, 2, 5])
R.from_row_splits(tf.constant([0, 2, 5], tf.int32))
R.from_row_splits([0, 2], dtype=tf.int32)
R.from_row_lengths([1, 2])
R.from_row_lengths([])
R.from_row_starts([0, 2], nvals=5)
R.from_row_limits([2, 5])
R.from_value_rowids([0, 0, 2], nrows=4)
R.from_value_rowids([0, 0, 2])
R.from_uniform_row_length(2, nvals=6)
R.from_uniform_row_length(0, nrows=3)
"""
REFUSED = """
R.from_row_splits([1, 2])
R.from_row_splits([0, 2, 1])
R.from_row_splits(1)
R.from_row_splits([])
R.from_row_splits([0., 1.])
R.from_row_lengths([-1])
R.from_value_rowids([1, 0])
R.from_value_rowids([0, 3], nrows=2)
R.from_uniform_row_length(2, nvals=5)
R.from_uniform_row_length(2)
R(3)
D.from_lengths([2, (2, 1, 3)])
D.from_lengths("a")
D.from_lengths([2, (1, 2)])[1]
D.from_row_partitions([])
hash(D.from_lengths([2]))
"""
SHAPES = """
D.from_tensor(tf.ragged.constant([[1, 2], [3]]))
D.from_tensor(tf.ragged.constant([[[1], [2, 3]], [[4]]]))
D.from_tensor(tf.ones([2, 3]))
D.from_lengths([2, (2, 1), 3])
D.from_lengths([2, (2, 1), 3], num_row_partitions=2)
D.from_lengths([2, 3])
D.from_lengths([2, 3], dtype=tf.int32)
D.from_row_partitions([R.from_row_splits([0, 2, 2, 5])])
D([R.from_row_splits([0, 2, 2, 5])], [5, 3])
D([], [2, 3])
"""


@each("text", ROWS.strip().split("\n"))
def test_rows(text):
    check(f"""
r = tf.experimental.RowPartition
R = r
p = {text}
return [p.nrows(), p.nvals(), p.row_splits(), p.row_lengths(), p.value_rowids(), p.row_starts(), p.row_limits(),
        p.offsets_in_rows(), p.dtype.name, p.is_uniform(), p.static_nrows, p.with_dtype(tf.int32).dtype.name,
        p.static_uniform_row_length, p.uniform_row_length(), repr(p)]""")


@each("text", REFUSED.strip().split("\n"))
def test_what_is_refused(text):
    check(f"R, D = tf.experimental.RowPartition, tf.experimental.DynamicRaggedShape\nreturn {text}")


@each("text", SHAPES.strip().split("\n"))
def test_shapes(text):
    check(f"""
R, D = tf.experimental.RowPartition, tf.experimental.DynamicRaggedShape
s = {text}
return [repr(s), s.rank, s.inner_rank, s.inner_shape, s.num_row_partitions, s.static_lengths(), s[0], repr(s[:1]),
        s.static_lengths(ragged_lengths=False), s.is_uniform(0), s.is_uniform(1), s == s, s.dtype.name,
        [repr(p) for p in s.row_partitions], s.with_dtype(tf.int32).dtype.name]""")
