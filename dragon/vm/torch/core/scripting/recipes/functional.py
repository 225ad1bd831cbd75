"""Functions of `torch.nn.functional` and `torch` in the words of scripts."""
from typing import Optional, Tuple

from dragon.vm import torch
from dragon.vm.torch import Tensor
from dragon.vm.torch.jit.annotations import BroadcastingList1
from dragon.vm.torch.types import Number


def _assert(condition: bool, message: str) -> None:
    """Raise unless something holds."""
    assert condition, message


def sigmoid(input: Tensor) -> Tensor:
    """Return the sigmoid."""
    return input.sigmoid()


def tanh(input: Tensor) -> Tensor:
    """Return the hyperbolic tangent."""
    return input.tanh()


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


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """Return the cosine of angles."""
    return torch.ops.aten.cosine_similarity(x1, x2, dim, eps)


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
