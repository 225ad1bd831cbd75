"""Protocol buffers without a package for them: messages whose fields are told in a table."""
import struct

from dragon.core.wire import BYTES, DecodeError, FIXED32, FIXED64, VARINT, read_varint, signed, write_varint

FIXED = {"float": (FIXED32, struct.Struct("<f")), "double": (FIXED64, struct.Struct("<d"))}
VARINTS = ("int64", "int32", "uint64", "uint32", "sint64", "bool", "enum")
TEXTS = ("bytes", "string")


class Field:
    """One field of a message.

    Parameters
    ----------
    number : int
        Its number on the wire.
    kind : Union[str, type]
        "int64", "float", "bytes", ... or the class of a message.
    repeated : bool, optional, default=False
        Whether it is a list.
    oneof : str, optional
        The group of fields of which one is set.
    mapped : Union[bool, str], optional, default=False
        Whether it is a dict from strings, or the kind of its keys.

    """

    __slots__ = ("number", "kind", "repeated", "oneof", "mapped", "entry")

    def __init__(self, number, kind, repeated=False, oneof=None, mapped=False):
        self.number, self.kind, self.repeated, self.oneof, self.mapped = number, kind, repeated, oneof, mapped
        # The key and the value of an entry of a dict, as fields of their own.
        self.entry = (Field(1, "string" if mapped is True else mapped), Field(2, kind)) if mapped else None

    @property
    def default(self):
        """The value of the field when it is not set."""
        if self.kind in TEXTS:
            return b"" if self.kind == "bytes" else ""
        return 0.0 if self.kind in FIXED else False if self.kind == "bool" else 0

    def check(self, value, who):
        """Return a value as the field holds it, or raise a TypeError."""
        kind = self.kind
        if kind in FIXED:
            if isinstance(value, (str, bytes)) or not hasattr(value, "__float__"):
                raise TypeError(f"{who}: expected a number. Received: {value!r}")
            # A float keeps what its 32 bits hold, as when it is read again.
            return FIXED["float"][1].unpack(FIXED["float"][1].pack(value))[0] if kind == "float" else float(value)
        if kind == "bytes":
            if not isinstance(value, (bytes, bytearray, memoryview)):
                raise TypeError(f"{who}: expected bytes. Received: {value!r} of type {type(value).__name__}")
            return bytes(value)
        if kind == "string":
            if not isinstance(value, (str, bytes)):
                raise TypeError(f"{who}: expected text. Received: {value!r} of type {type(value).__name__}")
            return value if isinstance(value, str) else value.decode()
        if isinstance(value, float) or not hasattr(value, "__index__") and not hasattr(value, "__int__") or (
                isinstance(value, (str, bytes))):
            raise TypeError(f"{who}: expected an integer. Received: {value!r} of type {type(value).__name__}")
        return bool(value) if kind == "bool" else self._in_range(int(value), who)

    def _in_range(self, value, who):
        bits = 32 if self.kind.endswith("32") or self.kind == "enum" else 64
        low, high = (0, 1 << bits) if self.kind.startswith("u") else (-1 << bits - 1, 1 << bits - 1)
        if not low <= value < high:
            raise ValueError(f"{who}: value out of range of {self.kind}. Received: {value}")
        return value

    def write(self, value):
        """Return a value that is no message as bytes, without its key."""
        if self.kind in FIXED:
            return FIXED[self.kind][1].pack(value)
        if self.kind in TEXTS:
            value = value.encode() if isinstance(value, str) else value
            return write_varint(len(value)) + value
        if self.kind == "sint64":  # small numbers of either sign are few bytes: 0, -1, 1, -2 are 0, 1, 2, 3
            value = value << 1 ^ value >> 63
        return write_varint(int(value))

    @property
    def wire(self):
        """The wire type of one value."""
        return FIXED[self.kind][0] if self.kind in FIXED else VARINT if self.kind in VARINTS else BYTES

    def read(self, wire, value):
        """Return the list of values that a piece of the wire holds; numbers may be packed."""
        kind = self.kind
        if kind in FIXED:
            if len(value) % FIXED[kind][1].size:
                raise DecodeError("Truncated message.")
            return [number for number, in FIXED[kind][1].iter_unpack(value)]
        if kind in TEXTS:
            return [bytes(value) if kind == "bytes" else bytes(value).decode()]
        if wire == VARINT:
            return [self._number(value)]
        numbers, place = [], 0
        while place < len(value):
            number, place = read_varint(value, place)
            numbers.append(self._number(number))
        return numbers

    def _number(self, value):
        if self.kind == "bool":
            return bool(value)
        if self.kind.startswith("u"):
            return value
        if self.kind == "sint64":
            return value >> 1 ^ -(value & 1)
        value = signed(value)
        if self.kind == "int64":
            return value
        value &= 0xFFFFFFFF
        return value - (1 << 32) if value >> 31 else value
