"""Parquet, Arrow and Feather, beside pyarrow itself."""
import pickle
import subprocess
import sys

import pytest

from dragon.io import DataError
from dragon.io.sources import Arrow, Parquet, write_arrow, write_parquet

ROWS = [{"n": number, "text": f"t{number}", "list": [number, number + 1], "data": bytes([number])}
        for number in range(10)]
LETTER = """
import sys
sys.modules["pyarrow"] = None
from dragon.io.sources import Arrow, Parquet, write_arrow, write_parquet
for function in (Arrow, Parquet, lambda path: write_arrow([{}], path), lambda path: write_parquet([{}], path)):
    try:
        function("x")
    except ModuleNotFoundError as error:
        assert "no package pyarrow" in str(error) and "pip install" in str(error), error
    else:
        raise SystemExit("no letter")
"""


def test_without_the_package_a_letter_asks_for_it(tmp_path):
    subprocess.run([sys.executable, "-c", LETTER], check=True, cwd=tmp_path)


def write_stream(samples, path, rows):
    """Write Arrow's stream with pyarrow itself."""
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.Table.from_pylist(samples)
    with pyarrow.OSFile(str(path), "wb") as file, pyarrow.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=rows)


@pytest.mark.parametrize("kind, write", [(Parquet, write_parquet), (Arrow, write_arrow), (Arrow, write_stream)])
def test_rows_are_found_by_number(tmp_path, kind, write):
    pytest.importorskip("pyarrow")
    for name in "ab":
        write(ROWS, tmp_path / f"{name}.table", 4)
    source = kind(str(tmp_path / "{a,b}.table"))
    assert len(source) == 20 and list(source) == ROWS * 2
    assert source.read([13, 0, -1, 3, 3]) == [ROWS[3], ROWS[0], ROWS[9], ROWS[3], ROWS[3]]
    assert source.chunks() == [range(4), range(4, 8), range(8, 10), range(10, 14), range(14, 18), range(18, 20)]
    assert source.describe(15) == f"sample 15 (row 1 of group 1 of {tmp_path / 'b.table'})"
    assert list(pickle.loads(pickle.dumps(source))) == ROWS * 2
    assert kind(tmp_path / "a.table", ["text"])[2] == {"text": "t2"}
    with pytest.raises(DataError, match=r"got no columns \['x'\]"):
        kind(tmp_path / "a.table", ["x"])
    with pytest.raises(IndexError):
        source[20]


def test_pyarrow_reads_what_is_written(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    import pyarrow.feather
    import pyarrow.parquet
    assert write_parquet(iter(ROWS), tmp_path / "a.parquet") == write_arrow(ROWS, tmp_path / "a.feather", 3) == 10
    assert pyarrow.parquet.read_table(tmp_path / "a.parquet").to_pylist() == ROWS
    assert pyarrow.feather.read_table(tmp_path / "a.feather").to_pylist() == ROWS
    pyarrow.feather.write_feather(pyarrow.Table.from_pylist(ROWS), tmp_path / "b.feather", compression="zstd")
    assert list(Arrow(tmp_path / "b.feather")) == ROWS
    assert write_parquet([], tmp_path / "a.parquet") == 0 and list(Parquet(tmp_path / "a.parquet")) == []


@pytest.mark.parametrize("kind, write", [(Parquet, write_parquet), (Arrow, write_arrow), (Arrow, write_stream)])
def test_broken_files_are_errors(tmp_path, kind, write):
    pytest.importorskip("pyarrow")
    path = tmp_path / "a.table"
    write(ROWS, path, 4)
    whole = path.read_bytes()
    for data in (b"", b"abc", whole[:100], whole[:-20], b"\0" * len(whole), b"FEA1" + bytes(100)):
        path.write_bytes(data)
        with pytest.raises(DataError) as caught:
            kind(path).read(range(10))
        assert caught.value.path == str(path)


def test_samples_of_different_types_are_refused(tmp_path):
    pytest.importorskip("pyarrow")
    for write in (write_parquet, write_arrow):
        with pytest.raises(TypeError, match="got samples of different or unknown types"):
            write([{"a": 1}, {"a": "x"}], tmp_path / "a.table")
        with pytest.raises(TypeError, match="got a sample of type list"):
            write([[1]], tmp_path / "a.table")
