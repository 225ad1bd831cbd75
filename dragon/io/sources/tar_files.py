"""The files in tar archives: their names, places and sizes, in the order in which they lie there."""
from collections import namedtuple

from dragon.io.errors import DataError

BLOCK = 512
FILES, LONG_NAME, NEXT_FACTS, ALL_FACTS = b"0\0007", b"L", b"x", b"g"
# A name that long is a lie.
LONGEST_FACTS = 1 << 20


class Member(namedtuple("Member", "name offset size")):
    """A file in an archive."""

    __slots__ = ()


def walk_tar(read_at, path):
    """Yield the ordinary files of an archive.

    Parameters
    ----------
    read_at : Callable
        Returns bytes, given their place and number; fewer at the end. Places only rise.
    path : str
        The archive's name, for messages.

    """
    place, facts, name = 0, {}, None
    while True:
        header = bytes(read_at(place, BLOCK))
        if not header.strip(b"\0"):
            if place and len(header) < BLOCK and header or not place and not header:
                raise _broken("an archive that is cut off", path, place)
            return
        size, kind = _read_header(header, path, place)
        size = _number(facts["size"], path, place) if "size" in facts else size
        content, place = place + BLOCK, place + BLOCK + (size + BLOCK - 1) // BLOCK * BLOCK
        if kind in (LONG_NAME, NEXT_FACTS):
            if size > LONGEST_FACTS:
                raise _broken(f"a name of {size} bytes", path, content)
            data = bytes(read_at(content, size))
            if len(data) < size:
                raise _broken("an archive that is cut off", path, content)
            if kind == LONG_NAME:
                name = data.rstrip(b"\0").decode("utf-8", "surrogateescape")
            else:
                facts = _read_facts(data, path, content)
            continue
        if kind in FILES:
            yield Member(facts.get("path") or name or _name_of(header), content, size)
        facts, name = {}, None


def _broken(what, path, place):
    return DataError(f"WebDataset: got {what}, expected a whole tar archive", path, place)


def _read_header(header, path, place):
    """Return (size, kind) of a file whose header is right."""
    told = header[148:156]
    sums = sum(header) - sum(told) + 8 * ord(" ")
    try:
        right = len(header) == BLOCK and int(told.strip(b"\0 "), 8) == sums
    except ValueError:
        right = False
    if not right:
        raise _broken("a broken header of a file", path, place)
    field = header[124:136]
    if field[0] == 0x80:  # larger than octal digits can tell
        return int.from_bytes(field[1:], "big"), header[156:157]
    try:
        return int(field.strip(b"\0 ") or b"0", 8), header[156:157]
    except ValueError:
        raise _broken("a size that is no number", path, place) from None


def _name_of(header):
    name, prefix = (part.partition(b"\0")[0].decode("utf-8", "surrogateescape")
                    for part in (header[:100], header[345:500]))
    return f"{prefix}/{name}" if header[257:263] == b"ustar\0" and prefix else name


def _read_facts(data, path, place):
    """Return the facts that lines of the next file tell: "25 path=a/b.jpg"."""
    facts, at = {}, 0
    while at < len(data):
        length, space, _ = data[at:].partition(b" ")
        if not space or not length.isdigit() or not len(length) + 2 < int(length) <= len(data) - at:
            raise _broken("broken facts of a file", path, place)
        key, _, value = data[at + len(length) + 1:at + int(length) - 1].partition(b"=")
        facts[key.decode("utf-8", "replace")] = value.decode("utf-8", "surrogateescape")
        at += int(length)
    return facts


def _number(text, path, place):
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise _broken("a size that is no number", path, place)
    return int(text)
