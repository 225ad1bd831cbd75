"""Records and messages that claim more than they hold: errors, without the memory that they ask for."""
import gzip
import struct
import tracemalloc

import pytest

from dragon.vm import tensorflow as tf
from dragon.io.sources.tfrecord import masked
from dragon.vm.shared.files.tensor_proto import TensorProto

LITTLE = 1 << 29


@pytest.fixture(autouse=True)
def _watched():
    tracemalloc.start()
    yield
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < LITTLE


def proto(dtype, *shape, **values):
    """Return a message of a tensor."""
    made = TensorProto(dtype=dtype, **values)
    for size in shape:
        made.tensor_shape.dim.add(size=size)
    return made.SerializeToString()


@pytest.mark.parametrize("data", [
    proto(1, 1 << 40, float_val=[1.0]), proto(1, 1 << 20, 1 << 20), proto(7, 1 << 40, string_val=[b"a"]),
    proto(1, -1), proto(1, -2, -3, float_val=[1.0]), proto(9, 1 << 62, 4), proto(99, 1), proto(1, *[1] * 100),
    proto(1, 5, tensor_content=b"123"), proto(1, 1 << 40, 0, 1 << 40, tensor_content=b"1234"),
    proto(8, 1, scomplex_val=[1.0]), b"\x22\xff\xff\xff\xff\x0f", b"\x42\xff\xff\xff\xff\xff\xff\xff\xff\x7fabc"])
def test_tensors(data):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.parse_tensor(data, tf.float32)


def test_short_lists_go_on():
    found = tf.io.parse_tensor(proto(1, 3, 4, float_val=[1.0, 2.0]), tf.float32).numpy()
    assert found.ravel().tolist() == [1] + 11 * [2]
    assert tf.io.parse_tensor(proto(7, 3, string_val=[b"a"]), tf.string).numpy().tolist() == [b"a"] * 3
    assert tf.io.parse_tensor(proto(3, 2), tf.int32).numpy().tolist() == [0, 0]


@pytest.mark.parametrize("data", [b"\x0a\xff\xff\xff\xff\x0f", b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7fabc",
                                  b"\x0a\x05\x0a\xff\xff\xff\x7f"])
def test_examples(data):
    for feature in (tf.io.FixedLenFeature([], tf.int64), tf.io.VarLenFeature(tf.string)):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.parse_single_example(data, {"x": feature})
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.parse_example([data], {"x": feature})


def test_records(tmp_path):
    path = str(tmp_path / "a")
    for length in (1 << 40, 1 << 63, (1 << 64) - 1):
        head = struct.pack("<Q", length)
        with open(path, "wb") as file:
            file.write(head + struct.pack("<I", masked(head)) + b"short")
        with pytest.raises(tf.errors.DataLossError):
            list(tf.data.TFRecordDataset(path))
    head = struct.pack("<Q", 1 << 28)
    with gzip.open(path, "wb") as file:
        file.write(head + struct.pack("<I", masked(head)))
        for _ in range(256):
            file.write(bytes(1 << 20))
    with pytest.raises(tf.errors.DataLossError, match="longer than its file"):
        list(tf.data.TFRecordDataset(path, compression_type="GZIP"))


def test_many_packed_records_are_read(tmp_path):
    path = str(tmp_path / "a")
    with tf.io.TFRecordWriter(path, "GZIP") as writer:
        for _ in range(300):
            writer.write(bytes(1 << 20))
    assert sum(1 for _ in tf.data.TFRecordDataset(path, compression_type="GZIP")) == 300


def test_fields_that_are_not_known_are_passed_over():
    """Those of the entries of maps as well, in which they are counted."""
    example = tf.train.Example(features=tf.train.Features(feature={
        "a": tf.train.Feature(int64_list=tf.train.Int64List(value=[3]))}))
    entry = example.SerializeToString()[4:]
    for more in (b"", b"\x18\x05", b"\x52\x01x"):
        inner = b"\x0a" + bytes([len(entry + more)]) + entry + more
        assert tf.train.Example.FromString(b"\x0a" + bytes([len(inner)]) + inner) == example
