"""Functions of windows, and of sizes, of `torch.nn.functional` in the words of scripts.

What also tells where maxima stood has a name of its own: `return_indices` picks one of both when it is compiled.
"""
import math
from typing import List, Optional, Tuple

from dragon.vm import torch
from dragon.vm.torch import Tensor
from dragon.vm.torch.jit.annotations import BroadcastingList1, BroadcastingList2, BroadcastingList3


def fraction_sizes(input: Tensor, axes: int, output_size: Optional[List[int]],
                   output_ratio: Optional[List[float]]) -> List[int]:
    """Return how many windows there are along each axis."""
    if output_size is not None:
        return output_size
    if output_ratio is None:
        raise ValueError("fractional_max_pool requires specifying either an output_size or an output_ratio")
    return [int(float(input.size(input.dim() - axes + i)) * output_ratio[i]) for i in range(axes)]


def fraction_samples(input: Tensor, axes: int, samples: Optional[Tensor]) -> Tensor:
    """Return the numbers that place windows: drawn, if none are given."""
    if samples is not None:
        return samples
    batch = 1 if input.dim() == axes + 1 else input.size(0)
    return torch.rand([batch, input.size(-axes - 1), axes], dtype=input.dtype, device=input.device)


def fractional_max_pool2d_with_indices(input: Tensor, kernel_size: BroadcastingList2[int],
                                       output_size: Optional[BroadcastingList2[int]] = None,
                                       output_ratio: Optional[BroadcastingList2[float]] = None,
                                       return_indices: bool = False,
                                       _random_samples: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
    """Return maxima over windows at random places, and where they stood."""
    return torch.ops.aten.fractional_max_pool2d(input, kernel_size, fraction_sizes(input, 2, output_size, output_ratio),
                                                fraction_samples(input, 2, _random_samples))


def fractional_max_pool3d_with_indices(input: Tensor, kernel_size: BroadcastingList3[int],
                                       output_size: Optional[BroadcastingList3[int]] = None,
                                       output_ratio: Optional[BroadcastingList3[float]] = None,
                                       return_indices: bool = False,
                                       _random_samples: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
    """Return maxima over windows at random places, and where they stood."""
    return torch.ops.aten.fractional_max_pool3d(input, kernel_size, fraction_sizes(input, 3, output_size, output_ratio),
                                                fraction_samples(input, 3, _random_samples))


def fractional_max_pool2d(input: Tensor, kernel_size: BroadcastingList2[int],
                          output_size: Optional[BroadcastingList2[int]] = None,
                          output_ratio: Optional[BroadcastingList2[float]] = None, return_indices: bool = False,
                          _random_samples: Optional[Tensor] = None) -> Tensor:
    """Return maxima over windows at random places."""
    return fractional_max_pool2d_with_indices(input, kernel_size, output_size, output_ratio, False, _random_samples)[0]


def fractional_max_pool3d(input: Tensor, kernel_size: BroadcastingList3[int],
                          output_size: Optional[BroadcastingList3[int]] = None,
                          output_ratio: Optional[BroadcastingList3[float]] = None, return_indices: bool = False,
                          _random_samples: Optional[Tensor] = None) -> Tensor:
    """Return maxima over windows at random places."""
    return fractional_max_pool3d_with_indices(input, kernel_size, output_size, output_ratio, False, _random_samples)[0]


def rooted(sums: Tensor, norm_type: float, elements: float) -> Tensor:
    """Return the norms of windows, of means of powers."""
    return (torch.sign(sums) * torch.relu(torch.abs(sums))).mul(elements).pow(1.0 / norm_type)


def lp_pool1d(input: Tensor, norm_type: float, kernel_size: int, stride: Optional[BroadcastingList1[int]] = None,
              ceil_mode: bool = False) -> Tensor:
    """Return norms over windows."""
    sizes = [kernel_size]
    means = torch.ops.aten.avg_pool1d(input.pow(norm_type), sizes, sizes if stride is None else stride, [0], ceil_mode)
    return rooted(means, norm_type, float(kernel_size))


def lp_pool2d(input: Tensor, norm_type: float, kernel_size: BroadcastingList2[int],
              stride: Optional[BroadcastingList2[int]] = None, ceil_mode: bool = False) -> Tensor:
    """Return norms over windows."""
    steps = kernel_size if stride is None else stride
    means = torch.ops.aten.avg_pool2d(input.pow(norm_type), kernel_size, steps, [0, 0], ceil_mode)
    return rooted(means, norm_type, float(kernel_size[0] * kernel_size[1]))


def lp_pool3d(input: Tensor, norm_type: float, kernel_size: BroadcastingList3[int],
              stride: Optional[BroadcastingList3[int]] = None, ceil_mode: bool = False) -> Tensor:
    """Return norms over windows."""
    steps = kernel_size if stride is None else stride
    means = torch.ops.aten.avg_pool3d(input.pow(norm_type), kernel_size, steps, [0, 0, 0], ceil_mode)
    return rooted(means, norm_type, float(kernel_size[0] * kernel_size[1] * kernel_size[2]))


def unpooled_size(input: Tensor, kernel_size: List[int], stride: List[int], padding: List[int],
                  output_size: Optional[List[int]]) -> List[int]:
    """Return the sizes that maxima came from."""
    axes = len(kernel_size)
    if output_size is not None:
        return output_size[2:] if len(output_size) == axes + 2 else output_size
    first = input.dim() - axes
    return [(input.size(first + i) - 1) * stride[i] + kernel_size[i] - 2 * padding[i] for i in range(axes)]


def max_unpool1d(input: Tensor, indices: Tensor, kernel_size: BroadcastingList1[int],
                 stride: Optional[BroadcastingList1[int]] = None, padding: BroadcastingList1[int] = 0,
                 output_size: Optional[List[int]] = None) -> Tensor:
    """Put maxima back where they stood."""
    steps = kernel_size if stride is None else stride
    sizes = unpooled_size(input, kernel_size, steps, padding, output_size)
    return torch.ops.aten.max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), [sizes[0], 1]).squeeze(-1)


def max_unpool2d(input: Tensor, indices: Tensor, kernel_size: BroadcastingList2[int],
                 stride: Optional[BroadcastingList2[int]] = None, padding: BroadcastingList2[int] = 0,
                 output_size: Optional[List[int]] = None) -> Tensor:
    """Put maxima back where they stood."""
    steps = kernel_size if stride is None else stride
    sizes = unpooled_size(input, kernel_size, steps, padding, output_size)
    return torch.ops.aten.max_unpool2d(input, indices, sizes)


def max_unpool3d(input: Tensor, indices: Tensor, kernel_size: BroadcastingList3[int],
                 stride: Optional[BroadcastingList3[int]] = None, padding: BroadcastingList3[int] = 0,
                 output_size: Optional[List[int]] = None) -> Tensor:
    """Put maxima back where they stood."""
    steps = kernel_size if stride is None else stride
    sizes = unpooled_size(input, kernel_size, steps, padding, output_size)
    return torch.ops.aten.max_unpool3d(input, indices, sizes, steps, padding)


def interpolate(input: Tensor, size: Optional[BroadcastingList1[int]] = None,
                scale_factor: Optional[BroadcastingList1[float]] = None,
                mode: str = "nearest", align_corners: Optional[bool] = None,
                recompute_scale_factor: Optional[bool] = None, antialias: bool = False) -> Tensor:
    """Return the input in another size."""
    axes = input.dim() - 2
    if size is not None:
        size = [size[0] for _ in range(axes)] if len(size) == 1 else size
    factors = torch.jit.annotate(List[float], [])
    if scale_factor is not None:
        factors = [scale_factor[0] for _ in range(axes)] if len(scale_factor) == 1 else scale_factor
    scales: Optional[List[float]] = None
    recomputes = recompute_scale_factor is not None and recompute_scale_factor
    if scale_factor is not None and (recomputes or mode == "area"):
        size = [int(math.floor(float(input.size(i + 2)) * factors[i])) for i in range(axes)]
    elif scale_factor is not None:
        scales = factors
    corners = False if align_corners is None else align_corners
    if antialias:
        return smoothly_resized(input, size, scales, mode, corners)
    if axes == 1:
        return resized1d(input, size, scales, mode, corners)
    if axes == 2:
        return resized2d(input, size, scales, mode, corners)
    return resized3d(input, size, scales, mode, corners)


def refuse_mode(mode: str, axes: int) -> None:
    """Raise for a way of resizing that a number of axes does not have."""
    raise NotImplementedError("interpolate: got mode " + mode + " for an input of " + str(axes) + " axes")


def smoothly_resized(input: Tensor, size: Optional[List[int]], scales: Optional[List[float]], mode: str,
                     corners: bool) -> Tensor:
    """Return the input in another size, blurred where it shrinks."""
    if input.dim() == 4 and mode == "bilinear":
        return torch.ops.aten._upsample_bilinear2d_aa(input, size, corners, scales)
    if input.dim() == 4 and mode == "bicubic":
        return torch.ops.aten._upsample_bicubic2d_aa(input, size, corners, scales)
    raise ValueError("Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as input")


def resized1d(input: Tensor, size: Optional[List[int]], scales: Optional[List[float]], mode: str,
              corners: bool) -> Tensor:
    """Return the input in another size."""
    if mode == "nearest":
        return torch.ops.aten.upsample_nearest1d(input, size, scales)
    if mode == "nearest-exact":
        return torch.ops.aten._upsample_nearest_exact1d(input, size, scales)
    if mode == "area":
        assert size is not None
        return torch.ops.aten.adaptive_avg_pool1d(input, size)
    if mode != "linear":
        refuse_mode(mode, 3)
    return torch.ops.aten.upsample_linear1d(input, size, corners, scales)


def resized2d(input: Tensor, size: Optional[List[int]], scales: Optional[List[float]], mode: str,
              corners: bool) -> Tensor:
    """Return the input in another size."""
    if mode == "nearest":
        return torch.ops.aten.upsample_nearest2d(input, size, scales)
    if mode == "nearest-exact":
        return torch.ops.aten._upsample_nearest_exact2d(input, size, scales)
    if mode == "area":
        assert size is not None
        return torch.ops.aten.adaptive_avg_pool2d(input, size)
    if mode == "bicubic":
        return torch.ops.aten.upsample_bicubic2d(input, size, corners, scales)
    if mode != "bilinear":
        refuse_mode(mode, 4)
    return torch.ops.aten.upsample_bilinear2d(input, size, corners, scales)


def resized3d(input: Tensor, size: Optional[List[int]], scales: Optional[List[float]], mode: str,
              corners: bool) -> Tensor:
    """Return the input in another size."""
    if mode == "nearest":
        return torch.ops.aten.upsample_nearest3d(input, size, scales)
    if mode == "nearest-exact":
        return torch.ops.aten._upsample_nearest_exact3d(input, size, scales)
    if mode == "area":
        assert size is not None
        return torch.ops.aten.adaptive_avg_pool3d(input, size)
    if mode != "trilinear":
        refuse_mode(mode, 5)
    return torch.ops.aten.upsample_trilinear3d(input, size, corners, scales)
