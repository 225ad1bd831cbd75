"""Recorded answers: found again, asked for where they are missing, damaged or old, and proved when that is wanted."""
import os
import pathlib
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

from harness import answers
from harness.answers import archive, sources, values

TESTS = pathlib.Path(__file__).parents[1]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Record in a folder of this test's."""
    (tmp_path / "spool").mkdir()
    monkeypatch.setenv(answers.FOLDER, str(tmp_path))
    monkeypatch.setenv(answers.SPOOL, str(tmp_path / "spool"))
    monkeypatch.setenv(answers.MODE, "record")
    monkeypatch.setattr(answers, "installed", answers.pinned)
    yield tmp_path
    answers.room_of.cache_clear()


def record(place, renew=False):
    """Write what was asked for, and forget it."""
    lines = answers.record(answers.collected(place / "spool"), renew)
    for path in (place / "spool").iterdir():
        path.unlink()
    answers.room_of.cache_clear()
    return lines


def refuse():
    """Stand for a genuine package that must not be asked."""
    raise AssertionError("the genuine package was asked")


TREES = [
    None, True, 0, -3, 10 ** 40, 0.5, float("inf"), -0.0, 1 + 2j, "äöü", b"\0x", "\udce4", [], (), [1, (2, [3.0])],
    {"a": [1], 2: None}, np.arange(6).reshape(2, 3), np.array(3.5, "float32"), np.zeros((0, 4), "float16"),
    np.array([[1, 2], [3, 4]], ">i4"), np.array([True]), np.array([1 + 2j, np.nan], "complex64"), np.float64(2),
    np.array(["x", "yz"]), np.array([b"x", b"yz"], object), np.array([], object), np.array(b"x", object), np.int8(-1),
    np.array([1.5, -2, np.nan], ml_dtypes.bfloat16), np.array([1, 2], ml_dtypes.float8_e4m3fn), slice(1, None, 2),
    range(3), [Ellipsis, np.dtype("int32")], values.Content(b"xy"), np.arange(24.0).reshape(2, 3, 4).T,
]


@pytest.mark.parametrize("tree", TREES, ids=lambda tree: str(type(tree).__name__))
def test_values_come_back(tree):
    def same(one, other):
        if isinstance(one, (np.ndarray, np.generic)):
            assert type(one) is type(other) and one.shape == other.shape and one.dtype.name == other.dtype.name
            plain = (one, other) if one.dtype.kind != "V" else (one.astype("float32"), other.astype("float32"))
            np.testing.assert_array_equal(*plain)
        elif isinstance(one, (list, tuple)):
            assert type(one) is type(other) and len(one) == len(other)
            for pair in zip(one, other):
                same(*pair)
        else:
            assert type(one) is type(other) and repr(one) == repr(other)

    data = values.encode(tree)
    same(tree, values.decode(data))
    assert values.encode(values.decode(data)) == data
    assert values.difference(values.decode(data), values.decode(data)) is None


def test_bits_of_nan_and_zero_come_back():
    bits = np.array([0x7FC00001, 0xFFC00000, 0x80000000], "uint32")
    back = values.decode(values.encode(bits.view("float32")))
    assert back.view("uint32").tolist() == bits.tolist() and back.flags.writeable


def test_errors_come_back_with_the_names_of_their_classes():
    class Own(IndexError):
        """An error of a package's own."""

    back = values.decode(values.encode(Own("bad <x at 0x7f00>")))
    assert isinstance(back, answers.Raised) and str(back) == "bad <x>" and back.name == "Own"
    assert back.names == ["Own", "IndexError", "LookupError", "Exception", "BaseException"]
    assert back.is_a(ValueError, LookupError) and not back.is_a(ValueError)
    assert back.nearest((TypeError, LookupError, IndexError)) is LookupError
    assert values.encode(back) == values.encode(Own("bad <x>"))


@pytest.mark.parametrize("value", [object(), {1}, iter([])])
def test_what_is_not_plain_is_refused(value):
    with pytest.raises(TypeError, match="expected plain values"):
        values.encode([value])


@pytest.mark.parametrize("cut", [0, 1, 7])
def test_cut_values_are_refused(cut):
    data = values.encode([1, "abc", np.arange(3.0)])
    with pytest.raises(ValueError):
        values.decode(data[:cut])
    with pytest.raises(ValueError):
        values.decode(data + b"N")


def test_an_answer_is_asked_for_once(place, monkeypatch):
    assert answers.ask("torch", ["x + 1", np.ones(2)], lambda: [np.ones(2) * 2]) == [pytest.approx([2, 2])]
    record(place)
    for how in ("recorded", "record"):
        monkeypatch.setenv(answers.MODE, how)
        found = answers.ask("torch", ["x + 1", np.ones(2)], refuse)
        assert found[0].tolist() == [2, 2]


def test_large_answers_are_asked_for_each_time(place):
    for largest in (10, 1000):
        assert answers.ask("torch", ["x"], lambda: "y" * 100, largest=largest) == "y" * 100
        assert len(answers.collected(place / "spool")) == (largest == 1000)


@pytest.mark.parametrize("other", [["x + 2", np.ones(2)], ["x + 1", np.zeros(2)], ["x + 1", np.ones(2, "float32")],
                                   ["x + 1", np.ones((2, 1))], ["x + 1", [1.0, 1.0]], ["x + 1", np.ones(2), 0]])
def test_another_question_has_another_answer(place, other):
    answers.ask("torch", ["x + 1", np.ones(2)], lambda: 1)
    record(place)
    assert answers.ask("torch", other, lambda: 2) == 2
    assert answers.ask("operators", ["x + 1", np.ones(2)], lambda: 3) == 3


def _double(x, times=2):
    return x * times


def test_functions_are_keys_by_their_text_and_what_they_read():
    def key(function):
        return answers.key_of("torch", [function])

    one, other = (lambda x: _double(x)), (lambda x: _double(x) + 1)
    assert key(one) == key(one) != key(other)

    def made(number):
        return lambda x: x + number
    assert key(made(1)) == key(made(1)) != key(made(2))
    before = key(one)
    _double.__defaults__ = (3,)
    try:
        assert key(one) != before
    finally:
        _double.__defaults__ = (2,)
    assert key(one) == before
    assert sources.plain(np) == ["module", "numpy"] and sources.plain(len) == ["builtin", "len"]


def test_functions_of_a_file_that_was_written_since_have_no_key(monkeypatch):
    monkeypatch.setattr(sources, "STARTED", 0)
    sources._texts.cache_clear()
    sources.text_of.cache_clear()
    assert answers.key_of("torch", [_double]) is None
    assert answers.ask("torch", [_double], lambda: 5) == 5


def test_functions_that_call_themselves_end():
    def again(n):
        return n and again(n - 1)
    assert answers.key_of("torch", [again]) == answers.key_of("torch", [again])


def test_files_are_the_same_bytes_again(place):
    def ask(order):
        for number in order:
            answers.ask("torch", [number], lambda: np.full(40, number))

    ask(range(50))
    record(place)
    first = (place / "torch.answers").read_bytes()
    (place / "torch.answers").unlink()
    answers.room_of.cache_clear()
    ask(reversed(range(50)))
    record(place)
    assert (place / "torch.answers").read_bytes() == first
    ask(range(51))
    lines = record(place)
    size = (place / "torch.answers").stat().st_size
    assert lines == [f"torch: 51 answers, 1 of them new, 0 dropped, {size} bytes"]
    one, other = (archive.Archive(place / "torch.answers"), archive.Archive(place / "torch.answers"))
    assert one.entries() == other.entries() and len(one.entries()) == 51


@pytest.mark.parametrize("damage", [lambda data: data[:200], lambda data: b"", lambda data: b"x" + data[1:],
                                    lambda data: data[:-20] + bytes(20), lambda data: data + b"more",
                                    lambda data: data.replace(b'"versions"', b'"version"'),
                                    lambda data: data.replace(answers.pinned("torch").encode(), b"1.0")])
def test_damaged_and_old_files_are_asked_for_again(place, damage, monkeypatch):
    for number in range(300):
        answers.ask("torch", [number], lambda: number)
    record(place)
    path = place / "torch.answers"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.warns(UserWarning, match="answers: .*make oracles"):
        assert [answers.ask("torch", [number], lambda: number) for number in range(300)] == list(range(300))
    record(place)
    assert [answers.ask("torch", [number], refuse) for number in range(300)] == list(range(300))


def test_checks_find_what_is_stale(place, monkeypatch):
    for number in range(100):
        answers.ask("torch", [f"x{number}"], lambda: np.float32(number))
    record(place)
    monkeypatch.setenv(answers.MODE, "check")
    assert answers.ask("torch", ["x1"], lambda: np.float32(1.0000001)) == 1
    with pytest.raises(answers.Stale, match="x1: recorded and genuine torch differ: .*make oracles"):
        answers.ask("torch", ["x1"], lambda: np.float32(1.1))
    monkeypatch.setenv(answers.MODE, "twentieth")
    drawn = []
    for seed in range(2):
        monkeypatch.setenv(answers.SEED, str(seed))
        drawn.append(set())
        for number in range(100):
            answers.ask("torch", [f"x{number}"], lambda: drawn[-1].add(number) or np.float32(number))
    assert drawn[0] != drawn[1] and all(0 < len(numbers) < 20 for numbers in drawn)


@pytest.mark.parametrize("one, other", [
    (1, 2), (1, 1.0), ("a", "b"), ([1], [1, 2]), ([1], (1,)), (True, 1), (np.ones(2), np.ones(3)), (None, 0),
    (np.ones(2), np.ones(2, "float32")), (np.array([np.nan]), np.ones(1)), (np.array([np.inf]), np.array([-np.inf])),
    (np.array([1, 2]), np.array([1, 3])), ({"a": 1}, {"a": 2}), ({"a": 1}, {"b": 1}), (ValueError("x"), TypeError("x")),
    (np.array([1.0, 2], ml_dtypes.bfloat16), np.array([1.0, 3], ml_dtypes.bfloat16)), (ValueError("x"), 1)])
def test_differences_are_found(one, other):
    one, other = (values.decode(values.encode(value)) for value in (one, other))
    assert values.difference(one, other) and values.difference(other, one)


@pytest.mark.parametrize("one, other, apart", [
    (114.43982541, 114.43983968, 114.45), (np.float32([3.9e-7, 0]), np.float32([-3e-8, 2e-7]), np.float32([3e-4, 0])),
    (np.array([1e-17]), np.zeros(1), np.array([1e-6]))])
def test_processors_round_otherwise(one, other, apart):
    """A sum of narrow numbers in a wide one, and what is left where numbers cancel."""
    assert values.difference(one, other) is None and values.difference(one, apart)


def test_which_part_of_a_complex_number_is_infinite_is_nobodys_promise():
    one, other = np.array([complex(-np.inf, 1), 2]), np.array([complex(np.nan, np.inf), 2])
    assert values.difference(one, other) is None and values.difference(one[::-1], other)


def test_renewal_drops_what_nobody_asks_for_and_keeps_rounding(place, monkeypatch):
    for number in range(3):
        answers.ask("torch", [number], lambda: np.float32(number))
    record(place)
    monkeypatch.setenv(answers.MODE, "renew")
    assert answers.ask("torch", [1], lambda: np.float32(1.0000001)) != 1
    answers.ask("torch", [2], lambda: np.float32(3))
    record(place, renew=True)
    monkeypatch.setenv(answers.MODE, "recorded")
    assert answers.ask("torch", [1], refuse) == 1 and answers.ask("torch", [2], refuse) == 3
    assert answers.ask("torch", [0], lambda: "asked") == "asked"


def test_other_versions_record_nothing(place, monkeypatch):
    answers.ask("torch", [1], lambda: 1)
    monkeypatch.setattr(answers, "installed", lambda package: "0.1")
    assert record(place) == [
        f"torch: not recorded, {{'torch': '0.1'}} are installed, expected {answers.versions('torch')}"]
    assert not (place / "torch.answers").exists()


def test_modes_have_names(monkeypatch):
    monkeypatch.setenv(answers.MODE, "often")
    with pytest.raises(ValueError, match="got 'often', expected one of"):
        answers.mode()


def test_pytest_records_and_finds_answers(tmp_path):
    hooks = (TESTS / "conftest.py").read_text(encoding="utf-8").split("@pytest.fixture")[0]
    (tmp_path / "conftest.py").write_text(hooks)
    (tmp_path / "test_one.py").write_text(
        "import sys\nfrom harness import answers\n\n\ndef test_it():\n    def compute():\n"
        "        import scipy.special  # as a genuine package\n        return 'scipy' in sys.modules\n"
        "    assert answers.ask('torch', ['it'], compute)\n    print('imported', 'scipy.special' in sys.modules)\n")
    code = "from harness import answers as a; a.installed = a.pinned; import pytest, sys; sys.exit(pytest.main())"

    paths = [os.environ.get("PYTHONPATH")]
    others = {name: value for name, value in os.environ.items() if name not in (answers.MODE, answers.SEED)}

    def run(*options):
        done = subprocess.run([sys.executable, "-c", code, "-s", "-p", "no:cacheprovider", *options],
                              capture_output=True, text=True, timeout=300, cwd=tmp_path,
                              env={**others, "PYTHONPATH": os.pathsep.join([str(TESTS), *filter(None, paths)]),
                                   answers.FOLDER: str(tmp_path / "kept")})
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "not recorded were 1 of torch" in run()
    assert "torch: 1 answers, 1 of them new" in run("--answers=record")
    again = run()
    assert "imported False" in again and "not recorded" not in again
    assert "--answers-seed=5" in run("--answers=twentieth", "--answers-seed=5")
    assert "imported True" in run("--answers=check")
