"""Files of samples by their endings: each format holds what was written into it."""
import numpy as np
import pytest

from dragon.io import DataError
from dragon.io.formats import READERS, WRITERS, open_samples, write_samples
from dragon.io.sources import CSV, PictureFolder, RecordIO

ROWS = [{"name": f"row {number}", "n": number, "x": [number, 2]} for number in range(12)]
TABLES = (".parquet", ".arrow", ".feather")


def plain(value):
    """Return a value without arrays."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items() if not key.startswith("__")}
    return value.tolist() if isinstance(value, np.ndarray) else value


def expected_of(ending):
    """Return what a format makes of the rows."""
    if "tfrecord" in ending:
        return [{"name": [row["name"].encode()], "n": [row["n"]], "x": row["x"]} for row in ROWS]
    if ending in (".tar", ".tar.gz", ".tgz"):
        return [{"name": row["name"].encode(), "n.json": row["n"], "x.json": row["x"]} for row in ROWS]
    if ending == ".csv":
        return [{"name": row["name"], "n": str(row["n"])} for row in ROWS]
    return ROWS


@pytest.mark.parametrize("ending", sorted(set(WRITERS) - {".rec", ".npy"}))
def test_what_is_written_is_read(tmp_path, ending):
    if ending in TABLES:
        pytest.importorskip("pyarrow")
    rows = [{"name": row["name"], "n": row["n"]} for row in ROWS] if ending == ".csv" else ROWS
    assert write_samples(iter(rows), tmp_path / f"a{ending}") == 12
    assert list(map(plain, open_samples(tmp_path / f"a{ending}"))) == expected_of(ending)


def test_every_format_that_is_written_is_read():
    assert set(WRITERS) <= set(READERS)


def test_pictures_with_labels_become_records_of_images(tmp_path):
    pictures = [{"image": b"one", "label": 2}, {"jpg": b"two", "cls": 1},
                {"data": b"three", "label": [1, 2.5], "id": 9}]
    assert write_samples(pictures, tmp_path / "a.rec") == 3
    first, second, third = RecordIO(tmp_path / "a.rec")
    assert (first["label"], second["label"], third["label"].tolist()) == (2, 1, [1, 2.5])
    assert [first["data"], second["data"], third["data"], third["id"], second["id"]] == [b"one", b"two", b"three", 9, 1]
    for sample in (3, {"label": 1}, {"jpg": b"", "png": b""}, {"image": "text"}):
        with pytest.raises(TypeError, match="got sample 0 without one picture"):
            write_samples([sample], tmp_path / "b.rec")


def test_pictures_and_labels_get_the_endings_of_archives(tmp_path):
    write_samples([{"image": b"\xff\xd8\xffabc", "label": np.int64(3), "box": np.zeros(4), "size": 1.5, "none": None}],
                  tmp_path / "a.tar")
    sample, = open_samples(tmp_path / "a.tar")
    assert plain(sample) == {"jpg": b"\xff\xd8\xffabc", "cls": 3, "box.npy": [0] * 4, "size.json": 1.5}
    with pytest.raises(TypeError, match="got sample 0 of type int"):
        write_samples([3], tmp_path / "a.tar")


def test_arrays_become_rows_of_one_array(tmp_path):
    rows = [np.full((2, 3), number, "f4") for number in range(4)]
    assert write_samples(iter(rows), tmp_path / "a.npy") == 4
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), np.stack(rows))
    for wrong in ([rows[0], rows[0][0]], [rows[0], rows[0].astype("f8")], [object()]):
        with pytest.raises(TypeError, match="write_samples: got sample"):
            write_samples(wrong, tmp_path / "b.npy")
    with pytest.raises(DataError, match="got no samples"):
        write_samples([], tmp_path / "b.npy")


def test_names_tell_the_format_or_are_refused(tmp_path):
    (tmp_path / "a.TSV").write_text("a\tb\n1\t2\n")
    source = open_samples(tmp_path / "a.TSV")
    assert isinstance(source, CSV) and list(source) == [{"a": "1", "b": "2"}]
    for names in ([], [tmp_path / "a.TSV", tmp_path / "b.kpl"], [tmp_path / "a.txt"], str(tmp_path / "{a.tsv,b.kpl}")):
        with pytest.raises(ValueError, match="open_samples: got"):
            open_samples(names)
    with pytest.raises(ValueError, match="write_samples: got"):
        write_samples([], tmp_path / "a.txt")
    with pytest.raises(ValueError, match="got metadata for .csv"):
        write_samples([], tmp_path / "a.csv", metadata={})
    with pytest.raises(FileNotFoundError):
        open_samples(tmp_path)
    (tmp_path / "x.png").write_bytes(b"")
    source = open_samples(tmp_path)
    assert isinstance(source, PictureFolder) and source[0]["label"] is None
