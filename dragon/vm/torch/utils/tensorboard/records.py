"""TensorBoard's files: protobuf messages, each between its length and checksums. The few messages need no library."""
import os
import struct

VARINT, DOUBLE, BYTES, FLOAT = 0, 1, 2, 5
POLYNOMIAL = 0x82F63B78  # CRC-32C, reflected
MASK_DELTA = 0xA282EAD8


def _make_table():
    table = []
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ (POLYNOMIAL if number & 1 else 0)
        table.append(number)
    return table


_TABLE = _make_table()


def checksum(data):
    """Return the masked CRC-32C of bytes."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + MASK_DELTA) & 0xFFFFFFFF


def varint(number):
    """Return an integer as protobuf writes it: seven bits at a time."""
    number &= 0xFFFFFFFFFFFFFFFF
    made = bytearray()
    while number > 0x7F:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    made.append(number)
    return bytes(made)


def field(number, value, kind=None):
    """Return one field of a message.

    Parameters
    ----------
    number : int
        The field's number.
    value : Union[int, bool, float, str, bytes, list, None]
        An integer, a double, a text or message, a list of doubles (packed); None for nothing.
    kind : int, optional
        FLOAT for single precision.

    Returns
    -------
    bytes
        The field.

    """
    if value is None:
        return b""
    if kind == FLOAT:
        return varint(number << 3 | FLOAT) + struct.pack("<f", value)
    if isinstance(value, int):
        return varint(number << 3 | VARINT) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | DOUBLE) + struct.pack("<d", value)
    if isinstance(value, list):
        value = struct.pack(f"<{len(value)}d", *value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | BYTES) + varint(len(data)) + data


def frame(data):
    """Return a record: length, its checksum, data, their checksum."""
    head = struct.pack("<Q", len(data))
    return head + struct.pack("<I", checksum(head)) + data + struct.pack("<I", checksum(data))


class RecordWriter:
    """Append records to a file.

    Parameters
    ----------
    path : str
        The file.

    """

    def __init__(self, path):
        self.path = path
        self._file = open(path, "wb")

    def write(self, data):
        """Append one record."""
        self._file.write(frame(data))

    def flush(self):
        """Give the operating system what was appended."""
        self._file.flush()

    def close(self):
        """End the file."""
        self._file.close()


def read_records(path):
    """Yield the records of a file; raise ValueError where a checksum is wrong."""
    with open(path, "rb") as file:
        while head := file.read(12):
            if len(head) < 12:
                raise ValueError(f"read_records: got {len(head)} bytes at the end of {path}, expected an event file")
            length, = struct.unpack("<Q", head[:8])
            # Only what is there is read, whatever the length says.
            data = file.read(min(length, os.fstat(file.fileno()).st_size))
            if struct.pack("<I", checksum(head[:8])) != head[8:] or struct.pack("<I", checksum(data)) != file.read(4):
                raise ValueError(f"read_records: got a wrong checksum in {path}, expected an event file")
            yield data
