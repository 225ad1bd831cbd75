"""KPLRecord: what is written comes back, by number, from one file or many, however its writer ended."""
import collections
import datetime
import os
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from dragon import _C
from dragon.io import DataError
from dragon.io.records import KPLRecord, KPLRecordWriter, verify, write_parallel

VALUES = [
    None, True, False, 0, 1, -1, 63, 64, -64, -65, 2 ** 63 - 1, -2 ** 63, 2 ** 63, -2 ** 63 - 1, 10 ** 100, -10 ** 100,
    0.0, -0.0, 1.5, float("inf"), 1 + 2j, "", "text", "Grüße \U0001f409", "\ud800", b"", b"\0bytes", [], (), {},
    [1, [2, (3, None)], {"a": b"b"}], (1,), {"a": {"b": [1.5]}, 3: "x", b"k": None, None: 1, True: 2, 2.5: 3},
]
DTYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32",
          "float64", "complex64", "complex128", "S3", "U4", "M8[ns]", "m8[s]", "M8"]


def write(path, samples, **words):
    """Write samples and return the path."""
    with KPLRecordWriter(path, **words) as writer:
        for sample in samples:
            writer.write(sample)
    return path


def same(left, right):
    """Return whether two values are equal in kind, dtype and numbers."""
    if isinstance(left, (np.ndarray, np.generic)):
        return (type(left) is type(right) and left.dtype == right.dtype and left.shape == right.shape
                and left.tobytes() == right.tobytes())
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    return repr(left) == repr(right)


@pytest.mark.parametrize("compression", [None, "zlib"])
def test_values_come_back_as_they_were(tmp_path, compression):
    source = KPLRecord(write(tmp_path / "a.kpl", VALUES, compression=compression))
    assert len(source) == len(VALUES)
    assert all(same(source[index], value) for index, value in enumerate(VALUES))
    assert all(map(same, list(source), VALUES))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (3,), (0,), (2, 0, 3), (40, 50), (1,) * 30])
def test_arrays_come_back_in_dtype_shape_and_numbers(tmp_path, dtype, shape):
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 2 if dtype == "bool" else 100, shape)
    array = np.asarray(numbers).astype("i8").astype(dtype)
    source = KPLRecord(write(tmp_path / "a.kpl", [array, {"x": [array, 1]}, array[()] if not shape else array]))
    found, nested, scalar = source.read([0, 1, 2])
    assert same(found, array) and same(nested, {"x": [array, 1]})
    assert found.flags.writeable and found.flags.aligned and found.flags.c_contiguous
    assert same(scalar, array[()] if not shape else array)


def test_arrays_of_other_layouts_are_written_in_rows(tmp_path):
    base = np.arange(24.0).reshape(2, 3, 4)
    layouts = [base.T, base[:, ::2], base[::-1], np.asfortranarray(base), base.astype(">f4"), base.astype(">c16"),
               np.broadcast_to(np.float32(3), (5, 5)), np.array(["ä", "bcd"], ">U3"), np.zeros(3, "S0")]
    for array, found in zip(layouts, KPLRecord(write(tmp_path / "a.kpl", layouts))):
        np.testing.assert_array_equal(found, array)
        assert found.flags.c_contiguous and found.dtype.isnative


def test_bytes_like_and_dicts_of_other_classes_are_written_as_what_they_hold(tmp_path):
    given = [bytearray(b"ab"), memoryview(b"ab"), collections.OrderedDict(a=1), collections.defaultdict(list, b=2)]
    assert list(KPLRecord(write(tmp_path / "a.kpl", given))) == [b"ab", b"ab", {"a": 1}, {"b": 2}]
    np.save(tmp_path / "a.npy", np.arange(3))
    found, = KPLRecord(write(tmp_path / "b.kpl", [np.load(tmp_path / "a.npy", mmap_mode="r")]))
    assert found.tolist() == [0, 1, 2]


Point = collections.namedtuple("Point", "x y")
DEEP = []
for _ in range(101):
    DEEP = [DEEP]


@pytest.mark.parametrize("value, letter", [
    (np.array([object()]), "array of dtype object"), (np.zeros(2, [("a", "f4")]), "structured array"),
    (np.zeros(2, np.longdouble), "array of dtype float128"), (np.zeros(2, "V3"), r"array of dtype \|V3"),
    (np.zeros(2, "M8[25s]"), "array of dtype"), (Point(1, 2), "type Point"), ({1, 2}, "type set"), (object(), "object"),
    (datetime.date(2020, 1, 1), "type date"), ({(1, 2): 3}, "key of type tuple"), (DEEP, "100 deep"),
    ({"a": [1, {"b": object()}]}, r"\(at \['a'\]\[1\]\['b'\]\)"), (np.ma.zeros(2), "MaskedArray"),
])
def test_what_records_do_not_hold_is_refused_by_name(tmp_path, value, letter):
    with KPLRecordWriter(tmp_path / "a.kpl") as writer:
        with pytest.raises(TypeError, match=letter):
            writer.write(value)
        writer.write("next")
    assert list(KPLRecord(tmp_path / "a.kpl")) == ["next"]


def test_a_list_that_holds_itself_is_refused(tmp_path):
    value = []
    value.append(value)
    with KPLRecordWriter(tmp_path / "a.kpl") as writer, pytest.raises(TypeError, match="100 deep"):
        writer.write(value)


def test_samples_are_read_in_any_order_and_grouping(tmp_path):
    rng = np.random.default_rng(1)
    samples = [(index, rng.bytes(size)) for index, size in enumerate(rng.choice([0, 10, 5000, 70_000, 300_000], 200))]
    source = KPLRecord(write(tmp_path / "a.kpl", samples))
    for indices in (range(200), range(199, -1, -1), range(0, 200, 3), rng.permutation(200), [5, 5, -1, 0], [], [199]):
        assert source.read(indices) == [samples[index] for index in indices]


@pytest.mark.parametrize("index", [3, -4, 2 ** 70])
def test_numbers_outside_are_refused(tmp_path, index):
    source = KPLRecord(write(tmp_path / "a.kpl", [1, 2, 3]))
    with pytest.raises(IndexError, match="KPLRecord: got index"):
        source[index]
    with pytest.raises(IndexError, match="KPLRecord: got index"):
        source.read([0, index])
    with pytest.raises(TypeError):
        source[1.5]


def test_many_files_are_one_source(tmp_path):
    paths = [write(tmp_path / f"{name}.kpl", range(name * 10, name * 10 + count))
             for name, count in enumerate([3, 0, 5, 1])]
    expected = [0, 1, 2, 20, 21, 22, 23, 24, 30]
    for given in (paths, str(tmp_path / "*.kpl"), str(tmp_path / "{0..3}.kpl")):
        source = KPLRecord(given, open_files=2)
        assert list(source) == expected and source.chunks() == [range(0, 3), range(3, 8), range(8, 9)]
        assert source.read([8, 0, 4, 3, 8]) == [30, 0, 21, 20, 30]
    assert source.describe(3) == f"sample 3 (byte {source.place(3)[1]} of {paths[2]})"
    again = pickle.loads(pickle.dumps(source))
    assert list(again) == expected
    with pytest.raises(FileNotFoundError, match="no file is named like"):
        KPLRecord(str(tmp_path / "x*.kpl"))
    with pytest.raises(FileNotFoundError):
        KPLRecord(tmp_path / "none.kpl")
    with pytest.raises(ValueError, match="got no paths"):
        KPLRecord([])


def test_few_files_are_open_at_a_time(tmp_path):
    paths = [write(tmp_path / f"{name:03}.kpl", [name]) for name in range(50)]
    source = KPLRecord(paths, open_files=4)
    assert list(source) == list(range(50))
    opened = [os.readlink(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")
              if os.path.islink(f"/proc/self/fd/{number}")]
    assert sum(str(tmp_path) in name for name in opened) == 4
    child = os.fork()
    if child == 0:
        os._exit(0 if list(source) == list(range(50)) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_metadata_and_compression_stay_with_the_file(tmp_path):
    path = write(tmp_path / "a.kpl", ["x" * 1000], compression="zlib", metadata={"classes": ["cat", "dog"]})
    assert KPLRecord(path).metadata == {"classes": ["cat", "dog"]}
    assert path.stat().st_size < 700
    write(path, ["y" * 1000], append=True)
    assert list(KPLRecord(path)) == ["x" * 1000, "y" * 1000] and path.stat().st_size < 1100
    with pytest.raises(ValueError, match="got other metadata"):
        KPLRecordWriter(path, metadata={"a": 1}, append=True)
    with pytest.raises(ValueError, match="got compression 'lzma'"):
        KPLRecordWriter(path, compression="lzma")
    with pytest.raises(TypeError, match="metadata of type list"):
        KPLRecordWriter(path, metadata=[])
    assert len(KPLRecord(path)) == 2


def test_what_does_not_shrink_or_shrinks_too_far_is_written_as_it_is(tmp_path):
    samples = [os.urandom(1000), bytes(200 << 20)]
    source = KPLRecord(write(tmp_path / "a.kpl", samples, compression="zlib"))
    assert source.read([0, 1]) == samples
    assert source.place(0)[2] > 1000 and source.place(1)[2] > 200 << 20


def test_zstandard_is_used_or_asked_for(tmp_path):
    try:
        path = write(tmp_path / "a.kpl", ["x" * 1000], compression="zstd")
    except ModuleNotFoundError as error:
        assert "the package zstandard: pip install" in str(error)
    else:
        assert list(KPLRecord(path)) == ["x" * 1000] and path.stat().st_size < 700


def test_appending_writes_nothing_over(tmp_path):
    path = tmp_path / "a.kpl"
    before = b""
    for turn in range(4):
        write(path, range(turn * 3, turn * 3 + 3), append=True)
        data = path.read_bytes()
        assert data.startswith(before) and list(KPLRecord(path)) == list(range(turn * 3 + 3))
        before = data
    write(path, [], append=True)
    assert path.read_bytes() == before and verify(path).whole and verify(path).records == 12
    write(path, ["new"])
    assert list(KPLRecord(path)) == ["new"]


def test_one_writer_at_a_time(tmp_path):
    with KPLRecordWriter(tmp_path / "a.kpl") as writer:
        writer.write(1)
        with pytest.raises(BlockingIOError, match="another writer has open"):
            KPLRecordWriter(tmp_path / "a.kpl", append=True)
    assert list(KPLRecord(tmp_path / "a.kpl")) == [1]
    with pytest.raises(ValueError, match="which is closed"):
        writer.write(2)
    writer.close()


class FullDisk:
    """A file that takes so many bytes, and then no more."""

    def __init__(self, file, room):
        self._file, self._room = file, room

    def write(self, data):
        if not self._room:
            raise OSError(28, "No space left on device")
        taken = self._file.write(data[:self._room])
        self._room -= taken
        return taken

    def __getattr__(self, name):
        return getattr(self._file, name)


def test_a_full_disk_ends_the_writing_and_leaves_what_was_written(tmp_path):
    writer = KPLRecordWriter(tmp_path / "a.kpl")
    writer.write("first")
    writer.flush()
    writer._file = FullDisk(writer._file, 70)
    for number in range(5):
        writer.write(b"more" * 10)
    with pytest.raises(OSError, match="No space left"):
        writer.flush()
    with pytest.raises(OSError, match="after a write that failed"):
        writer.write("again")
    writer.close()
    assert list(KPLRecord(tmp_path / "a.kpl")) == ["first"]
    write(tmp_path / "a.kpl", ["second"], append=True)
    assert list(KPLRecord(tmp_path / "a.kpl")) == ["first", "second"]


def test_where_there_are_no_locks_there_is_no_lock(tmp_path, monkeypatch):
    import errno
    import fcntl

    def refuse(file, kind):
        raise OSError(errno.ENOLCK, "No locks available")
    monkeypatch.setattr(fcntl, "flock", refuse)
    assert list(KPLRecord(write(tmp_path / "a.kpl", [1, 2]))) == [1, 2]


def test_a_file_that_is_being_written_can_be_read(tmp_path):
    with KPLRecordWriter(tmp_path / "a.kpl", sync=True) as writer:
        writer.write("first")
        writer.flush()
        assert list(KPLRecord(tmp_path / "a.kpl")) == ["first"]


KILLED = """
import sys, numpy as np
from dragon.io.records import KPLRecordWriter
writer = KPLRecordWriter(sys.argv[1], append=True)
while True:
    writer.write({"number": len(writer), "x": np.full(300, len(writer), "f4")})
    if len(writer) % 50 == 0:
        writer.flush()
        print(len(writer), flush=True)
"""


def test_a_killed_writer_loses_only_what_was_not_flushed(tmp_path):
    path, flushed = tmp_path / "a.kpl", 0
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", KILLED, path], stdout=subprocess.PIPE, text=True,
                                   cwd=tmp_path)
        lines = [process.stdout.readline() for _ in range(3)]
        time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        rest, _ = process.communicate()
        flushed = [int(word) for word in ("".join(lines) + rest).split()][-1]
        source = KPLRecord(path)
        assert len(source) >= flushed
        assert [sample["number"] for sample in source] == list(range(len(source)))
    write(path, ["last"], append=True)
    assert KPLRecord(path)[-1] == "last" and KPLRecord(path).shards[0].index_health == "whole"


@pytest.mark.parametrize("cut", [1, 40, 64, 65, 200, 1000])
def test_a_torn_end_loses_only_itself(tmp_path, cut):
    samples = [bytes([number]) * 100 for number in range(20)]
    path = write(tmp_path / "a.kpl", samples)
    path.write_bytes(path.read_bytes()[:-cut])
    found = list(KPLRecord(path))
    assert found == samples[:len(found)] and len(found) >= 20 - cut // 100
    findings = verify(path)
    assert not findings.whole and findings.records == len(found)
    write(path, ["new"], append=True)
    assert list(KPLRecord(path)) == found + ["new"]
    # And once more without an index: what is torn in the middle does not hide what follows.
    path.write_bytes(path.read_bytes()[:-64])
    assert list(KPLRecord(path)) == found + ["new"]


def test_broken_records_are_named_and_the_others_read(tmp_path):
    path = write(tmp_path / "a.kpl", [bytes([number]) * 100 for number in range(20)])
    offset = KPLRecord(path).place(7)[1]
    data = bytearray(path.read_bytes())
    data[offset + 50] ^= 1
    path.write_bytes(data)
    source = KPLRecord(path)
    with pytest.raises(DataError, match=rf"broken record, expected whole records \(byte {offset} of ") as caught:
        source[7]
    assert (caught.value.path, caught.value.offset) == (str(path), offset)
    assert source[8] == b"\x08" * 100
    findings = verify(path)
    assert findings.records == 19 and [each.offset for each in findings.troubles] == [offset]
    data[offset + 20] ^= 1  # the head as well, and no index
    path.write_bytes(data[:-64])
    source = KPLRecord(path)
    assert len(source) == 19 and source[7] == b"\x08" * 100
    assert offset in [each.offset for each in verify(path).troubles]


def test_a_file_within_a_file_is_no_part_of_it(tmp_path):
    inner = write(tmp_path / "inner.kpl", ["hidden"] * 5).read_bytes()
    path = write(tmp_path / "a.kpl", [inner, "seen"])
    path.write_bytes(path.read_bytes()[:-64])
    assert list(KPLRecord(path)) == [inner, "seen"]
    data = bytearray(path.read_bytes())
    data[16 + 4] ^= 1  # the outer header's head
    data[KPLRecord(path).place(0)[1] + 4] ^= 1
    path.write_bytes(data)
    assert list(KPLRecord(path)) == ["seen"]


def test_a_file_that_shrinks_is_an_error_and_no_signal(tmp_path):
    path = write(tmp_path / "a.kpl", [bytes(100_000)] * 5)
    source = KPLRecord(path)
    assert source[4] == bytes(100_000)
    os.truncate(path, 150_000)
    with pytest.raises(DataError, match="fewer bytes than its file had"):
        source[4]


@pytest.mark.parametrize("data", [b"", b"abc", b"PK\3\4" + bytes(100), bytes(1000)])
def test_other_files_are_refused(tmp_path, data):
    (tmp_path / "a.kpl").write_bytes(data)
    with pytest.raises(DataError, match="does not begin as a KPLRecord does"):
        KPLRecord(tmp_path / "a.kpl")
    with pytest.raises(IsADirectoryError):
        KPLRecord(tmp_path)


def test_a_small_array_that_is_kept_does_not_keep_its_record(tmp_path):
    path = write(tmp_path / "a.kpl", [{"picture": np.zeros(1_000_000, "u1"), "label": np.arange(3)}])
    sample = KPLRecord(path)[0]
    assert sample["label"].base is None and sample["picture"].base is not None
    sample["picture"][:] = 1
    assert KPLRecord(path)[0]["picture"].sum() == 0


@pytest.mark.parametrize("workers, shards", [(0, 1), (0, 3), (2, None), (2, 5)])
def test_shards_that_are_written_in_parallel_keep_the_order(tmp_path, workers, shards):
    names = write_parallel(range(23), tmp_path / "a.kpl", workers, shards, encode=lambda number: {"n": number})
    count = shards or workers
    assert names == [str(tmp_path / f"a-{number:05}-of-{count:05}.kpl") for number in range(count)]
    assert [sample["n"] for sample in KPLRecord(names)] == list(range(23))
    assert sorted(os.listdir(tmp_path)) == sorted(map(os.path.basename, names))


def test_a_parallel_writer_that_fails_leaves_nothing(tmp_path):
    with pytest.raises(ZeroDivisionError):
        write_parallel(iter(range(10)), tmp_path / "a.kpl", 2, 3, encode=lambda number: 1 // (number - 5))
    assert os.listdir(tmp_path) == []
    with pytest.raises(RuntimeError, match="got a worker that was killed"):
        write_parallel(range(10), tmp_path / "a.kpl", 2, encode=lambda number: os.kill(os.getpid(), signal.SIGKILL))
    assert os.listdir(tmp_path) == []
    with pytest.raises(ValueError, match="got shards=0"):
        write_parallel([], tmp_path / "a.kpl", shards=0)


def test_a_writer_is_its_own_process(tmp_path):
    writer = KPLRecordWriter(tmp_path / "a.kpl")
    writer.write(1)
    child = os.fork()
    if child == 0:
        try:
            writer.write(2)
        except RuntimeError:
            writer.close()
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    writer.close()
    assert list(KPLRecord(tmp_path / "a.kpl")) == [1]


def test_numbers_in_bodies_are_aligned():
    body = _C.kpl_encode({"odd": "x", "x": np.arange(3.0)})
    assert body.index(np.arange(3.0).tobytes()) % 16 == 0
