"""Graphs as protobuf messages: `dragon.proto`, given to the `protobuf` package as it is, without generated code."""
import functools
import pathlib
import re

from dragon.core.distribution import install_words

_HERE = pathlib.Path(__file__).resolve().parent
_TOKEN = re.compile(r"//[^\n]*|\"[^\"]*\"|[A-Za-z_][\w.]*|\d+|[{}=;]|\S")
_SCALARS = {"double": 1, "int64": 3, "int32": 5, "bool": 8, "string": 9, "bytes": 12, "sint32": 17}
_MESSAGE, _ENUM, _SINGLE, _REPEATED = 11, 14, 1, 3


def read_source():
    """Return the text of `dragon.proto`, which lies beside this file once installed.

    Returns
    -------
    str
        The text.

    """
    installed = _HERE / "dragon.proto"
    return (installed if installed.exists() else _HERE.parents[1] / "core/proto/dragon.proto").read_text("utf-8")


@functools.lru_cache(maxsize=None)
def messages():
    """Return the classes of the messages.

    Returns
    -------
    Dict[str, type]
        A class of `protobuf` for each message of `dragon.proto`: `messages()["GraphDef"]`.

    """
    try:
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    except ImportError:
        raise ImportError("dragon.core.proto: got no package 'protobuf', expected one; "
                          f"`{install_words('proto')}` brings it") from None
    file = descriptor_pb2.FileDescriptorProto(name="dragon.proto", syntax="proto3")
    _Parser(read_source()).fill(file)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {message.name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{file.package}.{message.name}"))
            for message in file.message_type}


def parse(data):
    """Read the bytes of a GraphDef.

    Parameters
    ----------
    data : bytes
        What `Graph.to_bytes` returns.

    Returns
    -------
    google.protobuf.message.Message
        The GraphDef.

    """
    return messages()["GraphDef"].FromString(data)


def serialize(message):
    """Return the bytes of a message: for a GraphDef, what the engine itself would write.

    Parameters
    ----------
    message : google.protobuf.message.Message
        The message.

    Returns
    -------
    bytes
        The bytes.

    """
    return message.SerializeToString(deterministic=True)


class _Parser:
    """Reads as much of the language as `dragon.proto` is written in."""

    def __init__(self, text):
        self.tokens = [token for token in _TOKEN.findall(text) if not token.startswith("//")]
        self.place = 0

    def next(self, expected=None):
        token = self.tokens[self.place]
        self.place += 1
        if expected is not None and token != expected:
            before = " ".join(self.tokens[max(self.place - 6, 0):self.place - 1])
            raise ValueError(f"dragon.proto: got {token!r} after {before!r}, expected {expected!r}")
        return token

    def fill(self, file):
        """Fill a FileDescriptorProto."""
        while self.place < len(self.tokens):
            word = self.next()
            if word == "syntax":
                self.place += 3
            elif word == "package":
                file.package = self.next()
                self.next(";")
            elif word == "enum":
                self.fill_enum(file.enum_type.add(name=self.next()))
            else:
                self.place -= 1
                self.next("message")
                self.fill_message(file.message_type.add(name=self.next()))
        enums = {enum.name for enum in file.enum_type}
        for message in file.message_type:
            for field in message.field:
                if field.type_name:
                    field.type = _ENUM if field.type_name in enums else _MESSAGE
                    field.type_name = f".{file.package}.{field.type_name}"

    def fill_enum(self, enum):
        self.next("{")
        while (name := self.next()) != "}":
            self.next("=")
            enum.value.add(name=name, number=int(self.next()))
            self.next(";")

    def fill_message(self, message):
        self.next("{")
        while (word := self.next()) != "}":
            if word == "oneof":
                message.oneof_decl.add(name=self.next())
                self.next("{")
                while (word := self.next()) != "}":
                    self.fill_field(message, word).oneof_index = len(message.oneof_decl) - 1
            else:
                self.fill_field(message, word)

    def fill_field(self, message, word):
        field = message.field.add(label=_REPEATED if word == "repeated" else _SINGLE)
        kind = self.next() if word == "repeated" else word
        if kind in _SCALARS:
            field.type = _SCALARS[kind]
        else:
            field.type_name = kind
        field.name = self.next()
        self.next("=")
        field.number = int(self.next())
        self.next(";")
        return field
