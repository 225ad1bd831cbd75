"""The forward passes of `torch.nn`'s layers in the words of scripts, by the names of the classes."""
from typing import List, Optional

from dragon.vm import torch
from dragon.vm.torch import Tensor
from dragon.vm.torch.nn import functional as F


class Identity:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return input


class Sequential:
    """See `torch.nn`."""

    def forward(self, input):
        """Return what the layer gives."""
        for part in self:
            input = part(input)
        return input


class Linear:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.linear(input, self.weight, self.bias)


class Bilinear:
    """See `torch.nn`."""

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """Return what the layer gives."""
        return torch.bilinear(input1, input2, self.weight, self.bias)


class Flatten:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return input.flatten(self.start_dim, self.end_dim)


class Unflatten:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return input.unflatten(self.dim, self.unflattened_size)


class Conv1d:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        if self.padding_mode != "zeros":
            edges = F.pad(input, self._reversed_padding_repeated_twice, self.padding_mode)
            return F.conv1d(edges, self.weight, self.bias, self.stride, [0], self.dilation, self.groups)
        return F.conv1d(input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


class Conv2d:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Optional[Tensor]) -> Tensor:
        """Return what the layer gives."""
        if self.padding_mode != "zeros":
            edges = F.pad(input, self._reversed_padding_repeated_twice, self.padding_mode)
            return F.conv2d(edges, weight, bias, self.stride, [0, 0], self.dilation, self.groups)
        return F.conv2d(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)


class Conv3d:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        if self.padding_mode != "zeros":
            edges = F.pad(input, self._reversed_padding_repeated_twice, self.padding_mode)
            return F.conv3d(edges, self.weight, self.bias, self.stride, [0, 0, 0], self.dilation, self.groups)
        return F.conv3d(input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


class ConvTranspose1d:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.conv_transpose1d(input, self.weight, self.bias, self.stride, self.padding, self.output_padding,
                                  self.groups, self.dilation)


class ConvTranspose2d:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.conv_transpose2d(input, self.weight, self.bias, self.stride, self.padding, self.output_padding,
                                  self.groups, self.dilation)


class ConvTranspose3d:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.conv_transpose3d(input, self.weight, self.bias, self.stride, self.padding, self.output_padding,
                                  self.groups, self.dilation)


class _BatchNorm:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        self._check_input_dim(input)
        momentum = 0.0
        if self.momentum is not None:
            momentum = self.momentum
        if self.training and self.track_running_stats:
            if self.num_batches_tracked is not None:
                self.num_batches_tracked.add_(1)
                if self.momentum is None:
                    momentum = 1.0 / float(self.num_batches_tracked)
        if self.training:
            from_batch = True
        else:
            from_batch = self.running_mean is None and self.running_var is None
        return F.batch_norm(input, self.running_mean if not self.training or self.track_running_stats else None,
                            self.running_var if not self.training or self.track_running_stats else None,
                            self.weight, self.bias, from_batch, momentum, self.eps)


class BatchNorm1d:
    """See `torch.nn`."""

    def _check_input_dim(self, input: Tensor) -> None:
        """Raise unless the input has the axes that it should."""
        if input.dim() != 2 and input.dim() != 3:
            raise ValueError("expected 2D or 3D input (got " + str(input.dim()) + "D input)")


class BatchNorm2d:
    """See `torch.nn`."""

    def _check_input_dim(self, input: Tensor) -> None:
        """Raise unless the input has the axes that it should."""
        if input.dim() != 4:
            raise ValueError("expected 4D input (got " + str(input.dim()) + "D input)")


class BatchNorm3d:
    """See `torch.nn`."""

    def _check_input_dim(self, input: Tensor) -> None:
        """Raise unless the input has the axes that it should."""
        if input.dim() != 5:
            raise ValueError("expected 5D input (got " + str(input.dim()) + "D input)")


class _InstanceNorm:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.instance_norm(input, self.running_mean, self.running_var, self.weight, self.bias,
                               self.training or not self.track_running_stats,
                               self.momentum if self.momentum is not None else 0.0, self.eps)


class LayerNorm:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class GroupNorm:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)


class RMSNorm:
    """See `torch.nn`."""

    def forward(self, x: Tensor) -> Tensor:
        """Return what the layer gives."""
        return torch.rms_norm(x, self.normalized_shape, self.weight, self.eps)


class Embedding:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type,
                           self.scale_grad_by_freq, self.sparse)


class Upsample:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.interpolate(input, self.size, self.scale_factor, self.mode, self.align_corners,
                             recompute_scale_factor=self.recompute_scale_factor)


class _ConstantPadNd:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.pad(input, self.padding, "constant", self.value)


class _ReflectionPadNd:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.pad(input, self.padding, "reflect")


class _ReplicationPadNd:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.pad(input, self.padding, "replicate")


class EmbeddingBag:
    """See `torch.nn`."""

    def forward(self, input: Tensor, offsets: Optional[Tensor] = None,
                per_sample_weights: Optional[Tensor] = None) -> Tensor:
        """Return what the layer gives."""
        return F.embedding_bag(input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq,
                               self.mode, self.sparse, per_sample_weights, self.include_last_offset, self.padding_idx)


class _CircularPadNd:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.pad(input, self.padding, "circular")


class MaxUnpool1d:
    """See `torch.nn`."""

    def forward(self, input: Tensor, indices: Tensor, output_size: Optional[List[int]] = None) -> Tensor:
        """Return what the layer gives."""
        return F.max_unpool1d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool2d:
    """See `torch.nn`."""

    def forward(self, input: Tensor, indices: Tensor, output_size: Optional[List[int]] = None) -> Tensor:
        """Return what the layer gives."""
        return F.max_unpool2d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool3d:
    """See `torch.nn`."""

    def forward(self, input: Tensor, indices: Tensor, output_size: Optional[List[int]] = None) -> Tensor:
        """Return what the layer gives."""
        return F.max_unpool3d(input, indices, self.kernel_size, self.stride, self.padding, output_size)
