"""`torch.func.rearrange` beside genuine PyTorch."""
import torch
import torch.func  # noqa: F401

from dragon.vm import torch as dt
from harness.sides import outcome
from harness.subresults import each

PATTERNS = [
    ("a b c -> c a b", {}), ("a b c -> a (b c)", {}), ("a (x b) c -> x a b c", {"x": 3}), ("a ... -> ... a", {}),
    ("a b c -> (a b c)", {}), ("a b c -> a 1 b c", {}), ("a b (c d) -> (d a) b c", {"d": 2}), ("... -> (...)", {}),
    ("a b c -> b () (c a)", {}), ("... c -> c ...", {}), ("(x y) ... -> y ... x", {"x": 2}),
    ("a b -> b a", {}), ("a b c -> a b", {}), ("a b c -> a b d", {}), ("a (x b) c -> x a b c", {}),
    ("a (x b) c -> x a b c", {"x": 4}), ("a a c -> a c", {}), ("a b c", {}), ("a (b c -> a b c", {}),
    ("a b c -> a b c", {"z": 2}), ("a b? c -> a b c", {}),
]


@each("pattern, lengths", PATTERNS, ids=str)
def test_patterns(pattern, lengths):
    found, expected = (outcome(lambda T: T.func.rearrange(T.arange(24.0).reshape(2, 3, 4), pattern, **lengths), T,
                               whole=True) for T in (dt, torch))
    assert found == expected or (expected is Exception and found is ValueError)


def test_lists():
    for T in (torch, dt):
        assert tuple(T.func.rearrange([T.ones(2), T.ones(2)], "n c -> c n").shape) == (2, 2)
