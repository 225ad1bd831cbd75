"""How classes are written: bases, attributes, properties, methods."""
import ast
import enum
import inspect
import sys
import textwrap
import typing
from functools import cached_property, partial

from stubs import docs, engine, members, returns
from stubs.callables import LENIENT, signature_of, write_def, write_doc
from stubs.kinds import ANY, NONE, Kind, as_result, read_kind, union, write
from stubs.places import door_of
from stubs.sources import classes_of

# Members that are Python's business.
PRIVATE = {"__module__", "__doc__", "__dict__", "__weakref__", "__slots__", "__annotations__", "__qualname__",
           "__abstractmethods__", "__parameters__", "__orig_bases__", "__firstlineno__", "__static_attributes__",
           "__match_args__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__copy__",
           "__deepcopy__", "__init_subclass__", "__subclasshook__", "__getattribute__", "__sizeof__", "__dir__",
           "__class_getitem__", "_abc_impl", "__del__", "__annotate_func__", "__annotations_cache__",
           "__dataclass_fields__", "__dataclass_params__", "__pybind11_module_local__", "__torch_function__",
           "__set_name__", "__array_priority__", "__instancecheck__", "__subclasscheck__", "__replace__",
           "__constants__", "__members__", "_pybind11_conduit_v1_", "__wrapped__"}


def write_class(name, value, scope):
    """Return the lines of a class's definition."""
    if issubclass(value, tuple) and fields_of(value):
        return write_named_tuple(name, value, scope)
    shown = [item for item in vars(value) if item not in PRIVATE and item.isidentifier() and not mangled(item, value)]
    own = {item: vars(value)[item] for item in shown}
    attributes = list_attributes(value, own, scope)
    extra = members.lines(value, scope)
    told = members.names(extra)
    scope.hidden.append({*own, *attributes, *told})
    scope.of_classes = issubclass(value, type)
    extra = members.lines(value, scope)  # once more, now that is known what hides what
    body = write_doc(value.__doc__) if own_doc(value) else []
    for item, kind in attributes.items():
        if item not in told:
            body.append(f"{item}: {write(kind, scope)}")
    for item, member in own.items():
        if item not in told:
            body += write_member(item, member, value, scope)
    body += extra
    scope.hidden.pop()
    scope.of_classes = False
    bases = write_bases(value, scope)
    head = f"class {name}{bases}:"
    return [head, *("    " + line if line else "" for line in body)] if body else [head + " ..."]


def mangled(name, value):
    """Return whether a member is one that Python has renamed: a private of the class."""
    return name.startswith(f"_{value.__name__.lstrip('_')}__")


def own_doc(value):
    """Return whether a class has a docstring of its own."""
    return isinstance(vars(value).get("__doc__"), str)


def fields_of(value):
    """Return the names of a named tuple's parts; () for other classes."""
    fields = vars(value).get("_fields") or vars(value).get("_names") or ()
    return tuple(fields) if all(isinstance(field, str) and field.isidentifier() for field in fields) else ()


def write_named_tuple(name, value, scope):
    """Return the lines of a class of named results."""
    told = docs.read_attributes(value.__doc__) | docs.read_arguments(value.__doc__)
    find = partial(find_from, scope)
    tensors = issubclass(value, members.named_result())
    lines = [f"class {name}({scope.name_typing('NamedTuple')}):"]
    for field in fields_of(value):
        kind = Kind(engine.face(scope.module)[0]) if tensors else read_kind(told.get(field, "Any"), find)
        lines.append(f"    {field}: {write(as_result(kind), scope)}")
    own = {item: member for item, member in vars(value).items()
           if inspect.isfunction(member) and not item.startswith("_") and item not in ("count", "index")}
    for item, member in own.items():
        lines += ["    " + line for line in write_member(item, member, value, scope)]
    return lines


def find_from(scope, word):
    """Return the class that a docstring of the scope's module means by a word."""
    return scope.places.find_class(word, scope.module)


def write_bases(value, scope):
    """Return the bases of a class in brackets; nothing where it has none to tell."""
    words = members.told_bases(value, scope)
    for base in value.__bases__ if not words else ():
        if base is not object and base is not typing.Generic:
            words.append(scope.name_class(base))  # `Any`, where no stub tells it: it may have whatever is asked for
    above = any(hasattr(base, "__class_getitem__") for base in value.__bases__)
    generic = "__class_getitem__" in vars(value) and not above
    if generic or "Generic" in [base.__name__ for base in value.__bases__]:
        scope.imports["_TypeVar"] = "from typing_extensions import TypeVar as _TypeVar"  # which may have a default
        scope.imports["_Item"] = f'_Item = _TypeVar("_Item", covariant=True, default={write(ANY, scope)})'
        words.append(f"{scope.name_typing('Generic')}[_Item]")
    words = list(dict.fromkeys(words))
    return f"({', '.join(words)})" if words else ""


def list_attributes(value, own, scope):
    """Return {name: kind} of what instances have, as the class's methods set it."""
    node = classes_of(getattr(sys.modules.get(value.__module__), "__file__", None)).get(value.__name__)
    if node is None or isinstance(value, enum.EnumMeta):
        return {}
    find = partial(find_from, scope)
    told = {**docs.read_arguments(value.__doc__), **docs.read_attributes(value.__doc__)}
    bases = {item for base in value.__mro__[1:] for item in vars(base)}
    found = {}
    for method in node.body:
        if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)) and method.args.args:
            me = method.args.args[0].arg
            for item, expression in assigned(method, me):
                if item in own or item in bases or mangled(item, value):
                    continue
                kind = ANY
                if isinstance(expression, ast.Name) and expression.id in told and method.name == "__init__":
                    kind = union(read_kind(told[expression.id], find), ANY)
                elif expression is not None:
                    kind = union(returns.kind_of_made(expression, value.__module__) or ANY, ANY)
                found.setdefault(item, []).append(kind)
    attributes = {item: kind if kind in (ANY, Kind(kind.head)) else ANY for item, kind in annotated(value, own).items()}
    for item, kinds in found.items():
        parts = {part for kind in kinds for part in (kind.parts if kind.head == "Union" else (kind,))} - {ANY, NONE}
        attributes[item] = union(*parts, ANY) if len(parts) == 1 else ANY  # of several kinds none may be taken for it
    return attributes


def annotated(value, own):
    """Return {name: kind} of the attributes that a class only announces, as those of data classes."""
    told = vars(value).get("__annotations__", {})
    return {item: Kind(kind) if isinstance(kind, type) else ANY for item, kind in told.items()
            if item not in own and item.isidentifier()}


def assigned(method, me):
    """Yield (name, expression) of the attributes that a method sets, buffers and parameters by name included."""
    for node in ast.walk(method):
        targets = node.targets if isinstance(node, ast.Assign) else ()
        for target in targets:
            items = target.elts if isinstance(target, ast.Tuple) else [target]
            for item in items:
                if isinstance(item, ast.Attribute) and isinstance(item.value, ast.Name) and item.value.id == me:
                    yield item.attr, node.value if item is target else None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr == "_put" and isinstance(node.func.value, ast.Name) and node.func.value.id == me:
                yield from ((word.arg, None) for word in node.keywords if word.arg)
            if node.func.attr in ("register_buffer", "register_parameter") and node.args \
                    and isinstance(node.args[0], ast.Constant):
                yield node.args[0].value, None


def write_member(name, member, value, scope):
    """Return the lines of one member."""
    module = value.__module__ if value.__module__ in scope.places.modules else scope.module
    if name == "__new__":
        return write_new(member, value, module, scope)
    if isinstance(value, enum.EnumMeta) and name.startswith("_"):
        return []
    if isinstance(value, enum.EnumMeta) and isinstance(member, value):
        return [f"{name} = {member.value!r}" if type(member.value) in (int, str) else f"{name} = ..."]
    if isinstance(member, (property, cached_property)):
        return write_property(name, member, module, scope)
    if isinstance(member, (classmethod, staticmethod)):
        kind = type(member).__name__
        inner = member.__func__
        if signature_of(inner) is None:
            return [f"{name}: {write(Kind('Callable'), scope)}"]
        return write_def(name, inner, module, scope, method=kind == "classmethod", decorators=[kind])
    if isinstance(member, type):
        if member.__qualname__ == f"{value.__qualname__}.{name}":
            return write_class(name, member, scope)
        return [f"{name}: {write(Kind('Type', (Kind(member),)), scope)}"]
    if callable(member) and (inspect.isroutine(member) or engine.is_operator(member)
                             or type(member).__name__ == "Overridable"):
        return write_method(name, member, value, module, scope)
    if name.startswith("__") and name not in ("__hash__",):
        return []
    if name == "__hash__":
        return [f"__hash__: {scope.name_typing('ClassVar')}[None]  # type: ignore[assignment]"]
    return [f"{name}: {write(kind_of_value(member, scope), scope)}"]


def write_new(member, value, module, scope):
    """Return the lines of what makes an instance; nothing where `__init__` tells the arguments."""
    function = getattr(member, "__func__", member)
    if not inspect.isfunction(function) or inspect.isfunction(vars(value).get("__init__")):
        return []
    lines = write_def("__new__", function, module, scope, method=True, doc=value.__doc__, show_doc=False)
    return [line.replace(f"-> {write(ANY, scope)}:", f"-> {scope.name_self()}:") for line in lines]


def write_method(name, member, value, module, scope):
    """Return the lines of a method."""
    if members.is_overridden_by_users(name, value):
        return [f"{name}: {write(Kind('Callable'), scope)}"]
    if inspect.isfunction(member) and member.__name__ == "<lambda>" or signature_of(member) is None:
        if name.startswith("__"):
            return []
        any_ = write(ANY, scope)
        return [*textwrap.wrap(f"def {name}(self, *args: {any_}, **kwargs: {any_}) -> {any_}:", 300),
                *("    " + line if line else "" for line in write_doc(member.__doc__) or ["..."])]
    doc = value.__doc__ if name == "__init__" and not docs.read_arguments(member.__doc__) else None
    return write_def(name, member, module, scope, method=True, doc=doc, show_doc=not name.startswith("__"))


def write_property(name, member, module, scope):
    """Return the lines of a property."""
    getter = member.func if isinstance(member, cached_property) else member.fget
    doc = member.__doc__ or ""
    said = docs.read_result(doc)
    find = partial(find_from, scope)
    if said and door_of(module) in LENIENT and said in ("float", "int", "bool"):
        said = None  # a number of Keras's may be a variable, or what plans it
    kind = as_result(read_kind(said, find)) if said else as_result(returns.infer(getter, find, module) or ANY)
    text = write(kind, scope)
    body = write_doc(doc) or ["..."]
    lines = ["@property", f"def {name}(self) -> {text}:", *("    " + line if line else "" for line in body)]
    if getattr(member, "fset", None) or isinstance(member, cached_property):
        lines += [f"@{name}.setter", f"def {name}(self, value: {write(ANY, scope)}) -> None: ..."]
    if getattr(member, "fdel", None):
        lines += [f"@{name}.deleter", f"def {name}(self) -> None: ..."]
    return lines


def kind_of_value(value, scope):
    """Return the kind of a plain value."""
    kind = type(value)
    if value is None or kind in (types_without_kind()):
        return ANY
    if kind in (bool, int, float, str, bytes):
        return Kind(kind)
    if kind in (dict, list, tuple, set, frozenset):
        return Kind(kind)
    return Kind(kind) if kind in scope.places.classes else ANY


def types_without_kind():
    """Return classes of values that are no instances to a type checker."""
    return (type, type(Ellipsis))
