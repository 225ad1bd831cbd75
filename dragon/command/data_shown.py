"""What `dragon data` reads of files, and how it shows samples."""
import base64
import contextlib
import itertools
import json
import os

import numpy as np

from dragon.core.units import count_bytes
from dragon.io.errors import DataError
from dragon.io.formats import open_samples
from dragon.io.records import KPLRecord
from dragon.io.records import verify as verify_records
from dragon.io.sources.folders import PictureFolder
from dragon.io.sources.paths import list_paths
from dragon.io.sources.remote import size_of
from dragon.io.source import Stream

LONGEST_TEXT = 60
PLACES = ("__url__",)  # where a sample was found; what is written elsewhere has another


def open_any(paths):
    """Return (what reads some files, what they tell of all their samples)."""
    source = open_samples(paths)
    if isinstance(source, PictureFolder):
        return source, {"classes": source.classes} if source.classes else {}
    if isinstance(source, KPLRecord):
        with contextlib.suppress(DataError):  # a broken header is no reason to leave the samples
            return source, source.metadata
    return source, {}


def strip_place(paths):
    """Return a function that takes from a sample where it was found; pictures keep their names within their folder."""
    root = paths[0] if len(paths) == 1 and os.path.isdir(paths[0]) else None

    def strip(sample):
        if not isinstance(sample, dict):
            return sample
        sample = {name: value for name, value in sample.items() if name not in PLACES}
        if root is not None:
            sample["path"] = os.path.relpath(sample["path"], root)
        return sample
    return strip


class Bare:
    """Samples without the places where they were found."""

    def __init__(self, source, strip):
        self._source, self._strip = source, strip

    def __iter__(self):
        return map(self._strip, self._source)


class CountedBare(Bare):
    """Those of a source that knows their number."""

    def __len__(self):
        return len(self._source)


def bare(source, paths):
    """Return samples without the places where they were found."""
    return (Bare if isinstance(source, Stream) else CountedBare)(source, strip_place(paths))


def names_of(paths):
    """Return the files, or the folder, that names stand for."""
    if len(paths) == 1 and os.path.isdir(paths[0]):
        return paths
    return list_paths(paths, "data")


def describe_file(path):
    """Return what is told of a file."""
    source, metadata = open_any([path])
    report = {"file": path, "format": type(source).__name__}
    if not os.path.isdir(path):
        report["bytes"] = size_of(path)
    if isinstance(source, Stream):
        count, first = 0, None
        for count, sample in enumerate(source, 1):
            first = sample if count == 1 else first
    else:
        count, first = len(source), source[0] if len(source) else None
    report["samples"] = count
    if isinstance(source, KPLRecord):
        shard, = source.shards
        sizes = shard.places[:, 1]
        report.update(index=shard.index_health, lost=sum(size for _, size in shard.lost),
                      records={"smallest": int(sizes.min()), "largest": int(sizes.max())} if len(sizes) else {})
    if metadata:
        report["metadata"] = json.loads(as_json(metadata))
    report["sample"] = dict(structure_of(first)) if count else {}
    return report


def structure_of(value, name=""):
    """Yield (name, what it is) of a sample and what it is made of."""
    if isinstance(value, dict) and value:
        for key, part in value.items():
            yield from structure_of(part, f"{name}.{key}" if name else str(key))
    elif isinstance(value, (list, tuple)) and value and len(value) <= 16:
        for place, part in enumerate(value):
            yield from structure_of(part, f"{name}[{place}]")
    else:
        yield name or "sample", kind_of(value)


def kind_of(value):
    """Return what a value is, in a few words."""
    if isinstance(value, (np.ndarray, np.generic)):
        return f"{value.dtype} {value.shape}"
    if isinstance(value, (bytes, str, list, tuple, dict)):
        return f"{type(value).__name__} of {len(value)}"
    return type(value).__name__ if value is not None else "None"


def as_lines(report):
    """Return what is told of a file as lines."""
    size = f", {count_bytes(report['bytes'])}" if "bytes" in report else ""
    lines = [f"{report['file']}: {report['format']}, {report['samples']} samples{size}"]
    if report.get("records"):
        lines.append(f"  records of {count_bytes(report['records']['smallest'])} to "
                     f"{count_bytes(report['records']['largest'])}")
    if "index" in report:
        lost = f"; {count_bytes(report['lost'])} lost" if report["lost"] else ""
        lines.append(f"  index: {report['index']}{lost}")
    if "metadata" in report:
        lines.append(f"  metadata: {as_text(report['metadata'])}")
    width = max(map(len, report["sample"]), default=0)
    return lines + [f"  {name:{width}}  {kind}" for name, kind in report["sample"].items()]


def take(source, start, count):
    """Yield some samples."""
    if isinstance(source, Stream):
        yield from itertools.islice(source, start, None if count is None else start + count)
        return
    last = len(source) if count is None else min(start + count, len(source))
    for number in range(start, last):
        yield source[number]


def as_text(value):
    """Return a value as a text for people, long parts told and not shown."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {as_text(part)}" for key, part in value.items()) + "}"
    if isinstance(value, (list, tuple)) and len(value) <= 16:
        inside = ", ".join(map(as_text, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' * (len(value) == 1)})"
    if isinstance(value, (np.ndarray, np.generic)):
        return str(value.item()) if value.ndim == 0 else f"<{kind_of(value)}>"
    shown = repr(value)
    return shown if len(shown) <= LONGEST_TEXT else f"<{kind_of(value)}>"


def as_json(value):
    """Return a value as JSON: arrays as lists, bytes in base64."""
    def plain(value):
        if isinstance(value, dict):
            return {key if isinstance(key, str) else str(key): plain(part) for key, part in value.items()}
        if isinstance(value, (list, tuple)):
            return list(map(plain, value))
        if isinstance(value, (np.ndarray, np.generic)):
            return plain(value.tolist())
        if isinstance(value, bytes):
            return {"base64": base64.b64encode(value).decode()}
        return value if isinstance(value, (str, int, float, type(None))) else str(value)
    return json.dumps(plain(value), ensure_ascii=False)


def check_file(path):
    """Return {file, samples that are whole, troubles} of a file that is read whole."""
    if path.endswith(".kpl"):
        findings = verify_records(path)
        return report_of(path, findings.records, findings.troubles)
    troubles, whole = [], 0
    try:
        source, _ = open_any([path])
        if isinstance(source, Stream):
            for whole, _ in enumerate(source, 1):
                pass
        else:
            for number in range(len(source)):
                try:
                    source[number]
                    whole += 1
                except DataError as error:
                    troubles.append(error)
    except DataError as error:
        troubles.append(error)
    return report_of(path, whole, troubles)


def report_of(path, whole, troubles):
    """Return what is told of a file that was checked."""
    return {"file": path, "samples": whole,
            "troubles": [{"what": str(error), "offset": error.offset} for error in troubles]}
