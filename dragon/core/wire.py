"""Protocol buffers on the wire: numbers of varying length, fields with their numbers and kinds.

The form is that of https://protobuf.dev/programming-guides/encoding. What fields mean is told where messages are made.
"""
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
CONTINUES, SEVEN = 0x80, 0x7F


class DecodeError(ValueError):
    """Bytes are not of the message they are read as."""


def write_varint(value):
    """Return an integer as a varint."""
    value &= (1 << 64) - 1
    if value <= SEVEN:
        return bytes((value,))
    out = bytearray()
    while value > SEVEN:
        out.append(value & SEVEN | CONTINUES)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_varint(data, place):
    """Return (value, the place after it) of a varint."""
    value = shift = 0
    while True:
        try:
            byte = data[place]
        except IndexError:
            raise DecodeError("Truncated message.") from None
        place += 1
        value |= (byte & SEVEN) << shift
        if byte <= SEVEN:
            return value, place
        shift += 7
        if shift > 63:
            raise DecodeError("Too many bytes in a varint.")


def signed(value):
    """Return an unsigned 64-bit number as a signed one."""
    return value - (1 << 64) if value >> 63 else value


def read_fields(data):
    """Yield (number of the field, wire type, value) of a message; a value is an integer or a slice of the bytes."""
    place, end = 0, len(data)
    while place < end:
        key, place = read_varint(data, place)
        number, wire = key >> 3, key & 7
        if wire == VARINT:
            value, place = read_varint(data, place)
        elif wire == BYTES:
            length, place = read_varint(data, place)
            value, place = data[place:place + length], place + length
        elif wire in (FIXED32, FIXED64):
            length = 4 if wire == FIXED32 else 8
            value, place = data[place:place + length], place + length
        else:
            raise DecodeError(f"Wire type {wire} is not known.")
        if place > end:
            raise DecodeError("Truncated message.")
        yield number, wire, value


def write_field(number, wire, payload):
    """Return a field of a message as bytes.

    Parameters
    ----------
    number : int
        Its number.
    wire : int
        VARINT, FIXED64, BYTES or FIXED32.
    payload : bytes
        What it holds, as it goes onto the wire; the length of BYTES is written before it.

    Returns
    -------
    bytes
        The field.

    """
    key = write_varint(number << 3 | wire)
    return key + (write_varint(len(payload)) + payload if wire == BYTES else payload)
