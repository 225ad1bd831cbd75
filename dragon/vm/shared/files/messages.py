"""Messages of protocol buffers with the interface that `tf.train.Example` is known by."""
from dragon.core.wire import BYTES, DecodeError, read_fields, write_field, write_varint
from dragon.vm.shared.files.protobuf import Field
from dragon.vm.shared.letters import expect


class Repeated(list):
    """The values of a repeated field."""

    def __init__(self, message, name, values=()):
        super().__init__()
        self._message, self._name = message, name
        self.extend(values)

    def _check(self, value):
        field, who = self._message._fields[self._name], f"{type(self._message).__name__}.{self._name}"
        if not isinstance(field.kind, type):
            return field.check(value, who)
        if not isinstance(value, field.kind):
            raise TypeError(f"{who}: expected {field.kind.__name__}. Received: {value!r}")
        return value

    def append(self, value):
        """Add a value."""
        self._message._touch()
        super().append(self._check(value))

    def extend(self, values):
        """Add several values."""
        values = [self._check(value) for value in values]
        if values:
            self._message._touch()
        super().extend(values)

    def insert(self, index, value):
        """Add a value before another."""
        self._message._touch()
        super().insert(index, self._check(value))

    def add(self, **fields):
        """Add a message with these fields, and return it."""
        made = self._message._fields[self._name].kind(**fields)
        self.append(made)
        return made

    def __setitem__(self, index, value):
        checked = [self._check(one) for one in value] if isinstance(index, slice) else self._check(value)
        self._message._touch()
        super().__setitem__(index, checked)

    def __reduce__(self):
        return list, (list(self),)

    def MergeFrom(self, other):
        """Add the values of another list."""
        self.extend(other)


class MessageMap(dict):
    """The values of a field that maps keys to them; one that is asked for and missing is made."""

    def __init__(self, message, field):
        super().__init__()
        self._message, (self._key, self._value) = message, field.entry

    def __missing__(self, key):
        if not isinstance(self._value.kind, type):
            self[key] = self._value.default
            return self._value.default
        made = self._value.kind()
        made._parent = self._message
        self[key] = made
        return made

    def get_or_create(self, key):
        """Return the message of a name, a new one if there was none."""
        return self[key]

    def __setitem__(self, key, value):
        who, kind = type(self._message).__name__, self._value.kind
        key = self._key.check(key, who)
        if not isinstance(kind, type):
            value = self._value.check(value, who)
        elif not isinstance(value, kind):
            raise TypeError(f"{who}: expected {kind.__name__}. Received: {key!r}: {value!r}")
        self._message._touch()
        super().__setitem__(key, value)

    def __reduce__(self):
        return dict, (dict(self),)


class Message:
    """A record of named fields; subclasses list theirs in `_fields`."""

    _fields = {}

    def __init__(self, **values):
        self._values, self._parent = {}, None
        for name, value in values.items():
            if name not in self._fields:
                raise ValueError(f'Protocol message {type(self).__name__} has no "{name}" field.')
            if value is not None:
                self._fill(name, self._fields[name], value)

    def _fill(self, name, field, value):
        if field.mapped:
            whole = not isinstance(field.kind, type)
            for key, one in dict(value).items():
                getattr(self, name)[key] = one if whole or isinstance(one, field.kind) else field.kind(**one)
        elif field.repeated:
            getattr(self, name).extend(value)
        elif isinstance(field.kind, type):
            self._clear_others(name, field)
            made = value if isinstance(value, field.kind) else field.kind(**value)
            made._parent = self
            self._values[name] = made
        else:
            setattr(self, name, value)

    def __getattr__(self, name):
        field = type(self)._fields.get(name)
        if field is None:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute {name!r}")
        found = self._values.get(name)
        if found is not None:
            return found
        if field.mapped:
            return self._values.setdefault(name, MessageMap(self, field))
        if field.repeated:
            return self._values.setdefault(name, Repeated(self, name))
        if isinstance(field.kind, type):
            made = field.kind()
            # It counts as set once something in it is.
            made._parent = _Place(self, name)
            return made
        return field.default

    def __setattr__(self, name, value):
        field = type(self)._fields.get(name)
        if field is None:
            if not name.startswith("_"):
                raise AttributeError(f"'{type(self).__name__}' object has no attribute {name!r}")
            return object.__setattr__(self, name, value)
        if field.repeated or field.mapped or isinstance(field.kind, type):
            raise AttributeError(f'Assignment not allowed to field "{name}" in protocol message object.')
        checked = field.check(value, f"{type(self).__name__}.{name}")
        self._clear_others(name, field)
        self._values[name] = checked
        self._touch()

    def _clear_others(self, name, field):
        if field.oneof is not None:
            for other, known in self._fields.items():
                if other != name and known.oneof == field.oneof:
                    self._values.pop(other, None)

    def _touch(self):
        """Tell whoever holds this message that it is set now."""
        parent = self._parent
        if type(parent) is _Place:
            self._parent = parent.message
            parent.message._clear_others(parent.name, parent.message._fields[parent.name])
            parent.message._values[parent.name] = self
            parent = parent.message
        if parent is not None:
            parent._touch()

    def HasField(self, name):
        """Return whether a field is set."""
        field = self._fields.get(name)
        if field is None or field.repeated or field.mapped:
            raise ValueError(f'Protocol message {type(self).__name__} has no singular "{name}" field.')
        return name in self._values

    def WhichOneof(self, group):
        """Return the name of the field of a group that is set, or None."""
        members = [name for name, field in self._fields.items() if field.oneof == group]
        if not members:
            raise ValueError(f'Protocol message has no oneof "{group}" field.')
        return next((name for name in members if name in self._values), None)

    def ClearField(self, name):
        """Forget a field."""
        if name not in self._fields:
            raise ValueError(f'Protocol message {type(self).__name__} has no "{name}" field.')
        self._values.pop(name, None)

    def Clear(self):
        """Forget all fields."""
        self._values.clear()

    def SetInParent(self):
        """Say that this message is set though nothing in it is."""
        self._touch()

    def CopyFrom(self, other):
        """Become a copy of another message."""
        self.ParseFromString(expect(other, type(self), "CopyFrom", "other").SerializeToString())

    def MergeFrom(self, other):
        """Add the fields of another message."""
        self.MergeFromString(expect(other, type(self), "MergeFrom", "other").SerializeToString())

    def ListFields(self):
        """Return (field, value) of all fields that hold something."""
        return [(field, self._values[name]) for name, field in self._fields.items()
                if name in self._values and not (field.repeated and not self._values[name])]

    def SerializeToString(self, deterministic=None):
        """Return the message as bytes."""
        return b"".join(_write(field, self._values[name]) for name, field in self._fields.items()
                        if name in self._values)

    def SerializePartialToString(self):
        """Return the message as bytes."""
        return self.SerializeToString()

    def ByteSize(self):
        """Return the number of bytes of the message."""
        return len(self.SerializeToString())

    @classmethod
    def FromString(cls, data):
        """Return the message that bytes hold."""
        made = cls()
        made.MergeFromString(data)
        return made

    def ParseFromString(self, data):
        """Become the message that bytes hold, and return their number."""
        self.Clear()
        return self.MergeFromString(data)

    def MergeFromString(self, data):
        """Add the fields that bytes hold, and return their number."""
        by_number = {field.number: (name, field) for name, field in self._fields.items()}
        # Of a number, bytes() would make so many zeros.
        data = bytes(expect(data, (bytes, bytearray, memoryview), "MergeFromString", "data"))
        for number, wire, value in read_fields(data):
            if number in by_number:
                name, field = by_number[number]
                # Numbers in a list may be packed; what is of another wire type otherwise cannot be the field.
                if wire != field.wire and not (wire == BYTES and field.repeated):
                    raise DecodeError(f"{type(self).__name__}.{name}: got wire type {wire}, expected {field.wire}")
                self._read(name, field, wire, value)
        self._touch()
        return len(data)

    def _read(self, name, field, wire, value):
        if field.mapped:
            found = [one.kind() if isinstance(one.kind, type) else one.default for one in field.entry]
            for part, inner, content in read_fields(value):
                if part > len(found):
                    continue  # a field that is not known is passed over, here as elsewhere
                one = field.entry[part - 1]
                if inner != one.wire:
                    raise DecodeError(f"{type(self).__name__}.{name}: got wire type {inner}, expected {one.wire}")
                found[part - 1] = one.kind.FromString(content) if isinstance(one.kind, type) else (
                    one.read(inner, content)[-1])
            dict.__setitem__(getattr(self, name), *found)
        elif not isinstance(field.kind, type):
            values = field.read(wire, value)
            if field.repeated:
                list.extend(getattr(self, name), values)
            else:
                self._clear_others(name, field)
                self._values[name] = values[-1]
        elif field.repeated:
            list.append(getattr(self, name), field.kind.FromString(value))
        else:
            self._clear_others(name, field)
            made = self._values.setdefault(name, field.kind())
            made._parent = self
            made.MergeFromString(value)

    def __eq__(self, other):
        return type(other) is type(self) and self._set_values() == other._set_values()

    __hash__ = None

    def _set_values(self):
        return {name: value for name, value in self._values.items()
                if not ((self._fields[name].repeated or self._fields[name].mapped) and not value)}

    def __str__(self):
        return "".join(_lines(self, 0))

    __repr__ = __str__

    def __reduce__(self):
        return type(self).FromString, (self.SerializeToString(),)

    def __deepcopy__(self, memo):
        return type(self).FromString(self.SerializeToString())


class _Place:
    """The place that a message takes once something in it is set."""

    __slots__ = ("message", "name")

    def __init__(self, message, name):
        self.message, self.name = message, name


def _write(field, value):
    """Return a field with its key as bytes."""
    if field.mapped:
        first, second = field.entry  # both are written, whatever they are
        return b"".join(write_field(field.number, BYTES, write_varint(8 | first.wire) + first.write(key) + (
            write_field(2, BYTES, one.SerializeToString()) if isinstance(field.kind, type) else
            write_varint(16 | second.wire) + second.write(one))) for key, one in sorted(value.items()))
    if isinstance(field.kind, type):
        return b"".join(write_field(field.number, BYTES, one.SerializeToString())
                        for one in (value if field.repeated else [value]))
    if not field.repeated:
        if value == field.default and field.oneof is None:
            return b""
        return write_varint(field.number << 3 | field.wire) + field.write(value)
    if field.wire == BYTES:
        return b"".join(write_varint(field.number << 3 | BYTES) + field.write(one) for one in value)
    return write_field(field.number, BYTES, b"".join(map(field.write, value))) if value else b""


def _lines(message, depth):
    """Yield the lines of a message as text."""
    pad = "  " * depth
    for name, field in message._fields.items():
        if name not in message._values:
            continue
        value = message._values[name]
        if field.mapped:
            for key, one in sorted(value.items()):
                yield f"{pad}{name} {{\n{pad}  key: {_text(field.entry[0], key)}\n"
                if isinstance(field.kind, type):
                    yield f"{pad}  value {{\n"
                    yield from _lines(one, depth + 2)
                    yield f"{pad}  }}\n{pad}}}\n"
                else:
                    yield f"{pad}  value: {_text(field.entry[1], one)}\n{pad}}}\n"
            continue
        for one in value if field.repeated else [value]:
            if isinstance(field.kind, type):
                yield f"{pad}{name} {{\n"
                yield from _lines(one, depth + 1)
                yield f"{pad}}}\n"
            else:
                yield f"{pad}{name}: {_text(field, one)}\n"


def _text(field, value):
    """Return a value as text."""
    if field.kind == "bytes":
        return '"' + "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\\'' else
                             {34: '\\"', 92: "\\\\", 39: "\\'", 10: "\\n", 13: "\\r", 9: "\\t"}.get(
                                 byte, f"\\{byte:03o}") for byte in value) + '"'
    if field.kind == "string":
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if field.kind == "bool":
        return str(value).lower()
    if field.kind != "float":
        return str(value)
    # As few digits as tell the 32-bit number from its neighbours.
    return next((text for text in (f"{value:.{digits}g}" for digits in (6, 7, 8))
                 if field.check(float(text), "") == value), f"{value:.9g}")


def make_message(name, doc, /, **fields):
    """Return a class of messages.

    Parameters
    ----------
    name : str
        Its name.
    doc : str
        What such a message is.
    **fields : Field
        The fields in the order of their numbers.

    """
    return type(name, (Message,), {"__doc__": doc, "_fields": {key: field if isinstance(field, Field) else Field(*field)
                                                               for key, field in fields.items()}})
