"""Losses of `torch.nn.functional` in the words of scripts."""
from typing import Optional

from dragon.vm import torch
from dragon.vm.torch import Tensor
from dragon.vm.torch.core.scripting.recipes.helpers import number_of


def reduced(loss: Tensor, reduction: str) -> Tensor:
    """Return the mean or the sum of a loss, or the loss itself."""
    code = number_of(reduction)
    if code == 0:
        return loss
    return loss.mean() if code == 1 else loss.sum()


def weighted(loss: Tensor, weight: Tensor, reduction: str) -> Tensor:
    """Return a loss whose elements have weights; its mean is that of the weights."""
    loss = loss * weight
    return loss.sum() / weight.sum() if reduction == "mean" else reduced(loss, reduction)


def mse_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
             reduction: str = "mean", weight: Optional[Tensor] = None) -> Tensor:
    """Return squared distances."""
    if weight is not None:
        return weighted(torch.ops.aten.mse_loss(input, target, 0), weight, reduction)
    return torch.ops.aten.mse_loss(input, target, number_of(reduction, size_average, reduce))


def l1_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
            reduction: str = "mean", weight: Optional[Tensor] = None) -> Tensor:
    """Return absolute distances."""
    if weight is not None:
        return weighted(torch.ops.aten.l1_loss(input, target, 0), weight, reduction)
    return torch.ops.aten.l1_loss(input, target, number_of(reduction, size_average, reduce))


def smooth_l1_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                   reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """Return distances, squared near zero."""
    code = number_of(reduction, size_average, reduce)
    return torch.ops.aten.smooth_l1_loss(input, target, code, beta)


def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0,
               weight: Optional[Tensor] = None) -> Tensor:
    """Return distances, squared near zero."""
    if weight is not None:
        return weighted(torch.ops.aten.huber_loss(input, target, 0, delta), weight, reduction)
    return torch.ops.aten.huber_loss(input, target, number_of(reduction), delta)
