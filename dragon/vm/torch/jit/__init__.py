"""`torch.jit`: traced code runs as graphs, scripted code as it stands."""
import contextlib
from typing import Final, Optional, Union, get_args, get_origin

from dragon.vm.guest import lookup
from dragon.vm.torch.jit import _state, annotations, frontend
from dragon.vm.torch.jit._script import RecursiveScriptModule, ScriptFunction, ScriptModule, interface, script
from dragon.vm.torch.jit._trace import (FrozenModule, TopLevelTracedModule, TracedModule, TracerWarning,  # noqa: F401
                                        TracingCheckError, freeze_traced, is_tracing, load, save, trace, trace_module)
from dragon.vm.torch.nn.modules.module import Module

Error = RuntimeError


class ScriptWarning(Warning):
    """Warnings of scripting."""


class Attribute:
    """A value with a type, which a scripted module keeps as it is."""

    def __new__(cls, value, type):
        """Return the value."""
        return value


def is_scripting():
    """Return False: what runs is the Python code, in scripted functions too."""
    return False


def annotate(the_type, the_value):
    """Return a value, of which a reader of types is told the type."""
    return the_value


def _mark(function, **marks):
    function.__dict__.update(marks)
    return function


def ignore(drop=False, **kwargs):
    """Return the function: nothing is compiled, so nothing needs to be left out."""
    if callable(drop):
        return _mark(drop, _torchscript_modifier="ignore")
    if not isinstance(drop, bool):
        raise RuntimeError(f"Argument to @torch.jit.ignore must be a bool or a function but got {drop}")
    return lambda function: _mark(function, _torchscript_modifier="unused" if drop else "ignore")


def unused(fn):
    """Return the function, or property: nothing is compiled, so nothing needs to be left out."""
    return fn if isinstance(fn, property) else _mark(fn, _torchscript_modifier="unused")


def export(fn):
    """Return the method: all methods of a scripted module can be called."""
    return _mark(fn, _torchscript_modifier="export")


def script_method(fn):
    """Return the method."""
    return fn


def script_if_tracing(fn):
    """Return the function."""
    return fn


_script_if_tracing = script_if_tracing


def _overload(func):
    """Return a declaration, which Python never calls."""
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


class Future:
    """The result of `fork`, which has been computed already."""

    def __init__(self, value):
        self.value_ = value

    def wait(self):
        """Return the result."""
        return self.value_

    value = wait

    def done(self):
        """Return True."""
        return True


def fork(func, *args, **kwargs):
    """Call a function at once and return its result as a future."""
    return Future(func(*args, **kwargs))


def wait(future):
    """Return a future's result."""
    if not isinstance(future, Future):
        raise TypeError(f"wait: got {type(future).__name__}, expected a future")
    return future.wait()


def freeze(mod, preserved_attrs=None, optimize_numerics=True):
    """Return a module in evaluation mode with its weights as constants of a graph; a scripted one as it is."""
    if not isinstance(mod, Module):
        raise RuntimeError(f"freeze: got {type(mod).__name__}, expected a module")
    if mod.training:
        raise RuntimeError("Freezing is currently only implemented for modules in eval mode; call .eval() before")
    return freeze_traced(mod) if isinstance(mod, (TopLevelTracedModule, FrozenModule)) else mod


def optimize_for_inference(mod, other_methods=None):
    """Return a traced module frozen: constants are folded and packed when its graph is made ready."""
    if isinstance(mod, TopLevelTracedModule) and not mod.training:
        return freeze_traced(mod)
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


@contextlib.contextmanager
def optimized_execution(should_optimize):
    """Run a `with` block: nothing here is optimized otherwise."""
    yield


@contextlib.contextmanager
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
