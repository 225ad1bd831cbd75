"""One room's answers in one file: blocks of entries by their keys' first byte, each compressed apart.

A file's first line is a mark, its second one a JSON object: the versions of the packages that gave the answers, and the
size of each block. Blocks that did not change keep their bytes when a file is written anew, so that versions of a file
share them.
"""
import json
import pathlib
import struct
import zlib

MARK = b"dragon answers 1\n"
KEY = 16  # bytes
ENTRY = struct.Struct(f"<{KEY}sI")


class Damaged(Exception):
    """A file of answers, or a block of it, that cannot be read."""


class Archive:
    """The answers of one file, read when they are asked for; none if there is no file, or it shall not be read."""

    def __init__(self, path, read=True):
        self.path = pathlib.Path(path)
        self.versions, self._packed, self._blocks = None, {}, {}
        if not read or not self.path.exists():
            return
        data = self.path.read_bytes()
        try:
            mark, head, rest = data[:len(MARK)], *data[len(MARK):].split(b"\n", 1)
            told = json.loads(head)
            versions, sizes = dict(told["versions"]), list(map(int, told["sizes"]))
        except (ValueError, TypeError, KeyError) as error:
            raise Damaged(f"{self.path.name}: its head is damaged: {error}") from None
        if mark != MARK or len(sizes) != 256 or sum(sizes) != len(rest):
            raise Damaged(f"{self.path.name}: got {len(rest)} bytes of answers, expected {sum(sizes)} after {MARK!r}")
        self.versions, place = versions, 0
        for first, size in enumerate(sizes):
            self._packed[first], place = rest[place:place + size], place + size

    def block(self, first):
        """Return {key: answer as bytes} of the keys that begin with a byte."""
        if first not in self._blocks:
            self._blocks[first] = {}  # what is damaged is told once
            self._blocks[first] = unpack(self._packed.get(first, b""), f"{self.path.name}: block {first:02x}")
        return self._blocks[first]

    def get(self, key):
        """Return an answer as bytes, or None."""
        return self.block(key[0]).get(key)

    def entries(self):
        """Return {key: answer as bytes} of all that can be read."""
        found = {}
        for first in self._packed:
            try:
                found.update(self.block(first))
            except Damaged:
                continue
        return found

    def write(self, entries, versions):
        """Write a file of answers, with blocks as they were where they hold what they held."""
        packed = []
        for first in range(256):
            wanted = {key: entries[key] for key in sorted(entries) if key[0] == first}
            try:
                same = self.block(first) == wanted and first in self._packed
            except Damaged:
                same = False
            packed.append(self._packed[first] if same else pack(wanted))
        head = json.dumps({"versions": versions, "sizes": list(map(len, packed))}, sort_keys=True)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        beside = self.path.with_name(self.path.name + ".new")
        beside.write_bytes(MARK + head.encode() + b"\n" + b"".join(packed))
        beside.replace(self.path)


def pack(entries):
    """Return entries as one compressed block; nothing for none."""
    if not entries:
        return b""
    return zlib.compress(b"".join(ENTRY.pack(key, len(entries[key])) + entries[key] for key in sorted(entries)), 9)


def unpack(data, name):
    """Return the entries of a block."""
    if not data:
        return {}
    try:
        return dict(split(zlib.decompress(data)))
    except (zlib.error, ValueError) as error:
        raise Damaged(f"{name} is damaged: {error}") from None


def split(data):
    """Yield (key, answer as bytes) of entries one after the other."""
    place = 0
    while place < len(data):
        if place + ENTRY.size > len(data):
            raise ValueError("an entry is cut")
        key, size = ENTRY.unpack_from(data, place)
        place += ENTRY.size
        if place + size > len(data):
            raise ValueError("an answer is cut")
        yield key, data[place:place + size]
        place += size
