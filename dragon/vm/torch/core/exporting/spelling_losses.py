"""What losses and functions of pictures are in PyTorch's operators."""
import math

from dragon.dialects.aten.table import REDUCTIONS
from dragon.vm.torch.core.exporting.spelling import rule


# --- losses

def _reduction(reduction, size_average=None, reduce=None):
    if size_average is not None or reduce is not None:
        reduction = "none" if reduce is False else "sum" if size_average is False else "mean"
    if reduction not in REDUCTIONS:
        raise ValueError(f"torch.export: got reduction {reduction!r}, expected one of {', '.join(REDUCTIONS)}")
    return REDUCTIONS.index(reduction)


@rule()
def _cross_entropy(a, input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean",
                   label_smoothing=0.0):
    return a.cross_entropy_loss.default(input, target, weight, _reduction(reduction, size_average, reduce),
                                        ignore_index, label_smoothing)


@rule()
def _nll_loss(a, input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    return a.nll_loss_nd.default(input, target, weight, _reduction(reduction, size_average, reduce), ignore_index)


@rule()
def _mse_loss(a, input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    if weight is not None:
        raise NotImplementedError("torch.export: mse_loss with weights has no operator; weigh the squares yourself")
    input, target = a.broadcast_tensors.default([input, target])
    return a.mse_loss.default(input, target, _reduction(reduction, size_average, reduce))


@rule()
def _l1_loss(a, input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    if weight is not None:
        raise NotImplementedError("torch.export: l1_loss with weights has no operator; weigh the differences yourself")
    input, target = a.broadcast_tensors.default([input, target])
    return a.l1_loss.default(input, target, _reduction(reduction, size_average, reduce))


@rule()
def _smooth_l1_loss(a, input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    input, target = a.broadcast_tensors.default([input, target])
    kind = _reduction(reduction, size_average, reduce)
    return a.smooth_l1_loss.default(input, target, kind, beta) if beta else a.l1_loss.default(input, target, kind)


@rule()
def _huber_loss(a, input, target, reduction="mean", delta=1.0, weight=None):
    if weight is not None:
        raise NotImplementedError("torch.export: huber_loss with weights has no operator; weigh the losses yourself")
    input, target = a.broadcast_tensors.default([input, target])
    return a.huber_loss.default(input, target, _reduction(reduction), delta)


@rule()
def _binary_cross_entropy(a, input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    return a.binary_cross_entropy.default(input, target, weight, _reduction(reduction, size_average, reduce))


@rule()
def _binary_cross_entropy_with_logits(a, input, target, weight=None, size_average=None, reduce=None, reduction="mean",
                                      pos_weight=None):
    return a.binary_cross_entropy_with_logits.default(input, target, weight, pos_weight,
                                                      _reduction(reduction, size_average, reduce))


@rule()
def _kl_div(a, input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    if reduction == "batchmean":
        return a.div.Tensor(a.kl_div.default(input, target, 2, log_target=log_target), input.shape[0])
    return a.kl_div.default(input, target, _reduction(reduction, size_average, reduce), log_target=log_target)


# --- pictures

@rule()
def _interpolate(a, input, size=None, scale_factor=None, mode="nearest", align_corners=None,
                 recompute_scale_factor=None, antialias=False):
    rank = input.ndim - 2
    if size is not None:
        size = list(size) if isinstance(size, (list, tuple)) else [size] * rank
    if scale_factor is not None:
        scale_factor = list(map(float, scale_factor)) if isinstance(scale_factor, (list, tuple)) else [
            float(scale_factor)] * rank
        if recompute_scale_factor or mode == "area":
            size = [math.floor(length * scale) for length, scale in zip(input.shape[2:], scale_factor)]
            scale_factor = None
    if mode == "area":
        return getattr(a, f"adaptive_avg_pool{rank}d").default(input, size)
    if mode in ("nearest", "nearest-exact"):
        exact = "_" if mode == "nearest-exact" else ""
        return getattr(a, f"{exact}upsample_nearest{'_exact' if exact else ''}{rank}d").vec(input, size, scale_factor)
    word = {"linear": "linear1d", "bilinear": "bilinear2d", "bicubic": "bicubic2d",
            "trilinear": "trilinear3d"}.get(mode)
    if word is None:
        raise NotImplementedError(f"torch.export: got interpolation {mode!r}, expected nearest, nearest-exact, linear, "
                                  "bilinear, bicubic, trilinear or area")
    name = f"_upsample_{word}_aa" if antialias else f"upsample_{word}"
    return getattr(a, name).vec(input, size, bool(align_corners), scale_factor)


@rule()
def _grid_sample(a, input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    modes, paddings = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
    return a.grid_sampler.default(input, grid, modes.index(mode), paddings.index(padding_mode), bool(align_corners))


@rule()
def _affine_grid(a, theta, size, align_corners=None):
    return a.affine_grid_generator.default(theta, list(size), bool(align_corners))


@rule()
def _pad(a, input, pad, mode="constant", value=None):
    return a.pad.default(input, list(pad), mode, value)
