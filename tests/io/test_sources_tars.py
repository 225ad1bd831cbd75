"""WebDataset's archives, beside Python's tarfile and the package webdataset."""
import gzip
import io
import json
import pickle
import tarfile

import numpy as np
import pytest

from dragon.io import DataError
from dragon.io.sources import TarWriter, WebDataset, WebDatasetStream

SAMPLES = [{"__key__": f"folder/{number:04}", "jpg": bytes([number]) * (number * 700), "cls": number % 3,
            "json": {"n": [number, "ü"]}, "seg.npy": np.arange(number), "txt": "Grüße"} for number in range(10)]


def write(path, samples=SAMPLES):
    """Write samples and return the path."""
    with TarWriter(path) as writer:
        for sample in samples:
            writer.write(sample)
    return str(path)


def make_tar(path, files, form=tarfile.PAX_FORMAT):
    """Write files with Python's own archives."""
    with tarfile.open(path, "w", format=form) as tar:
        for name, data in files:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return str(path)


def plain(samples):
    """Return samples without what readers add, arrays as lists."""
    return [{key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in sample.items()
             if key != "__url__"} for sample in samples]


@pytest.mark.parametrize("ending", ["tar", "tar.gz", "tgz"])
def test_what_is_written_is_read(tmp_path, ending):
    path = write(tmp_path / f"a.{ending}")
    assert plain(WebDatasetStream(path, decode=True)) == plain(SAMPLES)
    raw = list(WebDatasetStream(path))
    assert raw[3]["cls"] == b"0" and raw[3]["txt"] == "Grüße".encode() and raw[3]["__url__"] == path
    if ending == "tar":
        source = WebDataset(path, decode=True)
        assert plain(source) == plain(SAMPLES)
        assert plain(source.read([7, -1, 0])) == plain([SAMPLES[7], SAMPLES[9], SAMPLES[0]])
        assert plain(pickle.loads(pickle.dumps(source))) == plain(SAMPLES)


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_archives_of_python_are_read_and_grouped(tmp_path, form):
    long = "d" * 90 + "/" + "e" * (60 if form == tarfile.USTAR_FORMAT else 300)
    files = [("a.b/x.left.JPG", b"1"), ("a.b/x.right.jpg", b"2"), ("a.b/y.txt", b"3"), ("no-ending", b"4"),
             ("__meta__/index.json", b"{}"), (f"{long}.jpg", b"5" * 1000), (f"{long}.txt", b""), ("./z.txt", b"6"),
             ("ü.txt", b"7")]
    path = make_tar(tmp_path / "a.tar", files, form)
    expected = [{"__key__": "a.b/x", "left.jpg": b"1", "right.jpg": b"2"}, {"__key__": "a.b/y", "txt": b"3"},
                {"__key__": long, "jpg": b"5" * 1000, "txt": b""}, {"__key__": "./z", "txt": b"6"},
                {"__key__": "ü", "txt": b"7"}]
    assert plain(WebDataset(path)) == plain(WebDatasetStream(path)) == expected


def test_folders_links_and_devices_are_passed_over(tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        for kind in (tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE):
            info = tarfile.TarInfo("x.txt")
            info.type, info.linkname = kind, "elsewhere"
            tar.addfile(info)
        info = tarfile.TarInfo("x.txt")
        info.size = 3
        tar.addfile(info, io.BytesIO(b"abc"))
    assert plain(WebDataset(tmp_path / "a.tar")) == [{"__key__": "x", "txt": b"abc"}]


def test_the_package_webdataset_reads_and_writes_the_same(tmp_path):
    wds = pytest.importorskip("webdataset")
    ours = write(tmp_path / "ours.tar")
    theirs = list(wds.WebDataset(ours, shardshuffle=False).decode())
    for sample in theirs:
        sample.pop("__local_path__", None)
    assert plain(theirs) == plain(SAMPLES)
    path = str(tmp_path / "theirs.tar")
    with wds.TarWriter(path) as sink:
        for sample in SAMPLES:
            sink.write(sample)
    assert plain(WebDataset(path, decode=True)) == plain(WebDatasetStream(path, decode=True)) == plain(SAMPLES)
    for each in (path, ours):
        keys = [{key: value for key, value in sample.items() if not key.startswith("__")}
                for sample in wds.WebDataset(each, shardshuffle=False)]
        assert keys == [{key: value for key, value in sample.items() if not key.startswith("__")}
                        for sample in WebDataset(each)]


def test_braces_name_many_archives(tmp_path):
    for number in range(12):
        write(tmp_path / f"a-{number:03}.tar", SAMPLES[number % 10:number % 10 + 1])
    source = WebDataset(str(tmp_path / "a-{000..011}.tar"), open_files=3)
    assert [sample["__key__"][-1] for sample in source] == list("012345678901")
    assert len(WebDatasetStream(str(tmp_path / "a-{000..011}.tar")).parts()) == 12
    with pytest.raises(FileNotFoundError):
        WebDataset(str(tmp_path / "a-{000..012}.tar"))


def test_functions_decode_by_ending(tmp_path):
    path = make_tar(tmp_path / "a.tar", [("x.JPG", b"abc"), ("x.cls", b"many")])
    assert next(iter(WebDataset(path, {"jpg": len, "cls": bytes})))["jpg"] == 3
    for kind in (WebDataset, WebDatasetStream):
        with pytest.raises(DataError, match=r"a file .cls that cannot be decoded: invalid literal"):
            list(kind(path, True))
        with pytest.raises(TypeError, match="got decode='pil'"):
            kind(path, "pil")
    pickled = io.BytesIO()
    np.save(pickled, np.array([object()]), allow_pickle=True)
    path = make_tar(tmp_path / "b.tar", [("x.npy", pickled.getvalue())])
    with pytest.raises(DataError, match="cannot be decoded"):
        WebDataset(path, True)[0]


def test_broken_archives_are_errors_with_their_place(tmp_path):
    path = write(tmp_path / "a.tar")
    whole = (tmp_path / "a.tar").read_bytes()
    broken = bytearray(whole)
    second = WebDataset(path)._samples[0][1][1]["jpg"].offset - 512
    broken[second + 10] ^= 1
    cut = whole[:second + 700]
    twice = make_tar(tmp_path / "b.tar", [("x.txt", b"1"), ("x.TXT", b"2")])
    for kind in (WebDataset, WebDatasetStream):
        for data, letter in ((broken, "broken header"), (cut, "cut off"), (b"", "cut off"),
                             (b"abc" * 200, "broken header")):
            (tmp_path / "a.tar").write_bytes(data)
            with pytest.raises(DataError, match=letter) as caught:
                list(kind(path))
            assert caught.value.path == path and caught.value.offset is not None
        with pytest.raises(DataError, match="two files 'x.TXT' in one sample"):
            list(kind(twice))
    packed = gzip.compress(whole)
    for data in (packed[:-2], packed[:len(packed) // 2], b"\0" + packed):
        (tmp_path / "a.tar.gz").write_bytes(data)
        with pytest.raises(DataError):
            list(WebDatasetStream(tmp_path / "a.tar.gz"))


@pytest.mark.parametrize("facts", [b"5 a=b\n", b"99 path=x\n", b"path=x\n", b"0 =\n", b"16 size=-12345\n",
                                   b"12 size=abc\n", b"26 size=99999999999999999\n"])
def test_facts_that_lie_are_errors(tmp_path, facts):
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, len(facts)
    data = header.tobuf(tarfile.USTAR_FORMAT) + facts.ljust(512, b"\0")
    (tmp_path / "a.tar").write_bytes(data + tarfile.TarInfo("x.txt").tobuf() + bytes(1024))
    for kind in (WebDataset, WebDatasetStream):
        with pytest.raises(DataError, match="broken facts|no number|cut off"):
            list(kind(tmp_path / "a.tar"))


def test_sizes_that_lie_take_no_memory(tmp_path):
    header = tarfile.TarInfo("x.txt")
    header.size = 1 << 60
    (tmp_path / "a.tar").write_bytes(header.tobuf(tarfile.GNU_FORMAT) + bytes(1024))
    for kind in (WebDataset, WebDatasetStream):
        with pytest.raises(DataError, match="cut off"):
            list(kind(tmp_path / "a.tar"))


@pytest.mark.parametrize("sample, kind", [
    ({"txt": "a"}, ValueError), ({"__key__": "a.b", "txt": "a"}, ValueError), ({"__key__": 3}, ValueError),
    ([], ValueError), ({"__key__": "a", "jpg": 3}, TypeError), ({"__key__": "a", "jpg": np.zeros(2)}, TypeError),
    ({"__key__": "a", "cls": 2.5}, TypeError), ({"__key__": "__a__/b", "txt": "a"}, ValueError),
])
def test_samples_that_archives_do_not_hold_are_refused(tmp_path, sample, kind):
    with TarWriter(tmp_path / "a.tar") as writer, pytest.raises(kind, match="TarWriter: got"):
        writer.write(sample)


def test_json_is_read_again(tmp_path):
    path = write(tmp_path / "a.tar", [{"__key__": "a", "json": [1, {"b": None}]}])
    assert json.loads(WebDataset(path)[0]["json"]) == [1, {"b": None}]
