"""Operators that run at once: batches in, batches out."""
from dragon.vm.dali.core import faces as _faces
from dragon.vm.dali.core.atonce import Given as _Given
from dragon.vm.dali.core.atonce import run_at_once as _run_at_once
from dragon.vm.dali.core.graph import call as _call
from dragon.vm.dali.core.refusals import got as _got
from dragon.vm.dali.core.schema import OPERATORS as _OPERATORS
from dragon.vm.dali.tensors import TensorListCPU as _TensorListCPU


def _run(name, inputs, arguments, batch_size=None):
    """Return what an operator makes of batches."""
    def given(value):
        if not isinstance(value, _TensorListCPU):
            return value
        return _Given([value.at(place) for place in range(len(value))], value.layout(),
                      [one.source_info() for one in value])
    results = [_TensorListCPU(arrays, layout) for arrays, layout in _run_at_once(
        lambda *inputs, **arguments: _call(name, inputs, arguments), [given(one) for one in inputs],
        {key: given(value) for key, value in arguments.items()}, batch_size, who=f"eager.{name}")]
    return results if len(results) > 1 else results[0]


class _Room:
    """The operators of one room, by name."""

    def __init__(self, room):
        self._room = room

    def __getattr__(self, name):
        full = f"{self._room}.{name}"
        if full not in _OPERATORS:
            raise AttributeError(f"eager.{full}: Dragon does not have it (yet)")
        return _function(full)


def _function(name):
    def function(*inputs, batch_size=None, **arguments):
        return _run(name, inputs, arguments, batch_size)
    function.__name__ = function.__qualname__ = name.rpartition(".")[2]
    function.__module__, function.__doc__ = __name__, _OPERATORS[name].doc
    return function


for _name in _faces.functions_of("", __name__):
    if _OPERATORS[_name].kind != "source":
        globals()[_name] = _function(_name)
decoders, transforms, reductions = _Room("decoders"), _Room("transforms"), _Room("reductions")
segmentation, noise, random = _Room("segmentation"), _Room("noise"), _Room("random")


def rng_state(seed=None):
    """Return the operators of random numbers.

    Parameters
    ----------
    seed : int, optional
        What DALI starts from; here calls draw new numbers unless each is told a seed.

    """
    if seed is not None:
        raise NotImplementedError(_got("eager.rng_state", f"seed={seed}", "none: tell `seed` to each call"))
    return random
