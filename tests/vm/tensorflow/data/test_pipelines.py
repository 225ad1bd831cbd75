"""Pipelines of every transformation give the elements, the specs and the cardinality that genuine ones do."""
import collections

import numpy as np
import pytest
from harness import genuine
from harness.subresults import each

from dragon.vm import tensorflow as dtf

Point = collections.namedtuple("Point", ["x", "y"])
NUMBERS = np.arange(24, dtype=np.float32).reshape(12, 2)
LABELS = np.arange(12)


def pairs(tf):
    """Return a dataset of rows and their numbers."""
    return tf.data.Dataset.from_tensor_slices((NUMBERS, LABELS))


def lengths(tf):
    """Return a dataset of vectors of different lengths."""
    return tf.data.Dataset.range(1, 8).map(lambda n: tf.fill([n % 4 + 1], n))


PIPELINES = {
    "slices": lambda tf: tf.data.Dataset.from_tensor_slices(NUMBERS),
    "slices_list": lambda tf: tf.data.Dataset.from_tensor_slices([1, 2, 3]),
    "slices_pair": pairs,
    "slices_dict": lambda tf: tf.data.Dataset.from_tensor_slices({"b": [1, 2], "a": [[1.0], [2.0]]}),
    "slices_nested": lambda tf: tf.data.Dataset.from_tensor_slices(({"a": [1, 2]}, ([3, 4], ["x", "y"]))),
    "slices_namedtuple": lambda tf: tf.data.Dataset.from_tensor_slices(Point([1, 2], [3.0, 4.0])),
    "slices_strings": lambda tf: tf.data.Dataset.from_tensor_slices(["a", "bc", "d"]).batch(2),
    "tensors": lambda tf: tf.data.Dataset.from_tensors(([1, 2], 3.5)),
    "range": lambda tf: tf.data.Dataset.range(5),
    "range_step": lambda tf: tf.data.Dataset.range(10, 1, -3),
    "range_dtype": lambda tf: tf.data.Dataset.range(3, output_type=tf.int32),
    "range_batch": lambda tf: tf.data.Dataset.range(1, 10, 2).batch(2),
    "zip": lambda tf: tf.data.Dataset.zip((tf.data.Dataset.range(3), pairs(tf))),
    "zip_args": lambda tf: tf.data.Dataset.zip(tf.data.Dataset.range(3), tf.data.Dataset.range(5)),
    "zip_dict": lambda tf: tf.data.Dataset.zip({"a": tf.data.Dataset.range(3), "b": pairs(tf).batch(2)}),
    "map": lambda tf: pairs(tf).map(lambda x, y: (x * 2, y + 1)),
    "map_cast": lambda tf: pairs(tf).map(lambda x, y: tf.cast(y, tf.float32) / 255.0),
    "map_dict": lambda tf: pairs(tf).map(lambda x, y: {"x": x, "y": y}),
    "map_list": lambda tf: pairs(tf).map(lambda x, y: [x, y]),
    "map_batched": lambda tf: pairs(tf).batch(5).map(lambda x, y: (tf.reduce_sum(x, axis=1), y)),
    "map_parallel": lambda tf: tf.data.Dataset.range(50).map(lambda x: x * x, num_parallel_calls=4),
    "map_autotune": lambda tf: tf.data.Dataset.range(50).map(lambda x: x * x, num_parallel_calls=tf.data.AUTOTUNE),
    "map_constant": lambda tf: tf.data.Dataset.range(3).map(lambda x: (x, 1, 2.5)),
    "filter": lambda tf: tf.data.Dataset.range(10).filter(lambda x: x % 3 == 0),
    "take_while": lambda tf: tf.data.Dataset.range(10).take_while(lambda x: x < 4),
    "flat_map": lambda tf: tf.data.Dataset.range(4).flat_map(lambda n: tf.data.Dataset.range(n)),
    "flat_map_slices": lambda tf: pairs(tf).flat_map(lambda x, y: tf.data.Dataset.from_tensor_slices(x)),
    "interleave": lambda tf: tf.data.Dataset.range(1, 6).interleave(
        lambda n: tf.data.Dataset.from_tensors(n).repeat(6), cycle_length=2, block_length=4),
    "interleave_uneven": lambda tf: tf.data.Dataset.range(7).interleave(
        lambda n: tf.data.Dataset.range(n).map(lambda m: n * 10 + m), cycle_length=3),
    "interleave_parallel": lambda tf: tf.data.Dataset.range(7).interleave(
        lambda n: tf.data.Dataset.range(n).map(lambda m: n * 10 + m), cycle_length=3, num_parallel_calls=2),
    "batch": lambda tf: pairs(tf).batch(5),
    "batch_drop": lambda tf: pairs(tf).batch(5, drop_remainder=True),
    "batch_twice": lambda tf: pairs(tf).batch(2).batch(4),
    "batch_mapped": lambda tf: pairs(tf).map(lambda x, y: (x, y)).batch(5),
    "padded": lambda tf: lengths(tf).padded_batch(3),
    "padded_shapes": lambda tf: lengths(tf).padded_batch(
        3, padded_shapes=[6], padding_values=tf.constant(-1, tf.int64)),
    "padded_pair": lambda tf: lengths(tf).map(lambda x: (x, tf.size(x))).padded_batch(
        2, padded_shapes=([None], []), drop_remainder=True),
    "padded_dict": lambda tf: lengths(tf).map(lambda x: {"b": x, "a": tf.size(x)}).padded_batch(
        4, padded_shapes={"a": [], "b": [-1]}, padding_values={"a": 7, "b": tf.constant(9, tf.int64)}),
    "unbatch": lambda tf: pairs(tf).batch(5).unbatch(),
    "rebatch": lambda tf: pairs(tf).batch(5).rebatch(4),
    "rebatch_sizes": lambda tf: pairs(tf).batch(5).rebatch([1, 3], drop_remainder=True),
    "repeat": lambda tf: tf.data.Dataset.range(3).repeat(2),
    "repeat_batch": lambda tf: pairs(tf).repeat(2).batch(7),
    "repeat_none": lambda tf: tf.data.Dataset.range(3).repeat(0),
    "repeat_forever": lambda tf: tf.data.Dataset.range(3).repeat().take(7),
    "take": lambda tf: pairs(tf).take(5).batch(2),
    "take_all": lambda tf: tf.data.Dataset.range(3).take(-1),
    "skip": lambda tf: pairs(tf).skip(5).batch(3),
    "skip_all": lambda tf: tf.data.Dataset.range(3).skip(-1),
    "shard": lambda tf: pairs(tf).shard(5, 2),
    "concatenate": lambda tf: tf.data.Dataset.range(3).concatenate(tf.data.Dataset.range(5, 7)),
    "concatenate_shapes": lambda tf: pairs(tf).batch(5).take(1).concatenate(pairs(tf).batch(3, drop_remainder=True)),
    "enumerate": lambda tf: pairs(tf).enumerate(start=5).take(3),
    "scan": lambda tf: tf.data.Dataset.range(5).scan(
        tf.constant(0, tf.int64), lambda state, x: (state + x, state * 2)),
    "unique": lambda tf: tf.data.Dataset.from_tensor_slices([1, 37, 2, 37, 2, 1]).unique(),
    "cache": lambda tf: pairs(tf).map(lambda x, y: (x + 1, y)).cache().batch(5),
    "cache_slices": lambda tf: pairs(tf).cache(),
    "prefetch": lambda tf: pairs(tf).map(lambda x, y: (x + 1, y)).batch(2).prefetch(2),
    "prefetch_autotune": lambda tf: pairs(tf).batch(2).prefetch(tf.data.AUTOTUNE),
    "window": lambda tf: tf.data.Dataset.range(10).window(3, shift=2, stride=2).flat_map(lambda w: w.batch(3)),
    "window_drop": lambda tf: tf.data.Dataset.range(7).window(3, shift=1, drop_remainder=True).flat_map(
        lambda w: w.batch(3, drop_remainder=True)),
    "window_far": lambda tf: tf.data.Dataset.range(9).window(2, shift=4).flat_map(lambda w: w.batch(2)),
    "window_pairs": lambda tf: pairs(tf).window(5).flat_map(
        lambda x, y: tf.data.Dataset.zip((x.batch(5), y.batch(5)))),
    "group_by_window": lambda tf: tf.data.Dataset.range(10).group_by_window(
        lambda x: x % 2, lambda key, window: window.batch(3), window_size=3),
    "buckets": lambda tf: lengths(tf).bucket_by_sequence_length(
        lambda x: tf.shape(x)[0], [2, 4], [2, 3, 2]),
    "buckets_boundary": lambda tf: lengths(tf).filter(lambda x: tf.size(x) < 4).bucket_by_sequence_length(
        lambda x: tf.size(x), [3, 5], [2, 3, 2], pad_to_bucket_boundary=True),
    "choose": lambda tf: tf.data.Dataset.choose_from_datasets(
        [tf.data.Dataset.range(3), tf.data.Dataset.range(10, 13)], tf.data.Dataset.range(2).repeat(3)),
    "choose_stop": lambda tf: tf.data.Dataset.choose_from_datasets(
        [tf.data.Dataset.range(1), tf.data.Dataset.range(10, 13)], tf.data.Dataset.range(2).repeat(3), False),
    "generator": lambda tf: tf.data.Dataset.from_generator(
        lambda: iter([(1, [1.0, 2.0]), (2, [3.0])]),
        output_signature=(tf.TensorSpec((), tf.int32), tf.TensorSpec((None,), tf.float32))),
    "generator_types": lambda tf: tf.data.Dataset.from_generator(lambda: range(3), tf.int64),
    "generator_args": lambda tf: tf.data.Dataset.from_generator(
        lambda stop: np.arange(stop), args=[4], output_signature=tf.TensorSpec((), tf.int64)),
    "generator_dict": lambda tf: tf.data.Dataset.from_generator(
        lambda: iter([{"a": 1, "b": "x"}]),
        output_signature={"a": tf.TensorSpec((), tf.int32), "b": tf.TensorSpec((), tf.string)}),
    "apply": lambda tf: pairs(tf).apply(lambda dataset: dataset.take(2)),
    "counter": lambda tf: tf.data.Dataset.counter(3, 2).take(3),
    "experimental_unique": lambda tf: tf.data.Dataset.from_tensor_slices([3, 3, 4]).apply(
        tf.data.experimental.unique()),
    "experimental_dense_to_ragged": lambda tf: tf.data.Dataset.range(3).apply(
        tf.data.experimental.assert_cardinality(3)),
}


def plain(component):
    """Return a component of a NumPy iterator's element in a form to compare."""
    array = np.asarray(component)
    return array.dtype.str.replace("S", "O")[:2], array.shape, array.tolist()


def plain_element(element):
    """Return an element's structure and components in a form to compare."""
    if isinstance(element, dict):
        return {key: plain_element(part) for key, part in element.items()}
    if isinstance(element, tuple):
        return type(element).__name__, [plain_element(part) for part in element]
    return plain(element)


def spec_text(spec):
    """Return a structure of specs as text without names of modules."""
    return str(spec).replace("tf.", "").replace("TensorSpec", "Spec")


@each("name", PIPELINES, size=25)
def test_pipeline_is_as_genuine(name):
    ours, theirs = PIPELINES[name](dtf), PIPELINES[name](genuine.tf)
    expected = [plain_element(element) for element in theirs.as_numpy_iterator()]
    for _ in range(2):
        assert [plain_element(element) for element in ours.as_numpy_iterator()] == expected
    assert int(ours.cardinality()) == int(theirs.cardinality())
    assert spec_text(ours.element_spec) == spec_text(theirs.element_spec)


@each("size", [1, 3, 7, 12, 40])
@each("reshuffle", [True, False])
def test_shuffles_draw_the_genuine_order(size, reshuffle):
    orders = []
    for tf in (dtf, genuine.tf):
        dataset = tf.data.Dataset.range(12).shuffle(size, seed=5, reshuffle_each_iteration=reshuffle)
        batched = dataset.batch(5)
        orders.append([[int(element) for element in dataset] for _ in range(3)]
                      + [[element.numpy().tolist() for element in batched] for _ in range(2)])
    assert orders[0] == orders[1]


def test_looking_at_shuffles_changes_no_order():
    orders = []
    for tf in (dtf, genuine.tf):
        letters = tf.data.Dataset.from_tensor_slices(["a", "b", "c", "d"])
        pairs = tf.data.Dataset.zip((letters.shuffle(4, seed=2), tf.data.Dataset.range(4)))
        pairs = pairs.repeat(2).prefetch(1).batch(3)
        orders.append([plain_element(element) for element in pairs.as_numpy_iterator()])
        cached = letters.shuffle(4, seed=2).cache().batch(4)
        orders[-1] += [plain_element(element) for _ in range(2) for element in cached.as_numpy_iterator()]
    assert orders[0] == orders[1]


@pytest.mark.parametrize("size", [3, 12, 30])
@pytest.mark.parametrize("mapped", [True, False])
def test_repeated_shuffles_draw_the_genuine_order(size, mapped):
    orders = []
    for tf in (dtf, genuine.tf):
        dataset = tf.data.Dataset.range(8)
        if mapped:
            dataset = dataset.map(lambda x: x + 1)
        dataset = dataset.shuffle(size, seed=7).repeat(3)
        orders.append([[int(element) for element in dataset] for _ in range(2)])
    assert orders[0] == orders[1]


def test_global_seed_gives_the_genuine_order():
    orders = []
    for tf in (dtf, genuine.tf):
        tf.random.set_seed(11)
        dataset = tf.data.Dataset.range(20).shuffle(20).map(lambda x: x)
        random = tf.data.Dataset.random().take(3)
        orders.append([[int(element) for element in dataset], [int(element) for element in random]])
    assert orders[0] == orders[1]
