"""Batch normalization of a batch that several processes have parts of."""
from dragon.core.custom_function import Function
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.tensor import ops

_WIDE = {OBJECTS["float16"], OBJECTS["bfloat16"]}  # whose sums are made in float32


def _across(input):
    """Return the axes that statistics are taken over, and the shape of one number per channel beside the input."""
    return [axis for axis in range(input.dim()) if axis != 1], (1, -1) + (1,) * (input.dim() - 2)


def _collect(input, group):
    """Return the mean, the variance and the number of elements per channel of all processes' inputs."""
    axes, beside = _across(input)
    count = input.numel() // input.shape[1]
    mean = ops.sum(input, axes) / max(count, 1)
    squares = ops.sum((input - mean.reshape(beside)) ** 2, axes)
    own = ops.full((1,), float(count), dtype=input.dtype, device=input.device)
    mine = ops.cat([mean, squares, own], 0).reshape(1, -1)
    rows = ops.all_gather(mine, group.number)
    channels = input.shape[1]
    means, squares, counts = rows[:, :channels], rows[:, channels:-1], rows[:, -1:]
    total = counts.sum()
    mean = (means * counts).sum(0) / total
    # The parts' squares are about their own means: what lies between the means is added.
    return mean, (squares + counts * (means - mean) ** 2).sum(0) / total, total


class _Normalize(Function):
    """Normalization by statistics of all processes; its gradient has the sums of all."""

    @staticmethod
    def forward(ctx, input, weight, bias, mean, variance, total, eps, group):
        """Return the normalized input."""
        beside = _across(input)[1]
        scale = ops.rsqrt(variance + eps)
        ctx.save_for_backward(input, weight, mean, scale, total)
        ctx.group, ctx.has_bias = group, bias is not None
        factor = scale if weight is None else scale * weight
        made = (input - mean.reshape(beside)) * factor.reshape(beside)
        return made if bias is None else made + bias.reshape(beside)

    @staticmethod
    def backward(ctx, dy):
        """Return the gradients of input, weight and bias; those of the parameters are of this process's part."""
        input, weight, mean, scale, total = ctx.saved_tensors
        axes, beside = _across(input)
        normal = (input - mean.reshape(beside)) * scale.reshape(beside)
        bias_grad, weight_grad = ops.sum(dy, axes), ops.sum(dy * normal, axes)
        group, both = ctx.group, ops.stack([bias_grad, weight_grad], 0)
        shares = ops.all_reduce(both, group.number, "sum") / total
        factor = scale if weight is None else scale * weight
        dx = (dy - shares[0].reshape(beside) - normal * shares[1].reshape(beside)) * factor.reshape(beside)
        parameters = (None if weight is None else weight_grad, bias_grad if ctx.has_bias else None)
        return dx, *parameters, None, None, None, None, None


def batch_norm(input, running_mean, running_var, weight, bias, momentum, eps, group):
    """Return the input, normalized by the statistics of all processes' inputs, which go into the running ones.

    Parameters
    ----------
    input : Tensor
        This process's part of the batch; it may have no element.
    running_mean, running_var : Optional[Tensor]
        Written to.
    weight, bias : Optional[Tensor]
        One number per channel.
    momentum : float
        Weight of the batch in the running statistics.
    eps : float
        Added to the variance.
    group : dragon.distributed.group.ProcessGroup
        The processes.

    Returns
    -------
    Tensor
        As large as the input, and of its dtype.

    """
    kind = OBJECTS["float32"] if input.dtype in _WIDE else input.dtype
    wide = input.to(kind)
    mean, variance, total = _collect(wide.detach(), group)
    if total.item() == 1:
        raise ValueError("Expected more than 1 value per channel when training, got input size "
                         f"{tuple(input.shape)} and none on other processes")
    if running_mean is not None:
        running_mean.lerp_(mean.to(running_mean.dtype), momentum)
        unbiased = variance * (total / (total - 1))
        running_var.lerp_(unbiased.to(running_var.dtype), momentum)
    weight, bias = (None if each is None else each.to(kind) for each in (weight, bias))
    return _Normalize.apply(wide, weight, bias, mean, variance, total, eps, group).to(input.dtype)
