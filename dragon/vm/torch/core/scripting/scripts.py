"""The functions, classes and modules that have been compiled, each once."""
import ast
import copy
import dataclasses
import functools
import importlib
import inspect
import typing
import weakref

from dragon.vm.torch.core.scripting import frontend
from dragon.vm.torch.core.scripting.annotations import python_type
from dragon.vm.torch.core.scripting.compiler import Compiler
from dragon.vm.torch.core.api import api
from dragon.vm.torch.core.scripting import functional_scripts
from dragon.vm.torch.core.scripting.failures import Missing, refuse
from dragon.vm.torch.core.scripting.generated import sources_of
from dragon.vm.torch.core.scripting.graph import Argument, Schema
from dragon.vm.torch.core.scripting.instances import CLASSES
from dragon.vm.torch.core.scripting.programs import Program
from dragon.vm.torch.core.scripting.resolving import ROOTS, Undefined, inside
from dragon.vm.torch.core.scripting.schemas import bind, overloads
from dragon.vm.torch.core.scripting.types import DEVICE, TENSOR, ClassType, EnumType, InterfaceType


# The files of recipes by what they are asked for.
RECIPES = {"functional": ("functional", "pooling", "losses", "attention", "packing"),
           "modules": ("modules", "recurrent", "transformer")}


class Function:
    """A function that is compiled when it is first needed.

    Parameters
    ----------
    scripts : Scripts
        Where it belongs.
    name : str
        Its own name.
    qualified : str
        Its full name.
    source, tree, names
        See `Compiler`.
    owner : ClassType, optional
        Of `self`.
    defaults : dict, optional
        The arguments' defaults as Python has them.

    """

    def __init__(self, scripts, name, qualified, source, tree, names, owner=None, defaults=None):
        self.scripts, self.name, self.qualified = scripts, name, qualified
        self.source, self.tree, self.names, self.owner, self.defaults = source, tree, names, owner, defaults
        self.schema = self.graph = self.program = None
        self.is_compiling = False

    def declare(self):
        """Return the schema as far as the annotations tell it."""
        if self.schema is None:
            compiler = Compiler(self.scripts, self.source, self.tree, self.names, self.owner)
            self.schema = compiler.signature(self.defaults)
            self.schema.name = self.name
        return self.schema

    def ready(self):
        """Return the function, compiled."""
        if self.graph is None:
            if self.is_compiling:
                raise refuse(f"function '{self.name}' is called recursively. Recursive calls are not supported", None)
            self.is_compiling = True
            try:
                schema = self.declare()
                compiler = Compiler(self.scripts, self.source, self.tree, self.names, self.owner)
                self.graph = compiler.compile(schema)
            except BaseException:
                self.schema = None
                raise
            finally:
                self.is_compiling = False
        return self

    def result(self, place):
        """Return the type of the result."""
        return self.ready().schema.result

    def run(self, *args):
        """Run the graph on values that fit."""
        self.program = Program(self.ready().graph, self.name)
        self.run = self.program.run  # from now on
        return self.run(*args)


class Made:
    """A function whose graph was put together by hand."""

    def __init__(self, name, qualified, schema, graph):
        self.name, self.qualified, self.schema, self.graph = name, qualified, schema, graph
        self.program = None

    def ready(self):
        """Return the function."""
        return self

    def result(self, place):
        """Return the type of the result."""
        return self.schema.result

    def run(self, *args):
        """Run the graph."""
        self.program = Program(self.graph, self.name)
        self.run = self.program.run  # from now on
        return self.run(*args)


class Scripts:
    """All that Python code has had compiled."""

    device_type = DEVICE
    constants = ()

    def __init__(self):
        self.functions, self.classes = weakref.WeakKeyDictionary(), weakref.WeakKeyDictionary()
        self.enums, self.tuples, self.interfaces = {}, {}, {}
        self.overloads, self.names_used, self.owned = {}, {}, {}
        self.modules = {}  # of each class, the types of its modules by what tells them apart

    # --- names

    def typing_names(self, name):
        """Return what annotations as texts may name."""
        torch = api()
        known = {"torch": torch, "Tensor": torch.Tensor, "Final": typing.Final, **vars(typing)}
        import builtins
        if name in known:
            return known[name]
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise LookupError(name)

    def evaluate(self, node, names):
        """Return what a dotted or subscripted name stands for: nothing is called."""
        if isinstance(node, ast.Name):
            return names(node.id)
        if isinstance(node, ast.Attribute):
            return getattr(self.evaluate(node.value, names), node.attr)
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self.evaluate(node.operand, names)
        if isinstance(node, (ast.Tuple, ast.List)):
            return tuple(self.evaluate(part, names) for part in node.elts)
        if isinstance(node, ast.Subscript):
            return self.evaluate(node.value, names)[self.evaluate(node.slice, names)]
        raise ValueError(f"got {ast.unparse(node)}, expected a constant or the name of one")

    def named_type(self, node, names, place):
        """Return the type that a dotted name in an annotation stands for."""
        try:
            found = self.evaluate(node, names)
        except (LookupError, AttributeError, ValueError):
            try:
                found = self.evaluate(node, self.typing_names)
            except (LookupError, AttributeError, ValueError):
                return refuse(f"Unknown type name '{ast.unparse(node)}'", place, Undefined)
        return python_type(found, self, place)

    def qualified(self, found):
        """Return the full name that archives have for a class or function."""
        module = found.__module__
        for root in ROOTS:
            if module.startswith(f"{root}.core.scripting.recipes.") and not module.endswith(".classes"):
                module = "torch.nn.functional"
            elif module.startswith(root + ".") and root != "torch":
                module = "torch." + module[len(root) + 1:]
        room, dot, name = found.__qualname__.rpartition(".")
        if inspect.isfunction(found) and dot and not room.endswith("<locals>"):
            name = f"{room}_{name}"  # a static method: what stands within a class is not found in an archive
        else:
            name = room + dot + name
        name = name.replace("<locals>.", "").replace("<lambda>", "lambda")
        return f"__torch__.{module}.{name}"

    def unique(self, qualified):
        """Return a full name that no other class has."""
        count = self.names_used.get(qualified, 0)
        self.names_used[qualified] = count + 1
        if not count:
            return qualified
        room, _, name = qualified.rpartition(".")
        return f"{room}.___torch_mangle_{count - 1}.{name}"

    def recipe(self, room, name):
        """Return a function or class of our scripts for torch's own, or None."""
        for place in RECIPES.get(room, (room,)):
            found = importlib.import_module(f"{__name__.rpartition('.')[0]}.recipes.{place}")
            made = found.__dict__.get(name)
            if getattr(made, "__module__", None) == found.__name__:
                return made
        return functional_scripts.script_of(name) if room == "functional" else None

    # --- functions

    def function(self, found):
        """Return the function of a Python function."""
        made = getattr(found, "_script_function", None)
        if made is not None:
            return made
        if getattr(found, "_script_form", found) is None:
            raise Missing(f"torch.jit.script: got {found.__module__}.{found.__name__}, a function that Dragon has no "
                          "script of")
        found = inspect.unwrap(found)
        if found not in self.functions:
            source, tree = frontend.read_function(found)
            self.functions[found] = Function(self, found.__name__, self.qualified(found), source, tree,
                                             frontend.names_of(found), None, defaults_of(found))
        return self.functions[found]

    def define(self, kind, name, found, above=None):
        """Return the method of a class that a Python function defines."""
        key = name if above is None else f"__{above}_{name}"
        if key not in kind.methods:
            kind.methods[key] = self.method_of(kind, key, found, *frontend.read_function(found))
        return kind.methods[key]

    def define_class_method(self, kind, name, found):
        """Return the method that a class method is to an instance: its first argument's name stands for the class."""
        if name not in kind.methods:
            source, tree = frontend.read_function(found)
            tree, known = copy.deepcopy(tree), frontend.names_of(found, kind.around)
            word, tree.args.args[0].arg = tree.args.args[0].arg, "instance"
            kind.methods[name] = Function(
                self, name, f"{kind.qualified}.{name}", source, tree,
                lambda asked: kind.made if asked == word else known(asked), kind, defaults_of(found))
        return kind.methods[name]

    def method_of(self, kind, name, found, source, tree):
        """Return a function of an instance of a class as its first argument."""
        return Function(self, name, f"{kind.qualified}.{name}", source, tree,
                        frontend.names_of(found, kind.around), kind, defaults_of(found))

    def overload(self, found, declared, kind=None):
        """Return the function with the signature of one of its overloads."""
        source, tree = frontend.read_function(found)
        told, shape = frontend.read_function(declared)
        number = self.overloads[found.__module__, found.__qualname__].index(declared)
        key = f"{found.__name__}__{number}"
        holder = kind.methods if kind is not None else self.owned.setdefault(found, {})
        if key not in holder:
            joined = ast.FunctionDef(**{**{part: getattr(tree, part) for part in tree._fields}, "args": shape.args,
                                        "returns": shape.returns})
            ast.copy_location(joined, tree)
            owner = kind.qualified if kind is not None else self.qualified(found).rpartition(".")[0]
            holder[key] = Function(self, key, f"{owner}.{key}", source, joined, frontend.names_of(found), kind,
                                   defaults_of(declared))
        return holder[key]

    def foreign_schema(self, found, first=None):
        """Return the schema of a function that is left to Python: tensors where nothing is annotated."""
        signature, names = inspect.signature(found), frontend.names_of(found)

        def kind_of(annotation, otherwise):
            if annotation is inspect.Parameter.empty:
                return otherwise
            if isinstance(annotation, str):
                from dragon.vm.torch.core.scripting.annotations import ast_type
                return ast_type(ast.parse(annotation, mode="eval").body, names, self, None)
            return python_type(annotation, self)
        arguments = []
        for number, (name, parameter) in enumerate(signature.parameters.items()):
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            kind = first.type if first is not None and number == 0 else kind_of(parameter.annotation, TENSOR)
            default = ... if parameter.default is parameter.empty else parameter.default
            arguments.append(Argument(name, kind, default))
        return Schema(found.__name__, "", arguments, kind_of(signature.return_annotation, TENSOR))

    def default(self, value, kind):
        """Return a Python default as graphs hold it."""
        from dragon.vm.torch.core.scripting.resolving import as_constant
        return as_constant(value)

    def schema_of(self, name, values):
        """Return the signature of an operator that fits values."""
        for schema in overloads(name):
            if len(schema.arguments) == len(values) and all(
                    bind(argument.type, value.type, {}) for argument, value in zip(schema.arguments, values)):
                return schema
        return None

    # --- classes

    def class_type(self, found, place=None, around=None):
        """Return the type of a Python class, whose methods are compiled as they are needed."""
        made = self.interfaces.get(found)
        if made is not None:
            return made
        if found not in self.classes:
            recipe = inside(found.__module__) if isinstance(found, type) else None
            if not isinstance(found, type) or found.__module__ == "builtins" or (
                    recipe is not None and "recipes" not in recipe and "testing" not in recipe):
                refuse(f"Unknown type annotation: '{getattr(found, '__name__', found)}'", place)
            kind = ClassType(self.unique(self.qualified(found).replace(
                ".core.scripting.recipes.classes.", ".autograd.grad_mode.")))
            kind.made, kind.unit = found, self
            kind.around = {**(around or {}), found.__name__: found}
            self.classes[found] = kind
            self.fill_class(kind, found)
        return self.classes[found]

    def fill_class(self, kind, found):
        """Enter annotated attributes, properties; compile `__init__`, which sets the others."""
        if dataclasses.is_dataclass(found):
            texts, names = sources_of(found)
            for name, text in texts.items():
                frontend.GENERATED[inspect.unwrap(found.__dict__[name])] = text, names
        for name, property_ in ((name, value) for cls in reversed(found.__mro__) for name, value in vars(cls).items()
                                if isinstance(value, property)):
            self.define_property(kind, name, property_)
        if "__init__" in found.__dict__ or any("__init__" in cls.__dict__ for cls in found.__mro__[:-1]):
            init = next(cls.__dict__["__init__"] for cls in found.__mro__ if "__init__" in cls.__dict__)
            try:
                self.define(kind, "__init__", init).ready()
            except BaseException:
                del self.classes[found]
                raise

    def define_property(self, kind, name, found):
        """Enter a property."""
        def compiled(function, ending):
            if function is None:
                return None
            key = f"__{name}_{ending}"
            kind.methods[key] = self.method_of(kind, key, function, *frontend.read_function(function))
            return kind.methods[key]
        if getattr(found.fget, "_torchscript_modifier", None) not in ("ignore", "unused", "drop"):
            kind.properties[name] = compiled(found.fget, "getter"), compiled(found.fset, "setter")

    def class_of(self, value):
        """Return the type of an instance, or None."""
        own = getattr(value, "__dict__", {}).get("_script_type")
        if own is not None:
            return own
        return self.classes.get(type(value))

    def method(self, kind, name, place=None, optional=False):
        """Return a compiled method."""
        if name in kind.methods:
            return kind.methods[name].ready()
        if kind.made is not None:
            from dragon.vm.torch.core.scripting.resolving import find_member
            found, _ = find_member(self, kind.made, name)
            if inspect.isfunction(found):
                return self.define(kind, name, found).ready()
        if optional:
            return None
        return refuse(f"'{kind.annotation()}' object has no attribute or method '{name}'", place)

    def method_names(self, kind):
        """Return the names of all methods of a class."""
        found = set(kind.methods)
        if kind.made is not None:
            found.update(name for cls in kind.made.__mro__[:-1] for name, value in vars(cls).items()
                         if inspect.isfunction(value))
        return found

    def enum_type(self, found):
        """Return the type of an enumeration."""
        if found not in self.enums:
            from dragon.vm.torch.core.scripting.resolving import type_of_value
            kinds = {type_of_value(self, member.value) for member in found}
            if len(kinds) != 1:
                refuse(f"Could not unify type list elements of the enumeration {found.__name__}: its values have "
                       "several types", None)
            self.enums[found] = EnumType(self.qualified(found), found, kinds.pop())
        return self.enums[found]

    def interface(self, found, is_module):
        """Return the type of a class whose methods are only declared."""
        if found not in self.interfaces:
            kind = InterfaceType(self.qualified(found), is_module)
            self.interfaces[found] = kind
            for name, value in found.__dict__.items():
                if inspect.isfunction(value) and name != "__init__":
                    source, tree = frontend.read_function(value)
                    compiler = Compiler(self, source, tree, frontend.names_of(value), kind)
                    schema = compiler.signature(defaults_of(value))
                    schema.name, schema.result = name, schema.result or TENSOR
                    kind.methods[name] = schema
        return self.interfaces[found]

    def archived(self, path, place):
        """Refuse: only archives have full names in their text."""
        return refuse(f"undefined value {path}", place)


def defaults_of(found):
    """Return {argument: default} of a Python function."""
    parameters = inspect.signature(found).parameters.values()
    return {each.name: each.default for each in parameters if each.default is not each.empty}


@functools.lru_cache(None)
def python_scripts():
    """Return the one collection that `torch.jit.script` compiles into."""
    made = Scripts()
    made.classes = CLASSES
    return made


@functools.lru_cache(None)
def python_form(name):
    """Return the script of a function of `torch.nn.functional` as a function for Python to call.

    Parameters
    ----------
    name : str
        The function's.

    Returns
    -------
    Optional[Callable]
        It takes a number where the script has a list of numbers, as calls in scripts do; None without a script.

    """
    found = python_scripts().recipe("functional", name)
    if found is None:
        return None
    lengths = {item.name: item.size for item in python_scripts().function(found).declare().arguments if item.size}

    def call(*args, **kwargs):
        bound = inspect.signature(found).bind(*args, **kwargs)
        bound.apply_defaults()
        for argument, length in lengths.items():
            if isinstance(bound.arguments[argument], (int, float)):
                bound.arguments[argument] = [bound.arguments[argument]] * length
        return found(**bound.arguments)
    return call
