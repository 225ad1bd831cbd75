"""Dragon's own namespaces: each operator that they show is there, and losses are those that reduce."""
import pytest

import dragon
from dragon import _C
from dragon.dialects.native.table import operators_of

NAMESPACES = {"math": dragon.math, "nn.functional": dragon.nn.functional}


def test_rows_are_of_operators_and_namespaces():
    assert set(operators_of()) == set(NAMESPACES)
    known = set(_C.op_names())
    for namespace, names in operators_of().items():
        assert not names - known, namespace


@pytest.mark.parametrize("name", NAMESPACES)
def test_namespaces_show_their_operators(name):
    module = NAMESPACES[name]
    assert dir(module) == sorted(operators_of()[name])
    assert all(getattr(module, one) is getattr(dragon.ops, one) for one in dir(module))
    with pytest.raises(AttributeError, match="expected one of .*tanh"):
        module.nothing


def test_losses_are_operators_that_reduce():
    assert {name for name in _C.op_names() if name.endswith("_loss")} <= {*dir(dragon.losses)}
    others = {name for name in dir(dragon.losses) if not name.endswith("_loss")}
    assert others == {"binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy", "kl_div"}
    assert dragon.losses.mse_loss is dragon.ops.mse_loss
