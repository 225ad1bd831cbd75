"""Records by number from elsewhere: few requests, another try where one fails, nothing wrong from changed files."""
import os
import zipfile

import numpy as np
import pytest

from dragon.io import DataError, Reader
from dragon.io.records import KPLRecord, KPLRecordWriter, verify
from dragon.io.sources import TFRecord, TFRecordWriter
from dragon.io.sources import remote_file
from harness.range_server import serve

pytest.importorskip("fsspec")


def write(path, count=2000, size=4000):
    """Write samples that are told apart by their number, and return the path."""
    with KPLRecordWriter(path) as writer:
        for number in range(count):
            writer.write({"n": number, "x": np.full(size, number % 251, "u1")})
    return path


def check(samples, numbers):
    """Compare samples with those of their numbers."""
    assert [sample["n"] for sample in samples] == list(numbers)
    assert all((sample["x"] == sample["n"] % 251).all() for sample in samples)


@pytest.fixture
def server(tmp_path, monkeypatch):
    """Return a server of a folder; whoever tries again does so at once."""
    pytest.importorskip("aiohttp")
    monkeypatch.setattr(remote_file, "PAUSES", (0.0, 0.0, 0.0))
    with serve(tmp_path) as running:
        yield running


def test_a_file_is_opened_and_read_in_order_by_few_requests(server, tmp_path):
    size = os.path.getsize(write(tmp_path / "a.kpl"))
    source = KPLRecord(f"{server.address}/a.kpl")
    assert len(source) == 2000 and len(server.asked) <= 3
    server.asked.clear()
    check(source, range(2000))
    assert len(server.asked) <= 6 and sum(asked for _, asked in server.asked) < 1.3 * size


def test_one_sample_takes_one_request_of_its_size(server, tmp_path):
    write(tmp_path / "a.kpl")
    source = KPLRecord(f"{server.address}/a.kpl")
    for number in (700, 100, 1500):
        server.asked.clear()
        check([source[number]], [number])
        assert len(server.asked) == 1 and server.asked[0][1] <= 80_000
    server.asked.clear()
    check([source[number] for number in (700, 100, 1500)], (700, 100, 1500))
    assert not server.asked


def test_a_reader_of_mixed_chunks_asks_for_whole_chunks(server, tmp_path):
    size = os.path.getsize(write(tmp_path / "a.kpl"))
    source = KPLRecord(f"{server.address}/a.kpl")
    server.asked.clear()
    for chunk in (range(500, 1000), range(0, 500), range(1500, 2000)):
        source.will_need(chunk)
    rng = np.random.default_rng(0)
    for _ in range(30):
        numbers = rng.choice([*range(0, 1000), *range(1500, 2000)], 32)
        check(source.read(numbers), numbers)
    assert len(server.asked) == 3 and sum(asked for _, asked in server.asked) < size


def test_a_reader_has_all_samples_of_a_server(server, tmp_path):
    write(tmp_path / "a.kpl", 300)
    source = KPLRecord(f"{server.address}/a.kpl")
    server.asked.clear()
    samples = list(Reader(source, shuffle="chunks", seed=1))
    numbers = [sample["n"] for sample in samples]
    check(samples, numbers)
    assert numbers != list(range(300)) and sorted(numbers) == list(range(300)) and len(server.asked) <= 2


@pytest.mark.parametrize("failures", [[500], [503, 503], ["cut"], [None, "cut", 429, "cut"]])
def test_requests_that_fail_are_tried_again(server, tmp_path, failures):
    write(tmp_path / "a.kpl", 100)
    server.failures += failures
    source = KPLRecord(f"{server.address}/a.kpl")
    check(source, range(100))
    assert not server.failures and verify(f"{server.address}/a.kpl").whole


def test_a_server_that_fails_for_good_is_named(server, tmp_path):
    write(tmp_path / "a.kpl", 100, 10_000)
    source = KPLRecord(f"{server.address}/a.kpl")
    server.failures += [500] * 4
    with pytest.raises(OSError, match=r"got no answer for bytes \d+ to \d+ of http.*a.kpl \(tries: 4\).*500"):
        source[50]
    server.failures += [401]
    with pytest.raises(OSError, match=r"\(tries: 1\).*401"):
        source[50]
    check([source[50]], [50])  # and it is asked again as soon as it answers


def test_a_server_without_parts_is_named(server, tmp_path):
    write(tmp_path / "a.kpl", 100)
    server.knows_parts = False
    with pytest.raises(OSError, match="from a server that gives whole files only"):
        KPLRecord(f"{server.address}/a.kpl")


@pytest.mark.parametrize("change", ["replaced", "cut", "gone"])
def test_a_file_that_changed_on_its_server_gives_no_wrong_sample(server, tmp_path, change):
    path = write(tmp_path / "a.kpl", 300)
    source = KPLRecord(f"{server.address}/a.kpl")
    check([source[290]], [290])
    if change == "replaced":
        with KPLRecordWriter(path) as writer:
            for number in range(300):
                writer.write({"n": -number, "x": np.zeros(4100, "u1")})
    elif change == "cut":
        os.truncate(path, 500_000)
    else:
        os.remove(path)
    with pytest.raises((DataError, FileNotFoundError)):
        source[150]
    if change == "replaced":
        assert KPLRecord(f"{server.address}/a.kpl")[150]["n"] == -150


def test_records_of_tensorflow_are_found_by_number_on_a_server(server, tmp_path):
    with TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        for number in range(500):
            writer.write(b"%d" % number * 300)
    source = TFRecord(f"{server.address}/a.tfrecord")
    server.asked.clear()
    assert source.read([499, 0, 250]) == [b"%d" % number * 300 for number in (499, 0, 250)]
    assert len(server.asked) <= 3


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_records_in_memory_and_in_archives_are_found_by_number(tmp_path, compression):
    path = write(tmp_path / "a.kpl", 300)
    with zipfile.ZipFile(tmp_path / "a.zip", "w", compression) as archive:
        archive.write(path, "inner/a.kpl")
    write("memory://parts/a.kpl", 300)
    for name in (f"zip://inner/a.kpl::file://{tmp_path}/a.zip", "memory://parts/a.kpl"):
        source = KPLRecord(name)
        numbers = np.random.default_rng(0).permutation(300)
        check(source.read(numbers), numbers)
        check([source[7], source[-1], source[0]], [7, 299, 0])
        check(source, range(300))
