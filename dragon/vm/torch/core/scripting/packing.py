"""Scripts packed into PyTorch's archives: code, the pickle of the module, constants, tensors."""
import enum
import os
import pickle
import struct
import sys

from dragon.vm.torch.core.files.archive import ArchiveWriter
from dragon.vm.torch.core.files.pickler import StorageBook
from dragon.vm.torch.core.scripting.codes import to_code
from dragon.vm.torch.core.scripting.graph import Argument, Graph, Node, Schema
from dragon.vm.torch.core.scripting.modules import RecursiveScriptModule
from dragon.vm.torch.core.scripting.steps import read_attribute
from dragon.vm.torch.core.scripting.scripts import Made
from dragon.vm.torch.core.scripting.types import (
    BOOL, FLOAT, INT, TENSOR, ClassType, DictType, InterfaceType, ListType, OptionalType, TupleType)
from dragon.vm.torch.core.scripting.writing import CodeWriter
from dragon.vm.torch.storage import TypedStorage

VERSION = b"10\n"  # the operators' signatures are those of this version of PyTorch's files
LISTS = {INT: "build_intlist", FLOAT: "build_doublelist", BOOL: "build_boollist", TENSOR: "build_tensorlist"}


class ObjectPickler:
    """Write values of scripts as PyTorch's reader of archives wants them.

    Parameters
    ----------
    writer : CodeWriter
        Knows the names of classes.

    """

    def __init__(self, writer):
        self.writer, self.book, self.parts, self.memo, self.count = writer, StorageBook(), [b"\x80\x02"], {}, 0

    def dump(self, value, kind):
        """Return the pickle of a value."""
        self.value(value, kind)
        return b"".join([*self.parts, b"."])

    def put(self, data):
        """Add bytes."""
        self.parts.append(data)

    def remember(self, value):
        """Let a value be found again."""
        self.memo[id(value)] = self.count, value
        self.put(pickle.LONG_BINPUT + struct.pack("<I", self.count))
        self.count += 1

    def name(self, module, name):
        """Write the name of a class or function."""
        self.put(pickle.GLOBAL + f"{module}\n{name}\n".encode())

    def text(self, value):
        """Write a text."""
        data = value.encode("utf-8", "surrogatepass")
        self.put(pickle.BINUNICODE + struct.pack("<I", len(data)) + data)

    def integer(self, value):
        """Write a whole number."""
        if -1 << 31 <= value < 1 << 31:
            self.put(pickle.BININT + struct.pack("<i", value))
        else:
            data = pickle.encode_long(value)
            self.put(pickle.LONG1 + bytes([len(data)]) + data)

    def value(self, value, kind):
        """Write a value of a type."""
        while isinstance(kind, OptionalType):
            kind = kind.element if value is not None else None
        value = to_code(value)
        if value is None:
            self.put(pickle.NONE)
        elif isinstance(value, bool):
            self.put(pickle.NEWTRUE if value else pickle.NEWFALSE)
        elif id(value) in self.memo and not isinstance(value, (int, float, str)):
            self.put(pickle.LONG_BINGET + struct.pack("<I", self.memo[id(value)][0]))
        elif isinstance(value, enum.Enum):
            self.member(value, kind)
        elif isinstance(value, float):
            self.put(pickle.BINFLOAT + struct.pack(">d", value))
        elif isinstance(value, int):
            self.integer(value) if kind != FLOAT else self.value(float(value), kind)
        elif isinstance(value, str):
            self.text(value)
        elif isinstance(value, complex):
            self.name("builtins", "complex")
            self.row([(value.real, FLOAT), (value.imag, FLOAT)])
            self.put(pickle.REDUCE)
        else:
            self.compound(value, kind)

    def member(self, value, kind):
        """Write a member of an enumeration."""
        module, _, name = self.writer.tell(kind).rpartition(".")
        self.name(module, name)
        self.value(value.value, kind.value)
        self.put(pickle.REDUCE)

    def row(self, parts):
        """Write a tuple."""
        self.put(pickle.MARK)
        for part, kind in parts:
            self.value(part, kind)
        self.put(pickle.TUPLE)

    def compound(self, value, kind):
        """Write tensors, containers, modules and instances."""
        if hasattr(value, "requires_grad") and hasattr(value, "dtype"):
            self.tensor(value)
        elif isinstance(value, tuple):
            self.tuple(value, kind)
        elif isinstance(value, list):
            self.list(value, kind)
        elif isinstance(value, dict):
            self.dict(value, kind)
        elif type(value).__name__ == "device":
            self.name("torch", "device")
            self.row([(str(value), None)])
            self.put(pickle.REDUCE)
        else:
            self.instance(value)

    def tuple(self, value, kind):
        """Write a tuple, perhaps a named one."""
        kinds = kind.elements if isinstance(kind, TupleType) else [None] * len(value)
        if isinstance(kind, TupleType) and kind.qualified:
            module, _, name = self.writer.tell(kind).rpartition(".")
            self.name(module, name)
            self.row(zip(value, kinds))
            self.put(pickle.REDUCE)
        else:
            self.row(zip(value, kinds))

    def list(self, value, kind):
        """Write a list with its type."""
        element = kind.element if isinstance(kind, ListType) else None
        known = LISTS.get(element)
        self.name("torch.jit._pickle", known or "restore_type_tag")
        self.put(pickle.MARK + pickle.EMPTY_LIST + pickle.MARK)
        for part in value:
            self.value(part, element)
        self.put(pickle.APPENDS)
        if known is None:
            self.text(self.writer.tell(kind))
        self.put(pickle.TUPLE + pickle.REDUCE)
        self.remember(value)

    def dict(self, value, kind):
        """Write a dictionary with its type."""
        self.name("torch.jit._pickle", "restore_type_tag")
        self.put(pickle.MARK + pickle.EMPTY_DICT + pickle.MARK)
        for key, part in value.items():
            self.value(key, kind.index if isinstance(kind, DictType) else None)
            self.value(part, kind.value if isinstance(kind, DictType) else None)
        self.put(pickle.SETITEMS)
        self.text(self.writer.tell(kind))
        self.put(pickle.TUPLE + pickle.REDUCE)
        self.remember(value)

    def tensor(self, value):
        """Write a tensor: where its storage is, and how it lies in it."""
        value = value.detach().requires_grad_(value.requires_grad) if type(value).__name__ == "Parameter" else value
        storage = TypedStorage(wrap_storage=value.untyped_storage(), dtype=value.dtype)
        word, kind, key, location, count = self.book.describe(storage)
        self.name("torch._utils", "_rebuild_tensor_v2")
        self.put(pickle.MARK)
        self.put(pickle.MARK)
        self.text(word)
        self.name("torch", kind.__name__)
        self.text(key)
        self.text(location)
        self.integer(count)
        self.put(pickle.TUPLE + pickle.BINPERSID)
        self.integer(value.storage_offset())
        self.row([(size, INT) for size in value.shape])
        self.row([(step, INT) for step in value.stride()])
        self.put(pickle.NEWTRUE if value.requires_grad else pickle.NEWFALSE)
        self.name("collections", "OrderedDict")
        self.put(pickle.EMPTY_TUPLE + pickle.REDUCE + pickle.TUPLE + pickle.REDUCE)

    def instance(self, value):
        """Write a module or an instance of a script class."""
        from dragon.vm.torch.core.scripting.instances import type_of_instance
        kind = type_of_instance(value)
        if kind is None:
            raise RuntimeError(f"torch.jit.save: got an attribute that holds {type(value).__name__}, expected values "
                               "of scripts")
        module, _, name = self.writer.tell(kind).rpartition(".")
        self.name(module, name)
        self.put(pickle.EMPTY_TUPLE + pickle.NEWOBJ)
        self.remember(value)
        if "__getstate__" in kind.methods and "__setstate__" in kind.methods:
            found = kind.methods["__getstate__"].ready()
            self.value(found.run(value), found.schema.result)
        else:
            self.put(pickle.EMPTY_DICT + pickle.MARK)
            for attribute, inner in kind.attributes.items():
                self.text(attribute)
                self.value(read_attribute(value, attribute), inner)
            self.put(pickle.SETITEMS)
        self.put(pickle.BUILD)


def placeholder(function):
    """Return a module whose forward pass calls a function."""
    function = function.ready()
    kind = ClassType("__torch__.PlaceholderModule", is_module=True)
    kind.unit = function.scripts
    kind.attributes["training"] = BOOL
    schema = Schema("forward", "", [Argument("self", kind), *function.schema.arguments], function.schema.result)
    graph = Graph()
    taken = [graph.take(argument.type, argument.name) for argument in schema.arguments]
    node = graph.append(Node("prim::CallFunction", taken[1:], name=function.name, function=function))
    graph.outputs_.append(node.add(schema.result))
    kind.methods["forward"] = Made("forward", f"{kind.qualified}.forward", schema, graph)
    return RecursiveScriptModule(kind)


def write_files(writer):
    """Return {path below code/: text} of everything that was named, and of what that names."""
    files, written = {}, set()
    while writer.waiting:
        item = writer.waiting.pop(0)
        if id(item) in written:
            continue
        written.add(id(item))
        qualified = writer.names[id(item)]
        room, _, name = qualified.rpartition(".")
        if isinstance(item, InterfaceType):
            lines = writer.interface_lines(item)
        elif isinstance(item, ClassType):
            lines = writer.class_lines(item)
        elif isinstance(item, TupleType):
            lines = writer.tuple_lines(item)
        elif isinstance(item, type):
            lines = writer.enum_lines(writer.kept[id(item)])
        else:
            lines = writer.function(item, name)
        files.setdefault(room.replace(".", "/") + ".py", []).extend(lines)
    return {path: "\n".join(lines) + "\n" for path, lines in files.items()}


def pack(module, file, name, extra_files=None):
    """Write an archive.

    Parameters
    ----------
    module : RecursiveScriptModule
        What to write.
    file : BinaryIO
        Where.
    name : str
        The folder that all records lie in.
    extra_files : dict, optional
        {name: text or bytes} of further files.

    """
    writer = CodeWriter()
    kind = module._script_type
    writer.tell(kind)
    pickler = ObjectPickler(writer)
    data = pickler.dump(module, kind)
    files = write_files(writer)
    constants = ObjectPickler(writer)
    packed = constants.dump(tuple(writer.constants), None)
    archive = ArchiveWriter(file, name or "archive")
    archive.write("data.pkl", data)
    archive.write("byteorder", sys.byteorder.encode())
    for key, storage in pickler.book.storages.items():
        archive.write(f"data/{key}", memoryview(storage.cpu()._memory))
    for path, text in sorted(files.items()):
        archive.write(f"code/{path}", text.encode())
    archive.write("constants.pkl", packed)
    for key, storage in constants.book.storages.items():
        archive.write(f"constants/{key}", memoryview(storage.cpu()._memory))
    for extra, content in (extra_files or {}).items():
        archive.write(f"extra/{extra}", content.encode() if isinstance(content, str) else bytes(content))
    archive.write("version", VERSION)
    from dragon.vm.torch.serialization import _identify
    archive.write(".data/serialization_id", _identify(archive))
    archive.close()


def folder_of(file):
    """Return the name of an archive's folder."""
    is_path = isinstance(file, (str, os.PathLike))
    return os.path.splitext(os.path.basename(os.fspath(file)))[0] if is_path else "archive"
