"""Record files, examples and serialized tensors are read by both, whoever wrote them."""
import numpy as np
import pytest
from harness import genuine
from harness.checksum import crc32c

from dragon import _C
from dragon.vm import tensorflow as dtf
from dragon.vm.tensorflow.core.examples.example import Example

RECORDS = [b"", b"a", b"x" * 25, bytes(range(256)) * 20]
FEATURES = {
    "fixed": lambda io, tf: io.FixedLenFeature([2], tf.int64),
    "scalar": lambda io, tf: io.FixedLenFeature([], tf.float32),
    "text": lambda io, tf: io.FixedLenFeature([], tf.string, default_value="none"),
    "missing": lambda io, tf: io.FixedLenFeature([3], tf.int64, default_value=[7, 8, 9]),
    "variable": lambda io, tf: io.VarLenFeature(tf.int64),
    "nothing": lambda io, tf: io.VarLenFeature(tf.string),
    "steps": lambda io, tf: io.FixedLenSequenceFeature([2], tf.float32, allow_missing=True),
    "ragged": lambda io, tf: io.RaggedFeature(tf.int64, value_key="variable"),
}


def make_records(tf):
    """Return the bytes of three examples."""
    def feature(kind, values):
        lists = {"int64": ("int64_list", tf.train.Int64List), "float": ("float_list", tf.train.FloatList),
                 "bytes": ("bytes_list", tf.train.BytesList)}
        name, make = lists[kind]
        return tf.train.Feature(**{name: make(value=values)})
    records = []
    for number in range(3):
        features = {"fixed": feature("int64", [number, -5]), "scalar": feature("float", [number / 3]),
                    "variable": feature("int64", list(range(-2, number * 150, 7))),
                    "steps": feature("float", [0.5] * (2 * number))}
        if number != 1:
            features["text"] = feature("bytes", [b"row %d" % number])
        records.append(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
    return records


@pytest.mark.parametrize("compression", [None, "GZIP", "ZLIB"])
def test_record_files_are_read_both_ways(tmp_path, compression):
    for writer, reader in ((dtf, genuine.tf), (genuine.tf, dtf), (dtf, dtf)):
        path = str(tmp_path / f"{id(writer)}.tfrecord")
        with writer.io.TFRecordWriter(path, compression) as file:
            for record in RECORDS:
                file.write(record)
        dataset = reader.data.TFRecordDataset(path, compression_type=compression)
        assert list(dataset.as_numpy_iterator()) == RECORDS


def test_checksums():
    assert crc32c(b"123456789") == 0xE3069283
    data = bytes(range(256)) * 3
    for size in (0, 1, 7, 8, 9, 63, 700):
        for start in (0, 3):
            part = data[start:start + size]
            assert _C.crc32c(part) == crc32c(part) == _C.crc32c(memoryview(part))


def test_broken_bytes_crash_nothing():
    records, random = make_records(genuine.tf), np.random.default_rng(0)
    for _ in range(300):
        broken = bytearray(records[2][:int(random.integers(len(records[2])))])
        for place in random.integers(max(len(broken), 1), size=3):
            broken[place:place + 1] = bytes(random.integers(256, size=1).tolist())
        for kind in (1, 2, 3):
            counts, _ = _C.example_column([bytes(broken)], "variable", kind)
            assert np.frombuffer(counts, np.int64)[0] >= -3
        assert _C.split_records(bytes(broken))[1] <= len(broken)
    for tf in (dtf, genuine.tf):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.parse_single_example(b"no example", {"a": tf.io.VarLenFeature(tf.int64)})
    for call in (lambda: _C.example_column([b""], "a", 4), lambda: _C.example_column([1], "a", 1),
                 lambda: _C.split_records("text"), lambda: _C.crc32c(None)):
        with pytest.raises((TypeError, ValueError)):
            call()


def test_broken_records_raise(tmp_path):
    path = tmp_path / "broken"
    with dtf.io.TFRecordWriter(str(path)) as file:
        file.write(b"hello world")
    data = bytearray(path.read_bytes())
    for broken in (data[:-3], data[:20] + b"X" + data[21:], b"X" + data[1:]):
        path.write_bytes(broken)
        for tf in (dtf, genuine.tf):
            with pytest.raises(tf.errors.DataLossError):
                list(tf.data.TFRecordDataset(str(path)))
    for tf in (dtf, genuine.tf):
        with pytest.raises(tf.errors.NotFoundError):
            list(tf.data.TFRecordDataset(str(tmp_path / "absent")))


def plain(value):
    """Return a tensor of any kind in a form to compare."""
    if hasattr(value, "dense_shape"):
        return value.indices.numpy().tolist(), plain(value.values), value.dense_shape.numpy().tolist()
    if hasattr(value, "to_list"):
        return value.to_list()
    array = np.asarray(value.numpy())
    return value.dtype.name, array.tolist()


@pytest.mark.parametrize("name", FEATURES)
def test_examples_are_parsed(name):
    records = make_records(genuine.tf)
    assert Example.FromString(records[2]).SerializeToString()
    found = []
    for tf in (dtf, genuine.tf):
        features = {name: FEATURES[name](tf.io, tf)}
        many = tf.io.parse_example(tf.constant(records), features)[name]
        single = [plain(tf.io.parse_single_example(record, features)[name]) for record in records]
        found.append((plain(many), single))
    assert found[0] == found[1]


@pytest.mark.parametrize("features", [
    lambda tf: {"fixed": tf.io.FixedLenFeature([3], tf.int64)},
    lambda tf: {"fixed": tf.io.FixedLenFeature([2], tf.float32)},
    lambda tf: {"absent": tf.io.FixedLenFeature([2], tf.int64)},
])
def test_examples_without_the_features_raise(features):
    record = make_records(genuine.tf)[0]
    for tf in (dtf, genuine.tf):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.parse_single_example(record, features(tf))


def test_sequence_examples_are_parsed():
    found = []
    for tf in (dtf, genuine.tf):
        example = genuine.tf.train.SequenceExample()
        example.context.feature["id"].int64_list.value.append(4)
        for step in range(3):
            example.feature_lists.feature_list["tokens"].feature.add().int64_list.value.extend(range(step))
            example.feature_lists.feature_list["pairs"].feature.add().float_list.value.extend([step, 0.5])
        context, steps = tf.io.parse_single_sequence_example(
            example.SerializeToString(), {"id": tf.io.FixedLenFeature([], tf.int64)},
            {"tokens": tf.io.RaggedFeature(tf.int64), "pairs": tf.io.FixedLenSequenceFeature([2], tf.float32)})
        found.append((plain(context["id"]), {name: plain(value) for name, value in steps.items()}))
    assert found[0] == found[1]


def test_several_sequence_examples_are_parsed():
    records = []
    for number in range(3):
        example = genuine.tf.train.SequenceExample()
        example.context.feature["id"].int64_list.value.append(number)
        for step in range(number):
            example.feature_lists.feature_list["pairs"].feature.add().float_list.value.extend([step, 0.5])
        example.feature_lists.feature_list["pairs"].SetInParent()
        records.append(example.SerializeToString())
    found = []
    for tf in (dtf, genuine.tf):
        context, steps, lengths = tf.io.parse_sequence_example(
            records, {"id": tf.io.FixedLenFeature([], tf.int64)},
            {"pairs": tf.io.FixedLenSequenceFeature([2], tf.float32)})
        found.append((plain(context["id"]), plain(steps["pairs"]), plain(lengths["pairs"])))
    assert found[0] == found[1]


@pytest.mark.parametrize("value", [
    np.arange(6, dtype=np.float32).reshape(2, 3), np.array(5, np.int64), np.array([True, False]),
    np.zeros((0, 2), np.int32), np.array([1.5, -2.0], np.float16), np.array([[b"a", b""]], object),
    np.array([1 + 2j], np.complex64), np.array([3, 200], np.uint8),
])
def test_serialized_tensors_are_read_both_ways(value):
    for writer, reader in ((dtf, genuine.tf), (genuine.tf, dtf)):
        tensor = writer.constant(value)
        data = writer.io.serialize_tensor(tensor).numpy()
        read = reader.io.parse_tensor(data, reader.as_dtype(tensor.dtype.name))
        assert plain(read) == plain(tensor)
        assert read.shape.as_list() == list(value.shape)


def test_tensors_of_lists_are_read():
    for value, dtype in (([1.0, 2.0], "float32"), ([1, 1, 1], "int64"), ([True], "bool"), ([1, 2], "int32")):
        proto = genuine.tf.make_tensor_proto(value, dtype=dtype)
        assert dtf.io.parse_tensor(proto.SerializeToString(), dtype).numpy().tolist() == value
