"""Tar archives in which the files of a sample lie side by side, with one name and other endings: WebDataset's form."""
import io
import json
import os
import re
import tarfile

import numpy as np

from dragon.core.files import most_held
from dragon.io.errors import DataError
from dragon.io.sources.arrays import load_array
from dragon.io.sources.compressed import Inflated
from dragon.io.sources.opened import MOST_OPEN, OpenFiles, Walk, read_spans
from dragon.io.sources.paths import list_paths
from dragon.io.sources.remote import open_file, size_of
from dragon.io.sources.shards import Shards
from dragon.io.source import Stream
from dragon.io.sources.tar_files import walk_tar

# The key is all up to the first dot of the file's own name.
KEY = re.compile(r"((?:.*/|)[^.]+)[.]([^/]*)", re.DOTALL)
# What tells of an archive and is no part of it.
HIDDEN = re.compile(r"__[^/]*__(/.*)?", re.DOTALL)


def _read_json(data):
    try:
        return json.loads(data)
    except RecursionError as error:
        raise ValueError(str(error)) from None


def _number(data):
    return int(data)


# What files are by the last part of their ending. Pictures stay bytes: a stage decodes them.
DECODERS = {"txt": bytes.decode, "text": bytes.decode, "transcript": bytes.decode, "json": _read_json,
            "cls": _number, "cls2": _number, "index": _number, "count": _number, "inx": _number, "id": _number,
            "npy": load_array}


def split_name(name):
    """Return (key, ending) of the name of a file in an archive, or None for one that is part of no sample."""
    found = KEY.fullmatch(name)
    return None if found is None or HIDDEN.fullmatch(name) else (found[1], found[2].lower())


class _Grouping:
    """What both readers of archives do with the files that they find."""

    def _begin(self, decode, who):
        self._who = who
        if decode is True:
            self.decoders = DECODERS
        elif not decode:
            self.decoders = {}
        elif isinstance(decode, dict) and all(map(callable, decode.values())):
            self.decoders = {**DECODERS, **decode}
        else:
            raise TypeError(f"{who}: got decode={decode!r}, expected True, False, or a dict of functions by ending")

    def _group(self, members, path):
        """Yield (key, members by their endings) of the samples of an archive."""
        key, files = None, {}
        for member in members:
            parts = split_name(member.name)
            if parts is None:
                continue
            if parts[0] != key:
                if files:
                    yield key, files
                key, files = parts[0], {}
            if parts[1] in files:
                raise DataError(f"{self._who}: got two files {member.name!r} in one sample, expected one", path,
                                member.offset)
            files[parts[1]] = member
        if files:
            yield key, files

    def _decode(self, ending, data, path, offset):
        decoder = self.decoders.get(ending.rpartition(".")[2])
        if decoder is None:
            return data
        try:
            return decoder(data)
        except (ValueError, EOFError) as error:  # of the data; what the user's own functions raise else is theirs
            raise DataError(f"{self._who}: got a file .{ending} that cannot be decoded: {error}", path,
                            offset) from error


class WebDataset(_Grouping, Shards):
    """The samples of tar archives by their numbers: dicts of bytes by ending, with `__key__` and `__url__`.

    Parameters
    ----------
    paths : Union[str, os.PathLike, Sequence]
        The archives, not compressed; names may have wildcards and braces: "train-{000..123}.tar".
    decode : Union[bool, dict], optional, default=False
        Whether text, JSON, numbers and arrays are decoded by their endings; a dict adds functions of bytes.
    open_files : int, optional, default=64
        How many files are kept open.

    """

    def __init__(self, paths, decode=False, open_files=MOST_OPEN):
        self._begin(decode, "WebDataset")
        self.paths, self._files, self._samples = list_paths(paths, "WebDataset"), OpenFiles(open_files), []
        places = []
        for part, path in enumerate(self.paths):
            file = self._files.get(path)
            samples = list(self._group(walk_tar(Walk(file).at, path), path))
            self._samples.append(samples)
            # From the first file's beginning to the last one's end.
            spans = [(min(each.offset for each in files.values()), max(each.offset + each.size
                                                                       for each in files.values()), row)
                     for row, (_, files) in enumerate(samples)]
            table = np.array(spans, np.int64).reshape(-1, 3)
            table[:, 1] -= table[:, 0]
            if len(table) and (table[:, :2].sum(1) > file.size).any():
                raise DataError("WebDataset: got an archive that is cut off, expected a whole one", path, file.size)
            places.append(table)
        super().__init__(places)

    def _read_part(self, part, places):
        path, found = self.paths[part], []
        for (start, _, row), data in zip(places.tolist(), read_spans(self._files.get(path), places, "WebDataset")):
            key, files = self._samples[part][row]
            sample = {"__key__": key, "__url__": path}
            for ending, member in files.items():
                piece = bytes(data[member.offset - start:member.offset - start + member.size])
                sample[ending] = self._decode(ending, piece, path, member.offset)
            found.append(sample)
        return found


class WebDatasetStream(_Grouping, Stream):
    """The samples of tar archives one after the other, compressed (".gz", ".tgz") or not, as a network gives them.

    Parameters
    ----------
    paths : Union[str, os.PathLike, Sequence]
        The archives; names may have wildcards and braces.
    decode : Union[bool, dict], optional, default=False
        As for `WebDataset`.

    """

    def __init__(self, paths, decode=False):
        self._begin(decode, "WebDatasetStream")
        self.paths = list_paths(paths, "WebDatasetStream")

    def parts(self):
        """Return the samples of each archive."""
        return [self._read(path) for path in self.paths]

    def _read(self, path):
        file, most = open_file(path), None
        try:
            if path.endswith((".gz", ".tgz")):
                most = most_held(size_of(path))
                file = Inflated(file, "gzip", lambda text: DataError(f"WebDatasetStream: {text}", path))
            forward = _Forward(file)
            members = (_Read(*member, self._take(forward, member, path, most)) for member in walk_tar(forward.at, path))
            for key, files in self._group(members, path):
                yield {"__key__": key, "__url__": path,
                       **{ending: self._decode(ending, each.data, path, each.offset)
                          for ending, each in files.items()}}
            if isinstance(file, Inflated) and not forward.ends(file):
                raise DataError("WebDatasetStream: got a compressed file that is cut off, expected a whole one", path)
        finally:
            file.close()

    def _take(self, forward, member, path, most):
        if most is not None and member.size > most:
            raise DataError(f"WebDatasetStream: got a file of {member.size} bytes, expected at most {most} in so "
                            "small an archive", path, member.offset)
        data = forward.at(member.offset, member.size)
        if len(data) < member.size:
            raise DataError("WebDatasetStream: got an archive that is cut off, expected a whole one", path,
                            member.offset + len(data))
        return data


class _Read:
    """A file of an archive, with what it holds."""

    __slots__ = ("name", "offset", "size", "data")

    def __init__(self, name, offset, size, data):
        self.name, self.offset, self.size, self.data = name, offset, size, data


class _Forward:
    """A stream that is read by places that only rise."""

    def __init__(self, file):
        self._file, self._place = file, 0

    def at(self, place, size):
        """Return bytes from a place on; fewer at the end."""
        self._skip(place - self._place)
        data = self._take(size)
        self._place += len(data)
        return data

    def _skip(self, count):
        while count > 0:
            data = self._file.read(min(count, 1 << 20))
            if not data:
                return
            count -= len(data)
            self._place += len(data)

    def _take(self, size):
        """Return so many bytes, however few a stream gives at a time, and without memory for what is not there."""
        pieces, missing = [], size
        while missing > 0:
            data = self._file.read(min(missing, 1 << 24))
            if not data:
                break
            pieces.append(data)
            missing -= len(data)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def ends(self, file):
        """Return whether a compressed file ends as it should, once the rest of it is read."""
        while file.read(1 << 20):
            pass
        return not file.torn


class TarWriter:
    """Write samples into a tar archive.

    Parameters
    ----------
    path : Union[str, os.PathLike]
        The archive; compressed if it ends with ".gz" or ".tgz".

    """

    def __init__(self, path):
        path = os.fsdecode(path)
        self._file = open_file(path, "wb")
        self._tar = tarfile.open(fileobj=self._file, mode="w|gz" if path.endswith((".gz", ".tgz")) else "w|",
                                 format=tarfile.GNU_FORMAT)

    def write(self, sample):
        """Append a sample.

        Parameters
        ----------
        sample : dict
            Its `__key__`, and what its files hold by ending: bytes, text, arrays for "npy", numbers for "cls", and
            what JSON takes for "json". Other names that begin with "__" are left out.

        """
        key = sample.get("__key__") if isinstance(sample, dict) else None
        if not isinstance(key, str) or KEY.fullmatch(f"{key}.x") is None or split_name(f"{key}.x") != (key, "x"):
            raise ValueError(f"TarWriter: got the key {key!r}, expected text without a dot in `__key__`")
        for ending, value in sample.items():
            if ending.startswith("__"):
                continue
            data = _encode(ending, value)
            header = tarfile.TarInfo(f"{key}.{ending}")
            header.size, header.mode = len(data), 0o444
            self._tar.addfile(header, io.BytesIO(data))

    def close(self):
        """End the archive."""
        self._tar.close()
        self._file.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _encode(ending, value):
    last = ending.rpartition(".")[2].lower()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if last == "json":
        return json.dumps(value).encode()
    if isinstance(value, str):
        return value.encode()
    if last == "npy" and isinstance(value, (np.ndarray, np.generic)):
        file = io.BytesIO()
        np.save(file, value, allow_pickle=False)
        return file.getvalue()
    if DECODERS.get(last) is _number and isinstance(value, (int, np.integer)):
        return str(int(value)).encode()
    raise TypeError(f"TarWriter: got {type(value).__name__} for .{ending}, expected bytes or text, arrays for .npy, "
                    f"numbers for .cls, or what JSON takes for .json")
