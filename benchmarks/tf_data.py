"""Epochs of `tf.data` pipelines: the guest TensorFlow beside the genuine one.

    python benchmarks/tf_data.py [--rounds 3] [--samples 60000] [--only shuffle]

Both sides run in one process, in turns; a figure is the best round. Set OMP_NUM_THREADS to the cores that are free.
"""
import argparse
import os
import tempfile
import time

import numpy as np

RECORDS, LINES, PICTURES = 10000, 50000, 200
SIZE = 28


def make_files(folder, images, labels):
    """Write records, lines and pictures; return the path of each kind."""
    from dragon.vm import tensorflow as tf
    train = tf.train
    for part in range(4):
        with tf.io.TFRecordWriter(f"{folder}/part{part}.tfrecord") as writer:
            for image, label in zip(images[:RECORDS], labels):
                features = train.Features(feature={
                    "image": train.Feature(bytes_list=train.BytesList(value=[image.tobytes()])),
                    "label": train.Feature(int64_list=train.Int64List(value=[int(label)]))})
                writer.write(train.Example(features=features).SerializeToString())
    with open(f"{folder}/lines.txt", "w", encoding="utf-8") as file:
        file.writelines(f"this is line number {number} of the text\n" for number in range(LINES))
    for number in range(PICTURES):
        pixels = np.kron(images[number], np.ones((8, 8), np.uint8))
        tf.io.write_file(f"{folder}/{number}.jpg", tf.io.encode_jpeg(np.stack([pixels] * 3, -1)))


def make_pipelines(tf, folder, images, labels):
    """Return {name: pipeline} of one side."""
    data, auto = tf.data, tf.data.AUTOTUNE
    slices = data.Dataset.from_tensor_slices
    floats = (images / 255.0).astype(np.float32)
    features = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}
    parts = [f"{folder}/part{number}.tfrecord" for number in range(4)]

    def scale(image, label):
        return tf.cast(image, tf.float32) / 255.0, label

    def parse(record):
        example = tf.io.parse_single_example(record, features)
        return tf.reshape(tf.io.decode_raw(example["image"], tf.uint8), [SIZE, SIZE]), example["label"]

    def read_picture(path):
        return tf.io.decode_jpeg(tf.io.read_file(path), channels=3)

    def generate():
        yield from zip(floats[:RECORDS], labels)
    signature = (tf.TensorSpec((SIZE, SIZE), tf.float32), tf.TensorSpec((), tf.int64))
    return {
        "slices, shuffle, batch, prefetch": slices((floats, labels)).shuffle(len(labels)).batch(32).prefetch(auto),
        "slices, batch": slices((floats, labels)).batch(32),
        "slices, shuffle, map, batch": slices((images, labels)).shuffle(1000).map(scale, auto).batch(128),
        "slices, batch, map": slices((images, labels)).batch(128).map(scale, auto).prefetch(auto),
        "map, cache, shuffle, batch": slices((images, labels)).map(scale, auto).cache().shuffle(10000).batch(128),
        "generator, batch": data.Dataset.from_generator(generate, output_signature=signature).batch(32),
        "range, filter, map, batch": data.Dataset.range(50000).filter(lambda x: x % 2 == 0).map(
            lambda x: x * 2).batch(100),
        "windows": data.Dataset.range(5000).window(20, shift=1, drop_remainder=True).flat_map(
            lambda window: window.batch(20)).batch(32),
        "records, batch": data.TFRecordDataset(parts[0]).batch(64),
        "records, interleave, batch": slices(parts).interleave(
            data.TFRecordDataset, cycle_length=4, num_parallel_calls=auto).batch(64),
        "records, parse, batch": data.TFRecordDataset(parts[0]).map(parse, auto).batch(64).prefetch(auto),
        "records, batch, parse": data.TFRecordDataset(parts[0]).batch(64).map(
            lambda records: tf.io.parse_example(records, features), auto).prefetch(auto),
        "lines, batch": data.TextLineDataset(f"{folder}/lines.txt").batch(128),
        "pictures, map, batch": data.Dataset.list_files(f"{folder}/*.jpg").map(read_picture, auto).batch(32),
    }


def run(dataset):
    """Return the seconds that one epoch takes."""
    begin = time.perf_counter()
    for _ in dataset:
        pass
    return time.perf_counter() - begin


def main():
    """Print a table of epochs."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--samples", type=int, default=60000)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as genuine
    from dragon.vm import tensorflow as guest
    random = np.random.default_rng(0)
    images = random.integers(0, 256, (options.samples, SIZE, SIZE), np.uint8)
    labels = random.integers(0, 10, options.samples)
    with tempfile.TemporaryDirectory() as folder:
        make_files(folder, images, labels)
        sides = [make_pipelines(tf, folder, images, labels) for tf in (guest, genuine)]
        print(f"{'pipeline':36}{'dragon, ms':>12}{'tensorflow, ms':>16}{'ratio':>8}")
        for name in sides[0]:
            if options.only in name:
                best = [float("inf")] * 2
                for _ in range(options.rounds):
                    best = [min(time, run(side[name])) for time, side in zip(best, sides)]
                print(f"{name:36}{best[0] * 1e3:12.1f}{best[1] * 1e3:16.1f}{best[0] / best[1]:8.2f}", flush=True)


if __name__ == "__main__":
    main()
