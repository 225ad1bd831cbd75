"""`dragon data`: files of samples packed, shown, checked, and turned into others."""
import base64
import json

import numpy as np
import pytest

from dragon.io.formats import open_samples, write_samples
from dragon.io.records import KPLRecord, KPLRecordWriter
from dragon.io.sources import RecordIO, TarWriter

ROWS = [{"name": f"row {number}", "n": number} for number in range(12)]


@pytest.fixture
def photos(tmp_path):
    """Make a folder of pictures, a folder for each class, and return it."""
    for name in ("cat/a.jpg", "cat/b.png", "dog/c.jpg"):
        path = tmp_path / "photos" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((b"\xff\xd8\xff" if name.endswith("jpg") else b"\x89PNG") + name.encode())
    return tmp_path / "photos"


def make_records(path, count=12, **words):
    """Write a file of records and return its path."""
    with KPLRecordWriter(path, **words) as writer:
        for number in range(count):
            writer.write({"x": np.full((3, 4), number, "f4"), "label": number, "data": bytes(200)})
    return path


def test_a_folder_of_pictures_becomes_one_file(execute, photos, tmp_path):
    said = execute("data", "pack", photos, "photos.kpl").stdout
    assert said.startswith("3 samples, ") and said.endswith(": photos.kpl\n")
    source = KPLRecord(tmp_path / "photos.kpl")
    assert source.metadata == {"classes": ["cat", "dog"]}
    found = [(sample["path"], sample["label"]) for sample in source]
    assert found == [("cat/a.jpg", 0), ("cat/b.png", 0), ("dog/c.jpg", 1)]
    said = execute("data", "ls", "photos.kpl").stdout
    assert "KPLRecord, 3 samples" in said and "index: whole" in said and "image  bytes of 12" in said
    assert "metadata: {'classes': ['cat', 'dog']}" in said
    execute("data", "convert", "photos.kpl", "photos.tar")
    found = [{key for key in sample if not key.startswith("__")} for sample in open_samples(tmp_path / "photos.tar")]
    assert found == [{"jpg", "cls", "path"}, {"png", "cls", "path"}, {"jpg", "cls", "path"}]
    execute("data", "convert", "photos.kpl", "photos.rec")
    assert [sample["label"] for sample in RecordIO(tmp_path / "photos.rec")] == [0, 0, 1]
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_shards_are_packed_by_several_processes(execute, tmp_path):
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    words = ("--shards", 3, "--workers", 2, "--compression", "zlib", "--json")
    report = json.loads(execute("data", "pack", "a.jsonl", "a.kpl", *words).stdout)
    assert report["samples"] == 12 and report["files"] == [f"a-0000{number}-of-00003.kpl" for number in range(3)]
    assert list(KPLRecord(str(tmp_path / "a-*.kpl"))) == ROWS


def test_packing_can_go_on(execute, tmp_path):
    write_samples(ROWS, tmp_path / "a.csv")
    execute("data", "pack", "a.csv", "a.kpl")
    assert "12 samples" in execute("data", "pack", "a.csv", "a.kpl", "--append").stdout
    assert len(KPLRecord(tmp_path / "a.kpl")) == 24


def test_formats_become_others_and_return(execute, tmp_path):
    write_samples(ROWS, tmp_path / "a.kpl")
    execute("data", "convert", "a.kpl", "b.jsonl")
    execute("data", "convert", "b.jsonl", "c.kpl")
    assert list(KPLRecord(tmp_path / "c.kpl")) == ROWS
    assert "12 samples whole\n" in execute("data", "verify", "b.jsonl").stdout


def test_archives_of_text_and_arrays_of_rows(execute, tmp_path):
    with TarWriter(tmp_path / "a.tar") as writer:
        for number in range(3):
            writer.write({"__key__": f"s{number}", "cls": number, "x.npy": np.arange(number)})
    execute("data", "pack", "a.tar", "a.kpl")
    assert {key: str(value) for key, value in KPLRecord(tmp_path / "a.kpl")[2].items()} == {
        "__key__": "s2", "cls": "2", "x.npy": "[0 1]"}
    execute("data", "convert", "a.kpl", "b.tgz")
    assert [sample["__key__"] for sample in open_samples(tmp_path / "b.tgz")] == ["s0", "s1", "s2"]
    np.save(tmp_path / "a.npy", np.arange(6).reshape(3, 2))
    execute("data", "pack", "a.npy", "b.kpl")
    execute("data", "convert", "b.kpl", "b.npy")
    assert np.load(tmp_path / "b.npy").tolist() == [[0, 1], [2, 3], [4, 5]]


def test_samples_are_printed(execute, tmp_path):
    make_records(tmp_path / "a.kpl")
    said = execute("data", "cat", "a.kpl", "--start", 3, "--count", 2).stdout.splitlines()
    assert said == ["{'x': <float32 (3, 4)>, 'label': 3, 'data': <bytes of 200>}",
                    "{'x': <float32 (3, 4)>, 'label': 4, 'data': <bytes of 200>}"]
    found = json.loads(execute("data", "cat", "a.kpl", "--start", 11, "--json").stdout)
    assert found["x"] == [[11.0] * 4] * 3 and base64.b64decode(found["data"]["base64"]) == bytes(200)
    assert execute("data", "cat", "a.kpl", "--start", 99).stdout == ""


def test_what_is_broken_is_told_with_its_place(execute, tmp_path):
    path = make_records(tmp_path / "a.kpl")
    offset = KPLRecord(path).place(5)[1]
    data = bytearray(path.read_bytes())
    data[offset + 60] ^= 1
    path.write_bytes(data)
    said = execute("data", "verify", "a.kpl", status=1).stdout
    assert "a.kpl: 11 samples whole, 1 troubles" in said and f"(byte {offset} of a.kpl)" in said
    report, = json.loads(execute("data", "verify", "a.kpl", "--json", status=1).stdout)
    assert report["samples"] == 11 and report["troubles"][0]["offset"] == offset
    path.write_bytes(data[:-64])
    said = execute("data", "ls", "a.kpl", status=1).stdout
    assert "the writer was not closed" in said and "12 samples" in said
    write_samples([{"a": 1}] * 3, tmp_path / "b.tfrecord")
    broken = bytearray((tmp_path / "b.tfrecord").read_bytes())
    broken[15] ^= 1
    (tmp_path / "b.tfrecord").write_bytes(broken)
    assert "2 samples whole, 1 troubles" in execute("data", "verify", "b.tfrecord", status=1).stdout


def test_a_conversion_that_fails_leaves_what_was_there(execute, tmp_path):
    make_records(tmp_path / "a.kpl")
    (tmp_path / "b.csv").write_text("old")
    said = execute("data", "convert", "a.kpl", "b.csv", status=2).stderr
    assert said.startswith("dragon data: write_csv: got") and (tmp_path / "b.csv").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.kpl", "b.csv"]


@pytest.mark.parametrize("words, letter", [
    (["pack", "a.csv"], "got pack of a.csv alone"), (["pack", "a.csv", "b.tar"], "expected a name that ends with .kpl"),
    (["ls", "a.xyz"], "expected a folder of pictures, or files"), (["ls", "none.kpl"], "none.kpl"),
    (["ls", "a.csv", "--count", "1"], "got ls with --count, expected it with cat only"),
    (["convert", "a.csv", "a.xyz"], "expected one of the endings"), (["lss", "a.csv"], "did you mean ls?"),
    (["pack", "a.csv", "b.kpl", "--workers", "2"], "expected both"),
    (["convert", "a.csv", "b.jsonl", "--compression", "zlib"], "got --compression for"),
    (["cat", "b.kpl"], "does not begin as a KPLRecord does"), (["ls", "a.csv", "--start", "-1"], "whole number from 0"),
])
def test_mistakes_are_answered_by_letters(execute, tmp_path, words, letter):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    (tmp_path / "b.kpl").write_text("no record")
    done = execute("data", *words, status=2)
    assert done.stderr.startswith("dragon data: ") and letter in done.stderr and "Traceback" not in done.stderr
