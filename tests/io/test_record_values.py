"""What the bytes of values are: those that were always written, whatever is given, or a refusal by name."""
import collections
import enum
import pathlib
import threading

import numpy as np
import pytest

from dragon import _C
from dragon.io.records import KPLRecord, KPLRecordWriter, verify
from harness import record_values as oracle
from harness.subresults import each

GOLDEN = pathlib.Path(__file__).parent / "golden" / "records-v1.kpl"
BASE = np.arange(24.0).reshape(2, 3, 4)
LARGE = np.arange(100_000, dtype="i4")


class Text(str):
    """Text of a class of its own."""


class Number(enum.IntEnum):
    """Numbers of a class of their own."""

    ONE = 1


VALUES = [
    None, True, False, 0, 1, -1, 63, 64, -64, -65, 127, 128, 2 ** 63 - 1, -2 ** 63, 2 ** 63, -2 ** 63 - 1, 2 ** 64,
    10 ** 5000, -10 ** 5000, 0.0, -0.0, float("nan"), float("inf"), 1 + 2j, complex("nan-infj"), "", "text", "\0",
    "Grüße \U0001f409", "\ud800", "a" * 100_000, "ä\udfff" * 50_000, b"", b"\0bytes", bytes(100_000),
    bytearray(b"ab"), bytearray(100_000), memoryview(b"abc")[::2], memoryview(BASE), memoryview(np.float32(3)), [],
    (), {}, [1, [2, (3, None)], {"a": b"b"}], list(range(1000)),
    {"a": {"b": [1.5]}, 3: "x", b"k": None, None: 1, 2.5: 3, 1j: 4, float("nan"): 5},
    collections.OrderedDict([("b", 1), ("a", 2)]), collections.defaultdict(list, b=2), collections.Counter("aab"),
    LARGE, LARGE[::2], LARGE[::-1], {"x": LARGE, "y": LARGE.astype(">f8"), "z": [LARGE[:0], LARGE[5:]]}, BASE.T,
    BASE[:, ::2], np.asfortranarray(BASE), np.broadcast_to(np.float32(3), (5, 5)), np.zeros((3, 0, 2)), np.array(7),
    np.zeros((1,) * 32, "u1"), np.array(["ä", "bcd"]), np.array(["ä", "bcd"], ">U3"), np.zeros(3, "S0"),
    np.array("", "U0"), np.array(["2020", "NaT"], "M8[D]"), np.array([1, 2], ">M8[ns]"), np.zeros(2, "m8"),
    np.array([True, False]), *(np.arange(3).astype(code) for code in "?bBhHiIlLqQefdFD"),
    *(np.arange(3).astype(f">{code}") for code in "hHiIqQefdFD"),
    *(np.ones((), code)[()] for code in "?bBhHiIlLqQefdFD"), np.str_("text"), np.str_(""), np.bytes_(b"ab"),
    np.bytes_(b""), np.datetime64("2020"), np.timedelta64(3, "s"), np.datetime64("NaT"),
]
REFUSED = [
    object(), {1, 2}, Text("a"), Number.ONE, range(3), [1, {"a": (0, Text("x"))}], {(1, 2): 3}, {Text("a"): 1},
    {np.str_("a"): 1}, {np.int64(1): 1}, [{"a": {1: object()}}], np.array([object()]), np.zeros(2, [("a", "f4")]),
    np.zeros(1, [("a", "f4")])[0], np.zeros(2, np.longdouble), np.zeros(2, np.clongdouble), np.longdouble(1),
    np.zeros(2, "V3"), np.zeros(2, "M8[25s]"), np.ma.zeros(2), np.zeros(2).view(np.recarray), Ellipsis, int,
    type("Held", (), {"numpy": 1})(),
]


def nested(depth, make):
    """Return an empty container within so many others."""
    value = make([])
    for _ in range(depth):
        value = make([value])
    return value


@each("value", VALUES, ids=lambda value: f"{type(value).__name__}")
def test_bodies_are_those_that_were_always_written(value):
    assert _C.kpl_encode(value) == oracle.encode(value)
    assert _C.kpl_encode({"odd": "x", "value": [value]}) == oracle.encode({"odd": "x", "value": [value]})


@each("value", REFUSED, ids=lambda value: f"{type(value).__name__}")
def test_refusals_are_those_that_were_always_told(value):
    with pytest.raises(TypeError) as expected:
        oracle.encode(value)
    with pytest.raises(TypeError) as caught:
        _C.kpl_encode(value)
    assert str(caught.value) == str(expected.value)


def test_random_structures_have_the_bytes_of_the_oracle():
    rng = np.random.default_rng(0)
    plain = [value for value in VALUES if not isinstance(value, (list, tuple, dict))]

    def make(depth):
        how = rng.integers(0, 6 if depth else 3)
        if how < 3:
            return plain[rng.integers(len(plain))]
        parts = [make(depth - 1) for _ in range(rng.integers(0, 5))]
        return parts if how == 3 else tuple(parts) if how == 4 else dict(enumerate(parts))
    for _ in range(300):
        value = make(4)
        assert _C.kpl_encode(value) == oracle.encode(value)


def test_files_of_the_first_version_are_read_and_written_the_same(tmp_path):
    """The file was made by the first writer there was; nothing in it may change its meaning."""
    data = GOLDEN.read_bytes()
    source = KPLRecord(GOLDEN)
    assert verify(GOLDEN).whole and len(source) == 29 and source.metadata == {"classes": ["cat", "dog"]}
    assert source[0] is None and source[7] == -10 ** 30 and source[13] == "\ud800" and source[10] == 1 - 2j
    assert source[17]["x"].tolist() == [[0, 1, 2], [3, 4, 5]] and source[17]["label"].dtype == "i8"
    assert source[24].shape == (2, 0, 3) and source[27].tolist() == [[0, 1], [2, 3]] and source[28] == "last"
    with KPLRecordWriter(tmp_path / "a.kpl", metadata=source.metadata) as writer:
        for sample in source:
            writer.write(sample)
    assert (tmp_path / "a.kpl").read_bytes() == data


@pytest.mark.parametrize("make", [list, tuple, lambda parts: {1: parts[0]} if parts else {}])
def test_depth_has_an_end(make):
    assert _C.kpl_encode(nested(99, make)) == oracle.encode(nested(99, make))
    for depth in (100, 10_000):
        with pytest.raises(TypeError, match="more than 100 deep"):
            _C.kpl_encode(nested(depth, make))


def test_what_holds_itself_is_refused():
    circle = {}
    circle["again"] = [circle]
    with pytest.raises(TypeError, match="more than 100 deep"):
        _C.kpl_encode(circle)


def test_a_key_of_more_digits_than_are_shown_is_a_place_too():
    with pytest.raises(TypeError, match=r"type object.*\(at \[...\]\)"):
        _C.kpl_encode({10 ** 6000: object()})


def test_dicts_that_lie_write_what_they_tell():
    class Liar(dict):
        def __len__(self):
            return 7

        def __iter__(self):
            raise RuntimeError("never asked")

        def items(self):
            return [("a", 1), ("a", 2), ("b", 3)]
    assert _C.kpl_encode(Liar(x=1)) == b"\x0b\x03" + b"\x07\x01a\x03\x02" + b"\x07\x01a\x03\x04" + b"\x07\x01b\x03\x06"

    class Broken(dict):
        def items(self):
            return [("a", 1, 2)]
    with pytest.raises(TypeError, match=r"items of a Broken that are no pairs.*\(at \['x'\]\)"):
        _C.kpl_encode({"x": Broken()})

    class Failing(dict):
        def items(self):
            raise KeyError("mine")
    with pytest.raises(KeyError, match="mine"):
        _C.kpl_encode([Failing()])


def test_containers_that_change_meanwhile_are_refused():
    class Changing(dict):
        def items(self):
            outer.append(1) if isinstance(outer, list) else outer.update(more=1)
            return ()
    outer = [Changing(), 2]
    with pytest.raises(RuntimeError, match="a list that changes while it is written"):
        _C.kpl_encode(outer)
    outer = {"a": Changing(), "b": 2}
    with pytest.raises(RuntimeError, match="a dict that changes while it is written"):
        _C.kpl_encode(outer)


def test_views_of_objects_and_views_that_are_over_are_refused():
    with pytest.raises(TypeError, match="memoryview of Python's objects"):
        _C.kpl_encode(np.array([object()]).data)
    view = memoryview(b"ab")
    view.release()
    with pytest.raises(ValueError, match="released"):
        _C.kpl_encode(view)


def test_a_sample_that_is_refused_leaves_nothing(tmp_path):
    with KPLRecordWriter(tmp_path / "a.kpl") as writer:
        writer.write("first")
        for value in REFUSED:
            with pytest.raises(TypeError):
                writer.write([LARGE, value])
        assert len(writer) == 1 and writer.write("second") == 1
    assert list(KPLRecord(tmp_path / "a.kpl")) == ["first", "second"] and verify(tmp_path / "a.kpl").whole


def test_a_sample_that_writes_while_it_is_written_is_refused(tmp_path):
    class Writing(dict):
        def items(self):
            self.do()
            return ()
    with KPLRecordWriter(tmp_path / "a.kpl") as writer:
        for do in (lambda: writer.write(1), writer.flush, writer.close):
            value = Writing()
            value.do = do
            with pytest.raises(RuntimeError, match="KPLRecordWriter: got a (sample|flush)"):
                writer.write({"a": value})
            if do == writer.close:
                break
    assert len(KPLRecord(tmp_path / "a.kpl")) == 0


def test_threads_may_share_a_writer(tmp_path):
    with KPLRecordWriter(tmp_path / "a.kpl") as writer:
        def write(part):
            for number in range(50):
                writer.write({"part": part, "number": number, "x": np.full(50_000 if number % 5 == 0 else 10, part)})
        threads = [threading.Thread(target=write, args=(part,)) for part in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    found = collections.defaultdict(list)
    for sample in KPLRecord(tmp_path / "a.kpl"):
        assert (sample["x"] == sample["part"]).all()
        found[sample["part"]].append(sample["number"])
    assert found == {part: list(range(50)) for part in range(4)} and verify(tmp_path / "a.kpl").whole
