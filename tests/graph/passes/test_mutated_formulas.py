"""Formulas with one thing wrong in them: whatever a pattern still finds there must compute the same numbers."""
import math
import random

import numpy as np
import pytest

import dragon
from dragon import _C
from tests.graph.passes.test_patterns import Formula, cube, gate, part
from harness.graphs import check_equal, evaluate, feeds_of

KEEP = {"axis": (-1,), "keepdims": True}


def gelu(f, x, y):
    return f.mul(f.mul(x, 0.5), gate(f, x, True))


def gelu_of_tanh(f, x, y):
    inside = f.mul(math.sqrt(2 / math.pi), f.add(x, cube(f, x, 1)))
    return f.mul(f.mul(0.5, x), f.add(1.0, f.tanh(inside)))


def layer_norm(f, x, y):
    centred = f.sub(x, f.mean(x, **KEEP))
    norm = f.div(centred, f.sqrt(f.add(f.mean(f.square(centred), **KEEP), 1e-3)))
    return f.add(f.mul(norm, f.select(y, axis=0, index=0)), f.select(y, axis=0, index=1))


def rms_norm(f, x, y):
    return f.mul(f.mul(x, f.rsqrt(f.add(f.mean(f.square(x), **KEEP), 1e-3))), f.select(y, axis=0, index=0))


def softmax(f, x, y):
    powers = f.exp(f.sub(x, f.amax(x, **KEEP)))
    return f.div(powers, f.sum(powers, **KEEP))


def log_softmax(f, x, y):
    distance = f.sub(x, f.amax(x, **KEEP))
    return f.sub(distance, f.log(f.sum(f.exp(distance), **KEEP)))


def attention(f, x, y):
    q, k, v = (f.view(z, shape=(1, 1, 4, 4)) for z in (x, y, f.sin(x)))
    scores = f.add(f.mul(f.matmul(q, f.transpose(k, axis0=2, axis1=3)), 0.5), f.cos(y))
    return f.matmul(f.softmax(scores, axis=-1), v)


def parts(f, x, y):
    return f.add(f.add(part(f, x, (4, 12), 1, 0), part(f, y, (4, 12), 1, 4)), part(f, f.sin(x), (4, 12), 1, 8))


FORMULAS = (gelu, gelu_of_tanh, layer_norm, rms_norm, softmax, log_softmax, attention, parts)


def mutated(graph, chance):
    """Return a copy of a graph with one argument of one call, or one constant, changed; None if that is no graph."""
    other, numbers = _C.Graph(), {}
    for id in graph.inputs:
        numbers[id] = other.add_input(graph.value(id).shape, graph.value(id).dtype)
    constants = list(graph.constants.items())
    victim = chance.randrange(len(graph) + len(constants))
    for i, (id, tensor) in enumerate(constants):
        wrong = len(graph) + i == victim
        numbers[id] = other.add_constant(tensor * chance.choice((2.0, -1.0, 1.001, 0.0)) if wrong else tensor)
    for node in graph.calls:
        attrs = dict(node.attrs)
        inputs = [numbers[id] for id in node.inputs]
        if node.position == victim and (not attrs or chance.random() < 0.5):
            alike = [id for id in numbers if graph.value(id).dtype == "float32"]
            inputs[chance.randrange(len(inputs))] = numbers[chance.choice(alike)]
        elif node.position == victim:
            name = chance.choice(sorted(attrs))
            attrs[name] = change(attrs[name], chance)
        try:
            made = other.add_call(node.op, inputs, **attrs)
        except (ValueError, TypeError, IndexError):
            return None
        numbers.update(zip(node.outputs, made))
    other.outputs = [numbers[id] for id in graph.outputs]
    return other


def change(value, chance):
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + chance.choice((-1, 1, 4))
    if isinstance(value, (tuple, list)) and value:
        place = chance.randrange(len(value))
        return tuple(item + (i == place) * chance.choice((-1, 1, 4)) for i, item in enumerate(value))
    return value


@pytest.mark.parametrize("formula", FORMULAS)
def test_formulas_with_one_thing_wrong(formula):
    chance, compared = random.Random(formula.__name__), 0
    f = Formula((4, 4), (4, 4))
    f.graph.outputs = [formula(f, *f.inputs)]
    whole = f.graph.copy()
    _C.optimize(whole, 3, verify=True)
    assert len(whole) < len(f.graph)
    for _ in range(60):
        wrong = mutated(f.graph, chance)
        if wrong is None:
            continue
        try:
            with np.errstate(all="ignore"):
                results = evaluate(wrong, feeds_of(wrong))[0]
        except dragon.InvalidValue:
            continue
        if not np.isfinite(results[0].numpy()).all() or abs(results[0].numpy()).max() > 1e3:
            continue  # rounding decides there
        after = wrong.copy()
        _C.optimize(after, 3, verify=True)
        check_equal(wrong, after, tolerance=2e-5)
        compared += 1
    assert compared > 10
