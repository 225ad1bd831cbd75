"""Iterators, errors, randomness, threads and experimental datasets of `tf.data` behave as genuine ones."""
import threading
import time

import numpy as np
import pytest
from harness import genuine
from harness.subresults import each

from dragon.vm import tensorflow as dtf
from harness.waiting import wait_for

MISTAKES = {
    "slices_of_scalar": lambda tf: tf.data.Dataset.from_tensor_slices(3),
    "slices_of_different_sizes": lambda tf: tf.data.Dataset.from_tensor_slices(([1, 2], [1, 2, 3])),
    "batch_of_shapes": lambda tf: list(tf.data.Dataset.range(1, 4).map(lambda n: tf.fill([n], 0)).batch(2)),
    "batch_size": lambda tf: list(tf.data.Dataset.range(3).batch(0)),
    "buffer_size": lambda tf: list(tf.data.Dataset.range(3).shuffle(0)),
    "prefetch_size": lambda tf: list(tf.data.Dataset.range(3).prefetch(-3)),
    "predicate": lambda tf: list(tf.data.Dataset.range(3).filter(lambda x: x + 1)),
    "flat_map": lambda tf: tf.data.Dataset.range(3).flat_map(lambda x: x).element_spec,
    "interleave": lambda tf: list(tf.data.Dataset.range(3).interleave(tf.data.Dataset.from_tensors, cycle_length=0)),
    "zip_list": lambda tf: tf.data.Dataset.zip([tf.data.Dataset.range(3)]),
    "zip_number": lambda tf: tf.data.Dataset.zip((tf.data.Dataset.range(3), 1)),
    "concatenate": lambda tf: tf.data.Dataset.range(3).concatenate(tf.data.Dataset.from_tensors("a")),
    "shard": lambda tf: list(tf.data.Dataset.range(3).shard(2, 2)),
    "window": lambda tf: list(tf.data.Dataset.range(3).window(0)),
    "windows": lambda tf: tf.data.Dataset.range(3).group_by_window(lambda x: x, lambda key, window: window),
    "padded": lambda tf: list(tf.data.Dataset.from_tensors([1, 2, 3]).padded_batch(1, padded_shapes=[2])),
    "padded_type": lambda tf: list(tf.data.Dataset.from_tensors([1]).padded_batch(1, padding_values=0.5)),
    "buckets": lambda tf: tf.data.Dataset.range(3).bucket_by_sequence_length(lambda x: x, [1], [1]),
    "generator": lambda tf: tf.data.Dataset.from_generator([1, 2], output_signature=tf.TensorSpec((), tf.int32)),
    "no_signature": lambda tf: tf.data.Dataset.from_generator(lambda: [1]),
    "both_signatures": lambda tf: tf.data.Dataset.from_generator(
        lambda: [1], tf.int32, output_signature=tf.TensorSpec((), tf.int32)),
    "single": lambda tf: tf.data.Dataset.range(3).get_single_element(),
    "length_infinite": lambda tf: len(tf.data.Dataset.range(3).repeat()),
    "length_unknown": lambda tf: len(tf.data.Dataset.range(3).filter(lambda x: x > 1)),
    "end": lambda tf: iter(tf.data.Dataset.range(0)).get_next(),
    "choices": lambda tf: list(tf.data.Dataset.choose_from_datasets(
        [tf.data.Dataset.range(3)], tf.data.Dataset.from_tensor_slices([0, 1]))),
    "assert_cardinality": lambda tf: list(tf.data.Dataset.range(3).apply(tf.data.experimental.assert_cardinality(5))),
    "option": lambda tf: setattr(tf.data.Options(), "nothing", 1),
    "apply": lambda tf: tf.data.Dataset.range(3).apply(lambda dataset: 1),
    "scan": lambda tf: list(tf.data.Dataset.range(3).scan(0, lambda state, x: x)),
}


@each("name", MISTAKES)
def test_mistakes_raise_what_genuine_ones_raise(name):
    with pytest.raises(Exception) as theirs:
        MISTAKES[name](genuine.tf)
    with pytest.raises(Exception) as mine:
        MISTAKES[name](dtf)
    assert theirs.type.__name__ in [kind.__name__ for kind in mine.type.__mro__], str(mine.value)
    assert len(str(mine.value)) > 10


def test_wrong_elements_of_generators_raise():
    for value, signature in ((("a",), dtf.int32), ([1.0, 2.0], dtf.float32)):
        dataset = dtf.data.Dataset.from_generator(lambda: [value], output_signature=dtf.TensorSpec((), signature))
        with pytest.raises((TypeError, ValueError)):
            list(dataset)


def test_iterators():
    for tf in (dtf, genuine.tf):
        iterator = iter(tf.data.Dataset.range(2))
        assert isinstance(iterator, tf.data.Iterator)
        assert int(iterator.get_next()) == 0
        optional = iterator.get_next_as_optional()
        assert bool(optional.has_value()) and int(optional.get_value()) == 1
        assert not bool(iterator.get_next_as_optional().has_value())
        with pytest.raises(tf.errors.OutOfRangeError):
            iterator.get_next()
        with pytest.raises(StopIteration):
            next(iterator)
        assert iterator.element_spec == tf.TensorSpec((), tf.int64)
        dataset = tf.data.Dataset.range(3)
        assert len(dataset) == 3 and bool(dataset)
        assert [[int(x) for x in dataset] for _ in range(2)] == [[0, 1, 2]] * 2
        assert int(dataset.reduce(tf.constant(0, tf.int64), lambda state, x: state + x)) == 3
        assert int(tf.data.Dataset.from_tensors(7).get_single_element()) == 7
        assert isinstance(dataset, tf.data.Dataset)
        options = tf.data.Options()
        options.deterministic = False
        options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
        chosen = dataset.with_options(options).map(lambda x: x).options()
        assert chosen.deterministic is False
        assert chosen.experimental_distribute.auto_shard_policy == tf.data.experimental.AutoShardPolicy.DATA
        assert int(tf.data.experimental.at(dataset, 2)) == 2


def test_elements_are_tensors_of_the_guest():
    element = next(iter(dtf.data.Dataset.from_tensor_slices({"x": [[1.0]], "y": ["a"]})))
    assert isinstance(element["x"], dtf.Tensor) and isinstance(element["y"], dtf.Tensor)
    assert element["x"].shape == [1] and element["y"].numpy() == b"a"
    assert not element["x"].numpy().flags.writeable or element["x"].numpy()[0] == 1.0


def test_datasets_are_shown():
    for tf in (dtf, genuine.tf):
        dataset = tf.data.Dataset.from_tensor_slices([1, 2])
        assert repr(dataset) == "<_TensorSliceDataset element_spec=TensorSpec(shape=(), dtype=tf.int32, name=None)>"
        assert repr(dataset.batch(2)).startswith("<_BatchDataset element_spec=TensorSpec(shape=(None,)")


def test_arrays_are_copied():
    array = np.arange(4)
    dataset = dtf.data.Dataset.from_tensor_slices(array).batch(2)
    array[:] = 9
    assert [batch.numpy().tolist() for batch in dataset] == [[0, 1], [2, 3]]


def test_slow_functions_run_in_threads():
    names = set()

    def slow(x):
        time.sleep(0.001)
        if threading.current_thread() is not threading.main_thread():
            names.add(threading.get_ident())
            assert wait_for(lambda: len(names) >= 4)  # nobody goes on before four threads have come
        return x * 2
    dataset = dtf.data.Dataset.range(30).map(slow, num_parallel_calls=4)
    assert [int(x) for x in dataset] == list(range(0, 60, 2))
    assert len(names) >= 4
    names.clear()
    unordered = dtf.data.Dataset.range(30).map(slow, num_parallel_calls=4, deterministic=False)
    assert sorted(int(x) for x in unordered) == list(range(0, 60, 2))
    assert len(names) >= 4


def test_prefetched_elements_are_made_ahead_and_errors_come_through():
    made = []

    def slow(x):
        time.sleep(0.003)
        made.append(int(x))
        if x == 8:
            raise RuntimeError("number eight")
        return x
    iterator = iter(dtf.data.Dataset.range(20).map(slow).prefetch(2))
    for _ in range(5):
        next(iterator)
    assert wait_for(lambda: len(made) > 5)
    with pytest.raises(RuntimeError, match="number eight"):
        list(iterator)
    before = threading.active_count()
    iterators = [iter(dtf.data.Dataset.range(1000).map(lambda x: (time.sleep(0.001), x)[1]).prefetch(2))
                 for _ in range(3)]
    for iterator in iterators:
        [next(iterator) for _ in range(6)]
    del iterators, iterator
    assert wait_for(lambda: threading.active_count() <= before)


def test_errors_in_threads_come_through():
    def fail(x):
        time.sleep(0.001)
        if x == 12:
            raise ValueError("twelve")
        return x
    with pytest.raises(ValueError, match="twelve"):
        list(dtf.data.Dataset.range(20).map(fail, num_parallel_calls=2))
    kept = dtf.data.Dataset.range(20).map(lambda x: dtf.debugging.check_numerics(
        1.0 / dtf.cast(x - 3, dtf.float32), "bad")).ignore_errors()
    assert len(list(kept)) == 19


def test_samples_follow_weights():
    zeros, ones = dtf.data.Dataset.from_tensors(0).repeat(), dtf.data.Dataset.from_tensors(1).repeat()
    mixed = dtf.data.Dataset.sample_from_datasets([zeros, ones], weights=[0.25, 0.75], seed=3)
    drawn = [int(x) for x in mixed.take(2000)]
    assert 0.7 < np.mean(drawn) < 0.8
    assert drawn == [int(x) for x in mixed.take(2000)]
    assert int(mixed.cardinality()) == dtf.data.INFINITE_CARDINALITY


def test_classes_are_resampled():
    dataset = dtf.data.Dataset.range(8000).map(lambda x: dtf.cast(x % 10 == 0, dtf.int32))
    even = dataset.rejection_resample(lambda x: x, target_dist=[0.5, 0.5], seed=1)
    labels = [int(label) for label, _ in even]
    assert 0.4 < np.mean(labels[100:]) < 0.6


def test_partial_caches_are_not_kept():
    calls = []
    dataset = dtf.data.Dataset.range(5).map(lambda x: (calls.append(int(x)), x)[1]).cache()
    list(dataset.take(2))
    assert calls == [0, 1]
    assert [int(x) for x in dataset] == [int(x) for x in dataset] == list(range(5))
    assert calls == [0, 1, 0, 1, 2, 3, 4]


def test_nested_structures_and_none():
    for tf in (dtf, genuine.tf):
        dataset = tf.data.Dataset.from_tensor_slices(({"a": [1, 2], "b": ([3, 4],)}, [5, 6]))
        elements = list(dataset.map(lambda x, y: (x["a"] + x["b"][0] + y, None)).as_numpy_iterator())
        assert [element[0].item() for element in elements] == [9, 12]
        assert all(element[1] is None for element in elements)


def test_reducers_and_lists():
    for tf in (dtf, genuine.tf):
        reducer = tf.data.experimental.Reducer(lambda key: tf.constant(0, tf.int64), lambda state, x: state + x,
                                               lambda state: state)
        grouped = tf.data.Dataset.range(6).apply(tf.data.experimental.group_by_reducer(lambda x: x % 2, reducer))
        assert [int(x) for x in grouped] == [6, 9]
        assert [int(x) for x in tf.data.experimental.from_list([1, 2])] == [1, 2]


@pytest.mark.parametrize("call", [
    lambda tf: tf.data.Dataset.range(3).sparse_batch(2, [3]),
])
def test_what_is_missing_says_so(call):
    with pytest.raises(NotImplementedError, match="Dataset"):
        call(dtf)


def test_flat_maps_over_nothing_are_empty():
    def fail(x):
        raise RuntimeError("never called with an element")
    empty = dtf.data.Dataset.range(3).filter(lambda x: x > 5)
    assert list(empty.flat_map(fail).batch(2)) == []
    assert list(empty.interleave(fail).batch(2)) == []


def stop(*numbers):
    """Return the last number, or raise what would end an iterator."""
    if int(numbers[-1]) == 2:
        raise StopIteration("of the user's")
    return numbers[-1]


STOPS = {
    "map": lambda data, tf: data.map(stop),
    "map in threads": lambda data, tf: data.map(stop, num_parallel_calls=2),
    "map of py_function": lambda data, tf: data.map(lambda number: tf.py_function(stop, [number], tf.int64)),
    "filter": lambda data, tf: data.filter(lambda number: stop(number) >= 0),
    "take_while": lambda data, tf: data.take_while(lambda number: stop(number) >= 0),
    "flat_map": lambda data, tf: data.flat_map(lambda number: tf.data.Dataset.from_tensors(stop(number))),
    "interleave": lambda data, tf: data.interleave(lambda number: tf.data.Dataset.from_tensors(stop(number))),
    "scan": lambda data, tf: data.scan(np.int64(0), lambda state, number: (state, stop(number))),
    "reduce": lambda data, tf: [data.reduce(np.int64(0), stop)],
}


@each("name", STOPS)
def test_stop_iterations_of_users_do_not_end_the_data(name):
    with pytest.raises(dtf.errors.InvalidArgumentError, match="OutOfRangeError: StopIteration: of the user's"):
        list(STOPS[name](dtf.data.Dataset.range(4), dtf))


def test_structures_in_tuples():
    pair = [1, 2]
    for structure in (({"a": pair}, pair), ((pair,), pair), (pair, {"a": pair}), ((pair,), {"b": pair})):
        mine, theirs = (list(tf.data.Dataset.from_tensor_slices(structure).as_numpy_iterator())
                        for tf in (dtf, genuine.tf))
        assert mine == theirs
