"""Questions to a store and its answers as bytes: a length, then values each behind a letter that tells its kind."""
import struct

from dragon.distributed.errors import StoreError

LENGTH = struct.Struct("<I")
NUMBER = struct.Struct("<q")
SECONDS = struct.Struct("<d")
GREETING = b"dragon store 1\n"  # what a connection begins with: others knock at ports as well
MOST_BYTES = 1 << 30  # of one question or answer; whoever claims more is no process of ours


def pack(value):
    """Return a value (None, bool, int, float, str, bytes, or a list of such) as bytes."""
    if value is None:
        return b"N"
    if value is True or value is False:
        return b"T" if value else b"F"
    if isinstance(value, int):
        return b"I" + NUMBER.pack(value)
    if isinstance(value, float):
        return b"D" + SECONDS.pack(value)
    if isinstance(value, str):
        value = value.encode()
        return b"S" + LENGTH.pack(len(value)) + value
    if isinstance(value, (list, tuple)):
        return b"L" + LENGTH.pack(len(value)) + b"".join(map(pack, value))
    return b"B" + LENGTH.pack(len(value)) + bytes(value)


def unpack(data):
    """Return the value that bytes tell; a StoreError for bytes that `pack` has not made."""
    try:
        value, end = _unpack(memoryview(data), 0)
    except (struct.error, IndexError, KeyError, UnicodeDecodeError, RecursionError) as error:
        raise StoreError(f"store: got bytes that are no question and no answer ({error})") from None
    if end != len(data):
        raise StoreError(f"store: got {len(data)} bytes, expected {end}")
    return value


def _unpack(data, place):
    kind, place = bytes(data[place:place + 1]), place + 1
    if kind in b"NTF" and kind:
        return {b"N": None, b"T": True, b"F": False}[kind], place
    if kind == b"I":
        return NUMBER.unpack_from(data, place)[0], place + NUMBER.size
    if kind == b"D":
        return SECONDS.unpack_from(data, place)[0], place + SECONDS.size
    (length,) = LENGTH.unpack_from(data, place)
    place += LENGTH.size
    if length > len(data) - place:
        raise IndexError(f"{length} bytes at byte {place} of {len(data)}")
    if kind == b"L":
        items = []
        for _ in range(length):
            item, place = _unpack(data, place)
            items.append(item)
        return items, place
    held = bytes(data[place:place + length])
    return {b"S": bytes.decode, b"B": bytes}[kind](held), place + length


def frame(value):
    """Return a value as it goes through a socket."""
    data = pack(value)
    return LENGTH.pack(len(data)) + data
