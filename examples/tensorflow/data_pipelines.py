"""Input pipelines: records in files, parallel maps, interleaving, windows, padded batches, generators."""
import os
import tempfile

import numpy as np
import tensorflow as tf

folder = tempfile.mkdtemp()
for shard in range(3):
    with tf.io.TFRecordWriter(os.path.join(folder, f"part-{shard}.tfrecord")) as writer:
        for index in range(4):
            number = shard * 4 + index
            feature = {
                "number": tf.train.Feature(int64_list=tf.train.Int64List(value=[number])),
                "values": tf.train.Feature(float_list=tf.train.FloatList(value=[number / 2, number / 4])),
                "name": tf.train.Feature(bytes_list=tf.train.BytesList(value=[f"item {number}".encode()])),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())

SCHEMA = {
    "number": tf.io.FixedLenFeature([], tf.int64),
    "values": tf.io.FixedLenFeature([2], tf.float32),
    "name": tf.io.FixedLenFeature([], tf.string),
}


def parse(record):
    example = tf.io.parse_single_example(record, SCHEMA)
    return example["values"] * 2, example["number"], example["name"]


files = tf.data.Dataset.list_files(os.path.join(folder, "*.tfrecord"), shuffle=False)
records = files.interleave(tf.data.TFRecordDataset, cycle_length=3, num_parallel_calls=tf.data.AUTOTUNE)
dataset = records.map(parse, num_parallel_calls=tf.data.AUTOTUNE).batch(5).prefetch(tf.data.AUTOTUNE)
for values, numbers, names in dataset:
    print(values.shape, numbers.numpy(), names.numpy()[0])

ranges = tf.data.Dataset.range(10)
print("windows", [window.numpy().tolist() for window in ranges.window(3, shift=2, drop_remainder=True).flat_map(
    lambda window: window.batch(3))])
print("filtered", list(ranges.filter(lambda x: x % 3 == 0).as_numpy_iterator()))
print("zipped", [(int(a), int(b)) for a, b in tf.data.Dataset.zip((ranges, ranges.skip(5))).take(2)])
print("sum", ranges.reduce(np.int64(0), lambda total, x: total + x).numpy())
print("shuffled", sorted(x.numpy() for x in ranges.shuffle(10, seed=1)))
print("cardinality", ranges.batch(3).cardinality().numpy(), len(ranges.repeat(2)))


def sentences():
    for length in (2, 4, 3, 1):
        yield list(range(1, length + 1))


dataset = tf.data.Dataset.from_generator(sentences, output_signature=tf.TensorSpec((None,), tf.int32))
for batch in dataset.padded_batch(2):
    print(batch.numpy().tolist())
print(dataset.element_spec)
cached = tf.data.Dataset.from_tensor_slices({"x": np.arange(6.0), "y": np.arange(6)}).cache().batch(4)
for batch in cached.concatenate(cached.take(1)):
    print({key: value.numpy().tolist() for key, value in batch.items()})
