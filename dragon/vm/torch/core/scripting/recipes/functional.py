"""Functions of `torch.nn.functional` and `torch` in the words of scripts."""
import math
from typing import List, Optional, Tuple

from dragon.vm import torch
from dragon.vm.torch import Tensor
from dragon.vm.torch.jit.annotations import BroadcastingList1, BroadcastingList2, BroadcastingList3


def _assert(condition: bool, message: str) -> None:
    """Raise unless something holds."""
    assert condition, message


def reduction_code(reduction: str) -> int:
    """Return the number of a way to reduce."""
    if reduction == "none":
        return 0
    if reduction == "mean":
        return 1
    if reduction == "sum":
        return 2
    raise ValueError(reduction + " is not a valid value for reduction")


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return the positive part."""
    return torch.relu_(input) if inplace else torch.relu(input)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Return the input between 0 and 6."""
    return torch.ops.aten.relu6_(input) if inplace else torch.ops.aten.relu6(input)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """Return the input between two numbers."""
    if inplace:
        return torch.ops.aten.hardtanh_(input, min_val, max_val)
    return torch.ops.aten.hardtanh(input, min_val, max_val)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return ELU."""
    return torch.ops.aten.elu_(input, alpha) if inplace else torch.ops.aten.elu(input, alpha)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return CELU."""
    return torch.ops.aten.celu_(input, alpha) if inplace else torch.ops.aten.celu(input, alpha)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return SELU."""
    return torch.ops.aten.selu_(input) if inplace else torch.ops.aten.selu(input)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Return the leaky positive part."""
    if inplace:
        return torch.ops.aten.leaky_relu_(input, negative_slope)
    return torch.ops.aten.leaky_relu(input, negative_slope)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return x sigmoid(x)."""
    return torch.ops.aten.silu_(input) if inplace else torch.ops.aten.silu(input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return x tanh(softplus(x))."""
    return torch.ops.aten.mish_(input) if inplace else torch.ops.aten.mish(input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return hard swish."""
    return torch.ops.aten.hardswish_(input) if inplace else torch.ops.aten.hardswish(input)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """Return hard sigmoid."""
    return torch.ops.aten.hardsigmoid_(input) if inplace else torch.ops.aten.hardsigmoid(input)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Return the input where it is larger than a number."""
    if inplace:
        return torch.ops.aten.threshold_(input, threshold, value)
    return torch.ops.aten.threshold(input, threshold, value)


def softsign(input: Tensor) -> Tensor:
    """Return x / (1 + |x|)."""
    return input / (input.abs() + 1)


def tanhshrink(input: Tensor) -> Tensor:
    """Return x - tanh(x)."""
    return input - input.tanh()


def sigmoid(input: Tensor) -> Tensor:
    """Return the sigmoid."""
    return input.sigmoid()


def tanh(input: Tensor) -> Tensor:
    """Return the hyperbolic tangent."""
    return input.tanh()


def softmax(input: Tensor, dim: Optional[int] = None, _stacklevel: int = 3, dtype: Optional[int] = None) -> Tensor:
    """Return weights that sum to one."""
    if dim is None:
        dim = 0 if input.dim() == 0 or input.dim() == 1 or input.dim() == 3 else 1
    return torch.ops.aten.softmax(input, dim) if dtype is None else torch.ops.aten.softmax(input, dim, dtype)


def softmin(input: Tensor, dim: Optional[int] = None, _stacklevel: int = 3, dtype: Optional[int] = None) -> Tensor:
    """Return weights of the negative."""
    return softmax(-input, dim, _stacklevel, dtype)


def log_softmax(input: Tensor, dim: Optional[int] = None, _stacklevel: int = 3, dtype: Optional[int] = None) -> Tensor:
    """Return the logarithms of weights that sum to one."""
    if dim is None:
        dim = 0 if input.dim() == 0 or input.dim() == 1 or input.dim() == 3 else 1
    return torch.ops.aten.log_softmax(input, dim) if dtype is None else torch.ops.aten.log_softmax(input, dim, dtype)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """Return one half gated by the other."""
    return torch.ops.aten.glu(input, dim)


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Return the input with elements dropped."""
    return torch.ops.aten.dropout_(input, p, training) if inplace else torch.ops.aten.dropout(input, p, training)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Return the input with elements dropped, its mean and variance kept."""
    if inplace:
        return torch.ops.aten.alpha_dropout_(input, p, training)
    return torch.ops.aten.alpha_dropout(input, p, training)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Return the input with channels dropped."""
    if inplace:
        return torch.ops.aten.feature_dropout_(input, p, training)
    return torch.ops.aten.feature_dropout(input, p, training)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Return the input with channels dropped."""
    return dropout1d(input, p, training, inplace)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Return the input with channels dropped."""
    return dropout1d(input, p, training, inplace)


def batch_norm(input: Tensor, running_mean: Optional[Tensor], running_var: Optional[Tensor],
               weight: Optional[Tensor] = None, bias: Optional[Tensor] = None, training: bool = False,
               momentum: float = 0.1, eps: float = 1e-5) -> Tensor:
    """Return the input normalized over the batch."""
    return torch.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, True)


def instance_norm(input: Tensor, running_mean: Optional[Tensor] = None, running_var: Optional[Tensor] = None,
                  weight: Optional[Tensor] = None, bias: Optional[Tensor] = None, use_input_stats: bool = True,
                  momentum: float = 0.1, eps: float = 1e-5) -> Tensor:
    """Return the input normalized over each instance."""
    return torch.instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, True)


def layer_norm(input: Tensor, normalized_shape: List[int], weight: Optional[Tensor] = None,
               bias: Optional[Tensor] = None, eps: float = 1e-5) -> Tensor:
    """Return the input normalized over its last axes."""
    return torch.layer_norm(input, normalized_shape, weight, bias, eps, True)


def group_norm(input: Tensor, num_groups: int, weight: Optional[Tensor] = None, bias: Optional[Tensor] = None,
               eps: float = 1e-5) -> Tensor:
    """Return the input normalized over groups of channels."""
    return torch.group_norm(input, num_groups, weight, bias, eps, True)


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """Return vectors of length one."""
    return input / input.norm(p, [dim], True).clamp_min(eps).expand_as(input)


def embedding(input: Tensor, weight: Tensor, padding_idx: Optional[int] = None, max_norm: Optional[float] = None,
              norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor:
    """Return rows of a table."""
    if padding_idx is None:
        place = -1
    else:
        place = padding_idx if padding_idx >= 0 else weight.size(0) + padding_idx
    if max_norm is not None:
        torch.ops.aten.embedding_renorm_(weight.detach(), input, max_norm, norm_type)
    return torch.embedding(weight, input, place, scale_grad_by_freq, sparse)


def max_pool1d(input: Tensor, kernel_size: BroadcastingList1[int], stride: Optional[BroadcastingList1[int]] = None,
               padding: BroadcastingList1[int] = [0], dilation: BroadcastingList1[int] = [1], ceil_mode: bool = False,
               return_indices: bool = False) -> Tensor:
    """Return maxima over windows."""
    assert not return_indices, "max_pool1d: expected return_indices=False in a script"
    stride = kernel_size if stride is None else stride
    return torch.ops.aten.max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d(input: Tensor, kernel_size: BroadcastingList2[int], stride: Optional[BroadcastingList2[int]] = None,
               padding: BroadcastingList2[int] = [0, 0], dilation: BroadcastingList2[int] = [1, 1],
               ceil_mode: bool = False,
               return_indices: bool = False) -> Tensor:
    """Return maxima over windows."""
    assert not return_indices, "max_pool2d: expected return_indices=False in a script"
    stride = kernel_size if stride is None else stride
    return torch.ops.aten.max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool3d(input: Tensor, kernel_size: BroadcastingList3[int], stride: Optional[BroadcastingList3[int]] = None,
               padding: BroadcastingList3[int] = [0, 0, 0], dilation: BroadcastingList3[int] = [1, 1, 1],
               ceil_mode: bool = False,
               return_indices: bool = False) -> Tensor:
    """Return maxima over windows."""
    assert not return_indices, "max_pool3d: expected return_indices=False in a script"
    stride = kernel_size if stride is None else stride
    return torch.ops.aten.max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode)


def adaptive_avg_pool2d(input: Tensor, output_size: BroadcastingList2[int]) -> Tensor:
    """Return means over windows that fill a size."""
    return torch.ops.aten.adaptive_avg_pool2d(input, output_size)


def adaptive_avg_pool1d(input: Tensor, output_size: BroadcastingList1[int]) -> Tensor:
    """Return means over windows that fill a size."""
    return torch.ops.aten.adaptive_avg_pool1d(input, output_size)


def adaptive_max_pool2d(input: Tensor, output_size: BroadcastingList2[int], return_indices: bool = False) -> Tensor:
    """Return maxima over windows that fill a size."""
    assert not return_indices, "adaptive_max_pool2d: expected return_indices=False in a script"
    return torch.ops.aten.adaptive_max_pool2d(input, output_size)[0]


def pad(input: Tensor, pad: List[int], mode: str = "constant", value: Optional[float] = None) -> Tensor:
    """Return the input with edges around."""
    return torch.ops.aten.pad(input, pad, mode, value)


def interpolate(input: Tensor, size: Optional[BroadcastingList1[int]] = None,
                scale_factor: Optional[BroadcastingList1[float]] = None,
                mode: str = "nearest", align_corners: Optional[bool] = None,
                recompute_scale_factor: Optional[bool] = None, antialias: bool = False) -> Tensor:
    """Return the input in another size."""
    assert not antialias, "interpolate: expected antialias=False in a script"
    axes = input.dim() - 2
    if size is not None:
        size = [size[0] for _ in range(axes)] if len(size) == 1 else size
    factors = torch.jit.annotate(List[float], [])
    if scale_factor is not None:
        factors = [scale_factor[0] for _ in range(axes)] if len(scale_factor) == 1 else scale_factor
    scales: Optional[List[float]] = None
    if scale_factor is not None and recompute_scale_factor is not None and recompute_scale_factor:
        size = [int(math.floor(float(input.size(i + 2)) * factors[i])) for i in range(axes)]
    elif scale_factor is not None:
        scales = factors
    corners = False if align_corners is None else align_corners
    if input.dim() == 3 and mode == "nearest":
        return torch.ops.aten.upsample_nearest1d(input, size, scales)
    if input.dim() == 4 and mode == "nearest":
        return torch.ops.aten.upsample_nearest2d(input, size, scales)
    if input.dim() == 5 and mode == "nearest":
        return torch.ops.aten.upsample_nearest3d(input, size, scales)
    if input.dim() == 3 and mode == "linear":
        return torch.ops.aten.upsample_linear1d(input, size, corners, scales)
    if input.dim() == 4 and mode == "bilinear":
        return torch.ops.aten.upsample_bilinear2d(input, size, corners, scales)
    if input.dim() == 4 and mode == "bicubic":
        return torch.ops.aten.upsample_bicubic2d(input, size, corners, scales)
    if input.dim() == 5 and mode == "trilinear":
        return torch.ops.aten.upsample_trilinear3d(input, size, corners, scales)
    raise NotImplementedError("interpolate: got mode " + mode + " for an input of " + str(input.dim()) + " axes")


def mse_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
             reduction: str = "mean", weight: Optional[Tensor] = None) -> Tensor:
    """Return squared distances."""
    assert weight is None, "mse_loss: expected no weight in a script"
    return torch.ops.aten.mse_loss(input, target, reduction_code(reduction))


def l1_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
            reduction: str = "mean", weight: Optional[Tensor] = None) -> Tensor:
    """Return absolute distances."""
    assert weight is None, "l1_loss: expected no weight in a script"
    return torch.ops.aten.l1_loss(input, target, reduction_code(reduction))


def smooth_l1_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                   reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """Return distances, squared near zero."""
    return torch.ops.aten.smooth_l1_loss(input, target, reduction_code(reduction), beta)


def cross_entropy(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, size_average: Optional[bool] = None,
                  ignore_index: int = -100, reduce: Optional[bool] = None, reduction: str = "mean",
                  label_smoothing: float = 0.0) -> Tensor:
    """Return the cross entropy."""
    return torch.ops.aten.cross_entropy_loss(input, target, weight, reduction_code(reduction), ignore_index,
                                             label_smoothing)


def nll_loss(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, size_average: Optional[bool] = None,
             ignore_index: int = -100, reduce: Optional[bool] = None, reduction: str = "mean") -> Tensor:
    """Return the negative log likelihood."""
    return torch.ops.aten.nll_loss_nd(input, target, weight, reduction_code(reduction), ignore_index)


def binary_cross_entropy(input: Tensor, target: Tensor, weight: Optional[Tensor] = None,
                         size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                         reduction: str = "mean") -> Tensor:
    """Return the cross entropy of two classes."""
    return torch.ops.aten.binary_cross_entropy(input, target, weight, reduction_code(reduction))


def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Optional[Tensor] = None,
                                     size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                                     reduction: str = "mean", pos_weight: Optional[Tensor] = None) -> Tensor:
    """Return the cross entropy of two classes, of logits."""
    return torch.ops.aten.binary_cross_entropy_with_logits(input, target, weight, pos_weight,
                                                           reduction_code(reduction))


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """Return the cosine of angles."""
    return torch.ops.aten.cosine_similarity(x1, x2, dim, eps)


def grid_sample(input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros",
                align_corners: Optional[bool] = None) -> Tensor:
    """Return the input at the places of a grid."""
    kind = 0 if mode == "bilinear" else 1 if mode == "nearest" else 2
    edge = 0 if padding_mode == "zeros" else 1 if padding_mode == "border" else 2
    return torch.ops.aten.grid_sampler(input, grid, kind, edge, False if align_corners is None else align_corners)


def split(tensor: Tensor, split_size_or_sections: int, dim: int = 0) -> List[Tensor]:
    """Return parts of one size."""
    return torch.ops.aten.split(tensor, split_size_or_sections, dim)


def norm(input: Tensor, p: float = 2.0, dim: Optional[BroadcastingList1[int]] = None, keepdim: bool = False) -> Tensor:
    """Return the length of vectors."""
    axes = list(range(input.dim())) if dim is None else dim
    return torch.ops.aten.norm(input, p, axes, keepdim)


def unique(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False) -> Tensor:
    """Return each element once."""
    assert not return_inverse and not return_counts, "unique: expected the elements alone in a script"
    return torch.ops.aten._unique2(input, sorted, False, False)[0]


def max_pool2d_with_indices(input: Tensor, kernel_size: BroadcastingList2[int],
                            stride: Optional[BroadcastingList2[int]] = None,
                            padding: BroadcastingList2[int] = [0, 0], dilation: BroadcastingList2[int] = [1, 1],
                            ceil_mode: bool = False,
                            return_indices: bool = True) -> Tuple[Tensor, Tensor]:
    """Return maxima over windows, and where they stood."""
    stride = kernel_size if stride is None else stride
    return torch.ops.aten.max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
