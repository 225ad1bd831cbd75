"""Operators that PyTorch names after libraries of kernels, and batch norms in steps: here they compute like any other.

Which library computes is the engine's choice: what only chooses among a library's ways (`benchmark`, `deterministic`,
`allow_tf32`) is accepted.
"""
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.functions.native import convolution
from dragon.vm.torch.core.functions.vision import affine_grid, grid_sample
from dragon.vm.torch.core.register import FUNCTIONS, function, overridable
from dragon.vm.torch.core.sentences import named
from dragon.vm.torch.core.tensor import ops


# --- convolutions

def _convolve(input, weight, bias, stride, padding, dilation, groups):
    return convolution(input, weight, bias, stride, padding, dilation, False, [0] * len(stride), groups)


def _register(names, make, sentence):
    for name in names:
        FUNCTIONS[name] = overridable(named(make, name, sentence))


def _convolutions():
    def cudnn(self, weight, padding, stride, dilation, groups, benchmark, deterministic, allow_tf32):
        return _convolve(self, weight, None, stride, padding, dilation, groups)

    def miopen(self, weight, bias, padding, stride, dilation, groups, benchmark, deterministic):
        return _convolve(self, weight, bias, stride, padding, dilation, groups)

    def by_depth(self, weight, bias, padding, stride, dilation, groups, benchmark, deterministic):
        return _convolve(self, weight, bias, stride, padding, dilation, groups)

    def mkldnn(self, weight, bias, padding, stride, dilation, groups):
        return _convolve(self, weight, bias, stride, padding, dilation, groups)
    for name, make in (("cudnn_convolution", cudnn), ("miopen_convolution", miopen),
                       ("miopen_depthwise_convolution", by_depth), ("mkldnn_convolution", mkldnn)):
        _register([name], make, "Return a convolution.")


def _joined_convolutions():
    for library in ("cudnn", "miopen"):
        def rectified(self, weight, bias, stride, padding, dilation, groups):
            return ops.relu(_convolve(self, weight, bias, stride, padding, dilation, groups))

        def added(self, weight, z, alpha, bias, stride, padding, dilation, groups):
            made = _convolve(self, weight, bias, stride, padding, dilation, groups)
            return ops.relu(ops.add(made, z, alpha=1 if alpha is None else alpha))
        _register([f"{library}_convolution_relu"], rectified, "Return a convolution's positive part.")
        _register([f"{library}_convolution_add_relu"], added, "Return the positive part of a convolution and `z`.")


def _transposed():
    def cudnn(self, weight, padding, output_padding, stride, dilation, groups, benchmark, deterministic, allow_tf32):
        return convolution(self, weight, None, stride, padding, dilation, True, output_padding, groups)

    def miopen(self, weight, bias, padding, output_padding, stride, dilation, groups, benchmark, deterministic):
        return convolution(self, weight, bias, stride, padding, dilation, True, output_padding, groups)
    for name, make in (("cudnn_convolution_transpose", cudnn), ("miopen_convolution_transpose", miopen)):
        _register([name], make, "Return a transposed convolution.")


_convolutions()
_joined_convolutions()
_transposed()


# --- pools, grids, products

def _pooled(rank):
    def pool(self, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
        return FUNCTIONS[f"max_pool{rank}d"](self, kernel_size, stride or None, padding, dilation, ceil_mode)
    _register([f"mkldnn_max_pool{rank}d"], pool, "Return the greatest number of each window.")


_pooled(2)
_pooled(3)


@function
def mkldnn_adaptive_avg_pool2d(self, output_size):
    """Return means of as many windows as the result has places."""
    from dragon.vm.torch.core.functions.pooling import adaptive_avg_pool2d
    return adaptive_avg_pool2d(self, output_size)


@function
def mkldnn_linear_backward_weights(grad_output, input, weight, bias_defined):
    """Return the gradients of a linear layer's weight and bias."""
    rows, given = grad_output.reshape(-1, grad_output.shape[-1]), input.reshape(-1, input.shape[-1])
    return rows.T @ given, rows.sum(0) if bias_defined else ops.empty((0,), dtype=rows.dtype)


@function
def cudnn_affine_grid_generator(theta, N, C, H, W):
    """Return the places that an affine map reads from."""
    return affine_grid(theta, (N, C, H, W), align_corners=True)


@function
def cudnn_grid_sampler(self, grid):
    """Return a picture read at places between its pixels."""
    return grid_sample(self, grid, "bilinear", "zeros", True)


@function
def cudnn_is_acceptable(tensor):
    """Return False: there is no cuDNN."""
    return False


@function
def miopen_ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, deterministic, zero_infinity):
    """Return the losses of sequences without given places, and what their gradients are made of."""
    from dragon.vm.torch.core.functions.loss import ctc_loss
    losses = ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, "none", zero_infinity)
    return losses, ops.empty((0,), dtype=log_probs.dtype)


# --- batch norms in steps, as those do whose batches lie on several devices

def _axes(input):
    return [axis for axis in range(input.ndim) if axis != 1]


def _channels(numbers, input):
    return numbers.reshape([1, -1] + [1] * (input.ndim - 2))


def _batch_norms():
    def cudnn(input, weight, bias, running_mean, running_var, training, exponential_average_factor, epsilon):
        made = ops.native_batch_norm(input, weight, bias, running_mean, running_var, training,
                                     exponential_average_factor, epsilon)
        return (*made, ops.empty((0,), dtype=OBJECTS["uint8"]))

    def miopen(input, weight, bias, running_mean, running_var, training, exponential_average_factor, epsilon):
        return cudnn(input, weight, bias, running_mean, running_var, training, exponential_average_factor, epsilon)[:3]
    for name, make in (("cudnn_batch_norm", cudnn), ("miopen_batch_norm", miopen)):
        _register([name], make, "Return a batch norm, and the means and scales of the batch.")


_batch_norms()


@function
def batch_norm_stats(input, eps):
    """Return each channel's mean, and one by the root of its variance."""
    variance, mean = ops.real_var_mean(input, _axes(input), correction=0)
    return mean, ops.rsqrt(variance + eps)


@function
def batch_norm_update_stats(input, running_mean, running_var, momentum):
    """Return each channel's mean and variance, and bring the running ones nearer to them."""
    variance, mean = ops.real_var_mean(input, _axes(input), correction=0)
    count = input.numel() // input.shape[1]
    _follow(running_mean, running_var, mean, variance * (count / max(count - 1, 1)), momentum)
    return mean, variance


def _follow(running_mean, running_var, mean, variance, momentum):
    for running, now in ((running_mean, mean), (running_var, variance)):
        if running is not None:
            running.mul_(1 - momentum).add_(now.to(running.dtype), alpha=momentum)


@function
def batch_norm_elemt(input, weight, bias, mean, invstd, eps):
    """Return a batch norm with given means and scales."""
    made = (input - _channels(mean, input)) * _channels(invstd, input)
    made = made if weight is None else made * _channels(weight, input)
    return (made if bias is None else made + _channels(bias, input)).to(input.dtype)


@function
def batch_norm_gather_stats_with_counts(input, mean, invstd, running_mean, running_var, momentum, eps, counts):
    """Return means and scales of a batch that lies in parts, a row of each and how many numbers each has."""
    counts = counts.to(mean.dtype).reshape(-1, 1)
    total = counts.sum()
    together = (mean * counts).sum(0) / total
    squares = ((invstd ** -2 - eps + (mean - together) ** 2) * counts).sum(0)
    _follow(running_mean, running_var, together, squares / (total - 1), momentum)
    return together, ops.rsqrt(squares / total + eps)


@function
def batch_norm_gather_stats(input, mean, invstd, running_mean, running_var, momentum, eps, count):
    """Return means and scales of a batch that lies in parts of one size, a row of each."""
    counts = ops.full((mean.shape[0],), float(count), dtype=mean.dtype)
    return batch_norm_gather_stats_with_counts(input, mean, invstd, running_mean, running_var, momentum, eps, counts)


@function
def batch_norm_backward_reduce(grad_out, input, mean, invstd, weight, input_g, weight_g, bias_g):
    """Return sums of the gradient, and of it times what was centred; then the gradients of weight and bias."""
    total = grad_out.sum(_axes(input))
    centred = (grad_out * (input - _channels(mean, input))).sum(_axes(input))
    none = ops.empty((0,), dtype=total.dtype)
    return (total if input_g else none, centred if input_g else none, centred * invstd if weight_g else none,
            total if bias_g else none)


@function
def batch_norm_backward_elemt(grad_out, input, mean, invstd, weight, sum_dy, sum_dy_xmu, count):
    """Return the gradient of a batch norm's input, given sums over all parts of the batch."""
    total = count.sum()
    scale = invstd if weight is None else invstd * weight
    centred = (input - _channels(mean, input)) * _channels(invstd ** 2 * sum_dy_xmu / total, input)
    return ((grad_out - _channels(sum_dy / total, input) - centred) * _channels(scale, input)).to(input.dtype)
