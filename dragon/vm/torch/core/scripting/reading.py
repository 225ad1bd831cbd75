"""Archives of scripts read: their code is parsed and checked, never given to Python; their pickles make known types."""
import ast
import collections
import enum
import io
import keyword
import math
import pickle
import sys

from dragon.vm.torch.core.files.archive import ArchiveReader, Corrupt
from dragon.vm.torch.core.files.locations import make_restore
from dragon.vm.torch.core.files.trusted import Trust
from dragon.vm.torch.core.scripting.annotations import BY_NAME
from dragon.vm.torch.core.api import api
from dragon.vm.torch.core.scripting.failures import Missing, ScriptFailure, Source, refuse
from dragon.vm.torch.core.scripting.modules import RecursiveScriptModule
from dragon.vm.torch.core.scripting.resolving import type_of_value
from dragon.vm.torch.core.scripting.instances import Instance, is_of
from dragon.vm.torch.core.scripting.scopes import Called, Constructor, Dialect, EnumClass, Special
from dragon.vm.torch.core.scripting.scripts import Function, Scripts
from dragon.vm.torch.core.scripting.types import (
    FLOAT, TENSOR, ClassType, EnumType, InterfaceType, ListType, TupleType)
from dragon.vm.torch.nn import Parameter
from dragon.vm.torch.serialization import _ArchiveUnpickler, _byte_order, _copied

MOST_CODE = 1 << 26  # bytes of one file of code
WORDS = ("annotate", "unchecked_cast", "uninitialized", "isinstance", "getattr", "hasattr", "range", "print", "len",
         "int", "float", "bool", "str", "tuple", "list", "dict", "fork", "min", "max", "abs", "ord", "chr", "enumerate",
         "zip", "complex", "sorted", "all", "any", "wait", "super", "round")


class ArchiveScripts(Scripts):
    """The functions and classes of one archive, each compiled when it is first needed.

    Parameters
    ----------
    read : Callable[[str], Optional[bytes]]
        Returns the code of a file by its path below `code/`, or None.

    """

    def __init__(self, read):
        super().__init__()
        self.read, self.files, self.found, self.constants = read, {}, {}, ()

    # --- code

    def definitions(self, path):
        """Return {name: syntax tree} of a file, and its source."""
        if path not in self.files:
            data = self.read(path.replace(".", "/") + ".py")
            if data is None:
                self.files[path] = {}, None
                return self.files[path]
            if len(data) > MOST_CODE:
                raise Corrupt(f"torch.jit.load: got {len(data)} bytes of code in {path}, expected at most {MOST_CODE}")
            try:
                text = data.decode("utf-8")
                tree = ast.parse(text)
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                raise Corrupt(f"torch.jit.load: got code in {path} that cannot be read ({error}), expected what "
                              "torch.jit.save wrote") from None
            source = Source(text, f"code/{path.replace('.', '/')}.py")
            self.files[path] = {part.name: part for part in tree.body
                                if isinstance(part, (ast.ClassDef, ast.FunctionDef))}, source
        return self.files[path]

    def archived(self, path, place):
        """Return what a full name stands for, or None for the beginning of one."""
        if path in self.found:
            return self.found[path]
        room, _, name = path.rpartition(".")
        if path.startswith("__torch__.torch.classes."):
            parts = path.split(".")
            if len(parts) >= 5:
                raise Missing(f"torch.jit.load: got {path}, a class that is written in C++, expected classes of "
                              f"scripts:\n{place}")
            return None
        parts, source = self.definitions(room)
        tree = parts.get(name)
        if tree is None:
            return None
        if isinstance(tree, ast.FunctionDef):
            made = Called(Function(self, name, path, source, tree, self.dialect_names))
            self.found[path] = made
            return made
        return self.define_archived(path, tree, source)

    def dialect_names(self, name):
        """Return what a name of the dialect stands for."""
        if name in ("torch", "ops", "__torch__", "CONSTANTS"):
            return Dialect(name)
        if name in WORDS:
            return Special(name)
        numbers = {"inf": math.inf, "nan": math.nan, "infj": complex(0, math.inf), "nanj": complex(0, math.nan)}
        if name in numbers:
            return numbers[name]
        raise LookupError(name)

    def named_type(self, node, names, place):
        """Return the type that an annotation of the dialect names."""
        text = dotted(node)
        if text in BY_NAME:
            return BY_NAME[text]
        if text in ("List", "list", "t"):
            return ListType(TENSOR)
        if text is not None and text.startswith("__torch__."):
            found = self.archived(text, place)
            if isinstance(found, (Constructor, EnumClass)):
                return found.type
        if text == "Tuple":
            return TupleType(())
        return refuse(f"torch.jit.load: got the type {text or ast.unparse(node)}, which the archive does not define",
                      place)

    def define_archived(self, path, tree, source):
        """Return a class of an archive."""
        bases = [dotted(base) for base in tree.bases]
        base = bases[0] if bases else ""
        if base == "Enum":
            return self.define_enum(path, tree)
        if base == "NamedTuple":
            return self.define_tuple(path, tree, source)
        if base in ("Interface", "ModuleInterface"):
            kind = InterfaceType(path, base != "Interface")
            self.found[path] = Constructor(kind)
            for part in tree.body:
                if isinstance(part, ast.FunctionDef):
                    kind.methods[part.name] = Function(self, part.name, path, source, part, self.dialect_names,
                                                       kind).declare()
            return self.found[path]
        kind = ClassType(path, base == "Module")
        kind.unit, kind.container = self, None
        self.found[path] = Constructor(kind)
        for part in tree.body:
            self.define_part(kind, part, source)
        return self.found[path]

    def define_part(self, kind, part, source):
        """Enter one line of a class."""
        if isinstance(part, ast.FunctionDef):
            table = kind.hook_methods if part.name in (*kind.hooks, *kind.pre_hooks) else kind.methods
            table[part.name] = Function(self, part.name, f"{kind.qualified}.{part.name}", source, part,
                                        self.dialect_names, kind)
        elif isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
            self.define_attribute(kind, part.target.id, part.annotation, part.value, source)
        elif isinstance(part, ast.Assign) and len(part.targets) == 1:
            target = part.targets[0]
            if isinstance(target, ast.Subscript) and dotted(target.value) == "__annotations__":
                self.define_attribute(kind, str(literal(target.slice)), part.value, None, source)
            elif dotted(target) in ("__parameters__", "__buffers__"):
                names = getattr(kind, dotted(target).strip("_"))
                names.extend(str(name) for name in literal(part.value))
            elif dotted(target) in ("__forward_hooks__", "__forward_pre_hooks__"):
                names = kind.hooks if dotted(target) == "__forward_hooks__" else kind.pre_hooks
                names.extend(str(name) for name in literal(part.value))
            elif dotted(target) not in ("__annotations__", "op_version_set"):
                raise Corrupt(f"torch.jit.load: got {ast.unparse(part)[:80]!r} in {kind.qualified}, expected an "
                              "attribute or a method")
        elif not isinstance(part, ast.Pass):
            raise Corrupt(f"torch.jit.load: got {type(part).__name__} in {kind.qualified}, expected attributes and "
                          "methods")

    def define_attribute(self, kind, name, annotation, value, source):
        """Enter an attribute, or a constant."""
        from dragon.vm.torch.core.scripting.annotations import ast_type
        from dragon.vm.torch.core.scripting.failures import Place
        if value is not None:
            kind.constants[name] = literal(value)
            return
        kind.attributes[name] = ast_type(annotation, self.dialect_names, self, Place(source, annotation))

    def define_enum(self, path, tree):
        """Return an enumeration of an archive."""
        members = {}
        for part in tree.body:
            if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name):
                members[part.targets[0].id] = literal(part.value)
        made = enum.Enum(tree.name, members)
        made.__module__ = "__torch__"
        kinds = {type_of_value(self, value) for value in members.values()}
        if len(kinds) != 1:
            raise Corrupt(f"torch.jit.load: got the enumeration {path} with values of {len(kinds)} types, expected one")
        self.found[path] = EnumClass(EnumType(path, made, kinds.pop()))
        self.enums[made] = self.found[path].type
        return self.found[path]

    def define_tuple(self, path, tree, source):
        """Return a class of named tuples of an archive."""
        from dragon.vm.torch.core.scripting.annotations import ast_type
        from dragon.vm.torch.core.scripting.failures import Place
        fields, kinds, ends = [], [], []
        for part in tree.body:
            if isinstance(part, ast.AnnAssign):
                fields.append(part.target.id)
                kinds.append(ast_type(part.annotation, self.dialect_names, self, Place(source, part)))
                if part.value is not None:
                    ends.append(literal(part.value))
            elif isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Subscript):
                fields.append(str(literal(part.targets[0].slice)))
                kinds.append(ast_type(part.value, self.dialect_names, self, Place(source, part)))
        if any(keyword.iskeyword(name) or name.startswith("_") or not name.isidentifier() for name in fields):
            made = None
        else:
            made = collections.namedtuple(tree.name, fields, defaults=ends)
        self.found[path] = Constructor(TupleType(kinds, tuple(fields), path, made, ends))
        if made is not None:
            self.tuples[made] = self.found[path].type
        return self.found[path]

    def class_of(self, value):
        """Return the type of an instance, or None."""
        return getattr(value, "__dict__", {}).get("_script_type")


def dotted(node):
    """Return a dotted name as text, or None."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = dotted(node.value)
        return None if inner is None else f"{inner}.{node.attr}"
    if isinstance(node, ast.Constant) and node.value is None:
        return "NoneType"
    return None


def literal(node):
    """Return a constant of the dialect: `inf` and `nan` are names there."""
    if isinstance(node, ast.Name) and node.id in ("inf", "nan"):
        return math.inf if node.id == "inf" else math.nan
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -literal(node.operand)
    if isinstance(node, (ast.Tuple, ast.List)):
        parts = [literal(part) for part in node.elts]
        return tuple(parts) if isinstance(node, ast.Tuple) else parts
    if isinstance(node, ast.Call) and dotted(node.func) in ("torch.device", "annotate"):
        if dotted(node.func) == "annotate":
            return literal(node.args[1])
        torch = api()
        return torch.device(literal(node.args[0]))
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise Corrupt(f"torch.jit.load: got {ast.unparse(node)[:80]!r}, expected a constant") from None


# --- pickles

class NamedType:
    """A type that a pickle names."""

    def __init__(self, kind):
        self.kind = kind


def typed_list(cls):
    """Return the function of a list of numbers."""
    def build(values):
        if not isinstance(values, list):
            raise pickle.UnpicklingError(f"load: got {type(values).__name__}, expected a list")
        return values
    return build


class ScriptUnpickler(_ArchiveUnpickler):
    """Reads the pickles of an archive of scripts."""

    prefix, scripts = "data", None

    def read_storage(self, name, dtype):
        """Return a storage's bytes."""
        memory = self.memory_of(f"{self.prefix}/{name}" if "/" not in name else name)
        if self.swap:
            from dragon.vm.torch.storage import UntypedStorage
            UntypedStorage._over(memory).byteswap(dtype)
        return memory

    def find(self, module, name):
        """Push a class of the archive, or what any file may name."""
        if module.startswith("__torch__"):
            found = self.scripts.archived(f"{module}.{name}", f"{module}.{name}")
            if not isinstance(found, (Constructor, EnumClass)):
                raise pickle.UnpicklingError(f"load: got the class {module}.{name}, which the archive's code does not "
                                             "define")
            self.push(NamedType(found.type))
        elif module == "torch.jit._pickle":
            if name not in HELPERS:
                raise pickle.UnpicklingError(f"load: got {module}.{name}, expected one of {', '.join(HELPERS)}")
            self.push(HELPERS[name])
        else:
            super().find(module, name)

    def call(self):
        """Call a helper, make a member of an enumeration or a named tuple, or what any file may call."""
        arguments, function = self.stack[-1], self.stack[-2]
        if isinstance(function, Helper):
            self.stack[-2:] = [function.run(*arguments)]
        elif isinstance(function, NamedType):
            kind = function.kind
            if isinstance(kind, EnumType):
                self.stack[-2:] = [kind.made(arguments[0] if isinstance(arguments, tuple) else arguments)]
            elif isinstance(kind, TupleType):
                self.stack[-2:] = [kind.made(*arguments) if kind.made is not None else tuple(arguments)]
            else:
                raise pickle.UnpicklingError(f"load: got a call of {kind.qualified}, expected none")
        else:
            super().call()

    def make(self, cls, arguments, named=None):
        """Make a bare module or instance."""
        if not isinstance(cls, NamedType):
            super().make(cls, arguments, named)
            return
        kind = cls.kind
        if isinstance(kind, TupleType):
            self.push(kind.made(*arguments) if kind.made is not None else tuple(arguments))
            return
        if not isinstance(kind, ClassType) or arguments or named:
            raise pickle.UnpicklingError(f"load: got an instance of {kind.qualified} made with arguments")
        self.push(RecursiveScriptModule(kind) if kind.is_module else Instance(kind))

    def fill(self):
        """Give a module or instance its attributes; a class's own `__setstate__` runs as a script."""
        instance = self.stack[-2]
        kind = getattr(instance, "__dict__", {}).get("_script_type")
        if kind is None:
            super().fill()
            return
        state = self.stack.pop()
        if "__setstate__" in kind.methods:
            self.waiting.append((instance, state))
            return
        if type(state) is not dict:
            raise pickle.UnpicklingError(f"load: got the state of {kind.qualified} in a {type(state).__name__}, "
                                         "expected a dict")
        set_state(instance, kind, state)

    def load(self):
        """Return the object; states that classes set by themselves are set at the end."""
        self.waiting = []
        try:
            found = super().load()
            for instance, state in self.waiting:
                instance._script_type.methods["__setstate__"].run(instance, state)
        except ScriptFailure as error:
            raise pickle.UnpicklingError(f"load: got an archive whose code makes no sense: {error}") from error
        return found


class Helper:
    """A function of `torch.jit._pickle`."""

    def __init__(self, run):
        self.run = run


def restored(value, tag):
    """Return a container whose type a text tells."""
    return value


HELPERS = {name: Helper(typed_list(name)) for name in (
    "build_intlist", "build_tensorlist", "build_doublelist", "build_boollist", "build_complexlist")}
HELPERS["restore_type_tag"] = Helper(restored)


def set_state(instance, kind, state):
    """Give a module or an instance its attributes, which must be those of its class."""
    for name, value in state.items():
        wanted = kind.attributes.get(name)
        if wanted is None:
            raise pickle.UnpicklingError(f"load: got the attribute {name!r} of {kind.qualified}, which its class does "
                                         "not declare")
        if not is_of(value, wanted):
            if wanted == FLOAT and type(value) is int:
                value = float(value)
            else:
                raise pickle.UnpicklingError(f"load: got {type(value).__name__} for the attribute {name!r} of "
                                             f"{kind.qualified}, expected {wanted.annotation()}")
        if not kind.is_module:
            instance.__dict__[name] = value
        elif isinstance(value, RecursiveScriptModule):
            instance._modules[name] = value
        elif name in kind.parameters:
            instance._parameters[name] = value if value is None else as_parameter(value)
        elif name in kind.buffers:
            instance._buffers[name] = value
        else:
            instance.__dict__[name] = value
    missing = [name for name in kind.attributes if name not in state]
    if missing:
        raise pickle.UnpicklingError(f"load: got a {kind.qualified} without the attribute {missing[0]!r}")
    if kind.is_module:
        order = [name for name in kind.attributes if name in instance._modules]
        instance.__dict__["_modules"] = {name: instance._modules[name] for name in order}


def as_parameter(value):
    """Return a tensor as a parameter."""
    return value if isinstance(value, Parameter) else Parameter(value.detach(), requires_grad=value.requires_grad)


# --- whole archives

def is_script(reader):
    """Return whether an archive holds scripts."""
    return "constants.pkl" in reader and "data.pkl" in reader


def load_archive(file, map_location=None, extra_files=None, wrap=None):
    """Return the module in an archive.

    Parameters
    ----------
    file : BinaryIO
        A seekable file.
    map_location : Union[str, device, dict, Callable], optional
        Where tensors go.
    extra_files : dict, optional
        {name: anything}; the values become the texts of the archive's further files.

    Returns
    -------
    RecursiveScriptModule
        The module.

    """
    reader = ArchiveReader(file)
    if not is_script(reader):
        raise RuntimeError("torch.jit.load: got a zip archive without code, expected what torch.jit.save wrote; what "
                           "torch.save wrote is read by torch.load")
    restore, swap = make_restore(map_location), _byte_order(reader) != sys.byteorder

    def code(path):
        record = f"code/{path}"
        return reader.read(record) if record in reader else None
    scripts = ArchiveScripts(code)

    def unpickle(record, prefix):
        unpickler = ScriptUnpickler(io.BytesIO(reader.read(record)), reader, _copied(reader), restore, swap,
                                    encoding="utf-8", trust=Trust(True))
        unpickler.prefix, unpickler.scripts = prefix, scripts
        return unpickler.load()
    constants = unpickle("constants.pkl", "constants")
    if not isinstance(constants, tuple):
        raise Corrupt(f"torch.jit.load: got constants in a {type(constants).__name__}, expected a tuple")
    scripts.constants = constants
    module = unpickle("data.pkl", "data")
    if not isinstance(module, RecursiveScriptModule):
        raise Corrupt(f"torch.jit.load: got an archive of {type(module).__name__}, expected a module")
    check_methods(module)
    for name in extra_files or ():
        record = f"extra/{name}"
        if record in reader:
            extra_files[name] = reader.read(record)
    return module


def check_methods(module):
    """Compile every method of a module and its parts, so that what is not there is told now."""
    seen = set()
    for part in module.modules():
        kind = part.__dict__.get("_script_type")
        if kind is None or id(kind) in seen:
            continue
        seen.add(id(kind))
        for function in kind.methods.values():
            try:
                function.ready()
            except RecursionError:
                raise Corrupt(f"torch.jit.load: got {function.qualified}, which is nested too deeply or calls itself, "
                              "expected what torch.jit.save wrote") from None
            except (AttributeError, TypeError, ValueError, IndexError, KeyError) as error:
                if isinstance(error, (NotImplementedError, RuntimeError)):
                    raise
                raise Corrupt(f"torch.jit.load: got {function.qualified}, whose code makes no sense "
                              f"({type(error).__name__}: {error}), expected what torch.jit.save wrote") from error
