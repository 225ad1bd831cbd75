"""Datasets of files, saved datasets, caches, and what `tf.data.experimental` makes of them, as genuine ones."""
import gzip

import numpy as np
import pytest
from harness import genuine

from dragon.vm import tensorflow as dtf

TABLE = "a,b,c,d\n1,2.5,x,3000000000\n2,,\"y,z\",4\n3,1e40,,5\n"


@pytest.fixture
def folder(tmp_path):
    """Return a folder with files of several kinds."""
    (tmp_path / "lines1.txt").write_bytes(b"one\ntwo\r\n\nfour")
    (tmp_path / "lines2.txt").write_bytes(b"five\n")
    (tmp_path / "lines.gz").write_bytes(gzip.compress(b"packed\nlines\n"))
    (tmp_path / "fixed.bin").write_bytes(b"HEAD" + bytes(range(12)) + b"FT")
    (tmp_path / "table.csv").write_text(TABLE)
    (tmp_path / "rough.csv").write_text("a,b\n1,2.5\nx,3.5\n2,4.5\n3\n4,5.5\n")
    return str(tmp_path)


def csv_options(**options):
    """Return options of make_csv_dataset for one epoch in order."""
    return {"batch_size": 2, "num_epochs": 1, "shuffle": False, **options}


PIPELINES = {
    "lines": lambda tf, f: tf.data.TextLineDataset([f + "/lines1.txt", f + "/lines2.txt"]),
    "lines_packed": lambda tf, f: tf.data.TextLineDataset(f + "/lines.gz", compression_type="GZIP"),
    "lines_of_dataset": lambda tf, f: tf.data.TextLineDataset(tf.data.Dataset.list_files(f + "/*.txt", shuffle=False)),
    "lines_parallel": lambda tf, f: tf.data.TextLineDataset(
        [f + "/lines1.txt", f + "/lines2.txt"], num_parallel_reads=2),
    "files": lambda tf, f: tf.data.Dataset.list_files(f + "/*.txt", shuffle=False),
    "files_shuffled": lambda tf, f: tf.data.Dataset.list_files([f + "/*.txt", f + "/*.gz", f + "/*.csv"], seed=3),
    "fixed": lambda tf, f: tf.data.FixedLengthRecordDataset(f + "/fixed.bin", 4, header_bytes=4, footer_bytes=2),
    "read_files": lambda tf, f: tf.data.Dataset.list_files(f + "/*.txt", shuffle=False).map(tf.io.read_file),
    "csv": lambda tf, f: tf.data.experimental.CsvDataset(
        f + "/table.csv", [tf.int32, 0.5, "none", tf.float64], header=True),
    "csv_chosen": lambda tf, f: tf.data.experimental.CsvDataset(
        f + "/table.csv", [tf.string, tf.int64], header=True, select_cols=[0, 3]),
    "make_csv": lambda tf, f: tf.data.experimental.make_csv_dataset(f + "/table.csv", **csv_options()),
    "make_csv_label": lambda tf, f: tf.data.experimental.make_csv_dataset(
        f + "/table.csv", **csv_options(label_name="a", select_columns=["a", "c"])),
    "make_csv_rough": lambda tf, f: tf.data.experimental.make_csv_dataset(
        f + "/rough.csv", **csv_options(ignore_errors=True, column_defaults=[tf.int32, tf.float32])),
    "make_csv_shuffled": lambda tf, f: tf.data.experimental.make_csv_dataset(
        f + "/table.csv", **csv_options(shuffle=True, shuffle_seed=1, num_epochs=2)),
    "saved": lambda tf, f: saved(tf, f, None),
    "saved_packed": lambda tf, f: saved(tf, f, "GZIP"),
    "cached": lambda tf, f: twice(tf.data.Dataset.range(5).map(lambda x: (x, tf.cast(x, tf.float32))).cache(
        f + f"/cache_{tf.__name__}")),
}


def twice(dataset):
    """Return a dataset that was iterated over once."""
    list(dataset)
    return dataset


def saved(tf, folder, compression):
    """Return a dataset that was saved and loaded."""
    dataset = tf.data.Dataset.from_tensor_slices({"x": [[1.0, 2.0], [3.0, 4.0]], "y": ["a", "b"]})
    dataset.save(f"{folder}/{tf.__name__}", compression=compression)
    return tf.data.Dataset.load(f"{folder}/{tf.__name__}", compression=compression)


def spec_text(spec):
    """Return a structure of specs as text, dicts by key."""
    if isinstance(spec, dict):
        return {key: spec_text(part) for key, part in spec.items()}
    return str(spec).replace("tf.", "")


def plain(element):
    """Return an element in a form to compare."""
    if isinstance(element, dict):
        return {key: plain(part) for key, part in element.items()}
    if isinstance(element, tuple):
        return [plain(part) for part in element]
    array = np.asarray(element)
    return array.dtype.kind.replace("S", "O"), array.tolist()


@pytest.mark.parametrize("name", PIPELINES)
def test_pipeline_is_as_genuine(name, folder):
    ours, theirs = PIPELINES[name](dtf, folder), PIPELINES[name](genuine.tf, folder)
    expected = [plain(element) for element in theirs.as_numpy_iterator()]
    for _ in range(2 if "shuffled" not in name else 1):
        assert [plain(element) for element in ours.as_numpy_iterator()] == expected
    assert spec_text(ours.element_spec) == spec_text(theirs.element_spec)


@pytest.mark.parametrize("call", [
    lambda tf, f: list(tf.data.TextLineDataset(f + "/absent")),
    lambda tf, f: list(tf.data.FixedLengthRecordDataset(f + "/fixed.bin", 5)),
    lambda tf, f: list(tf.data.Dataset.list_files(f + "/*.absent")),
    lambda tf, f: list(tf.data.experimental.CsvDataset(f + "/table.csv", [tf.int32], header=True)),
    lambda tf, f: list(tf.data.experimental.CsvDataset(f + "/table.csv", [tf.int32] * 4, header=True)),
    lambda tf, f: list(tf.data.TFRecordDataset(f + "/table.csv")),
])
def test_bad_files_raise(call, folder):
    with pytest.raises(genuine.tf.errors.OpError) as theirs:
        call(genuine.tf, folder)
    with pytest.raises(dtf.errors.OpError) as mine:
        call(dtf, folder)
    assert mine.type.__name__ == theirs.type.__name__
