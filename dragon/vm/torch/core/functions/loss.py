"""Losses of `torch.nn.functional`: the operators with PyTorch's old reduction arguments, weights and warnings."""
import math

from dragon.core import warnings
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.known.names import KINDS
from dragon.vm.torch.core.register import overridable
from dragon.vm.torch.core.tensor import Tensor, ops

NARROW = frozenset(OBJECTS[name] for name in ("int8", "int16", "int32"))


def reduction_of(size_average, reduce, reduction):
    """Return the reduction that the deprecated flags stand for, or the one given."""
    if size_average is None and reduce is None:
        if reduction not in ("mean", "sum", "none"):
            refuse_reduction("loss", reduction)
        return reduction
    by_flags = "none" if reduce is False else "sum" if size_average is False else "mean"
    warnings.warn(f"got size_average or reduce, which are deprecated; expected reduction={by_flags!r}")
    return by_flags


def reduced(losses, reduction, who):
    """Return losses as they are, their mean or their sum."""
    if reduction == "mean":
        return ops.mean(losses)
    if reduction == "sum":
        return ops.sum(losses)
    if reduction != "none":
        refuse_reduction(who, reduction)
    return losses


def refuse_reduction(who, reduction):
    """Raise for what is no way to reduce losses."""
    raise ValueError(f"{who}: got reduction {reduction!r}, expected 'mean', 'sum' or 'none': {reduction} is not a "
                     "valid value for reduction")


def warn_about_sizes(who, input, target):
    """Warn where two tensors broadcast that rarely should."""
    if tuple(input.shape) != tuple(target.shape):
        warnings.warn(f"{who}: got target of {target.shape} and input of {input.shape}, expected equal sizes: "
                      f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This "
                      "will likely lead to incorrect results due to broadcasting. Please ensure they have the same "
                      "size.")


def check_weight(who, input, weight):
    """Raise unless a weight, if there is one, has the shape of the input."""
    if weight is not None and tuple(weight.shape) != tuple(input.shape):
        raise ValueError(f"{who}: got weight of {weight.shape}, expected that of the input, {input.shape}")


def check_classes(who, target):
    """Raise for class indices of a dtype that PyTorch does not take them in."""
    if target.dtype in NARROW:
        raise RuntimeError(f"{who}: expected target dtype to be Long or Byte, but got {KINDS[target.dtype.name]}")


@overridable
def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """Return squared differences, reduced."""
    warn_about_sizes("mse_loss", input, target)
    reduction = reduction_of(size_average, reduce, reduction)
    check_weight("mse_loss", input, weight)
    return ops.mse_loss(input, target, reduction, weight=weight)


@overridable
def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """Return absolute differences, reduced."""
    warn_about_sizes("l1_loss", input, target)
    reduction = reduction_of(size_average, reduce, reduction)
    check_weight("l1_loss", input, weight)
    return ops.l1_loss(input, target, reduction, weight=weight)


@overridable
def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """Return differences that are squared below `delta` and linear above, reduced."""
    warn_about_sizes("huber_loss", input, target)
    check_weight("huber_loss", input, weight)
    return ops.huber_loss(input, target, reduction, delta, weight=weight)


@overridable
def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """Return differences that are squared below `beta` and linear above, reduced."""
    warn_about_sizes("smooth_l1_loss", input, target)
    reduction = reduction_of(size_average, reduce, reduction)
    return ops.l1_loss(input, target, reduction) if beta == 0 else ops.smooth_l1_loss(input, target, reduction, beta)


@overridable
def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean",
                  label_smoothing=0.0):
    """Return the cross entropy of logits with class indices or class probabilities.

    Parameters
    ----------
    input : Tensor
        Logits, (C), (N, C) or (N, C, d1, ...).
    target : Tensor
        Indices without the axis of the classes, or probabilities in the shape of the logits.
    weight : Tensor, optional
        A weight for each class.
    size_average, reduce : bool, optional
        Deprecated; `reduction` says it.
    ignore_index : int, optional, default=-100
        An index whose elements count nothing.
    reduction : str, optional, default="mean"
        "mean", "sum" or "none".
    label_smoothing : float, optional, default=0.0
        How much of the probability is shared by all classes.

    Returns
    -------
    Tensor
        The loss.

    """
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    check_classes("cross_entropy", target)
    if ignore_index >= 0 and target.dtype.is_floating_point:
        raise RuntimeError(f"cross_entropy: got ignore_index {ignore_index}, but ignore_index is not supported for "
                           "floating point target")
    return ops.cross_entropy(input, target, weight, ignore_index, reduction, label_smoothing)


@overridable
def linear_cross_entropy(input, linear_weight, target, *, linear_bias=None, weight=None, reduction="mean",
                         ignore_index=None, label_smoothing=0.0, options=None):
    """Return the cross entropy of a linear layer's outputs, `cross_entropy(linear(input, linear_weight), target)`."""
    if options is not None:
        raise NotImplementedError("linear_cross_entropy: got options, expected None: Dragon computes it in one piece")
    if input.ndim not in (1, 2):
        raise RuntimeError(f"linear_cross_entropy: got input of {input.shape}, expected 1 or 2 dims")
    if linear_weight.ndim < 2 or linear_weight.shape[-1] != input.shape[-1]:
        raise RuntimeError(f"linear_cross_entropy: got linear_weight of {linear_weight.shape}, expected (classes, ..., "
                           f"{input.shape[-1]})")
    outputs = tuple(linear_weight.shape)[:-1]
    if linear_bias is not None and tuple(linear_bias.shape) != outputs:
        raise RuntimeError(f"linear_cross_entropy: got linear_bias of {linear_bias.shape}, expected {outputs}")
    if len(outputs) > 1 and input.ndim == 1:
        raise RuntimeError(f"linear_cross_entropy: got linear_weight of {linear_weight.shape}, expected a batch dim "
                           "of the input")
    logits = ops.linear(input, ops.reshape(linear_weight, (-1, input.shape[-1])),
                        None if linear_bias is None else ops.reshape(linear_bias, (-1,)))
    logits = ops.reshape(logits, tuple(input.shape)[:-1] + outputs)
    if ignore_index is None:
        ignore_index = -100
    elif tuple(target.shape) == tuple(logits.shape):
        raise RuntimeError("linear_cross_entropy: got ignore_index with probabilities as target, expected None")
    return ops.cross_entropy(logits, target, weight, ignore_index, reduction, label_smoothing)


@overridable
def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    """Return the negative log-likelihood of class indices under log-probabilities."""
    check_classes("nll_loss", target)
    return ops.nll_loss(input, target, weight, ignore_index, reduction_of(size_average, reduce, reduction))


@overridable
def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Return the cross entropy of probabilities with targets between 0 and 1."""
    if tuple(input.shape) != tuple(target.shape):
        raise ValueError(f"binary_cross_entropy: got target of {target.shape}, expected that of the input, "
                         f"{input.shape}. Using a target size ({target.shape}) that is different to the input size "
                         f"({input.shape}) is deprecated. Please ensure they have the same size.")
    if input.dtype != target.dtype:
        raise RuntimeError(f"binary_cross_entropy: Found dtype {KINDS[target.dtype.name]} but expected "
                           f"{KINDS[input.dtype.name]}, as the input has")
    return ops.binary_cross_entropy(input, target, weight, reduction_of(size_average, reduce, reduction))


def require_no_wider(input, **weights):
    """Raise where a weight is not broadcast to the input, but the input to the weight."""
    shape = tuple(input.shape)
    for name, weight in weights.items():
        if weight is None or tuple(weight.shape) == shape:
            continue
        theirs = tuple(weight.shape)
        if len(theirs) > len(shape) or any(size not in (1, own) for size, own in zip(theirs[::-1], shape[::-1])):
            raise RuntimeError(f"binary_cross_entropy_with_logits: got {name} of shape {theirs}, expected one that is "
                               f"broadcast to the input's shape {shape}. output with shape {list(shape)} doesn't match "
                               "the broadcast shape")


@overridable
def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction="mean",
                                     pos_weight=None):
    """Return the cross entropy of the sigmoid of logits with targets between 0 and 1."""
    if tuple(input.shape) != tuple(target.shape):
        raise ValueError(f"binary_cross_entropy_with_logits: got target of {target.shape}, expected that of the "
                         f"input: Target size ({target.shape}) must be the same as input size ({input.shape})")
    if weight is not None or pos_weight is not None:
        require_no_wider(input, weight=weight, pos_weight=pos_weight)
    return ops.binary_cross_entropy_with_logits(input, target, weight, reduction_of(size_average, reduce, reduction),
                                                pos_weight)


@overridable
def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """Return the Kullback-Leibler divergence of log-probabilities from a target."""
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    elif reduction == "mean":
        warnings.warn("kl_div: got reduction='mean', which divides by all elements; 'batchmean' is the divergence")
    if reduction != "batchmean":
        return ops.kl_div(input, target, reduction, log_target)
    total = ops.kl_div(input, target, "sum", log_target)
    return total / input.shape[0] if input.ndim else total


@overridable
def poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None,
                     reduction="mean"):
    """Return the negative log-likelihood of counts under Poisson rates."""
    return ops.poisson_nll_loss(input, target, log_input, full, eps, reduction_of(size_average, reduce, reduction))


@overridable
def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """Return the negative log-likelihood of targets under normal distributions."""
    if not isinstance(var, Tensor):
        if var < 0:
            raise ValueError(f"gaussian_nll_loss: got var {var}, expected no negative number")
        var = var * ops.ones_like(input)
    elif bool(ops.any(ops.lt(var, 0))):
        raise ValueError("gaussian_nll_loss: got var with negative numbers, expected none: var has negative "
                         "entry/entries")
    shape = tuple(input.shape)
    if tuple(var.shape) != shape:
        if shape[:-1] == tuple(var.shape):
            var = ops.unsqueeze(var, -1)
        elif len(shape) != var.ndim or sum(a != b for a, b in zip(shape, var.shape)) > 1 or any(
                a != b and b != 1 for a, b in zip(shape, var.shape)):
            raise ValueError(f"gaussian_nll_loss: got var of {var.shape}, expected that of the input, {input.shape}, "
                             "with at most one axis of size 1")
    if reduction not in ("none", "mean", "sum"):
        refuse_reduction("gaussian_nll_loss", reduction)
    # The floor of the variance takes no part in the gradient.
    floored = var + ops.clamp(eps - var.detach(), 0.0)  # an infinite variance stays infinite
    losses = 0.5 * (ops.log(floored) + ops.square(input - target) / floored)
    if full:
        losses = losses + 0.5 * math.log(2 * math.pi)
    return reduced(losses, reduction, "gaussian_nll_loss")


@overridable
def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """Return how far two scores are from the order that the target, 1 or -1, asks for."""
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError("margin_ranking_loss : All input tensors should have same dimension but got sizes: "
                           f"input1: {input1.shape}, input2: {input2.shape}, target: {target.shape} ")
    return ops.margin_ranking_loss(input1, input2, target, margin, reduction_of(size_average, reduce, reduction))


@overridable
def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    """Return distances where the target is 1, and how far they are below the margin where it is -1."""
    return ops.hinge_embedding_loss(input, target, margin, reduction_of(size_average, reduce, reduction))


@overridable
def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """Return the logistic loss of scores with targets 1 and -1."""
    return ops.soft_margin_loss(input, target, reduction_of(size_average, reduce, reduction))


@overridable
def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """Return the hinge loss of every right class against every wrong one."""
    if input.ndim == 0:
        input, target = ops.reshape(input, (1,)), ops.reshape(target, (1,))
    return ops.multilabel_margin_loss(input, target, reduction_of(size_average, reduce, reduction))


@overridable
def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Return the logistic loss of each class by itself, averaged over classes."""
    return ops.multilabel_soft_margin_loss(input, target, weight, reduction_of(size_average, reduce, reduction))


@overridable
def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Return the hinge loss of the right class against all others."""
    if p not in (1, 2):
        raise ValueError(f"multi_margin_loss: got p {p}, expected 1 or 2")
    if weight is not None and weight.ndim != 1:
        raise ValueError(f"multi_margin_loss: got weight of {weight.shape}, expected one dim")
    if input.ndim < 2 and target.numel() == 1:
        input, target = ops.reshape(input, (-1,)), ops.reshape(target, ())
    return ops.multi_margin_loss(input, target, p, margin, weight, reduction_of(size_average, reduce, reduction))


@overridable
def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """Return how dissimilar rows are where the target is 1, and how similar beyond a margin where it is -1."""
    return ops.cosine_embedding_loss(input1, input2, target, margin, reduction_of(size_average, reduce, reduction))


def require_margin(who, margin):
    """Raise unless a margin is positive."""
    if margin <= 0:
        raise ValueError(f"{who}: got margin {margin}, expected a positive number")


@overridable
def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None,
                        reduce=None, reduction="mean"):
    """Return how far the negative is from being `margin` farther away than the positive."""
    reduction = reduction_of(size_average, reduce, reduction)
    require_margin("triplet_margin_loss", margin)
    return ops.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction)


@overridable
def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False,
                                      reduction="mean"):
    """Return the triplet loss under a distance of one's own."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"triplet_margin_with_distance_loss: got reduction {reduction!r}, expected 'mean', 'sum' or "
                         "'none'")
    require_margin("triplet_margin_with_distance_loss", margin)
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(f"triplet_margin_with_distance_loss: got {anchor.shape}, {positive.shape} and "
                           f"{negative.shape}, expected equally many axes")
    distance = ops.pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = ops.minimum(far, distance(positive, negative))
    return reduced(ops.clamp(margin + near - far, 0), reduction, "triplet_margin_with_distance_loss")


def lengths(value, device):
    """Return lengths, given as numbers or a tensor, as a tensor of integers."""
    if isinstance(value, Tensor):
        return value
    from dragon.vm.torch.core.functions.creation import tensor
    return tensor([int(length) for length in value], device=device)


@overridable
def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """Return the connectionist temporal classification loss.

    Parameters
    ----------
    log_probs : Tensor
        Log-probabilities, (T, N, C) or (T, C).
    targets : Tensor
        Classes, (N, S), or all sequences one after the other.
    input_lengths : Union[Tensor, Sequence[int]]
        Lengths of the inputs.
    target_lengths : Union[Tensor, Sequence[int]]
        Lengths of the targets.
    blank : int, optional, default=0
        The class that stands for nothing.
    reduction : str, optional, default="mean"
        "mean", which divides by the target lengths first, "sum" or "none".
    zero_infinity : bool, optional, default=False
        Whether losses of impossible alignments count nothing.

    Returns
    -------
    Tensor
        The loss.

    """
    return ops.ctc_loss(log_probs, targets, lengths(input_lengths, log_probs.device),
                        lengths(target_lengths, log_probs.device), blank, reduction, zero_infinity)
