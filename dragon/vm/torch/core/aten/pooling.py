"""Gradients of average pooling, and the inverse of max pooling."""
import math

from dragon.vm.torch.core.api import api
from dragon.vm.torch.core.tensor import ops


def average_pool_backward(rank, grad_output, self, kernel_size, stride, padding, count_include_pad, divisor_override):
    """Return the gradient of average pooling over so many axes."""
    window = tuple(kernel_size) * (rank // len(kernel_size))
    stride = tuple(stride) * (rank // len(stride)) if stride else window
    return ops.average_pool_backward(grad_output, tuple(self.shape[-rank:]), window, stride,
                                     tuple(padding) * (rank // len(padding)), (1,) * rank, False, count_include_pad,
                                     divisor_override or 0)


def max_unpool(self, indices, output_size):
    """Return maxima at the places where they stood, zeros elsewhere."""
    torch = api()
    rank = len(output_size)
    rows = self.shape[:-rank]
    empty = torch.zeros(*rows, math.prod(output_size), dtype=self.dtype, device=self.device)
    return empty.scatter(-1, indices.flatten(-rank), self.flatten(-rank)).reshape(*rows, *output_size)


def max_pool_backward(grad_output, indices, x):
    """Return the gradient of the largest elements of windows of pictures, with an axis of samples or without."""
    spatial = tuple(x.shape[-2:])
    if x.ndim == 4:
        return ops.max_pool_backward(grad_output, indices, spatial)
    return ops.max_pool_backward(grad_output[None], indices[None], spatial)[0]
