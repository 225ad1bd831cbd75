"""Iterators of `tf.data` go on from checkpoints exactly where they were, in this process or another one."""
import functools
from itertools import islice

import numpy as np
import pytest

from dragon.vm import tensorflow as tf

Data = tf.data.Dataset
PIPELINES = {
    "range": lambda: Data.range(12),
    "shuffle": lambda: Data.range(12).shuffle(5, seed=3),
    "shuffle without a seed": lambda: Data.range(12).shuffle(12),
    "shuffle of all": lambda: Data.range(12).shuffle(20, seed=1).batch(2),
    "one order": lambda: Data.range(12).shuffle(5, seed=3, reshuffle_each_iteration=False),
    "shuffle of elements": lambda: Data.range(12).map(lambda x: x * 2).shuffle(4).batch(2),
    "shuffle, repeat": lambda: Data.range(5).shuffle(5).repeat(3).batch(2),
    "two shuffles": lambda: Data.range(12).shuffle(4).map(lambda x: x + 1).shuffle(3),
    "slices": lambda: Data.from_tensor_slices((np.arange(12), [str(n) for n in range(12)])).shuffle(12).batch(2),
    "zip": lambda: Data.zip(Data.range(12).shuffle(12), Data.range(12).map(lambda x: x * 3)),
    "enumerate": lambda: Data.range(12).shuffle(5).enumerate(7),
    "sample": lambda: Data.sample_from_datasets([Data.range(9), Data.range(50, 59)], rerandomize_each_iteration=True),
    "random": lambda: Data.random(rerandomize_each_iteration=True).take(12),
    "interleave": lambda: Data.range(4).shuffle(4).interleave(lambda x: Data.from_tensors(x).repeat(3), cycle_length=2),
    "filter": lambda: Data.range(20).shuffle(20).filter(lambda x: x % 2 == 0),
    "threads": lambda: Data.range(12).shuffle(12).map(lambda x: x + 1, tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE),
    "cache": lambda: Data.range(12).cache().shuffle(12),
    "padded": lambda: Data.range(12).map(lambda x: tf.fill([x % 3 + 1], x)).padded_batch(2),
    "window": lambda: Data.range(12).shuffle(12).window(2).flat_map(lambda window: window.batch(2)),
    "resampled": lambda: Data.range(40).shuffle(40).rejection_resample(lambda x: tf.cast(x % 2, tf.int32), [0.8, 0.2]),
}


FILES = {
    "records": lambda place: tf.data.TFRecordDataset(Data.list_files(f"{place}/*.records")).batch(2),
    "records in turns": lambda place: Data.list_files(f"{place}/*.records").interleave(tf.data.TFRecordDataset),
    "records of many": lambda place: tf.data.TFRecordDataset(Data.list_files(f"{place}/*.records"), None, None, 2),
    "lines": lambda place: tf.data.TextLineDataset(Data.list_files(f"{place}/*.csv")).skip(1).shuffle(4),
    "rows": lambda place: tf.data.experimental.CsvDataset(Data.list_files(f"{place}/*.csv"), [0, ""], header=True),
    "tables": lambda place: tf.data.experimental.make_csv_dataset(
        f"{place}/*.csv", 2, header=True, num_epochs=2, shuffle_buffer_size=5),
    "saved": lambda place: Data.load(
        f"{place}/saved", reader_func=lambda parts: parts.shuffle(9).flat_map(lambda part: part)),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for part in range(5):
        with tf.io.TFRecordWriter(f"{folder}/{part}.records") as writer:
            for number in range(3):
                writer.write(f"{part} {number}".encode())
        (folder / f"{part}.csv").write_text("number,word\n" + "".join(f"{part},w{number}\n" for number in range(3)))
    Data.range(20).save(f"{folder}/saved", shard_func=lambda x: x % 5)
    return str(folder)


def read(elements, most=None):
    """Return elements as plain values."""
    return [str(tf.nest.map_structure(lambda x: x.numpy().tolist() if x.shape.rank else x.numpy(), element))
            for element in islice(elements, most)]


@pytest.mark.parametrize("epoch", [0, 2])
@pytest.mark.parametrize("name", [*PIPELINES, *FILES])
def test_another_process_goes_on(tmp_path, place, name, epoch):
    make = PIPELINES[name] if name in PIPELINES else functools.partial(FILES[name], place)
    dataset = make()
    for _ in range(epoch):
        read(dataset)
    iterator = iter(dataset)
    read(iterator, 3)
    path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "ck"))
    expected = read(iterator), read(dataset)
    assert expected[0]
    dataset = make()
    iterator = iter(dataset)
    tf.train.Checkpoint(iterator=iterator).restore(path)
    assert (read(iterator), read(dataset)) == expected


def test_this_process_goes_back_to_the_same_place_of_an_earlier_epoch(tmp_path):
    dataset = Data.range(30).shuffle(30)
    first = iter(dataset)
    read(first, 2)
    path = tf.train.Checkpoint(iterator=first).save(str(tmp_path / "ck"))
    expected = read(first)
    second = iter(dataset)
    checkpoint = tf.train.Checkpoint(iterator=second)
    assert read(second, 2)
    checkpoint.save(str(tmp_path / "other"))
    checkpoint.restore(path)
    assert read(second) == expected


def test_nothing_taken_and_all_taken(tmp_path):
    for taken in (0, 5):
        dataset = Data.range(5).shuffle(5)
        iterator = iter(dataset)
        read(iterator, taken)
        path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / str(taken)))
        expected = read(iterator)
        assert len(expected) == 5 - taken
        other = iter(Data.range(5).shuffle(5))
        tf.train.Checkpoint(iterator=other).restore(path)
        assert read(other) == expected


def test_what_was_taken_is_not_computed_again(tmp_path):
    calls = []

    def note(x):
        calls.append(int(x))
        return x

    def make():
        mapped = Data.range(1000).shuffle(1000, seed=1).map(note)
        return Data.zip(mapped.enumerate(), Data.range(1000)).batch(10).prefetch(1)
    iterator = iter(make())
    read(iterator, 50)
    path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "ck"))
    expected, other = read(iterator, 1), iter(make())
    tf.train.Checkpoint(iterator=other).restore(path)
    calls.clear()
    assert read(other, 1) == expected
    assert len(calls) <= 20 + 2  # two more, where the spec of the batch was asked for


def test_a_pipeline_of_other_shuffles_is_refused(tmp_path):
    iterator = iter(Data.range(5).shuffle(5))
    path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "ck"))
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        tf.train.Checkpoint(iterator=iter(Data.range(5))).restore(path)
