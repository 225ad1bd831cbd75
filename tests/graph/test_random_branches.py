"""Random tensor programs as branches, and as the function of a map: values and gradients stay the same."""
import re
import warnings

import pytest

import dragon
from dragon.vm import torch
from harness import captured
from harness.programs import REJECTED, genuine_program

PER_TEST = 12
ROUNDS = 20  # of a map: what its function writes outside, it writes as often
DRAWS = re.compile("rand|dropout|bernoulli|normal_|uniform_|multinomial")


def tensors_of(results):
    return tuple(leaf for leaf in captured.leaves(results) if isinstance(leaf, torch.Tensor))


def shown(results):
    torch.manual_seed(0)  # the state of the generator is shown as well
    return captured.shown(list(results), [], torch)


def as_branch(flag, function, arguments):
    return torch.cond(flag, lambda: tensors_of(function(*arguments)), lambda: tensors_of(function(*arguments)))


def as_map(flag, function, arguments):
    made = torch._higher_order_ops.map(lambda row: tensors_of(function(*arguments)), torch.arange(ROUNDS))
    return tuple(leaf[-1] for leaf in made)


def check(seed, form):
    """Return what differs for one program, or None; "left out" where there is no graph of it."""
    program = genuine_program(seed)
    if DRAWS.search(program.source):
        return "left out"
    function, outside = program.function(torch)
    arguments = program.arguments(torch)
    try:
        for _ in range(ROUNDS if form is as_map else 1):
            wanted = tensors_of(function(*arguments))
        wanted_grads = captured.outer_gradients(list(wanted), arguments + outside, torch)
    except REJECTED:
        return "left out"
    if not wanted:
        return "left out"
    function, outside = program.function(torch)
    traced = dragon.function(lambda flag, *arguments: form(flag, function, arguments))
    for _ in range(2):
        arguments = program.arguments(torch)
        found = tensors_of(traced(torch.tensor(True), *arguments))
        if traced.fallback:
            return "left out"
        grads = captured.outer_gradients(list(found), arguments + outside, torch)
        differs = captured.difference(shown(found), shown(wanted), 1e-4)
        if differs is None and wanted_grads is not None:
            differs = captured.difference(grads or [], wanted_grads, 1e-4)
        if differs:
            return f"{differs}\n{program}"
        if traced.graphs[0].updates:  # the next call finds other tensors outside
            break
    return None


@pytest.mark.parametrize("form", [as_branch, as_map])
@pytest.mark.parametrize("first", range(0, 4 * PER_TEST, PER_TEST))
def test_nobody_sees_a_difference(form, first):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [check(seed, form) for seed in range(first, first + PER_TEST)]
    assert not [text for text in found if text not in (None, "left out")], "\n\n".join(filter(None, found))
    assert found.count(None) >= 2
