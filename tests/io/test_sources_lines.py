"""CSV and JSON lines: by number or one after the other, beside Python's own readers."""
import csv
import gzip
import io
import json
import pickle

import numpy as np
import pytest

from dragon.io import DataError
from dragon.io.sources import CSV, CSVStream, JSONLines, JSONLinesStream, write_csv, write_json_lines

VALUES = [{"a": 1, "b": [1.5, None]}, "text", 3, [], {"ü": "Grüße\n\u2028"}, True]
ROWS = 'name,age,note\nAnn,3,"said ""no"",\nand left"\n\n"Bo\r\nB",-1,\nÜ,0,"x"\r\nlast,7,no newline'


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_of_json_are_values(tmp_path, end):
    text = ("\ufeff" + end.join([*(json.dumps(value) for value in VALUES), "", "  "])).encode()
    (tmp_path / "a.jsonl").write_bytes(text)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(text))
    source = JSONLines(tmp_path / "a.jsonl")
    assert list(source) == VALUES and source.read([-1, 0]) == [True, VALUES[0]]
    assert list(pickle.loads(pickle.dumps(source))) == VALUES
    assert list(JSONLinesStream([tmp_path / "a.jsonl", tmp_path / "a.jsonl.gz"])) == VALUES * 2


def test_lines_that_are_no_json_are_errors_with_their_place(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b'{"a": 1}\n\n{"a": \n\xff\n' + b"[" * 100_000 + b"\n")
    source = JSONLines(tmp_path / "a.jsonl")
    assert len(source) == 4 and source[0] == {"a": 1}
    for number, place in ((1, 10), (2, 17), (3, 19)):
        with pytest.raises(DataError, match="no JSON") as caught:
            source[number]
        assert caught.value.offset == place
    with pytest.raises(DataError, match="byte 10 of"):
        list(JSONLinesStream(tmp_path / "a.jsonl"))
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"1\n" * 1000)[:-5])
    with pytest.raises(DataError, match="broken compressed file"):
        list(JSONLinesStream(tmp_path / "a.gz"))


def test_long_files_are_split_where_their_lines_end(tmp_path):
    values = [{"n": number, "x": "y" * (number * 37 % 5000)} for number in range(2000)]
    assert write_json_lines(values, tmp_path / "a.jsonl") == 2000
    assert (tmp_path / "a.jsonl").stat().st_size > 4 << 20
    assert list(JSONLines(tmp_path / "a.jsonl")) == values


def test_numpy_goes_into_json_as_numbers_and_lists(tmp_path):
    write_json_lines([{"a": np.arange(3), "b": np.float32(1.5), "c": np.bool_(True)}], tmp_path / "a.jsonl")
    assert JSONLines(tmp_path / "a.jsonl")[0] == {"a": [0, 1, 2], "b": 1.5, "c": True}
    with pytest.raises(TypeError, match="type bytes, expected what JSON takes"):
        write_json_lines([b"abc"], tmp_path / "a.jsonl")


def test_rows_are_those_of_python(tmp_path):
    (tmp_path / "a.csv").write_bytes(ROWS.encode())
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(ROWS.encode()))
    expected = list(csv.DictReader(io.StringIO(ROWS, newline="")))
    assert len(expected) == 4 and expected[0]["note"] == 'said "no",\nand left'
    source = CSV(tmp_path / "a.csv")
    assert list(source) == expected and source.read([3, 1]) == [expected[3], expected[1]]
    assert source.columns == ["name", "age", "note"]
    assert list(CSVStream(tmp_path / "a.csv")) == list(CSVStream(tmp_path / "a.csv.gz")) == expected
    assert list(pickle.loads(pickle.dumps(source))) == expected
    assert [row["age"] for row in CSV(tmp_path / "a.csv", types={"age": int})] == [3, -1, 0, 7]


def test_random_rows_are_those_of_python(tmp_path):
    rng = np.random.default_rng(0)
    pieces = ['"', ",", "\n", "a", "ü", " ", "\r\n", "'", ";"]
    rows = [["".join(rng.choice(pieces, rng.integers(0, 6))) for _ in range(3)] + ["end"] for _ in range(2000)]
    with open(tmp_path / "a.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([list("wxyz"), *rows])
    source = CSV(tmp_path / "a.csv")
    assert [list(row.values()) for row in source] == rows
    assert [list(row.values()) for row in CSVStream(tmp_path / "a.csv")] == rows


def test_other_forms_of_csv(tmp_path):
    (tmp_path / "a.tsv").write_bytes('1\tit"s\n2\tx\n'.encode("latin-1"))
    words = {"columns": ["n", "t"], "header": False, "delimiter": "\t", "quote": None}
    for kind in (CSV, CSVStream):
        assert list(kind(tmp_path / "a.tsv", **words)) == [{"n": "1", "t": 'it"s'}, {"n": "2", "t": "x"}]
    (tmp_path / "a.csv").write_bytes("a,b\nü,2\n".encode("latin-1"))
    for kind in (CSV, CSVStream):
        assert list(kind(tmp_path / "a.csv", encoding="latin-1")) == [{"a": "ü", "b": "2"}]
        assert list(kind(tmp_path / "a.csv", ["c", "d"], encoding="latin-1")) == [{"c": "ü", "d": "2"}]
        with pytest.raises(DataError, match="no CSV"):
            list(kind(tmp_path / "a.csv"))
    (tmp_path / "b.csv").write_bytes(b"\xef\xbb\xbfa,b\n1,2\n")
    assert list(CSV(tmp_path / "b.csv")) == list(CSVStream(tmp_path / "b.csv")) == [{"a": "1", "b": "2"}]
    (tmp_path / "c.csv").write_bytes(b"")
    assert list(CSV(tmp_path / "c.csv")) == list(CSVStream(tmp_path / "c.csv")) == []


def test_several_files_have_one_set_of_columns(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text(f"x,y\n{name},1\n{name},2\n")
    source = CSV(str(tmp_path / "{a,b}.csv"))
    assert [row["x"] + row["y"] for row in source] == ["a1", "a2", "b1", "b2"]
    assert source.chunks() == [range(2), range(2, 4)]
    (tmp_path / "b.csv").write_text("x,y,z\n1,2,3\n")
    for kind in (CSV, CSVStream):
        with pytest.raises(DataError, match="got 3 columns, expected 2"):
            list(kind(str(tmp_path / "{a,b}.csv")))


@pytest.mark.parametrize("text, letter", [
    ("a,b\n1,2,3\n", "a row of 3 fields, expected 2"), ("a,b\n1\n", "a row of 1 fields"), ("a,a\n1,2\n", "two columns"),
    ('a,b\n"1,2\n', "no CSV"), ('a,b\n"1"x,2\n', "no CSV"), ("a,b\n1,x\n", "got 'x' in column 'b'"),
])
def test_broken_rows_are_errors(tmp_path, text, letter):
    (tmp_path / "a.csv").write_text(text)
    for kind in (CSV, CSVStream):
        with pytest.raises(DataError, match=letter) as caught:
            list(kind(tmp_path / "a.csv", types={"b": int} if "x\n" in text else None))
        assert caught.value.path == str(tmp_path / "a.csv")


@pytest.mark.parametrize("words, letter", [
    ({"delimiter": ""}, "delimiter=''"), ({"delimiter": "ü"}, "delimiter='ü'"), ({"quote": "\n"}, "quote="),
    ({"header": False}, "no columns"), ({"types": {"z": int}}, r"types for \['z'\]"),
    ({"delimiter": None}, "delimiter"),
])
def test_wrong_words_are_refused(tmp_path, words, letter):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    for kind in (CSV, CSVStream):
        with pytest.raises(ValueError, match=letter):
            list(kind(tmp_path / "a.csv", **words))


def test_dicts_become_rows(tmp_path):
    rows = [{"a": 1, "b": 'x"\n,'}, {"a": 2.5, "b": "ü"}]
    assert write_csv(rows, tmp_path / "a.csv") == 2
    assert list(CSV(tmp_path / "a.csv")) == [{"a": "1", "b": 'x"\n,'}, {"a": "2.5", "b": "ü"}]
    for sample in ([1], {"a": b"x"}, {"a": [1]}):
        with pytest.raises(TypeError, match="write_csv: got"):
            write_csv([sample], tmp_path / "b.csv")
