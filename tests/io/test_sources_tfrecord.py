"""TFRecord files and Examples: TensorFlow's own are read, and TensorFlow reads ours."""
import gzip
import pickle
import random
import zlib

import numpy as np
import pytest

from dragon.io import DataError
from dragon.io.sources import TFRecord, TFRecordStream, TFRecordWriter, make_example, parse_example
from harness import example_reader

RECORDS = [b"", b"a", b"x" * 25, bytes(range(256)) * 20, b"y" * 300_000, b"z"]
FEATURES = {
    "integers": [1, -2, 2 ** 63 - 1, -2 ** 63], "floats": [0.5, -1.5, float("inf")], "texts": [b"ab", b"", b"\xff"],
    "one": [7], "name": ["Grüße".encode()],
}


@pytest.fixture(scope="module")
def tf():
    """Return the genuine TensorFlow."""
    return pytest.importorskip("tensorflow")


def write(path, records=RECORDS, compression=None):
    """Write records and return the path."""
    with TFRecordWriter(path, compression) as writer:
        for record in records:
            writer.write(record)
    return str(path)


@pytest.mark.parametrize("compression", [None, "gzip", "zlib"])
def test_tensorflow_reads_what_is_written_and_writes_what_is_read(tmp_path, tf, compression):
    ours, name = write(tmp_path / "a.tfrecord", compression=compression), (compression or "").upper()
    assert list(tf.data.TFRecordDataset(ours, name).as_numpy_iterator()) == RECORDS
    theirs = str(tmp_path / "b.tfrecord")
    with tf.io.TFRecordWriter(theirs, name) as writer:
        for record in RECORDS:
            writer.write(record)
    assert list(TFRecordStream([ours, theirs], compression)) == RECORDS * 2
    if compression is None:
        assert list(TFRecord([ours, theirs])) == RECORDS * 2


def test_records_are_found_by_number(tmp_path):
    paths = [write(tmp_path / "a-0.tfrecord"), write(tmp_path / "a-1.tfrecord", []), write(tmp_path / "a-2.tfrecord")]
    source = TFRecord(str(tmp_path / "a-{0..2}.tfrecord"), open_files=1)
    assert len(source) == 12 and source.read([7, 0, -1, 4, 4]) == [b"a", b"", b"z", RECORDS[4], RECORDS[4]]
    assert source.chunks() == [range(6), range(6, 12)]
    assert source.describe(8) == f"sample 8 (byte {16 + 17} of {paths[2]})"
    assert list(pickle.loads(pickle.dumps(source))) == RECORDS * 2
    with pytest.raises(IndexError):
        source[12]


def test_an_index_of_lines_is_taken_or_refused(tmp_path):
    path = write(tmp_path / "a.tfrecord")
    table = TFRecord(path).places[0]
    (tmp_path / "a.idx").write_text("".join(f"{place} {size}\n" for place, size in table))
    assert list(TFRecord(path, index=tmp_path / "a.idx")) == RECORDS
    for text, letter in (("0 17\n5\n", "got an index of other lines"), ("a b\n", "got an index of other lines"),
                         ("0 9999999\n", "expected one that lies within"), ("-5 20\n", "lies within"),
                         ("0 18\n", "corrupted record"), ("1 17\n", "corrupted record"),
                         (f"{1 << 70} 1\n", "other lines")):
        (tmp_path / "a.idx").write_text(text)
        with pytest.raises(DataError, match=letter):
            TFRecord(path, index=tmp_path / "a.idx")[0]
    with pytest.raises(ValueError, match="got 1 indexes for 2 files"):
        TFRecord([path, path], index=tmp_path / "a.idx")


def test_broken_files_are_errors_with_their_place(tmp_path):
    path = write(tmp_path / "a.tfrecord")
    whole = (tmp_path / "a.tfrecord").read_bytes()
    starts = TFRecord(path).places[0][:, 0].tolist()
    source = TFRecord(path)
    for place, letter in ((starts[3] + 100, "corrupted record"), (starts[3] + 2, "corrupted")):
        data = bytearray(whole)
        data[place] ^= 1
        (tmp_path / "a.tfrecord").write_bytes(data)
        with pytest.raises(DataError, match=letter) as caught:
            source[3]
        assert (caught.value.path, caught.value.offset) == (path, starts[3])
        found = []
        with pytest.raises(DataError, match="corrupted record") as caught:
            for record in TFRecordStream(path):
                found.append(record)
        assert found == RECORDS[:3] and caught.value.offset == starts[3]
    with pytest.raises(DataError, match="corrupted length"):
        TFRecord(path)
    for size in range(len(whole) - 20, len(whole)):
        (tmp_path / "a.tfrecord").write_bytes(whole[:size])
        with pytest.raises(DataError, match="fewer bytes|lies within"):
            source.read(range(6))
        if size != starts[-1]:
            with pytest.raises(DataError, match="truncated"):
                TFRecord(path)
            with pytest.raises(DataError, match="truncated"):
                list(TFRecordStream(path))


@pytest.mark.parametrize("compress, name", [(gzip.compress, "gzip"), (zlib.compress, "zlib")])
def test_broken_compressed_files_are_errors(tmp_path, compress, name):
    path = write(tmp_path / "a.tfrecord")
    plain = (tmp_path / "a.tfrecord").read_bytes()
    packed = compress(plain)
    for data in (packed[:-1], packed[:len(packed) // 2], b"\0" + packed, compress(plain[:-3])):
        (tmp_path / "a.tfrecord").write_bytes(data)
        with pytest.raises(DataError):
            list(TFRecordStream(path, name))
    (tmp_path / "a.tfrecord").write_bytes(compress(plain) + compress(plain))
    assert list(TFRecordStream(path, name)) == RECORDS * 2
    with pytest.raises(DataError, match="corrupted"):
        list(TFRecordStream(path))
    with pytest.raises(ValueError, match="got compression 'GZIP', expected None, 'gzip' or 'zlib'"):
        TFRecordStream(path, "GZIP")


def test_a_length_that_lies_takes_no_memory(tmp_path):
    import tracemalloc

    from dragon.io.sources.tfrecord import CHECK, LENGTH, masked
    length = LENGTH.pack(1 << 50)
    (tmp_path / "a").write_bytes(length + CHECK.pack(masked(length)) + bytes(100))
    (tmp_path / "b").write_bytes(gzip.compress(length + CHECK.pack(masked(length)) + bytes(300 << 20), 1))
    tracemalloc.start()
    for read in (lambda: TFRecord(tmp_path / "a"), lambda: list(TFRecordStream(tmp_path / "a"))):
        with pytest.raises(DataError, match="truncated"):
            read()
    assert tracemalloc.get_traced_memory()[1] < 4 << 20
    with pytest.raises(DataError, match="longer than its file can hold|truncated"):
        list(TFRecordStream(tmp_path / "b", "gzip"))
    tracemalloc.stop()


def test_a_writer_that_is_closed_says_so(tmp_path):
    writer = TFRecordWriter(tmp_path / "a")
    writer.write(b"abc")
    writer.flush()
    assert list(TFRecord(tmp_path / "a")) == [b"abc"]
    writer.close()
    writer.close()
    with pytest.raises(ValueError, match="after close"):
        writer.write(b"")


def test_examples_are_those_of_tensorflow(tf):
    def feature(values):
        if isinstance(values[0], bytes):
            return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
        if isinstance(values[0], float):
            return tf.train.Feature(float_list=tf.train.FloatList(value=values))
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))
    theirs = tf.train.Example(features=tf.train.Features(feature={key: feature(value)
                                                                  for key, value in FEATURES.items()}))
    found = parse_example(theirs.SerializeToString())
    assert {key: list(value) for key, value in found.items()} == FEATURES
    assert found["integers"].dtype == np.int64 and found["floats"].dtype == np.float32
    assert tf.train.Example.FromString(make_example(FEATURES)) == theirs


def test_dicts_become_examples_and_return():
    given = {"a": 3, "b": 2.5, "c": "text", "d": b"bytes", "e": np.arange(6).reshape(2, 3), "f": np.float16(1.5),
             "g": [True, False], "h": ["x", b"y"], "i": np.array(["ab", "c"]), "j": None, "k": np.zeros(0, "i4"),
             "l": [], "m": np.uint64(5)}
    found = parse_example(make_example(given))
    assert found.pop("j") is None
    assert {key: list(value) for key, value in found.items()} == {
        "a": [3], "b": [2.5], "c": [b"text"], "d": [b"bytes"], "e": [0, 1, 2, 3, 4, 5], "f": [1.5], "g": [1, 0],
        "h": [b"x", b"y"], "i": [b"ab", b"c"], "k": [], "l": [], "m": [5]}
    assert parse_example(b"") == {} and parse_example(make_example({})) == {}


@pytest.mark.parametrize("value", [object(), 1j, np.uint64(2 ** 63), ["a", 1], [b"a", None], {"a": 1}])
def test_what_examples_do_not_hold_is_refused(value):
    with pytest.raises(TypeError, match="make_example: got"):
        make_example({"x": value})
    with pytest.raises(TypeError, match="make_example: got"):
        make_example({3: "x"})
    with pytest.raises(TypeError, match="make_example: got list"):
        make_example([])


def test_unpacked_numbers_and_strange_fields_are_read():
    # features { feature { key: "x" value { int64_list { value: 1 value: -1 } } } }, not packed, and a field 9 before.
    numbers = b"\x08\x01\x08" + b"\xff" * 9 + b"\x01"
    feature = b"\x1a" + bytes((len(numbers),)) + numbers
    entry = b"\x0a\x01x\x12" + bytes((len(feature),)) + feature
    features = b"\x48\x05\x0a" + bytes((len(entry),)) + entry
    assert parse_example(b"\x0a" + bytes((len(features),)) + features)["x"].tolist() == [1, -1]


@pytest.mark.parametrize("data", [b"\x0a\x05", b"\xff" * 20, b"\x0a\x04\x0a\x02\x0a\x05", b"\x07",
                                  b"\x0a\x07\x0a\x05\x0a\x01\xff\x12\x00"])
def test_broken_examples_are_errors(data):
    with pytest.raises(DataError, match="are no Example"):
        parse_example(data)


def same_features(left, right):
    """Return whether two examples hold the same: lists of bytes, arrays to the bit, None."""
    return left.keys() == right.keys() and all(
        type(left[key]) is type(right[key]) and (left[key] == right[key] if not isinstance(left[key], np.ndarray) else
                                                 (left[key].dtype, left[key].tobytes()) == (
                                                     right[key].dtype, right[key].tobytes())) for key in left)


def test_damaged_examples_are_read_as_in_plain_python_or_refused():
    """The engine may refuse more: values of another wire type than their list's."""
    rng, read, refused = random.Random(0), 0, 0
    whole = make_example({"a": [1, -2, 2 ** 40], "bc": [0.5, 2.5], "d": [b"x", b"", bytes(200)], "e": None, "": 7})
    assert same_features(parse_example(whole), example_reader.parse(whole))
    for _ in range(20_000):
        data = bytearray(whole)
        for _ in range(rng.choice((1, 1, 2, 4))):
            place = rng.randrange(len(data))
            how = rng.randrange(3)
            if how == 0:
                data[place] = rng.choice((0, 1, 2, 8, 10, 13, 18, 0x7F, 0x80, 0xFF, rng.randrange(256)))
            elif how == 1:
                del data[place:place + rng.choice((1, 2, 8))]
            else:
                data[place:place] = data[place:place + rng.choice((1, 2, 8))]
        try:
            found = parse_example(bytes(data))
        except DataError:
            refused += 1
        else:
            read += 1
            assert same_features(found, example_reader.parse(bytes(data)))
    assert read > 3000 and refused > 3000
