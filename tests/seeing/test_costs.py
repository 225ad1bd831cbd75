"""Which operators have a cost: products of matrices, convolutions, attention and recurrent steps."""
import pytest

from dragon import _C
from dragon.core.costs import multiply_adds

NAMES = _C.op_names()


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("conv") and "backward" not in name])
def test_convolutions(name):
    x, weight, results = (2, 3, 8, 8), (4, 3, 3, 3), 2 * 4 * 6 * 6
    wanted = 2 * 3 * 8 * 8 * 3 * 3 * 3 if "transpose" in name else results * 3 * 3 * 3
    assert multiply_adds(name, [x, weight], results) == wanted


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith("_cell")])
def test_recurrent_cells(name):
    assert multiply_adds(name, [(5, 3), (5, 8), (24, 3), (24, 8)], 40) == 5 * (5 * 8 + 24 * 3 + 24 * 8)


def test_products():
    assert multiply_adds("linear", [(5, 3), (8, 3), (8,)], 40) == 40 * 3
    assert multiply_adds("addmm", [(5, 8), (5, 3), (3, 8)], 40) == 40 * 3
    assert multiply_adds("scaled_dot_product_attention", [(2, 4, 3), (2, 6, 3), (2, 6, 7)], 56) == 24 * 6 + 56 * 6


@pytest.mark.parametrize("name", ["relu", "sum", "native_batch_norm", "conv_backward_data", "no_operator"])
def test_others_have_none(name):
    assert multiply_adds(name, [(2, 3), (3, 4)], 8) is None
