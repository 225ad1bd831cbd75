"""`torch.jit`: traced code runs as graphs, scripted code is compiled from its source."""
import contextlib
from typing import Any, Final, NamedTuple, Optional, Union, get_args, get_origin

from dragon.core.scopes import contextmanager
from dragon.vm.guest import lookup
from dragon.vm.torch.core.scripting.instances import Future
from dragon.vm.torch.core.scripting.scripts import python_scripts
from dragon.vm.torch.core.scripting.steps import Error  # noqa: F401
from dragon.vm.torch.jit import _recursive, _state, annotations, frontend  # noqa: F401
from dragon.vm.torch.jit._script import (  # noqa: F401
    CompilationUnit, RecursiveScriptModule, ScriptFunction, ScriptModule, interface, script)
from dragon.vm.torch.jit._trace import (FrozenModule, TopLevelTracedModule, TracedModule, TracerWarning,  # noqa: F401
                                        TracingCheckError, freeze_traced, is_tracing, load, save, trace, trace_module)
from dragon.vm.torch.nn.modules.module import Module


class ScriptWarning(Warning):
    """Warnings of scripting."""


class Attribute(NamedTuple):
    """A value with the type that a scripted module gives it."""

    value: Any
    type: Any


def is_scripting():
    """Return False: in scripts it is True, and branches on it are decided when they are compiled."""
    return False


def annotate(the_type, the_value):
    """Return a value, of which a reader of types is told the type."""
    return the_value


def _mark(function, **marks):
    for name, value in marks.items():
        setattr(function, name, value)
    return function


def ignore(drop=False, **kwargs):
    """Mark a function that scripts call as Python code, uncompiled."""
    if callable(drop):
        return _mark(drop, _torchscript_modifier="ignore")
    if not isinstance(drop, bool):
        raise RuntimeError(f"Argument to @torch.jit.ignore must be a bool or a function but got {drop}")
    return lambda function: _mark(function, _torchscript_modifier="unused" if drop else "ignore")


def unused(fn):
    """Mark a function or property that scripts do not compile: a script that calls it raises."""
    if isinstance(fn, property):
        _mark(fn.fget, _torchscript_modifier="unused")
        return fn
    return _mark(fn, _torchscript_modifier="unused")


def export(fn):
    """Mark a method that is compiled though `forward` does not call it."""
    return _mark(fn, _torchscript_modifier="export")


def script_method(fn):
    """Mark a method of a ScriptModule, which is compiled when an instance has been made."""
    return _mark(fn, _torchscript_modifier="export", _is_script_method=True)


def script_if_tracing(fn):
    """Return the function."""
    return fn


_script_if_tracing = script_if_tracing


def _overload(func):
    """Enter one of several signatures of a function, which Python never calls."""
    python_scripts().overloads.setdefault((func.__module__, func.__qualname__), []).append(func)
    return func


_overload_method = _overload


def isinstance_(obj, target_type):
    """Return whether an object is of a type, of `list[int]` and its like too."""
    if isinstance(target_type, (list, tuple)):
        return any(isinstance_(obj, kind) for kind in target_type)
    origin, inner = get_origin(target_type), get_args(target_type)
    if origin in (Union, Optional):
        return any(isinstance_(obj, kind) for kind in inner)
    if origin in (list, set):
        return isinstance(obj, origin) and all(isinstance_(entry, inner[0]) for entry in obj)
    if origin is dict:
        return isinstance(obj, dict) and all(
            isinstance_(key, inner[0]) and isinstance_(value, inner[1]) for key, value in obj.items())
    if origin is tuple:
        return isinstance(obj, tuple) and len(obj) == len(inner) and all(map(isinstance_, obj, inner))
    return isinstance(obj, target_type if target_type is not None else type(None))


def fork(func, *args, **kwargs):
    """Call a function at once and return its result as a future."""
    return Future(func(*args, **kwargs))


def wait(future):
    """Return a future's result."""
    if not isinstance(future, Future):
        raise TypeError(f"wait: got {type(future).__name__}, expected a future")
    return future.wait()


_fork, _wait = fork, wait  # the old names


def _unwrap_optional(x):
    """Return a value that is not None, for a compiler that knows it then."""
    if x is None:
        raise AssertionError("Unwrapping null optional")
    return x


def freeze(mod, preserved_attrs=None, optimize_numerics=True):
    """Return a module in evaluation mode with its weights as constants of a graph."""
    if not isinstance(mod, Module):
        raise RuntimeError(f"freeze: got {type(mod).__name__}, expected a module")
    if mod.training:
        raise RuntimeError("Freezing is currently only implemented for modules in eval mode. Please call .eval() "
                           "on your module before freezing.")
    if isinstance(mod, (TopLevelTracedModule, FrozenModule)):
        return freeze_traced(mod)
    if not isinstance(mod, RecursiveScriptModule):
        if isinstance(mod, ScriptModule):
            return mod  # it runs its Python code
        raise RuntimeError("Freezing expects a ScriptModule as input. Please use torch.jit.script or torch.jit.trace "
                           "to script your 'nn.Module'.")
    return _freeze_script(mod, preserved_attrs or ())


def _freeze_script(mod, kept):
    from dragon.vm.torch.core.scripting.inlining import frozen
    from dragon.vm.torch.jit._script import _as_ours
    return _as_ours(frozen(mod, kept))


def optimize_for_inference(mod, other_methods=None):
    """Return a module frozen; constants of traced ones are folded and packed when the graph is made ready."""
    if isinstance(mod, (TopLevelTracedModule, RecursiveScriptModule)) and not mod.training:
        return freeze(mod, other_methods)
    return mod


run_frozen_optimizations = optimize_for_inference


def _refuse(name):
    def refuse(*args, **kwargs):
        raise NotImplementedError(f"torch.jit.{name}: Dragon has no flat buffers: use torch.jit.save and load")
    refuse.__name__ = name
    refuse.__doc__ = "Raise: flat buffers are neither written nor read."
    return refuse


jit_module_from_flatbuffer, save_jit_module_to_flatbuffer = map(
    _refuse, ("jit_module_from_flatbuffer", "save_jit_module_to_flatbuffer"))


@contextmanager
def optimized_execution(should_optimize):
    """Run a `with` block: nothing here is optimized otherwise."""
    yield


@contextmanager
def fuser(name):
    """Run a `with` block: there is one way of fusing."""
    yield


strict_fusion = contextlib.nullcontext


def set_fusion_strategy(strategy):
    """Return the strategy: it concerns a compiler that is not there."""
    return strategy


def enable_onednn_fusion(enabled):
    """Do nothing: fusion with oneDNN is the engine's own affair."""


def onednn_fusion_enabled():
    """Return False."""
    return False


_find, __dir__ = lookup(globals())


def __getattr__(name):
    return isinstance_ if name == "isinstance" else _find(name)
