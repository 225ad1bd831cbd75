"""Files that are not on this machine: through fsspec, in memory and from a server."""
import gzip
import subprocess
import sys

import numpy as np
import pytest

from dragon.io.records import KPLRecord, KPLRecordWriter, verify
from dragon.io.sources import (CSV, JSONLines, NumPyArray, Parquet, PictureFolder, RecordIO, RecordIOWriter, TarWriter,
                               TFRecord, TFRecordStream, TFRecordWriter, WebDataset, WebDatasetStream, open_file,
                               write_csv, write_json_lines, write_parquet)
from dragon.io.sources.paths import expand_braces, list_paths
from harness.range_server import serve

LETTER = """
import sys
sys.modules["fsspec"] = None
from dragon.io.sources import open_file, TFRecord
for function in (open_file, TFRecord):
    try:
        function("s3://bucket/a")
    except ModuleNotFoundError as error:
        assert "the package fsspec: pip install" in str(error), error
    else:
        raise SystemExit("no letter")
"""


def test_without_the_package_a_letter_asks_for_it(tmp_path):
    subprocess.run([sys.executable, "-c", LETTER], check=True, cwd=tmp_path)


@pytest.fixture
def memory():
    """Return the name of a folder in fsspec's memory."""
    fsspec = pytest.importorskip("fsspec")
    yield "memory://folder"
    system = fsspec.filesystem("memory")
    system.rm("/folder", recursive=True) if system.exists("/folder") else None


def fill(folder):
    """Write a file of each format and return {name: its reader}."""
    with KPLRecordWriter(f"{folder}/a.kpl") as writer:
        for number in range(3):
            writer.write({"n": number, "x": np.full(30_000, number)})
    with TFRecordWriter(f"{folder}/a.tfrecord") as writer:
        writer.write(b"abc")
    with TarWriter(f"{folder}/a-0.tar") as writer:
        writer.write({"__key__": "k", "txt": "text"})
    with RecordIOWriter(f"{folder}/a.rec") as writer:
        writer.write(b"abc")
    write_csv([{"a": 1}], f"{folder}/a.csv")
    write_json_lines([{"a": 1}], f"{folder}/a.jsonl")
    with open_file(f"{folder}/a.npy", "wb") as file:
        np.save(file, np.arange(4))
    return {"a.kpl": (lambda path: [sample["n"] for sample in KPLRecord(path)], [0, 1, 2]),
            "a.tfrecord": (lambda path: list(TFRecord(path)) + list(TFRecordStream(path)), [b"abc"] * 2),
            "a-{0..0}.tar": (lambda path: [sample["txt"] for kind in (WebDataset, WebDatasetStream)
                                           for sample in kind(path)], [b"text"] * 2),
            "a.rec": (lambda path: list(RecordIO(path, labelled=False)), [b"abc"]),
            "a.csv": (lambda path: list(CSV(path)), [{"a": "1"}]),
            "a.jsonl": (lambda path: list(JSONLines(path)), [{"a": 1}]),
            "a.npy": (lambda path: [int(row) for row in NumPyArray(path)], [0, 1, 2, 3])}


def test_all_formats_are_read_and_written_in_memory(memory):
    for name, (read, expected) in fill(memory).items():
        assert read(f"{memory}/{name}") == expected, name
    assert verify(f"{memory}/a.kpl").whole
    assert KPLRecord(f"{memory}/*.kpl").paths == ["memory:///folder/a.kpl"]
    for name in ("cat/a.jpg", "dog/b.png", "c.txt"):
        with open_file(f"{memory}/{name}", "wb") as file:
            file.write(name.encode())
    source = PictureFolder(memory)
    assert source.classes == ["cat", "dog"] and source[1]["image"] == b"dog/b.png"
    with pytest.raises(ValueError, match="append=True for memory"):
        KPLRecordWriter(f"{memory}/a.kpl", append=True)
    with pytest.raises(FileNotFoundError):
        KPLRecord(f"{memory}/none.kpl")


def test_tables_are_read_and_written_in_memory(memory):
    pytest.importorskip("pyarrow")
    write_parquet([{"a": 1}], f"{memory}/a.parquet")
    assert list(Parquet(f"{memory}/a.parquet")) == [{"a": 1}]


@pytest.fixture
def server(tmp_path):
    """Return the address of a server of a folder, and the folder."""
    pytest.importorskip("fsspec")
    pytest.importorskip("aiohttp")
    with serve(tmp_path) as running:
        yield running.address, tmp_path


def test_all_formats_are_read_from_a_server(server):
    address, folder = server
    for name, (read, expected) in fill(folder).items():
        assert read(f"{address}/{name}") == expected, name
    (folder / "a.tar.gz").write_bytes(gzip.compress((folder / "a-0.tar").read_bytes()))
    assert [sample["txt"] for sample in WebDatasetStream(f"{address}/a.tar.gz")] == [b"text"]
    with pytest.raises(FileNotFoundError):
        list(WebDatasetStream(f"{address}/none.tar"))


def test_protocols_that_lack_a_package_say_so():
    pytest.importorskip("fsspec")
    try:
        import s3fs  # noqa: F401
    except ImportError:
        with pytest.raises(ModuleNotFoundError, match="expected what its protocol needs: .*s3fs"):
            open_file("s3://bucket/a")
    with pytest.raises(ValueError, match="mode 'r'"):
        open_file("a", "r")


def test_files_of_this_machine_have_a_protocol_too(tmp_path):
    (tmp_path / "a.jsonl").write_text("1\n")
    assert list(JSONLines(f"file://{tmp_path}/a.jsonl")) == [1]


def test_braces_stand_for_names():
    assert expand_braces("a-{08..10}-{x,y}.tar") == [f"a-{n}-{c}.tar" for n in ("08", "09", "10") for c in "xy"]
    assert expand_braces("a{b}c{}") == ["a{b}c{}"] and expand_braces("a{1..1}") == ["a1"]
    for name in ("a{2..1}", "a{0..99999999999}", "a{0..9999}{0..9999}"):
        with pytest.raises(ValueError, match="expand_braces: got"):
            expand_braces(name)


def test_names_with_braces_that_are_there_are_files(tmp_path):
    path = tmp_path / "a{0..1}[x].jsonl"
    path.write_text("1\n")
    assert list_paths(path, "x") == [str(path)] and list(JSONLines(path)) == [1]
