"""What Python's objects are to scripts: operators, functions to compile, classes, constants."""
import enum
import functools
import inspect
import types
import warnings

from dragon.core.interrupts import is_interrupt
from dragon.core.python_operators import BINARY, COMPARISONS, function_name
from dragon.vm.torch.core.api import api
from dragon.vm.torch.core.python_operators import scripts_name
from dragon.vm.torch.core.register import FUNCTIONS
from dragon.vm.torch.core.scripting.failures import Missing, ScriptFailure, refuse
from dragon.vm.torch.core.scripting.graph import Argument, Schema
from dragon.vm.torch.core.scripting.schemas import overloads
from dragon.vm.torch.core.scripting.scopes import (
    Builtin, Called, Constructor, EnumClass, Foreign, Method, Overloaded, PythonModule, Special, Sugar, TypeName)
from dragon.vm.torch.core.scripting.words import CASTS, DIRECT
from dragon.vm.torch.core.scripting.types import (
    BOOL, COMPLEX, DEVICE, FLOAT, INT, NONE, STRING, TENSOR, ClassType, DictType, ListType, TupleType, join)

ROOT = __name__.partition(".core.scripting")[0]  # "dragon.vm.torch", or "torch" as a guest
ROOTS = tuple(dict.fromkeys((ROOT, "torch")))
# Python's and torch's functions that are words of the compiler, by name.
PYTHON = {name: name for name in (*DIRECT, *CASTS, "print", "range", "enumerate", "zip", "reversed", "isinstance",
                                  "hasattr", "getattr", "list", "tuple", "dict", "super", "iter", "slice")}
PREFIXES = {"special": "special_", "linalg": "linalg_", "fft": "fft_"}
JIT = {"annotate": "annotate", "isinstance": "isinstance", "fork": "fork", "_fork": "fork", "wait": "wait",
       "_wait": "wait", "is_scripting": "is_scripting", "is_tracing": "is_not", "unused": "same", "ignore": "same",
       "_unwrap_optional": "unwrap"}
# Functions with a form of their own for each of several switches, which are known when a script is compiled.
SWITCHED = {name: {(False,): name, (True,): f"{name}_with_indices"} for name in (
    *(f"{kind}max_pool{axes}d" for kind in ("", "adaptive_") for axes in (1, 2, 3)), "fractional_max_pool2d",
    "fractional_max_pool3d")}
SWITCHED["unique"] = {(False, False): "unique", (True, False): "unique_with_inverse",
                      (False, True): "unique_with_counts", (True, True): "unique_with_both"}
TORCH = {"einsum": "einsum", "is_storage": "is_not", "Size": "size_of", "typename": "is_not"}
OPERATORS = {function_name(name): scripts_name(name) for name in (*BINARY, "neg", *COMPARISONS)}
OPERATORS.update(not_="aten::__not__", getitem="aten::__getitem__")


class Undefined(ScriptFailure):
    """A name that stands for nothing."""


class Constant:
    """A Python value that a script takes as it is."""

    def __init__(self, value):
        self.value = value


class Container:
    """Attributes in a row."""

    def __init__(self, names):
        self.names = names


def inside(module):
    """Return a torch module's path below the root, "" for the root itself, or None."""
    for root in ROOTS:
        if module == root or module.startswith(root + "."):
            return module[len(root) + 1:]
    return None


def as_constant(value):
    """Return a Python constant as scripts hold it: dtypes as numbers."""
    from dragon.vm.torch.core.scripting.codes import to_code
    return to_code(value)


def is_constant(value):
    """Return whether a Python value can stand in a graph as it is."""
    torch = api()
    if value is None or isinstance(value, (bool, int, float, complex, str, enum.Enum, torch.dtype, torch.device,
                                           torch.layout, torch.memory_format)):
        return True
    return isinstance(value, (list, tuple)) and all(map(is_constant, value))


def sugar(scripts, found, place, name=None):
    """Return what a Python object is to a script."""
    if isinstance(found, Sugar):
        return found
    if is_constant(found):
        return Constant(as_constant(found))
    if isinstance(found, types.ModuleType):
        return PythonModule(found)
    if getattr(found, "__module__", "") == "builtins" and getattr(found, "__name__", "") in PYTHON and isinstance(
            found, (type, types.BuiltinFunctionType)):
        return Special(found.__name__)
    if found is warnings.warn:
        return Builtin("aten::warn")
    if inspect.isbuiltin(found) and found.__module__ == "math":
        return Builtin("aten::" + found.__name__)
    if found is functools.reduce or found is map or found is filter or found is set:
        refuse(f"Python builtin {found} is currently not supported in Torchscript", place)
    if found is type:  # PyTorch leaves it to Python, as what takes a tensor and gives one
        return Foreign(found, Schema("type", "", [Argument("x", TENSOR)], TENSOR))
    made = torch_function(scripts, found, place)
    if made is not None:
        return made
    if isinstance(found, type):
        return class_sugar(scripts, found, place)
    if isinstance(found, functools.partial):
        refuse("functools.partial objects aren't supported", place)
    function = getattr(found, "_script_function", None)
    if function is not None:
        return Called(function)
    if isinstance(found, types.MethodType) and not hasattr(found.__self__, "_parameters"):
        refuse(f"the bound method {found.__name__} cannot be called in a script", place)
    if inspect.isfunction(found) or hasattr(found, "__wrapped__"):
        return function_sugar(scripts, found)
    name = f"'{name}' " if name else ""
    import typing
    if typing.get_origin(found) is not None or type(found).__module__ == "typing":
        return Special("typing")
    kind = type(found).__name__
    return refuse(f"python value {name}of type '{kind}' cannot be used as a value. Perhaps it is a closed over global "
                  "variable? If so, please consider passing it in as an argument or use a local varible instead.",
                  place)


def function_sugar(scripts, found, first=None):
    """Return a Python function, compiled or left to Python."""
    modifier = getattr(found, "_torchscript_modifier", None)
    if modifier in ("ignore", "unused", "drop"):
        return Foreign(found, scripts.foreign_schema(found, first), first, modifier != "ignore")
    choices = scripts.overloads.get(overload_key(found))
    if choices and first is None:
        return Overloaded([Called(scripts.overload(found, choice)) for choice in choices])
    function = scripts.function(getattr(found, "_script_form", None) or found)  # of ours, in the words of scripts
    return Called(function) if first is None else Method(first, function)


def overload_key(found):
    """Return what a function and its overloads have in common."""
    return getattr(found, "__module__", None), getattr(found, "__qualname__", None)


def class_sugar(scripts, found, place):
    """Return a Python class."""
    torch = api()
    if issubclass(found, enum.Enum):
        return EnumClass(scripts.enum_type(found))
    if issubclass(found, tuple) and hasattr(found, "_fields"):
        from dragon.vm.torch.core.scripting.annotations import named_tuple
        return Constructor(named_tuple(found, scripts, place))
    if found is torch.device:
        return Builtin("aten::device")
    if found is torch.Size:
        return Special("size_of")
    if issubclass(found, BaseException) or found is torch.Tensor:
        return TypeName(TENSOR)
    if issubclass(found, torch.nn.Module):
        refuse(f"the class {found.__name__} cannot be instantiated in a script, expected an instance made in "
               "__init__", place)
    recipe = scripts.recipe("classes", found.__name__) if inside(found.__module__) is not None else None
    return Constructor(scripts.class_type(recipe or found, place))


def in_module(scripts, module, name, place):
    """Return an attribute of a Python module."""
    found = getattr(module, name)
    path = inside(module.__name__)
    if path == "ops":
        return Namespace(name)
    if path is None or isinstance(found, types.ModuleType):
        if module.__name__ == "math" and callable(found):
            return Builtin("aten::" + name)
        if module.__name__ in ("operator", "_operator") and name in OPERATORS:
            return Builtin(OPERATORS[name])
        return sugar(scripts, found, place, name)
    if is_constant(found):
        return Constant(as_constant(found))
    made = in_torch(scripts, path, name)
    return made if made is not None else sugar(scripts, found, place, name)


def Namespace(name):
    """Return the operators of `torch.ops.<name>` as the dialect has them."""
    from dragon.vm.torch.core.scripting.scopes import Dialect
    return Dialect("ops." + name)


@functools.lru_cache(None)
def is_rowed(name):
    """Return whether a function of tensors in a row is an operator of a list of them."""
    known = [schema for schema in overloads("aten::" + name) if schema.arguments and name in FUNCTIONS]
    if not any(schema.arguments[0].type == ListType(TENSOR) for schema in known):
        return False
    first, *_ = inspect.signature(FUNCTIONS[name]).parameters.values()
    return first.kind is first.VAR_POSITIONAL


def in_torch(scripts, path, name):
    """Return what a name of torch's is to scripts, or None if it is a Python function or class like any other."""
    if path in ("jit", "_jit_internal", "jit._script") and name in JIT:
        return Special(JIT[name])
    if path in ("compiler", "onnx", "_dynamo") and name.startswith("is_"):
        return Special("is_not")
    if path in ("", "functional"):
        if name in TORCH:
            return Special(TORCH[name])
        if is_rowed(name):
            return Special("rowed", "aten::" + name)
        if overloads("aten::" + name) and name not in ("norm", "stft", *SWITCHED):
            return Builtin("aten::" + name)
    if path == "autograd" and name == "grad":
        return None
    for prefix in ("_sparse_", "sparse_") if path == "sparse" else ():
        if overloads(f"aten::{prefix}{name}"):
            return Builtin(f"aten::{prefix}{name}")
    if path in PREFIXES and overloads(f"aten::{PREFIXES[path]}{name}"):
        return Builtin(f"aten::{PREFIXES[path]}{name}")
    if name in SWITCHED and path in ("", "functional", "nn.functional"):
        return Special("switched", SWITCHED[name])
    recipe = scripts.recipe("functional", name) if path in ("", "functional", "nn.functional", "nn.init",
                                                            "nn.utils.rnn", "autograd", "autograd.grad_mode") else None
    if recipe is not None:
        return Called(scripts.function(recipe))
    if path in ("", "nn.functional") and overloads("aten::" + name):
        return Builtin("aten::" + name)
    if path in ("", "autograd", "autograd.grad_mode") and scripts.recipe("classes", name) is not None:
        return Constructor(scripts.class_type(scripts.recipe("classes", name)))
    if name in ("_assert",) and path == "":
        return Called(scripts.function(scripts.recipe("functional", "_assert")))
    if name in ("_log_api_usage_once",):
        return Special("identity_function")
    return None


@functools.lru_cache(None)
def named_functions():
    """Return {identity: (room, name)} of torch's functions."""
    torch = api()
    found = {}
    for path, room in (("jit", torch.jit), ("special", torch.special), ("fft", torch.fft), ("linalg", torch.linalg),
                       ("sparse", torch.sparse), ("nn.utils.rnn", torch.nn.utils.rnn), ("", torch),
                       ("nn.functional", torch.nn.functional)):
        for name, value in list(vars(room).items()):
            if callable(value) and not isinstance(value, type) and not name.startswith("__"):
                found[id(value)] = path, name
    return found


def torch_function(scripts, found, place):
    """Return what one of torch's functions is to scripts, or None."""
    if not callable(found):
        return None
    place_of = named_functions().get(id(found))
    if place_of is None:
        return None
    made = in_torch(scripts, *place_of)
    if made is None and place_of[0] != "jit" and not hasattr(found, "_script_function"):
        raise Missing(f"torch.jit.script: got {'.'.join(filter(None, ('torch', *place_of)))}, a function that "
                      f"Dragon has no script of, expected another:\n{place}")
    return made


# --- members of classes

def find_member(scripts, made, name):
    """Return (the member of a Python class, whether it is a recipe of ours), or (None, False)."""
    for cls in made.__mro__:
        if inside(cls.__module__) is not None:
            recipe = scripts.recipe("modules", cls.__name__)
            own = next((base for base in recipe.__mro__[:-1] if name in base.__dict__), None) if recipe else None
            if own is not None:
                return own.__dict__[name], True
        if name in cls.__dict__ and cls is not object:
            found = cls.__dict__[name]
            if hasattr(found, "owner") and not inspect.isfunction(found):
                found = getattr(cls, name)  # of a layer that is told in one line: written when it is asked for
            return found, False
    return None, False


def is_plain(found):
    """Return whether a layer of torch's own has a forward pass of tensors alone, which scripts as it stands."""
    return found.__name__ == "forward" and all(
        part.default is part.empty and part.kind is part.POSITIONAL_OR_KEYWORD
        for part in inspect.signature(found).parameters.values())


def member(scripts, kind, name, owner, place):
    """Return a method or class attribute of an instance, or None."""
    if name in kind.methods:
        return Method(owner, kind.methods[name])
    if kind.made is None:
        return None
    found, is_recipe = find_member(scripts, kind.made, name)
    if found is None:
        return None
    if isinstance(found, staticmethod):
        return sugar(scripts, found.__func__, place, name)
    if isinstance(found, classmethod):
        return Method(owner, scripts.define_class_method(kind, name, found.__func__))
    if inspect.isfunction(found):
        base = next((cls for cls in kind.made.__mro__ if name in cls.__dict__), None)
        if kind.is_module and name in MODULE_METHODS and not is_recipe and (
                base.__module__.startswith("dragon.core") or inside(base.__module__) is not None):
            return None
        if not is_recipe and base is not None and inside(base.__module__) is not None and inside(
                base.__module__).startswith("nn"):
            if kind.is_module and name in MODULE_METHODS:
                return None
            if is_plain(found):
                return Method(owner, scripts.define(kind, name, found))
            raise Missing(f"torch.jit.script: got {base.__name__}.{name}, a method that Dragon has no script of:\n"
                          f"{place}")
        modifier = getattr(found, "_torchscript_modifier", None)
        if modifier in ("ignore", "unused", "drop"):
            return Foreign(found, scripts.foreign_schema(found, owner), owner, modifier != "ignore")
        choices = scripts.overloads.get(overload_key(found))
        if choices:
            return Overloaded([Method(owner, scripts.overload(found, choice, kind)) for choice in choices])
        return Method(owner, scripts.define(kind, name, getattr(found, "_script_form", found)))
    if isinstance(found, property):
        return None
    return sugar(scripts, found, place, name)


MODULE_METHODS = {"children", "named_children", "modules", "named_modules", "parameters", "named_parameters",
                  "buffers", "named_buffers", "items", "keys", "values", "__len__", "__iter__", "__getitem__"}


def super_method(scripts, compiler, name, place):
    """Return a method of the class above."""
    kind, owner = compiler.owner, compiler.frame.find(compiler.tree.args.args[0].arg)
    if kind is None or kind.made is None:
        return refuse("super is only supported in methods", place)
    current = compiler.tree
    seen = False
    for cls in kind.made.__mro__:
        own = cls.__dict__.get(current.name)
        if seen:
            recipe = scripts.recipe("modules", cls.__name__) if inside(cls.__module__) is not None else None
            found = (recipe.__dict__.get(name) if recipe is not None else None) or cls.__dict__.get(name)
            if inspect.isfunction(found):
                return Method(owner, scripts.define(kind, name, found, above=cls.__name__))
        elif own is not None and inspect.isfunction(own) and own.__code__.co_firstlineno == compiler.source.first:
            seen = True
    return refuse(f"super has no method {name}", place)


def container_names(kind):
    """Return the names of a container's parts, or None if it is none."""
    if not getattr(kind, "container", None):
        return None
    return [name for name, part in kind.attributes.items()
            if isinstance(part, ClassType) and part.is_module or name in kind.parameters]


# --- types of values

def type_of_value(scripts, value):
    """Return the type of a Python value, or raise ValueError."""
    torch = api()
    simple = {bool: BOOL, int: INT, float: FLOAT, complex: COMPLEX, str: STRING, type(None): NONE,
              torch.device: DEVICE}
    if type(value) in simple:
        return simple[type(value)]
    if isinstance(value, torch.Tensor):
        return TENSOR
    if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)) or isinstance(value, int):
        return INT
    if isinstance(value, enum.Enum):
        return scripts.enum_type(type(value))
    if isinstance(value, tuple):
        if hasattr(value, "_fields"):
            from dragon.vm.torch.core.scripting.annotations import named_tuple
            return named_tuple(type(value), scripts, None)
        return TupleType([type_of_value(scripts, part) for part in value])
    if isinstance(value, list):
        if not value:
            return ListType(TENSOR)
        return ListType(functools.reduce(shared, [type_of_value(scripts, part) for part in value]))
    if isinstance(value, dict):
        if not value:
            return DictType(STRING, TENSOR)
        return DictType(functools.reduce(shared, [type_of_value(scripts, part) for part in value]),
                        functools.reduce(shared, [type_of_value(scripts, part) for part in value.values()]))
    kind = scripts.class_of(value)
    if kind is None and type(value).__module__ != "builtins" and inside(type(value).__module__) is None and hasattr(
            value, "__dict__") and not isinstance(value, (torch.nn.Module, BaseException)) and not callable(value):
        try:
            kind = scripts.class_type(type(value))
        except Exception as error:  # of whatever kind: a script that reads the attribute says why it has none
            if is_interrupt(error):
                raise
            raise ValueError(f"Could not infer type of an attribute of type '{type(value).__name__}': "
                             f"{str(error).splitlines()[0]}") from error
    if kind is not None:
        return kind
    raise ValueError(f"Could not infer type of an attribute of type '{type(value).__name__}'")


def shared(one, other):
    """Return the one type of two elements, or raise ValueError."""
    found = join(one, other)
    if found is None:
        raise ValueError(f"Could not infer type of list element: Cannot infer concrete type of a list of "
                         f"{one.annotation()} and {other.annotation()}")
    return found
