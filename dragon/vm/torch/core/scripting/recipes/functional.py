"""Functions of `torch.nn.functional` and `torch` in the words of scripts."""
from typing import List, Optional, Tuple

from dragon.vm import torch
from dragon.vm.torch import Tensor
from dragon.vm.torch.jit.annotations import BroadcastingList1
from dragon.vm.torch.types import Number


def _assert(condition: bool, message: str) -> None:
    """Raise unless something holds."""
    assert condition, message


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


def logsigmoid(input: Tensor) -> Tensor:
    """Return the logarithm of the sigmoid."""
    return torch.ops.aten.log_sigmoid(input)


def rrelu(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False,
          inplace: bool = False) -> Tensor:
    """Return the leaky positive part, with slopes that are drawn."""
    if inplace:
        return torch.ops.aten.rrelu_(input, lower, upper, training)
    return torch.ops.aten.rrelu(input, lower, upper, training)


def gumbel_softmax(logits: Tensor, tau: float = 1.0, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """Return a drawn class as weights that sum to one."""
    drawn = -torch.empty_like(logits).exponential_().log()
    soft = ((logits + drawn) / tau).softmax(dim)
    if not hard:
        return soft
    places = soft.max(dim, keepdim=True)[1]
    return torch.zeros_like(logits).scatter_(dim, places, 1.0) - soft.detach() + soft


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


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Return the input with channels dropped, its mean and variance kept."""
    if inplace:
        return torch.ops.aten.feature_alpha_dropout_(input, p, training)
    return torch.ops.aten.feature_alpha_dropout(input, p, training)


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


def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """Return the input over what lies in channels around."""
    squares = input.mul(input)
    if input.dim() == 3:
        squares = torch.ops.aten.pad(squares.unsqueeze(1), [0, 0, size // 2, (size - 1) // 2])
        means = torch.ops.aten.avg_pool2d(squares, [size, 1], [1, 1]).squeeze(1)
    else:
        sizes = input.size()
        squares = squares.reshape([sizes[0], 1, sizes[1], sizes[2], -1])
        squares = torch.ops.aten.pad(squares, [0, 0, 0, 0, size // 2, (size - 1) // 2])
        means = torch.ops.aten.avg_pool3d(squares, [size, 1, 1], [1, 1, 1]).squeeze(1).reshape(sizes)
    return input / means.mul(alpha).add(k).pow(beta)


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12,
              out: Optional[Tensor] = None) -> Tensor:
    """Return vectors of length one."""
    length = input.norm(p, [dim], True).clamp_min(eps).expand_as(input)
    if out is None:
        return input / length
    return torch.div(input, length, out=out)


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


def embedding_bag(input: Tensor, weight: Tensor, offsets: Optional[Tensor] = None, max_norm: Optional[float] = None,
                  norm_type: float = 2.0, scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False,
                  per_sample_weights: Optional[Tensor] = None, include_last_offset: bool = False,
                  padding_idx: Optional[int] = None) -> Tensor:
    """Return sums, means or maxima of rows of a table."""
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError("embedding_bag: got offsets for an input of two axes, expected none")
        starts = torch.arange(0, input.numel(), input.size(1), dtype=input.dtype, device=input.device)
        input = input.reshape(-1)
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
    else:
        if offsets is None:
            raise ValueError("embedding_bag: got an input of one axis, expected offsets with it")
        starts = offsets
    code = 0 if mode == "sum" else 1 if mode == "mean" else 2
    if max_norm is not None:
        torch.ops.aten.embedding_renorm_(weight.detach(), input, max_norm, norm_type)
    return torch.ops.aten.embedding_bag(weight, input, starts, scale_grad_by_freq, code, sparse, per_sample_weights,
                                        include_last_offset, padding_idx)[0]


def affine_grid(theta: Tensor, size: List[int], align_corners: Optional[bool] = None) -> Tensor:
    """Return a grid of places."""
    return torch.ops.aten.affine_grid_generator(theta, size, False if align_corners is None else align_corners)


def pad(input: Tensor, pad: List[int], mode: str = "constant", value: Optional[float] = None) -> Tensor:
    """Return the input with edges around."""
    return torch.ops.aten.pad(input, pad, mode, value)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """Return the cosine of angles."""
    return torch.ops.aten.cosine_similarity(x1, x2, dim, eps)


def grid_sample(input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros",
                align_corners: Optional[bool] = None) -> Tensor:
    """Return the input at the places of a grid."""
    kind = 0 if mode == "bilinear" else 1 if mode == "nearest" else 2
    edge = 0 if padding_mode == "zeros" else 1 if padding_mode == "border" else 2
    return torch.ops.aten.grid_sampler(input, grid, kind, edge, False if align_corners is None else align_corners)


def norm(input: Tensor, p: Number = 2.0, dim: Optional[BroadcastingList1[int]] = None, keepdim: bool = False) -> Tensor:
    """Return the length of vectors."""
    axes = list(range(input.dim())) if dim is None else dim
    return torch.ops.aten.norm(input, p, axes, keepdim)


def unique(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
           dim: Optional[int] = None) -> Tensor:
    """Return each element once."""
    return unique_with_both(input, sorted, False, False, dim)[0]


def unique_with_inverse(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
                        dim: Optional[int] = None) -> Tuple[Tensor, Tensor]:
    """Return each element once, and where each of the input's stands there."""
    found, inverse, _ = unique_with_both(input, sorted, True, False, dim)
    return found, inverse


def unique_with_counts(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
                       dim: Optional[int] = None) -> Tuple[Tensor, Tensor]:
    """Return each element once, and how often it was there."""
    found, _, counts = unique_with_both(input, sorted, False, True, dim)
    return found, counts


def unique_with_both(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
                     dim: Optional[int] = None) -> Tuple[Tensor, Tensor, Tensor]:
    """Return each element once, where each of the input's stands there, and how often it was there."""
    if dim is None:
        return torch.ops.aten._unique2(input, sorted, return_inverse, return_counts)
    return torch.ops.aten.unique_dim(input, dim, sorted, return_inverse, return_counts)
