"""Losses of `torch.nn.functional` in the words of scripts."""
from typing import Optional

from dragon.vm import torch
from dragon.vm.torch import Tensor


def reduction_code(reduction: str, size_average: Optional[bool] = None, reduce: Optional[bool] = None) -> int:
    """Return the number of a way to reduce; the two old words win where they are said."""
    if size_average is not None or reduce is not None:
        if reduce is not None and not reduce:
            return 0
        return 1 if size_average is None or size_average else 2
    if reduction == "none":
        return 0
    if reduction == "mean":
        return 1
    if reduction == "sum":
        return 2
    raise ValueError(reduction + " is not a valid value for reduction")


def reduced(loss: Tensor, reduction: str) -> Tensor:
    """Return the mean or the sum of a loss, or the loss itself."""
    code = reduction_code(reduction)
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
    return torch.ops.aten.mse_loss(input, target, reduction_code(reduction, size_average, reduce))


def l1_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
            reduction: str = "mean", weight: Optional[Tensor] = None) -> Tensor:
    """Return absolute distances."""
    if weight is not None:
        return weighted(torch.ops.aten.l1_loss(input, target, 0), weight, reduction)
    return torch.ops.aten.l1_loss(input, target, reduction_code(reduction, size_average, reduce))


def smooth_l1_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                   reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """Return distances, squared near zero."""
    code = reduction_code(reduction, size_average, reduce)
    return torch.ops.aten.smooth_l1_loss(input, target, code, beta)


def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0,
               weight: Optional[Tensor] = None) -> Tensor:
    """Return distances, squared near zero."""
    if weight is not None:
        return weighted(torch.ops.aten.huber_loss(input, target, 0, delta), weight, reduction)
    return torch.ops.aten.huber_loss(input, target, reduction_code(reduction), delta)


def kl_div(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
           reduction: str = "mean", log_target: bool = False) -> Tensor:
    """Return the divergence of distributions."""
    is_batched = reduction == "batchmean"
    code = reduction_code("sum" if is_batched else reduction, size_average, reduce)
    loss = torch.ops.aten.kl_div(input, target, code, log_target=log_target)
    return loss / input.size(0) if is_batched and input.dim() != 0 else loss


def cross_entropy(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, size_average: Optional[bool] = None,
                  ignore_index: int = -100, reduce: Optional[bool] = None, reduction: str = "mean",
                  label_smoothing: float = 0.0) -> Tensor:
    """Return the cross entropy."""
    code = reduction_code(reduction, size_average, reduce)
    return torch.ops.aten.cross_entropy_loss(input, target, weight, code, ignore_index, label_smoothing)


def nll_loss(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, size_average: Optional[bool] = None,
             ignore_index: int = -100, reduce: Optional[bool] = None, reduction: str = "mean") -> Tensor:
    """Return the negative log likelihood."""
    code = reduction_code(reduction, size_average, reduce)
    return torch.ops.aten.nll_loss_nd(input, target, weight, code, ignore_index)


def binary_cross_entropy(input: Tensor, target: Tensor, weight: Optional[Tensor] = None,
                         size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                         reduction: str = "mean") -> Tensor:
    """Return the cross entropy of two classes."""
    code = reduction_code(reduction, size_average, reduce)
    return torch.ops.aten.binary_cross_entropy(input, target, weight, code)


def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Optional[Tensor] = None,
                                     size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                                     reduction: str = "mean", pos_weight: Optional[Tensor] = None) -> Tensor:
    """Return the cross entropy of two classes, of logits."""
    code = reduction_code(reduction, size_average, reduce)
    return torch.ops.aten.binary_cross_entropy_with_logits(input, target, weight, pos_weight, code)


def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool = True, full: bool = False,
                     size_average: Optional[bool] = None, eps: float = 1e-8, reduce: Optional[bool] = None,
                     reduction: str = "mean") -> Tensor:
    """Return the loss of counts."""
    code = reduction_code(reduction, size_average, reduce)
    return torch.ops.aten.poisson_nll_loss(input, target, log_input, full, eps, code)


def soft_margin_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None,
                     reduce: Optional[bool] = None, reduction: str = "mean") -> Tensor:
    """Return the logistic loss of two classes."""
    return torch.ops.aten.soft_margin_loss(input, target, reduction_code(reduction, size_average, reduce))


def multilabel_margin_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None,
                           reduce: Optional[bool] = None, reduction: str = "mean") -> Tensor:
    """Return the hinge loss of several classes at once."""
    return torch.ops.aten.multilabel_margin_loss(input, target, reduction_code(reduction, size_average, reduce))


def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Optional[Tensor] = None,
                                size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                                reduction: str = "mean") -> Tensor:
    """Return the logistic loss of several classes at once."""
    code = reduction_code(reduction, size_average, reduce)
    loss = -(target * torch.ops.aten.log_sigmoid(input) + (1 - target) * torch.ops.aten.log_sigmoid(-input))
    if weight is not None:
        loss = loss * weight
    loss = loss.mean(-1)
    if code == 0:
        return loss
    return loss.mean() if code == 1 else loss.sum()


def multi_margin_loss(input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0, weight: Optional[Tensor] = None,
                      size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                      reduction: str = "mean") -> Tensor:
    """Return the hinge loss of classes."""
    code = reduction_code(reduction, size_average, reduce)
    return torch.ops.aten.multi_margin_loss(input, target, p, margin, weight, code)


def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, size_average: Optional[bool] = None,
                         reduce: Optional[bool] = None, reduction: str = "mean") -> Tensor:
    """Return the loss of what is alike or not."""
    code = reduction_code(reduction, size_average, reduce)
    return torch.ops.aten.hinge_embedding_loss(input, target, margin, code)


def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0,
                        size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                        reduction: str = "mean") -> Tensor:
    """Return the loss of an order."""
    code = reduction_code(reduction, size_average, reduce)
    return torch.ops.aten.margin_ranking_loss(input1, input2, target, margin, code)


def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0,
                          size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                          reduction: str = "mean") -> Tensor:
    """Return the loss of angles."""
    code = reduction_code(reduction, size_average, reduce)
    return torch.ops.aten.cosine_embedding_loss(input1, input2, target, margin, code)


def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2.0,
                        eps: float = 1e-6, swap: bool = False, size_average: Optional[bool] = None,
                        reduce: Optional[bool] = None, reduction: str = "mean") -> Tensor:
    """Return the loss of triplets."""
    code = reduction_code(reduction, size_average, reduce)
    return torch.ops.aten.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, code)


def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor, blank: int = 0,
             reduction: str = "mean", zero_infinity: bool = False) -> Tensor:
    """Return the loss of sequences without alignment."""
    return torch.ops.aten.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank,
                                   reduction_code(reduction), zero_infinity)
