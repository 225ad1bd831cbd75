"""Scripting: functions, modules and classes compiled from their sources."""
import functools
import inspect
import sys
import typing

from dragon.vm.torch.core.scripting import scripts as workshop
from dragon.vm.torch.core.scripting.failures import Missing
from dragon.vm.torch.core.scripting.frontend import GENERATED
from dragon.vm.torch.core.scripting.generated import is_generated
from dragon.vm.torch.core.scripting.modules import RecursiveScriptModule as _Recursive, ScriptMethod, script_module
from dragon.vm.torch.core.scripting.running import call_checked
from dragon.vm.torch.nn import Module


class _Scripted(type(Module)):
    """Modules that were scripted are instances of `ScriptModule`, though they are made otherwise."""

    def __instancecheck__(cls, instance):
        if type.__instancecheck__(cls, instance):
            return True
        if cls not in (ScriptModule, RecursiveScriptModule):
            return False
        return isinstance(instance, _Recursive) or (
            isinstance(instance, Module) and "_is_scripted" in instance.__dict__)

    def __call__(cls, *args, **kwargs):
        made = super().__call__(*args, **kwargs)
        marked = any(getattr(value, "_is_script_method", False) for base in cls.__mro__
                     for value in vars(base).values())
        return script(made) if marked else made


class ScriptModule(Module, metaclass=_Scripted):
    """A module whose methods marked with `script_method` are compiled when an instance has been made."""


class RecursiveScriptModule(_Recursive, ScriptModule):
    """A scripted module."""


class ScriptFunction:
    """A function that was scripted.

    Parameters
    ----------
    function : Callable
        The Python function.
    compiled : Function, optional
        Its script; without one the Python code runs, and `reason` says why.

    """

    def __init__(self, function, compiled=None, reason=None):
        if function is not None:
            functools.update_wrapper(self, function)
        self.__dict__["reason"] = reason
        plain = type(function).__name__ if compiled is None else compiled.name  # an object that is called has no name
        self.name = getattr(function, "__name__", plain)
        self.qualified_name = compiled.qualified if compiled is not None else self.name
        if compiled is not None:
            self._script_function = compiled

    def __call__(self, *args, **kwargs):
        if "_script_function" in self.__dict__:
            return call_checked(self._script_function, args, kwargs)
        return self.__wrapped__(*args, **kwargs)

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def _compiled(self):
        if "_script_function" not in self.__dict__:
            raise NotImplementedError(f"{self.name}: runs its Python code, since it was not compiled: {self.reason}")
        return self._script_function.ready()

    graph = property(lambda self: self._compiled().graph, doc="Graph: the graph.")
    schema = property(lambda self: self._compiled().schema, doc="Schema: what it takes and gives.")
    code = property(lambda self: self.code_with_constants[0], doc="str: the code in the dialect of archives.")

    @property
    def inlined_graph(self):
        """Graph: with all that it calls in it."""
        from dragon.vm.torch.core.scripting.inlining import inlined
        return inlined(self.graph)

    @property
    def code_with_constants(self):
        """tuple: the code, and its constants by name."""
        from dragon.vm.torch.core.scripting.writing import code_of
        return code_of(self._compiled())

    def graph_for(self, *args, **kwargs):
        """Return the graph that a call runs."""
        return self.inlined_graph

    def save_to_buffer(self, **kwargs):
        """Return an archive as bytes."""
        import io
        buffer = io.BytesIO()
        self.save(buffer, **kwargs)
        return buffer.getvalue()

    def get_debug_state(self):
        """Return nothing: plans are not kept for scripts."""


def script(obj, optimize=None, _frames_up=0, _rcb=None, example_inputs=None):
    """Compile a function, the methods of a module, or a class.

    What the compiler refuses, it refuses with the place in the source. Of the few functions and layers of torch that
    Dragon has no scripts of, whatever calls them runs as Python code, as it stands: calls give the same, and `save`
    says which it was.

    Parameters
    ----------
    obj : Union[Module, Callable, type, dict, list]
        What to script.

    Returns
    -------
    Union[RecursiveScriptModule, ScriptFunction, type]
        A module that shares the parameters; a function; the class itself.

    Examples
    --------
    >>> @torch.jit.script
    ... def sign(x: torch.Tensor, least: float) -> int:
    ...     if bool(x.sum() < least):
    ...         return -1
    ...     return 1
    >>> sign(torch.ones(2), 3.0)
    -1
    >>> print(sign.schema)
    sign(Tensor x, float least) -> (int)

    """
    from dragon.vm.torch.jit import _state
    if not _state.is_enabled():
        return obj
    if isinstance(obj, (ScriptFunction, _Recursive, ScriptMethod)):
        return obj
    if isinstance(obj, Module):
        return _script_module(obj)
    if isinstance(obj, dict):
        return dict(obj)
    if isinstance(obj, list):
        return list(obj)
    if inspect.isclass(obj):
        return _script_class(obj, sys._getframe(_frames_up + 1))
    if workshop.python_scripts().class_of(obj) is not None:
        return obj  # an instance of a class that is a script
    if not callable(obj):
        raise RuntimeError(f"torch.jit.script: got {type(obj).__name__}, expected a module, function or class")
    if inspect.ismethod(obj) and isinstance(obj.__self__, Module):
        return _script_function(obj)
    if not inspect.isfunction(inspect.unwrap(obj)) and hasattr(type(obj), "__call__") and not inspect.isbuiltin(obj):
        obj = obj.__call__ if not hasattr(obj, "__code__") else obj
    return _script_function(obj)


def _script_function(obj):
    scripts = workshop.python_scripts()
    if not inspect.isfunction(inspect.unwrap(obj)) and not inspect.ismethod(obj):
        return ScriptFunction(obj, None, "it is no Python function")
    if getattr(obj, "__code__", None) is not None and inspect.ismethod(obj):
        return ScriptFunction(obj, None, "it is a bound method: script its module")
    try:
        function = scripts.function(obj)
        function.ready()
    except Missing as error:
        return ScriptFunction(obj, None, str(error).split("\n")[0])
    return ScriptFunction(obj, function)


def _script_module(obj):
    try:
        return _as_ours(script_module(obj))
    except Missing as error:
        for module in obj.modules():
            module.__dict__["_is_scripted"] = str(error).split("\n")[0]
        return obj


def _as_ours(module):
    """Let a module and its parts be of the public class."""
    for part in module.modules():
        if type(part) is _Recursive:
            part.__class__ = RecursiveScriptModule
    return module


def _script_class(obj, frame):
    if issubclass(obj, Module):
        raise RuntimeError(f"Type '{obj.__name__}' cannot be compiled since it inherits from nn.Module, consider "
                           "passing an instance instead")
    import enum
    scripts = workshop.python_scripts()
    if issubclass(obj, enum.Enum):
        scripts.enum_type(obj)
        return obj
    if issubclass(obj, tuple) and hasattr(obj, "_fields"):
        return obj
    if len(obj.__mro__) > 2 and object not in obj.__bases__:
        raise RuntimeError(f"TorchScript classes does not support inheritance yet. Please directly inherit from "
                           f"'object': got {obj.__name__}")
    try:
        around = {name: value for name, value in frame.f_locals.items()
                  if isinstance(value, type) or typing.get_origin(value) is not None}
        kind = scripts.class_type(obj, None, around)
        for name, value in vars(obj).items():
            if inspect.isfunction(value) and getattr(value, "_torchscript_modifier", None) is None and (
                    not is_generated(value) or inspect.unwrap(value) in GENERATED):
                scripts.define(kind, name, value).ready()
    except Missing:
        pass
    return obj


def interface(obj):
    """Enter a class whose methods say what modules or instances of many classes have in common."""
    if not inspect.isclass(obj):
        raise RuntimeError(f"interface must be applied to a class, got {type(obj).__name__}")
    if obj.__bases__ not in ((object,), (Module,)):
        raise RuntimeError("TorchScript interface does not support inheritance yet. Please directly inherit from "
                           f"'object' or 'nn.Module': got {obj.__name__}")
    workshop.python_scripts().interface(obj, issubclass(obj, Module))
    obj.__torch_script_interface__ = True
    return obj


class CompilationUnit:
    """Functions compiled from a text.

    Parameters
    ----------
    lang : str, optional
        The text.

    Examples
    --------
    >>> unit = torch.jit.CompilationUnit("def half(x: Tensor) -> Tensor: return x / 2")
    >>> unit.half(torch.ones(2))
    tensor([0.5000, 0.5000])

    """

    def __init__(self, lang=None, _frames_up=0):
        self._functions = {}
        if lang is not None:
            self.define(lang, _frames_up=_frames_up + 1)

    def define(self, lang, rcb=None, _frames_up=0):
        """Compile more functions, which may name what is there where they are defined."""
        from dragon.vm.torch.core.scripting.texts import define_functions, names_around
        define_functions(lang, self._functions, names_around(sys._getframe(_frames_up + 1)))

    def __getattr__(self, name):
        function = self.__dict__.get("_functions", {}).get(name)
        if function is None:
            raise AttributeError(f"'CompilationUnit' has no attribute '{name}'", name=name)
        return ScriptFunction(None, function)

    def get_functions(self):
        """Return all functions."""
        return [ScriptFunction(None, function) for function in self._functions.values()]
