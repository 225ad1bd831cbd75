"""Operators that take functions, under the paths that packages import them from; results are PyTorch 2.13's."""
import pytest

import dragon.vm.torch as torch
from dragon.vm.torch._higher_order_ops import out_dtype, strict_mode, wrap
from dragon.vm.torch._higher_order_ops.wrap import (tag_activation_checkpoint, wrap_with_autocast,
                                                    wrap_with_set_grad_enabled)

aten = torch.ops.aten
A = torch.arange(6, dtype=torch.int8).view(2, 3)
B = torch.full((3, 2), 100, dtype=torch.int8)


def test_products_of_eight_bits_in_wider_dtypes():
    made = out_dtype(aten.mm.default, torch.int32, A, B)
    assert made.dtype == torch.int32 and made.tolist() == [[300, 300], [1200, 1200]]
    assert out_dtype(aten.mm.default, torch.int8, A, B).tolist() == [[44, 44], [-80, -80]]
    made = out_dtype(aten.mul.Tensor, torch.float32, A, 2)
    assert made.dtype == torch.float32 and made.tolist() == [[0, 2, 4], [6, 8, 10]]
    assert torch.ops.higher_order.out_dtype(aten.mm.default, torch.int32, A, B).dtype == torch.int32


@pytest.mark.parametrize("args, error, words", [
    ((torch.mm, torch.int32, A, B), ValueError, "must be an OpOverload"),
    ((aten.add_.Tensor, torch.int32, A, A), ValueError, "needs to be a functional operator"),
    ((aten.sort.default, torch.int32, A), ValueError, "ops that return a single tensor"),
    ((aten.add.Tensor, torch.int32, A, A), ValueError, "out_dtype only allows the following operators"),
    ((aten.mm.default, 3, A, B), TypeError, "must be torch.dtype, not int")])
def test_what_has_no_wider_dtype(args, error, words):
    with pytest.raises(error, match=words):
        out_dtype(*args)


def test_functions_within_something():
    x = torch.ones(2, requires_grad=True)
    assert wrap(lambda x, y: x * y, x, 3).tolist() == [3, 3]
    assert not wrap_with_set_grad_enabled(False, lambda x: x * 2, x).requires_grad
    with torch.no_grad():
        assert wrap_with_set_grad_enabled(True, lambda x: x * 2, x).requires_grad
    assert wrap_with_autocast("cpu", torch.bfloat16, True, None, torch.mm, torch.ones(2, 2),
                              torch.ones(2, 2)).dtype == torch.bfloat16
    tag_activation_checkpoint(lambda x: x.exp().sum(), x, use_reentrant=False).backward()
    assert x.grad is not None
    assert strict_mode(lambda x, y: x + y, (x, x)).tolist() == [2, 2]
