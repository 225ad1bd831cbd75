"""Operators that run at once: batches in, batches out."""
import os as _os

import numpy as _np

from dragon.vm.dali.core import faces as _faces
from dragon.vm.dali.core.execution import Graph as _Graph
from dragon.vm.dali.core.execution import Runner as _Runner
from dragon.vm.dali.core.execution import Batch as _Batch
from dragon.vm.dali.core.execution import Sample as _Sample
from dragon.vm.dali.core.execution import Values as _Values
from dragon.vm.dali.core.graph import DataNode as _DataNode
from dragon.vm.dali.core.graph import Node as _Node
from dragon.vm.dali.core.graph import call as _call
from dragon.vm.dali.core.refusals import got as _got
from dragon.vm.dali.core.schema import OPERATORS as _OPERATORS
from dragon.vm.dali.core.schema import Operator as _Operator
from dragon.vm.dali.tensors import TensorListCPU as _TensorListCPU


def _run(name, inputs, arguments, batch_size=None):
    """Return what an operator makes of batches."""
    batches = {}

    def handle(value):
        if isinstance(value, _TensorListCPU):
            node = _Node(_Operator("given", lambda: None, "source", 1), (), {})
            batches[node] = value
            return _DataNode(node)
        return value
    inputs = [handle(one) for one in inputs]
    arguments = {key: handle(value) for key, value in arguments.items()}
    sizes = {len(value) for value in batches.values()} or {batch_size or 1}
    if len(sizes) > 1:
        raise ValueError(_got(f"eager.{name}", f"batches of {sorted(sizes)} samples", "equally many"))
    made = _call(name, inputs, arguments)
    handles = made if isinstance(made, list) else [made]
    graph = _Graph(handles, seed=int.from_bytes(_os.urandom(6), "little"))
    samples = [_Sample(place) for place in range(sizes.pop())]
    for node, value in batches.items():
        for place, sample in enumerate(samples):
            sample.results[node] = _Values([value.at(place)], [value.layout()], value[place].source_info())
    runner = _Runner(graph, 1)
    try:
        batch = _Batch(samples, 0)
        runner.begin(batch)
        runner.finish(batch)
    finally:
        runner.close()
    results = []
    for one in handles:
        values = [graph.value(one.node, sample) for sample in samples]
        layout = values[0].layouts[one.index] if values else ""
        results.append(_TensorListCPU([_np.asarray(value.arrays[one.index]) for value in values], layout))
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
