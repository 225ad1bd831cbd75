"""Convolution that reads its input at shifted places."""
import math

from dragon.core.refusals import refusing
from dragon.vm import torch
from dragon.vm.torchvision.ops._utils import pair

nn = torch.nn


def _places(length, kernel, stride, pad, dilation, like):
    out = (length + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1
    starts = torch.arange(out, dtype=like.dtype, device=like.device) * stride - pad
    return starts, torch.arange(kernel, dtype=like.dtype, device=like.device) * dilation


def _sampled(input, offset, kernel, stride, padding, dilation, groups):
    """Return the input's values at all shifted places: (N, C, kernel places, out places)."""
    n, channels, height, width = input.shape
    (ys, ky), (xs, kx) = (_places(*items, input) for items in zip((height, width), kernel, stride, padding, dilation))
    out_h, out_w = len(ys), len(xs)
    shifts = offset.reshape(n * groups, kernel[0] * kernel[1], 2, out_h, out_w)
    y = (ky[:, None].expand(kernel).reshape(-1, 1, 1) + ys[:, None]) + shifts[:, :, 0]
    x = (kx[None, :].expand(kernel).reshape(-1, 1, 1) + xs[None, :]) + shifts[:, :, 1]
    grid = torch.stack(((2 * x + 1) / width - 1, (2 * y + 1) / height - 1), -1)
    values = nn.functional.grid_sample(input.reshape(n * groups, channels // groups, height, width),
                                       grid.reshape(n * groups, kernel[0] * kernel[1] * out_h, out_w, 2),
                                       mode="bilinear", padding_mode="zeros", align_corners=False)
    return values.reshape(n, channels, kernel[0] * kernel[1], out_h, out_w)


@refusing
def deform_conv2d(input, offset, weight, bias=None, stride=(1, 1), padding=(0, 0), dilation=(1, 1), mask=None):
    """Return a convolution whose kernel reads each place shifted by an offset, and weighed by a mask.

    Parameters
    ----------
    offset : Tensor
        Shifts (y, x) for each place of the kernel and of the output.
    weight : Tensor
        The kernel.
    bias : Tensor, optional
        What is added.
    stride, padding, dilation : Union[int, Tuple[int, int]], optional
        As in a convolution.
    mask : Tensor, optional
        Weights for each place of the kernel and of the output.

    Returns
    -------
    Tensor
        Images.

    """
    out_channels, kernel = weight.shape[0], tuple(weight.shape[-2:])
    if weight.ndim != 4 or 0 in weight.shape:
        raise ValueError(f"deform_conv2d: got a weight of shape {tuple(weight.shape)}, expected four axes, none empty")
    places = kernel[0] * kernel[1]
    offset_groups = offset.shape[1] // (2 * places)
    if offset_groups == 0:
        raise RuntimeError(f"the shape of the offset tensor at dimension 1 is not valid: got {offset.shape[1]}, "
                           f"expected a multiple of 2 * weight.size[2] * weight.size[3] = {2 * places}")
    values = _sampled(input, offset, kernel, pair(stride), pair(padding), pair(dilation), offset_groups)
    n, channels, _, out_h, out_w = values.shape
    if mask is not None:
        values = (values.reshape(n, offset_groups, channels // offset_groups, places, out_h, out_w)
                  * mask.reshape(n, offset_groups, 1, places, out_h, out_w)).reshape(values.shape)
    groups = channels // weight.shape[1]
    columns = values.reshape(n, groups, weight.shape[1] * places, out_h * out_w)
    out = torch.matmul(weight.reshape(1, groups, out_channels // groups, -1), columns)
    out = out.reshape(n, out_channels, out_h, out_w)
    return out if bias is None else out + bias.reshape(1, -1, 1, 1)


class DeformConv2d(nn.Module):
    """A convolution that reads its input at shifted places.

    Parameters
    ----------
    in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias
        As in `torch.nn.Conv2d`.

    """

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True):
        super().__init__()
        if in_channels % groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride, self.padding = pair(kernel_size), pair(stride), pair(padding)
        self.dilation = pair(dilation)
        self.weight = nn.Parameter(torch.empty(out_channels, in_channels // groups, *self.kernel_size))
        if bias:
            self.bias = nn.Parameter(torch.empty(out_channels))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draw the parameters anew."""
        nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = nn.init._calculate_fan_in_and_fan_out(self.weight)
            nn.init.uniform_(self.bias, -1 / math.sqrt(fan_in), 1 / math.sqrt(fan_in))

    def forward(self, input, offset, mask=None):
        return deform_conv2d(input, offset, self.weight, self.bias, stride=self.stride, padding=self.padding,
                             dilation=self.dilation, mask=mask)

    def __repr__(self):
        said = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        said += f", padding={self.padding}" if self.padding != (0, 0) else ""
        said += f", dilation={self.dilation}" if self.dilation != (1, 1) else ""
        said += f", groups={self.groups}" if self.groups != 1 else ""
        said += ", bias=False" if self.bias is None else ""
        return f"{self.__class__.__name__}({said})"
