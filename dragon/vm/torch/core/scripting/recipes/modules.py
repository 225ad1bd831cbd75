"""The forward passes of `torch.nn`'s layers in the words of scripts, by the names of the classes."""
from typing import List, Optional, Tuple

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


class Dropout:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(Dropout):
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.alpha_dropout(input, self.p, self.training, self.inplace)


class MaxPool1d:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.max_pool1d(input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode,
                            self.return_indices)


class MaxPool2d:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.max_pool2d(input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode,
                            self.return_indices)


class MaxPool3d:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.max_pool3d(input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode,
                            self.return_indices)


class AvgPool1d:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return torch.ops.aten.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
                                         self.count_include_pad)


class AvgPool2d:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return torch.ops.aten.avg_pool2d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
                                         self.count_include_pad, self.divisor_override)


class AdaptiveAvgPool1d:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveMaxPool2d:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)


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


class PixelShuffle:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return torch.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return torch.pixel_unshuffle(input, self.downscale_factor)


class ChannelShuffle:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return torch.channel_shuffle(input, self.groups)


class MSELoss:
    """See `torch.nn`."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.mse_loss(input, target, reduction=self.reduction)


class L1Loss:
    """See `torch.nn`."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.l1_loss(input, target, reduction=self.reduction)


class CrossEntropyLoss:
    """See `torch.nn`."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.cross_entropy(input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction,
                               label_smoothing=self.label_smoothing)


class NLLLoss:
    """See `torch.nn`."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.nll_loss(input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class BCEWithLogitsLoss:
    """See `torch.nn`."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.binary_cross_entropy_with_logits(input, target, self.weight, pos_weight=self.pos_weight,
                                                  reduction=self.reduction)


class LSTM:
    """See `torch.nn`."""

    def forward(self, input: Tensor, hx: Optional[Tuple[Tensor, Tensor]] = None) -> Tuple[
            Tensor, Tuple[Tensor, Tensor]]:
        """Return what the layer gives."""
        is_batched = input.dim() == 3
        axis = 0 if self.batch_first else 1
        steps = input if is_batched else input.unsqueeze(axis)
        rows = steps.size(0) if self.batch_first else steps.size(1)
        directions = 2 if self.bidirectional else 1
        if hx is None:
            width = self.proj_size if self.proj_size > 0 else self.hidden_size
            h = torch.zeros([self.num_layers * directions, rows, width], dtype=steps.dtype, device=steps.device)
            c = torch.zeros([self.num_layers * directions, rows, self.hidden_size], dtype=steps.dtype,
                            device=steps.device)
        else:
            h, c = hx
            if not is_batched:
                h, c = h.unsqueeze(1), c.unsqueeze(1)
        weights: List[Tensor] = [weight for weight in self.parameters()]
        output, h, c = torch.ops.aten.lstm(steps, [h, c], weights, self.bias, self.num_layers, self.dropout,
                                           self.training, self.bidirectional, self.batch_first)
        if not is_batched:
            output, h, c = output.squeeze(axis), h.squeeze(1), c.squeeze(1)
        return output, (h, c)


class GRU:
    """See `torch.nn`."""

    def forward(self, input: Tensor, hx: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
        """Return what the layer gives."""
        is_batched = input.dim() == 3
        axis = 0 if self.batch_first else 1
        steps = input if is_batched else input.unsqueeze(axis)
        rows = steps.size(0) if self.batch_first else steps.size(1)
        directions = 2 if self.bidirectional else 1
        if hx is None:
            h = torch.zeros([self.num_layers * directions, rows, self.hidden_size], dtype=steps.dtype,
                            device=steps.device)
        else:
            h = hx if is_batched else hx.unsqueeze(1)
        weights: List[Tensor] = [weight for weight in self.parameters()]
        output, h = torch.ops.aten.gru(steps, h, weights, self.bias, self.num_layers, self.dropout, self.training,
                                       self.bidirectional, self.batch_first)
        if not is_batched:
            output, h = output.squeeze(axis), h.squeeze(1)
        return output, h
