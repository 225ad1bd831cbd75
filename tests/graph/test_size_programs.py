"""Random programs that compute with sizes, compiled at some shapes and run at others: nobody may see a difference."""
import pytest

from dragon.vm import torch
from harness.size_programs import SizeProgram, check

PROGRAMS, PER_TEST, CALLS = 120, 10, 14


@pytest.mark.parametrize("first", range(0, PROGRAMS, PER_TEST))
def test_random_programs_at_random_shapes(first):
    for seed in range(first, first + PER_TEST):
        wrong, _ = check(SizeProgram(seed, torch), torch, CALLS, gradient=seed % 3 == 0)
        assert wrong is None, f"seed {seed} {wrong}"


def test_most_programs_are_one_graph_for_many_sizes():
    compiled = [check(SizeProgram(seed, torch), torch, CALLS, gradient=False)[1] for seed in range(1000, 1030)]
    assert sum(any(variant.sized for variant in function.variants) for function in compiled) > 15
