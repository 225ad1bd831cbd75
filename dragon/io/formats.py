"""Files of samples by the endings of their names: what reads them, and what writes them."""
import contextlib
import os

import numpy as np

from dragon.core import files
from dragon.io.errors import DataError
from dragon.io.records import KPLRecord, KPLRecordWriter
from dragon.io.sources import arrays, arrow, example, folders, lines, recordio, tars, tfrecord
from dragon.io.sources.paths import expand_braces
from dragon.io.sources.remote import is_remote, local_path, open_whole

# What a picture begins with, and its ending in an archive.
PICTURES = ((b"\xff\xd8\xff", "jpg"), (b"\x89PNG", "png"), (b"GIF8", "gif"), (b"BM", "bmp"), (b"RIFF", "webp"))


def read_tab_separated(paths):
    """Return the rows of files whose fields are told apart by tabs."""
    return lines.CSV(paths, delimiter="\t")


def read_examples(paths):
    """Return the Examples of TFRecord files as dicts."""
    return tfrecord.TFRecord(paths, parse=example.parse_example)


def read_packed_examples(paths):
    """Return the Examples of compressed TFRecord files as dicts."""
    return tfrecord.TFRecordStream(paths, "gzip", example.parse_example)


def read_archives(paths):
    """Return the samples of archives, decoded by their endings."""
    return tars.WebDataset(paths, decode=True)


def read_packed_archives(paths):
    """Return the samples of compressed archives, decoded by their endings."""
    return tars.WebDatasetStream(paths, decode=True)


# Longer endings come first.
READERS = {
    ".tfrecord.gz": read_packed_examples, ".tar.gz": read_packed_archives, ".csv.gz": lines.CSVStream,
    ".jsonl.gz": lines.JSONLinesStream, ".kpl": KPLRecord, ".tfrecord": read_examples, ".tfrecords": read_examples,
    ".rec": recordio.RecordIO, ".tar": read_archives, ".tgz": read_packed_archives, ".csv": lines.CSV,
    ".tsv": read_tab_separated, ".jsonl": lines.JSONLines, ".ndjson": lines.JSONLines, ".parquet": arrow.Parquet,
    ".arrow": arrow.Arrow, ".feather": arrow.Arrow, ".npy": arrays.NumPyArray,
}


def ending_of(path, known):
    """Return which of some endings a name has, or None."""
    name = os.fsdecode(path).lower()
    return next((ending for ending in known if name.endswith(ending)), None)


def open_samples(paths):
    """Return what reads files of samples, of any format that Dragon knows.

    Parameters
    ----------
    paths : Union[str, os.PathLike, Sequence]
        A file, several of one format, names with wildcards or braces, or a folder of pictures.

    Returns
    -------
    Union[Source, Stream]
        What the endings of the names stand for.

    """
    names = [os.fsdecode(path) for path in ([paths] if isinstance(paths, (str, bytes, os.PathLike)) else paths)]
    if len(names) == 1 and not is_remote(names[0]) and os.path.isdir(local_path(names[0])):
        return open_folder(names[0])
    endings = {ending_of(each, READERS) for name in names for each in expand_braces(name)}
    if len(endings) != 1 or None in endings:
        raise ValueError(f"open_samples: got {', '.join(names) or 'no names'}, expected a folder of pictures, or files "
                         f"of one of the endings {', '.join(READERS)}")
    return READERS[endings.pop()](names)


def open_folder(path):
    """Return the pictures of a folder, with labels if it has folders of classes."""
    try:
        return folders.PictureFolder(path)
    except FileNotFoundError:
        source = folders.PictureFolder(path, labels=False)
        if not len(source):
            raise
        return source


def write_samples(samples, path, **words):
    """Write samples into a file, in the format that the ending of its name stands for.

    Parameters
    ----------
    samples : Iterable
        What the format holds: all of it KPLRecord, dicts most others.
    path : Union[str, os.PathLike]
        The file; on this machine, what it holds is replaced once all samples are there.
    **words
        Of `KPLRecordWriter`; with `append`, samples are written behind those that are there.

    Returns
    -------
    int
        How many there were.

    """
    ending = ending_of(path, WRITERS)
    if ending is None:
        raise ValueError(f"write_samples: got {os.fsdecode(path)!r}, expected one of the endings {', '.join(WRITERS)}")
    if words and ending != ".kpl":
        raise ValueError(f"write_samples: got {', '.join(words)} for {ending}, expected it for .kpl only")
    return WRITERS[ending](samples, path, **words)


def _write_all(open_writer, path, samples, make=lambda sample, number: sample, is_stream=False):
    count, is_stream = 0, is_stream or is_remote(path)
    with contextlib.nullcontext(path) if is_stream else files.replacing_group(local_path(path)) as place:
        with open_writer(place) as writer:
            for count, sample in enumerate(samples, 1):
                writer.write(make(sample, count - 1))
    return count


def _write_records(samples, path, **words):
    return _write_all(lambda place: KPLRecordWriter(place, **words), path, samples, is_stream=words.get("append"))


def _write_examples(samples, path, compression=None):
    return _write_all(lambda place: tfrecord.TFRecordWriter(place, compression), path, samples,
                      lambda sample, number: example.make_example(sample))


def _write_packed_examples(samples, path):
    return _write_examples(samples, path, "gzip")


def _write_recordio(samples, path):
    return _write_all(recordio.RecordIOWriter, path, samples, _make_labelled)


def _make_labelled(sample, number):
    """Return a sample as a record of an image: its bytes, and a label."""
    if isinstance(sample, (bytes, bytearray, memoryview)):
        return bytes(sample)
    found = {name: sample[name] for name in ("data", "image", "jpg", "png") if name in sample} if isinstance(
        sample, dict) else {}
    data = next(iter(found.values()), None)
    if len(found) != 1 or not isinstance(data, bytes):
        raise TypeError(f"write_samples: got sample {number} without one picture, expected bytes, or a dict with the "
                        f"bytes of a picture as 'data', 'image', 'jpg' or 'png'")
    label = sample.get("label", sample.get("cls", 0))
    return recordio.pack(0 if label is None else label, data, sample.get("id", number), sample.get("id2", 0))


def _write_archive(samples, path):
    return _write_all(tars.TarWriter, path, samples, _make_files)


def _make_files(sample, number):
    """Return a sample as files of an archive."""
    if not isinstance(sample, dict):
        raise TypeError(f"write_samples: got sample {number} of type {type(sample).__name__}, expected a dict")
    made = {"__key__": f"{number:09}"}
    for name, value in sample.items():
        if name == "image" and isinstance(value, bytes):
            name = next((ending for start, ending in PICTURES if value.startswith(start)), name)
        elif name == "label" and isinstance(value, (int, np.integer)):
            name = "cls"
        elif isinstance(value, (np.ndarray, np.generic)) and "." not in name and name != "npy":
            name = f"{name}.npy"
        elif isinstance(value, (int, float, list, dict)) and tars.DECODERS.get(name) is None:
            name = f"{name}.json"
        if value is not None:
            made[name] = value
    return made


def _write_array(samples, path):
    """Write arrays of one shape and dtype as the rows of a `.npy` file."""
    if not hasattr(samples, "__len__"):
        samples = list(samples)
    with open_whole(path) as file:
        form = None
        for number, sample in enumerate(samples):
            row = np.asarray(sample)
            if form is None:
                form = row.dtype, row.shape
                np.lib.format.write_array_header_2_0(file, {
                    "descr": np.lib.format.dtype_to_descr(row.dtype), "fortran_order": False,
                    "shape": (len(samples), *row.shape)})
            if row.dtype.hasobject or (row.dtype, row.shape) != form:
                raise TypeError(f"write_samples: got sample {number} of dtype {row.dtype} and shape {row.shape}, "
                                f"expected numbers of {form[0]} and {form[1]} as before it")
            file.write(row.tobytes())
        if form is None:
            raise DataError("write_samples: got no samples, expected some: an array has a shape", os.fsdecode(path))
    return len(samples)


WRITERS = {
    ".tfrecord.gz": _write_packed_examples, ".tar.gz": _write_archive, ".kpl": _write_records,
    ".tfrecord": _write_examples, ".tfrecords": _write_examples, ".rec": _write_recordio, ".tar": _write_archive,
    ".tgz": _write_archive, ".csv": lines.write_csv, ".jsonl": lines.write_json_lines,
    ".ndjson": lines.write_json_lines, ".parquet": arrow.write_parquet, ".arrow": arrow.write_arrow,
    ".feather": arrow.write_arrow, ".npy": _write_array,
}
