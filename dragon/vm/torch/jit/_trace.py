"""Tracing: a call with the examples to see that it works; then the Python code itself."""
import functools

from dragon.vm.torch.core.missing import module_getattr
from dragon.vm.torch.jit._script import ScriptFunction, ScriptModule, script
from dragon.vm.torch.nn import Module

TopLevelTracedModule = ScriptModule
_tracing = []


class TracerWarning(Warning):
    """Warnings of tracing."""


def is_tracing():
    """Return whether `trace` makes its call with the examples."""
    return bool(_tracing)


class _Tracing:
    def __enter__(self):
        _tracing.append(self)

    def __exit__(self, *_):
        _tracing.pop()


def trace(func, example_inputs=None, optimize=None, check_trace=True, check_inputs=None, check_tolerance=1e-5,
          strict=True, _force_outplace=False, _module_class=None, _compilation_unit=None, example_kwarg_inputs=None,
          _store_inputs=True):
    """Call a function or module with examples, then return it: later calls run its Python code.

    PyTorch's traces keep the way that the examples took; Dragon's go the way that the arguments ask for.

    Parameters
    ----------
    func : Union[Module, Callable]
        What to trace.
    example_inputs : Union[Tensor, tuple], optional
        Arguments.
    example_kwarg_inputs : dict, optional
        Keyword arguments, instead.

    Returns
    -------
    Union[Module, ScriptFunction]
        What runs the Python code.

    """
    if example_inputs is None and example_kwarg_inputs is None:
        raise RuntimeError("torch.jit.trace: got no examples, expected example_inputs or example_kwarg_inputs")
    if isinstance(example_inputs, dict):
        example_inputs, example_kwarg_inputs = None, example_inputs
    if example_inputs is not None and not isinstance(example_inputs, (tuple, list)):
        example_inputs = (example_inputs,)
    with _Tracing():
        func(*(example_inputs or ()), **(example_kwarg_inputs or {}))
    if isinstance(func, Module):
        return script(func)
    traced = ScriptFunction(func)
    return functools.update_wrapper(traced, func)


def trace_module(mod, inputs, **options):
    """Call methods of a module with examples, then return it."""
    with _Tracing():
        for name, arguments in inputs.items():
            getattr(mod, name)(*(arguments if isinstance(arguments, (tuple, list)) else (arguments,)))
    return script(mod)


__getattr__ = module_getattr("torch.jit._trace", globals())
