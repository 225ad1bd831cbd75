"""Modules that were scripted: their types, and the modules that run their methods."""
import copy
import inspect
import typing

from dragon.vm.torch.core.scripting.annotations import python_type
from dragon.vm.torch.core.scripting.failures import ScriptFailure
from dragon.vm.torch.core.scripting.frontend import FrontendError
from dragon.vm.torch.core.scripting.hooks import attach, enter_hooks, hooks_key, ready_hooks
from dragon.vm.torch.core.scripting.resolving import find_member, inside, named_functions, type_of_value
from dragon.vm.torch.core.scripting.running import Unfit, call_checked, convert
from dragon.vm.torch.core.scripting.scripts import python_scripts
from dragon.vm.torch.core.scripting.spelling import TAKEN
from dragon.vm.torch.core.scripting.types import BOOL, NONE, TENSOR, ClassType, InterfaceType, fits
from dragon.vm.torch.nn import Module, ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential

OWN = set(Module().__dict__) | {"_script_type", "_is_scripted", "_compiled_call_impl"}


class RecursiveScriptModule(Module):
    """A module whose methods are scripts.

    Its parameters, buffers and parts are those of the module that was scripted.
    """

    def __init__(self, kind):
        super().__init__()
        self.__dict__["_script_type"] = kind
        self.__dict__["original_name"] = kind.qualified.split(".")[-1]
        attach(self, kind, call_checked)

    @property
    def forward(self):
        """ScriptMethod: the forward pass."""
        function = self._script_type.methods.get("forward")
        if function is None:
            raise NotImplementedError(f"Module [{self.original_name}] is missing the required \"forward\" function")
        return ScriptMethod(self, function)

    def __getattr__(self, name):
        kind = self.__dict__.get("_script_type")
        if kind is not None and name not in ("_parameters", "_buffers", "_modules"):
            if name in kind.methods and not name.startswith("_script"):
                return ScriptMethod(self, kind.methods[name])
            if name in kind.constants:
                return kind.constants[name]
            if name in kind.properties:
                return call_checked(kind.properties[name][0], (self,), {})
            found = getattr(kind.made, name, None) if kind.made is not None and name not in OWN else None
            if found is not None and getattr(found, "_torchscript_modifier", None) in ("ignore", "unused"):
                return found.__get__(self)
            if found is not None and not callable(found) and not isinstance(found, property):
                return found
        return super().__getattr__(name)

    def __setattr__(self, name, value):
        kind = self.__dict__.get("_script_type")
        wanted = kind.attributes.get(name) if kind is not None else None
        if name in self.__dict__.get("_modules", ()) and wanted is not None:
            check_part(self, name, value, wanted)
        if wanted is not None and name not in self._modules and wanted != TENSOR:
            try:
                value = convert(value, wanted)
            except Unfit:
                raise RuntimeError(f"Could not cast attribute '{name}' to type {wanted.annotation()}: got "
                                   f"{type(value).__name__}") from None
        super().__setattr__(name, value)

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values() if getattr(self._script_type, "container", None) != "dict" else
                    self._modules)

    def __getitem__(self, key):
        if isinstance(key, str):
            return self._modules[key]
        parts = list(self._modules.values())
        return parts[key]

    def __bool__(self):
        return True

    def __contains__(self, key):
        return key in self._modules

    def items(self):
        """Return the parts with their names."""
        return self._modules.items()

    def keys(self):
        """Return the names of the parts."""
        return self._modules.keys()

    def values(self):
        """Return the parts."""
        return self._modules.values()

    def _get_name(self):
        return "RecursiveScriptModule"

    def extra_repr(self):
        """Return what the module was."""
        return f"original_name={self.original_name}"

    graph = property(lambda self: self._forward().graph, doc="Graph: of the forward pass.")
    schema = property(lambda self: self._forward().schema, doc="Schema: of the forward pass.")
    _c = property(lambda self: self, doc="The module.")

    def _type(self):
        """Return the module's type, which modules of one structure share."""
        return self._script_type

    @property
    def inlined_graph(self):
        """Graph: of the forward pass, with all that it calls in it."""
        from dragon.vm.torch.core.scripting.inlining import inlined
        return inlined(self._forward().graph)

    @property
    def code(self):
        """str: the forward pass in the dialect of archives."""
        return self.code_with_constants[0]

    @property
    def code_with_constants(self):
        """tuple: the code, and its constants by name."""
        from dragon.vm.torch.core.scripting.writing import code_of
        return code_of(self._forward())

    def _forward(self):
        found = self._script_type.methods.get("forward")
        if found is None:
            raise AttributeError(f"{self.original_name}: got a scripted module without forward, expected one with it")
        return found.ready()

    def save_to_buffer(self, **kwargs):
        """Return an archive as bytes."""
        import io
        buffer = io.BytesIO()
        self.save(buffer, **kwargs)
        return buffer.getvalue()

    def _save_for_lite_interpreter(self, *args, **kwargs):
        """Raise: the form of mobile devices is not written."""
        raise NotImplementedError("_save_for_lite_interpreter: Dragon does not write the form that PyTorch's mobile "
                                  "interpreter reads, expected torch.jit.save")

    _save_to_buffer_for_lite_interpreter = _save_for_lite_interpreter

    def get_debug_state(self):
        """Return nothing: plans are not kept for scripts."""

    def copy(self):
        """Return a copy that shares its tensors."""
        return share(self, {})

    def __deepcopy__(self, memo):
        made = type(self)(self._script_type)
        memo[id(self)] = made
        for name, value in self.__dict__.items():
            if name != "_script_type":
                made.__dict__[name] = copy.deepcopy(value, memo)
        return made

    def define(self, src):
        """Compile a method from a text."""
        from dragon.vm.torch.core.scripting.texts import define_method
        define_method(self._script_type, src)


def check_part(owner, name, value, wanted):
    """Raise unless a part may stand where another stood: scripts call the methods that they were compiled with."""
    if value is None and wanted == NONE:
        return
    if not isinstance(value, RecursiveScriptModule):
        raise RuntimeError("Cannot re-assign modules in a ScriptModule with non-scripted module, tried to replace "
                           f"existing module '{name}': {value}")
    kind = value._script_type
    if isinstance(wanted, InterfaceType):
        check_interface(value, wanted, kind.unit)
    elif kind is not wanted:
        raise RuntimeError(f"Expected a value of type '{wanted.qualified} (of Python class "
                           f"{getattr(wanted.made, '__name__', 'none')})' for field '{name}', but found "
                           f"'{kind.qualified} (of Python class {getattr(kind.made, '__name__', 'none')})'")


TAKEN.update(name for name in dir(RecursiveScriptModule) if name != "training")


class ScriptMethod:
    """A method of a scripted module."""

    def __init__(self, owner, function):
        self.owner, self.function = owner, function
        self.name = self.__name__ = function.name

    def __call__(self, *args, **kwargs):
        return call_checked(self.function, (self.owner, *args), kwargs)

    graph = property(lambda self: self.function.ready().graph)
    schema = property(lambda self: self.function.ready().schema)

    @property
    def inlined_graph(self):
        """Graph: with all that it calls in it."""
        from dragon.vm.torch.core.scripting.inlining import inlined
        return inlined(self.graph)

    @property
    def code(self):
        """str: the method in the dialect of archives."""
        from dragon.vm.torch.core.scripting.writing import code_of
        return code_of(self.function.ready())[0]


def share(module, known):
    """Return a copy of a scripted module that shares tensors."""
    made = RecursiveScriptModule(module._script_type)
    known[id(module)] = made
    for name, value in module.__dict__.items():
        made.__dict__[name] = dict(value) if name in ("_parameters", "_buffers") else value
    made.__dict__["_modules"] = {name: part and (known.get(id(part)) or share(part, known))
                                 for name, part in module._modules.items()}
    return made


# --- types

def constants_of(cls):
    """Return the names that a class declares as constants."""
    found = set(getattr(cls, "__constants__", ()))
    for base in cls.__mro__:
        for name, told in base.__dict__.get("__annotations__", {}).items():
            is_final = typing.get_origin(told) is typing.Final or told is typing.Final
            if is_final or isinstance(told, str) and told.partition("[")[0].endswith("Final"):
                found.add(name)
    return found


def annotations_of(cls):
    """Return {attribute: annotation} of a class and those above it."""
    found = {}
    for base in reversed(cls.__mro__):
        if base is not Module:
            own = base.__dict__.get("__annotations__", {})
            found.update((name, (told, base)) for name, told in own.items())
    own = cls.__dict__.get("__annotations__") or {}
    found.update((name, (told, cls)) for name, told in own.items())
    return found


def told_type(told, base, scripts):
    """Return the type that a class's annotation names."""
    if isinstance(told, str):
        import ast
        import sys
        from dragon.vm.torch.core.scripting.annotations import ast_type
        room = vars(sys.modules.get(base.__module__, typing))

        def names(name):
            return room[name] if name in room else scripts.typing_names(name)
        return ast_type(ast.parse(told, mode="eval").body, names, scripts, None)
    return python_type(told, scripts)


def module_type(module, scripts, known):
    """Return the type of a module; modules that look alike share one."""
    if id(module) in known:
        return known[id(module)]
    own = module.__dict__.get("_script_type")
    if own is not None:
        return own
    cls = type(module)
    kind = ClassType(scripts.qualified(cls), is_module=True)
    kind.made, kind.unit, kind.container = cls, scripts, container_of(module)
    ignored = set(getattr(module, "__jit_ignored_attributes__", ())) | set(getattr(
        module, "__jit_unused_properties__", ()))
    told, constants = annotations_of(cls), constants_of(cls)
    enter_members(kind, module, scripts, known, told, ignored)
    for name, value in module.__dict__.items():
        if name in OWN or name in ignored or name in kind.attributes:
            continue
        enter_attribute(kind, name, value, scripts, told, name in constants)
    for name in constants:
        if name not in kind.attributes and name not in kind.constants and hasattr(cls, name):
            kind.constants[name] = getattr(cls, name)
    kind.attributes["training"] = BOOL
    enter_hooks(kind, module)
    alike, key = scripts.modules.setdefault(cls, {}), type_key(kind)
    if key not in alike:
        kind.told = kind.name = kind.qualified = scripts.unique(kind.qualified)
        alike[key] = kind
    known[id(module)] = alike[key]
    return alike[key]


def container_of(module):
    """Return "list" or "dict" for containers of parts."""
    if isinstance(module, (Sequential, ModuleList, ParameterList)):
        return "list"
    return "dict" if isinstance(module, (ModuleDict, ParameterDict)) else None


def enter_members(kind, module, scripts, known, told, ignored):
    """Enter parameters, buffers and parts."""
    for table, names in (("_parameters", kind.parameters), ("_buffers", kind.buffers)):
        for name, value in getattr(module, table).items():
            if name in ignored:
                continue
            names.append(name)
            kind.attributes[name] = NONE if value is None else TENSOR
            if name in told and value is not None or name in told and value is None:
                found = told_type(*told[name], scripts)
                kind.attributes[name] = found if value is None or found != TENSOR else TENSOR
    for name, part in module._modules.items():
        if name in ignored:
            continue
        if part is None:
            kind.attributes[name] = NONE
            continue
        found = module_type(part, scripts, known)
        wanted = told.get(name)
        if wanted is not None and isinstance(wanted[0], type) and wanted[0] in scripts.interfaces:
            found = scripts.interfaces[wanted[0]]
        kind.attributes[name] = found


def enter_attribute(kind, name, value, scripts, told, is_constant):
    """Enter an attribute: a constant, a value with a type, a function, or something that has no type."""
    if inspect.isfunction(value) or inspect.isbuiltin(value) or hasattr(value, "_script_function") or isinstance(
            value, type) or id(value) in named_functions():
        kind.constants[name] = value
        return
    try:
        if is_constant:
            type_of_value(scripts, value)
            kind.constants[name] = value
        elif type(value).__name__ == "Attribute" and hasattr(value, "type"):
            kind.attributes[name] = python_type(value.type, scripts)
        elif name in told:
            kind.attributes[name] = told_type(*told[name], scripts)
        else:
            kind.attributes[name] = type_of_value(scripts, value)
    except (ValueError, ScriptFailure, FrontendError, TypeError, NotImplementedError) as error:
        kind.failed[name] = str(error).split("\n")[0]


def type_key(kind):
    """Return what modules of one class have in common if they are of one type."""
    return (kind.container, tuple(kind.parameters), tuple(kind.buffers),
            tuple((name, part.key()) for name, part in kind.attributes.items()),
            tuple((name, repr(value) if not callable(value) else id(value)) for name, value in
                  kind.constants.items()), tuple(kind.failed.items()), hooks_key(kind))


# --- modules

def compile_methods(kind, scripts):
    """Compile `forward` and what is marked for export."""
    cls = kind.made
    for name in dir(cls):
        if name.startswith("__"):
            continue
        found = inspect.getattr_static(cls, name, None)
        if isinstance(found, property):
            modifier = getattr(found.fget, "_torchscript_modifier", None)
            if modifier not in ("ignore", "unused", "drop") and inside(cls.__module__) is None and not any(
                    name in base.__dict__ for base in Module.__mro__) and name not in getattr(
                        cls, "__jit_unused_properties__", ()) and name not in kind.properties:
                scripts.define_property(kind, name, found)
                kind.properties[name][0].ready()
        elif inspect.isfunction(found) and getattr(found, "_torchscript_modifier", None) == "export":
            scripts.define(kind, name, found).ready()
    forward, is_recipe = find_member(scripts, cls, "forward")
    modifier = getattr(forward, "_torchscript_modifier", None)
    if forward is None or modifier in ("ignore", "unused", "drop") or forward is Module.__dict__.get("forward"):
        return
    if getattr(cls, "forward", None) is getattr(Module, "forward", None) and not is_recipe:
        return
    if kind.container and not is_recipe and inside(cls.__module__) is not None:
        return
    from dragon.vm.torch.core.scripting import resolving
    from dragon.vm.torch.core.scripting.graph import Value
    made = resolving.member(scripts, kind, "forward", Value(kind), None)
    if hasattr(made, "function") and hasattr(made.function, "ready"):
        made.function.ready()
        if kind.pre_hooks or kind.hooks:
            ready_hooks(scripts, kind, made.function.schema)


def prepared(module, known):
    """Return what a module, and each of its parts, wants scripted in its place: `__prepare_scriptable__` tells."""
    if id(module) in known:
        return known[id(module)]
    found = module.__prepare_scriptable__() if hasattr(module, "__prepare_scriptable__") else module
    known[id(module)] = found
    parts = {name: part and prepared(part, known) for name, part in getattr(found, "_modules", {}).items()}
    if any(part is not found._modules[name] for name, part in parts.items()):
        known[id(module)] = found = copy.copy(found)
        found.__dict__ = {**found.__dict__, "_modules": parts}
    return found


def script_module(module):
    """Return a module whose methods are scripts, which shares a module's parameters, buffers and attributes."""
    scripts, module = python_scripts(), prepared(module, {})
    kind = module_type(module, scripts, {})
    made = wrap(module, scripts, {}, kind)
    compile_methods(kind, scripts)
    return made


def wrap(module, scripts, known, kind=None):
    """Return the scripted module of a module and its parts."""
    if isinstance(module, RecursiveScriptModule):
        return module
    if id(module) in known:
        return known[id(module)]
    kind = kind or module_type(module, scripts, {})
    made = RecursiveScriptModule(kind)
    known[id(module)] = made
    for table in ("_parameters", "_buffers"):
        made.__dict__[table] = dict(module.__dict__[table])
    made.__dict__["_non_persistent_buffers_set"] = set(module._non_persistent_buffers_set)
    enter_own_methods(made, type(module), scripts)
    for name, part in module._modules.items():
        wanted = kind.attributes.get(name)
        own = wanted if isinstance(wanted, ClassType) else None
        made._modules[name] = None if part is None else wrap(part, scripts, known, own)
        if isinstance(wanted, InterfaceType):
            check_interface(made._modules[name], wanted, scripts)
    for name, value in module.__dict__.items():
        if name in OWN and name != "training":
            continue
        wanted = kind.attributes.get(name)
        if wanted is None:
            if name not in kind.constants:
                made.__dict__.setdefault(name, value)
            continue
        value = value.value if type(value).__name__ == "Attribute" and hasattr(value, "type") else value
        try:
            made.__dict__[name] = convert(value, wanted)
        except Unfit:
            raise RuntimeError(f"Could not cast attribute '{name}' of {type(module).__name__} to type "
                               f"{wanted.annotation()}: got {type(value).__name__}") from None
    return made


def enter_own_methods(made, cls, scripts):
    """Let a scripted module have what its class has in the place of a module's own methods, `state_dict` say."""
    for name in dir(cls):
        found = getattr(cls, name, None)
        modifier = getattr(found, "_torchscript_modifier", None)
        if modifier is None or name == "forward" or not hasattr(Module, name):
            continue
        if modifier == "export":
            made.__dict__[name] = ScriptMethod(made, scripts.define(made._script_type, name, found))
        elif modifier in ("ignore", "unused"):
            made.__dict__[name] = found.__get__(made)


def check_interface(part, wanted, scripts):
    """Compile the methods that an interface asks for, and raise unless they fit."""
    kind = part._script_type
    for name in wanted.methods:
        scripts.method(kind, name, optional=True)
    if not fits(kind, wanted):
        raise RuntimeError(f"{kind.qualified} is not compatible with interface {wanted.qualified}")
