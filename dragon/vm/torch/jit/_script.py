"""Scripting: the Python code, marked as scripted."""
import functools
import inspect

from dragon.vm.torch.nn import Module


class _Scripted(type(Module)):
    """Modules that were scripted are instances of `ScriptModule`, though they stay what they are."""

    def __instancecheck__(cls, instance):
        return type.__instancecheck__(cls, instance) or (
            isinstance(instance, Module) and "_is_scripted" in instance.__dict__)


class ScriptModule(Module, metaclass=_Scripted):
    """A module whose methods may be marked with `script_method`."""


class RecursiveScriptModule(ScriptModule):
    """A scripted module; here the module itself is an instance."""


class ScriptFunction:
    """A function that was scripted: calls run the Python code."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.name = self.qualified_name = getattr(function, "__name__", "function")

    def __call__(self, *args, **kwargs):
        return self.__wrapped__(*args, **kwargs)

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    code = property(lambda self: inspect.getsource(self.__wrapped__), doc="Return the Python source.")

    @property
    def graph(self):
        """Raise: there is no graph."""
        raise NotImplementedError("ScriptFunction.graph: got no graph, since scripted functions run their Python code")


def script(obj, optimize=None, _frames_up=0, _rcb=None, example_inputs=None):
    """Return a module or function that runs its Python code and says that it is scripted.

    Parameters
    ----------
    obj : Union[Module, Callable, type]
        What to script.

    Returns
    -------
    Union[Module, ScriptFunction, type]
        The module itself, marked; a wrapper of the function; the class.

    """
    if isinstance(obj, Module):
        for module in obj.modules():
            module.__dict__["_is_scripted"] = True
        return obj
    if isinstance(obj, (type, ScriptFunction, dict, list)):
        return obj
    if not callable(obj):
        raise RuntimeError(f"torch.jit.script: got {type(obj).__name__}, expected a module, function or class")
    return ScriptFunction(obj)


def interface(obj):
    """Return the class: what fits is found out when it is called."""
    return obj
