"""TensorBoard's files: protobuf messages, each a record. The few messages need no library."""
import struct

from dragon.core.wire import BYTES, FIXED32 as FLOAT, FIXED64, VARINT, write_field, write_varint
from dragon.io.sources.tfrecord import TFRecordWriter


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
        return write_field(number, FLOAT, struct.pack("<f", value))
    if isinstance(value, int):
        return write_field(number, VARINT, write_varint(value))
    if isinstance(value, float):
        return write_field(number, FIXED64, struct.pack("<d", value))
    if isinstance(value, list):
        value = struct.pack(f"<{len(value)}d", *value)
    return write_field(number, BYTES, value.encode() if isinstance(value, str) else value)


class RecordWriter(TFRecordWriter):
    """Append records to a file.

    Parameters
    ----------
    path : str
        The file.

    """

    def __init__(self, path):
        self.path = path
        super().__init__(path)
