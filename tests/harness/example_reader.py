"""`tf.train.Example` messages read in plain Python, field by field: the oracle of the engine's reader."""
import numpy as np

from dragon.core.wire import BYTES, FIXED32, VARINT, DecodeError, read_fields, read_varint


def parse(record):
    """Return the features of an example, or None if the bytes are none."""
    try:
        features = {}
        for data in pick(record, 1):
            for entry in pick(data, 1):
                names, values = list(pick(entry, 1)), list(pick(entry, 2))
                name = bytes(names[-1]).decode() if names else ""
                features[name] = parse_feature(values[-1]) if values else None
        return features
    except (DecodeError, UnicodeDecodeError):
        return None


def pick(data, wanted):
    """Yield what the fields of a number hold, where they have a length."""
    for number, wire, content in read_fields(data):
        if (number, wire) == (wanted, BYTES):
            yield content


def parse_feature(data):
    """Return the values of a feature."""
    kinds = [(number, content) for number, wire, content in read_fields(data) if wire == BYTES and number in (1, 2, 3)]
    if not kinds:
        return None
    kind, content = kinds[-1]
    if kind == 1:
        return [bytes(each) for each in pick(content, 1)]
    fields = [(wire, each) for number, wire, each in read_fields(content) if number == 1]
    if kind == 2:
        joined = b"".join(each for wire, each in fields if wire in (BYTES, FIXED32))
        if len(joined) % 4:
            raise DecodeError("numbers of 4 bytes are cut")
        return np.frombuffer(joined, "<f4")
    return np.array([each for wire, value in fields for each in read_integers(wire, value)], np.uint64).astype(np.int64)


def read_integers(wire, value):
    """Yield numbers, packed or not."""
    if wire == VARINT:
        yield value & (1 << 64) - 1
    elif wire == BYTES:
        place = 0
        while place < len(value):
            number, place = read_varint(value, place)
            yield number & (1 << 64) - 1
