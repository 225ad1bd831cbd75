"""Ragged tensors: making, cutting, arithmetic and joins as of genuine ones."""
import numpy as np
import pytest
from harness import genuine
from harness.expressions import check
from harness.subresults import each

from dragon.vm import tensorflow as dtf

ROWS = [[1, 2], [], [3, 4, 5]]
DEEP = [[[1.0, 2.0], []], [[3.0]], []]


def rows(tf):
    """Return a ragged tensor with one ragged axis."""
    return tf.ragged.constant(ROWS)


def deep(tf):
    """Return a ragged tensor with two ragged axes."""
    return tf.ragged.constant(DEEP)


CALLS = {
    "constant": rows,
    "constant_deep": deep,
    "constant_strings": lambda tf: tf.ragged.constant([["a"], ["b", "c"]]),
    "constant_inner": lambda tf: tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1),
    "constant_inner_shape": lambda tf: tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], inner_shape=(2,)),
    "constant_dtype": lambda tf: tf.ragged.constant([[1], []], dtype=tf.float64),
    "row_splits": lambda tf: tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 2, 3]),
    "row_lengths": lambda tf: tf.RaggedTensor.from_row_lengths([1, 2, 3], [2, 0, 1]),
    "row_starts": lambda tf: tf.RaggedTensor.from_row_starts([1, 2, 3], [0, 2, 2]),
    "row_limits": lambda tf: tf.RaggedTensor.from_row_limits([1, 2, 3], [2, 2, 3]),
    "value_rowids": lambda tf: tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 0, 2], nrows=4),
    "uniform": lambda tf: tf.RaggedTensor.from_uniform_row_length([1, 2, 3, 4], 2),
    "nested_splits": lambda tf: tf.RaggedTensor.from_nested_row_splits([1, 2, 3], [[0, 2, 2], [0, 1, 3]]),
    "from_tensor": lambda tf: tf.RaggedTensor.from_tensor([[1, 0, 2], [3, 0, 0]], padding=0),
    "from_tensor_lengths": lambda tf: tf.RaggedTensor.from_tensor([[1, 0, 2], [3, 0, 0]], lengths=[1, 2]),
    "from_sparse": lambda tf: tf.RaggedTensor.from_sparse(tf.sparse.from_dense([[1, 2], [0, 0], [3, 0]])),
    "to_tensor": lambda tf: rows(tf).to_tensor(),
    "to_tensor_default": lambda tf: rows(tf).to_tensor(-1, shape=[None, 2]),
    "to_tensor_deep": lambda tf: deep(tf).to_tensor(9.0),
    "to_tensor_strings": lambda tf: tf.ragged.constant([["a"], ["b", "c"]]).to_tensor(b"-"),
    "to_sparse": lambda tf: tf.sparse.to_dense(rows(tf).to_sparse()),
    "to_sparse_deep": lambda tf: deep(tf).to_sparse().indices,
    "item": lambda tf: rows(tf)[2],
    "item_negative": lambda tf: deep(tf)[-2],
    "item_slice": lambda tf: rows(tf)[1:],
    "item_columns": lambda tf: rows(tf)[:, :1],
    "item_step": lambda tf: rows(tf)[::2, ::-1],
    "item_pair": lambda tf: rows(tf)[2, 1],
    "item_deep": lambda tf: deep(tf)[:, :1, 1:],
    "lengths": lambda tf: rows(tf).row_lengths(),
    "lengths_deep": lambda tf: deep(tf).row_lengths(axis=2),
    "bounding": lambda tf: deep(tf).bounding_shape(),
    "rowids": lambda tf: rows(tf).value_rowids(),
    "merge": lambda tf: deep(tf).merge_dims(0, 1),
    "merge_inner": lambda tf: deep(tf).merge_dims(1, 2),
    "add": lambda tf: rows(tf) + rows(tf),
    "scalar": lambda tf: 2 * rows(tf) - 1,
    "columns": lambda tf: rows(tf) + [[10], [20], [30]],
    "compare": lambda tf: rows(tf) > 2,
    "negative": lambda tf: -rows(tf),
    "map_flat": lambda tf: tf.ragged.map_flat_values(lambda x: x * x, rows(tf)),
    "stack": lambda tf: tf.ragged.stack([rows(tf), rows(tf)[:2]]),
    "stack_dense": lambda tf: tf.ragged.stack([tf.constant([1, 2]), tf.constant([3])]),
    "stack_inner": lambda tf: tf.ragged.stack([rows(tf), rows(tf)], axis=1),
    "boolean_mask": lambda tf: tf.ragged.boolean_mask(
        rows(tf), tf.ragged.constant([[True, False], [], [False, True, True]])),
    "boolean_mask_rows": lambda tf: tf.ragged.boolean_mask(rows(tf), [True, True, False]),
    "range": lambda tf: tf.ragged.range([3, 0, 2]),
    "range_limits": lambda tf: tf.ragged.range([0, 5, 8], [3, 3, 12], [1, -1, 2]),
    "segment_ids": lambda tf: tf.ragged.row_splits_to_segment_ids([0, 2, 2, 3]),
    "row_splits_of": lambda tf: tf.ragged.segment_ids_to_row_splits([0, 0, 2], num_segments=4),
    "partitions": lambda tf: tf.ragged.stack_dynamic_partitions([10, 11, 12, 13], [2, 0, 2, 1], 4),
    "sum_rows": lambda tf: tf.reduce_sum(rows(tf), axis=1),
    "sum_columns": lambda tf: tf.reduce_sum(rows(tf), axis=0),
    "sum_all": lambda tf: tf.reduce_sum(deep(tf)),
    "sum_inner": lambda tf: tf.reduce_sum(deep(tf), axis=2),
    "sum_middle": lambda tf: tf.reduce_sum(deep(tf), axis=1),
    "sum_outer": lambda tf: tf.reduce_sum(deep(tf), axis=0),
    "sum_keepdims": lambda tf: tf.reduce_sum(rows(tf), axis=1, keepdims=True),
    "mean_rows": lambda tf: tf.reduce_mean(tf.cast(rows(tf), tf.float32)[::2], axis=1),
    "max_rows": lambda tf: tf.reduce_max(rows(tf), axis=1),
    "min_rows": lambda tf: tf.reduce_min(tf.cast(rows(tf), tf.float32), axis=-1),
    "any_rows": lambda tf: tf.reduce_any(rows(tf) > 3, axis=1),
    "all_rows": lambda tf: tf.reduce_all(rows(tf) > 2, axis=1),
    "concat": lambda tf: tf.concat([rows(tf), rows(tf)], axis=0),
    "concat_rows": lambda tf: tf.concat([rows(tf), [[7], [8], [9]]], axis=1),
    "cast": lambda tf: tf.cast(rows(tf), tf.float32),
    "abs": lambda tf: tf.abs(-rows(tf)),
    "square": lambda tf: tf.square(rows(tf)),
    "gather": lambda tf: tf.gather(rows(tf), [2, 0]),
    "gather_ragged": lambda tf: tf.gather(tf.constant([10, 20, 30, 40, 50, 60]), rows(tf)),
    "reverse": lambda tf: tf.reverse(rows(tf), [1]),
    "reverse_both": lambda tf: tf.reverse(deep(tf), [0, 2]),
    "reverse_middle": lambda tf: tf.reverse(deep(tf), [-2]),
    "reverse_strings": lambda tf: tf.reverse(tf.ragged.constant([["a"], ["b", "c"]]), axis=[1]),
    "tile": lambda tf: tf.tile(rows(tf), [1, 2]),
    "tile_both": lambda tf: tf.tile(rows(tf), [2, 3]),
    "tile_deep": lambda tf: tf.tile(deep(tf), [1, 2, 2]),
    "tile_none": lambda tf: tf.tile(rows(tf), [0, 2]),
    "tile_empty_rows": lambda tf: tf.tile(rows(tf), [2, 0]),
    "tile_nothing": lambda tf: tf.tile(rows(tf), [0, 0]),
    "tile_deep_empty": lambda tf: tf.tile(deep(tf), [1, 0, 2]),
    "tile_deep_nothing": lambda tf: tf.tile(deep(tf), [2, 2, 0]),
    "tile_dense_nothing": lambda tf: tf.tile(
        tf.RaggedTensor.from_row_splits(tf.reshape(tf.range(8), [4, 2]), [0, 3, 4]), [2, 1, 0]),
    "map_fn": lambda tf: tf.map_fn(tf.math.square, rows(tf)),
    "map_fn_deep": lambda tf: tf.map_fn(lambda row: row * 2.0, deep(tf)),
    "map_fn_to_numbers": lambda tf: tf.map_fn(tf.reduce_sum, rows(tf), fn_output_signature=tf.int32),
    "map_fn_to_rows": lambda tf: tf.map_fn(tf.range, tf.constant([3, 0, 2]), fn_output_signature=tf.RaggedTensorSpec(
        [None], tf.int32, 0)),
    "embedding_lookup": lambda tf: tf.nn.embedding_lookup(
        tf.reshape(tf.range(12.0), [6, 2]), rows(tf)),
    "palindrome": lambda tf: tf.concat([rows(tf), tf.reverse(rows(tf), [1])], axis=1),
    "expand_dims": lambda tf: tf.expand_dims(rows(tf), axis=2),
    "size": lambda tf: tf.size(rows(tf)),
    "where": lambda tf: tf.where(rows(tf) > 2, rows(tf), -rows(tf)),
    "ones_like": lambda tf: tf.ones_like(rows(tf)),
    "strings": lambda tf: tf.strings.upper(tf.ragged.constant([["a"], ["b", "c"]])),
}


def plain(value):
    """Return a tensor, ragged or dense, in a form to compare."""
    if hasattr(value, "to_list"):
        return value.dtype.name, list(value.shape), value.to_list(), value.ragged_rank
    array = np.asarray(value.numpy())
    return value.dtype.name, list(array.shape), array.tolist()


@each("name", CALLS)
def test_call_is_as_genuine(name):
    assert plain(CALLS[name](dtf)) == plain(CALLS[name](genuine.tf))


@pytest.mark.parametrize("call", [
    lambda tf: tf.RaggedTensor.from_row_splits([1, 2], [0, 3]),
    lambda tf: tf.RaggedTensor.from_row_lengths([1, 2], [1]),
    lambda tf: tf.ragged.constant([[1], 2]),
    lambda tf: tf.ragged.constant([[1, 2], [3]]) + tf.ragged.constant([[1], [3, 4]]),
    lambda tf: bool(tf.ragged.constant([[1]])),
])
def test_bad_input_raises(call):
    with pytest.raises(Exception) as theirs:
        call(genuine.tf)
    with pytest.raises(Exception) as mine:
        call(dtf)
    assert theirs.type.__name__ in [kind.__name__ for kind in mine.type.__mro__]


def test_gradients_reach_the_values():
    found = []
    for tf in (dtf, genuine.tf):
        values = tf.constant([1.0, 2.0, 3.0])
        with tf.GradientTape() as tape:
            tape.watch(values)
            ragged = tf.RaggedTensor.from_row_lengths(values, [2, 0, 1])
            total = tf.reduce_sum(ragged.to_tensor() ** 2) + tf.reduce_sum(tf.reduce_sum(ragged * ragged, axis=1))
        found.append(tape.gradient(total, values).numpy().tolist())
    assert found[0] == found[1]


def test_batches_of_ragged_rows():
    found = []
    for tf in (dtf, genuine.tf):
        dataset = tf.data.Dataset.from_tensor_slices((rows(tf), [1, 2, 3])).batch(2)
        found.append(([(plain(x), plain(y)) for x, y in dataset], str(dataset.element_spec)))
    assert found[0] == found[1]
    batched = [[plain(batch) for batch in tf.data.Dataset.range(4).map(tf.range).ragged_batch(3)]
               for tf in (dtf, genuine.tf)]
    assert batched[0] == batched[1]


@pytest.mark.parametrize("text", [
    "tf.reverse(tf.ragged.constant([[1, 2], []]), [2])", "tf.tile(tf.ragged.constant([[1, 2], []]), [2])",
    "tf.tile(tf.ragged.constant([[1, 2], []]), [1, -1])", "tf.tile(tf.ragged.constant([[1, 2], []]), [-1, 1])",
    "tf.ragged.constant([['one', 'two'], [3, 4]])"])
def test_errors_are_as_genuine(text):
    check(text)


PRINTED = {
    "[[1, 2], [], [3, 4, 5]]": lambda tf: rows(tf),
    "[[1, 2],\n [3, 4]]": lambda tf: tf.ragged.constant([[1, 2], [3, 4]]),
    "[[], []]": lambda tf: tf.ragged.constant([[], []]),
    "[[[b'I', b'have', b'a', b'cat'], [b'His', b'name', b'is', b'Mat']],\n [[b'Do', b'you', b'want', b'to', b'come', "
    "b'visit'],\n  [b\"I'm\", b'free', b'tomorrow']]]": lambda tf: tf.ragged.constant([
        [["I", "have", "a", "cat"], ["His", "name", "is", "Mat"]],
        [["Do", "you", "want", "to", "come", "visit"], ["I'm", "free", "tomorrow"]]]),
    "[[[1, 2],\n  [3, 4],\n  [5, 6]], [[7, 8]]]": lambda tf: tf.ragged.constant(
        [[[1, 2], [3, 4], [5, 6]], [[7, 8]]], ragged_rank=1),
    "[[0, 1, 2, ..., 1997, 1998, 1999]]": lambda tf: tf.ragged.range([2000]),
}


@pytest.mark.parametrize("text", PRINTED)
def test_text(text):
    """Rows are written as genuine TensorFlow writes them: boxes over several lines, long ones in short."""
    made = PRINTED[text](dtf)
    assert str(made) == repr(made) == f"<tf.RaggedTensor {text}>"
