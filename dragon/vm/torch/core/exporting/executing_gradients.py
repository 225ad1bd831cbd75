"""What PyTorch's operators for gradients do: those that its backward passes come to, and graphs of them say."""
from dragon.vm.torch.core.exporting.executing import REDUCTIONS, api, runs
from dragon.vm.torch.core.tensor import ops

# Of functions of one number: the engine has them by the same name, with the same arguments.
for _name in """tanh_backward sigmoid_backward gelu_backward silu_backward softplus_backward hardswish_backward
                hardtanh_backward mish_backward hardsigmoid_backward hardshrink_backward
                softshrink_backward""".split():
    runs(_name)(getattr(ops, _name))


@runs("threshold_backward")
def _threshold_backward(grad_output, self, threshold):
    return ops.where(self > threshold, grad_output, 0)


@runs("leaky_relu_backward")
def _leaky_relu_backward(grad_output, self, negative_slope, self_is_result):  # a result has the sign of its input
    return ops.where(self > 0, grad_output, grad_output * negative_slope)


@runs("elu_backward")
def _elu_backward(grad_output, alpha, scale, input_scale, is_result, self_or_result):
    below = self_or_result + alpha * scale if is_result else api().exp(self_or_result * input_scale) * (alpha * scale)
    return ops.where(self_or_result > 0, grad_output * scale, grad_output * below * input_scale)


@runs("log_sigmoid_backward")
def _log_sigmoid_backward(grad_output, self, buffer):
    return ops.logsigmoid_backward(grad_output, self)


@runs("_softmax_backward_data")
def _softmax_backward_data(grad_output, output, dim, input_dtype):
    return ops.softmax_backward(grad_output, output, dim).to(input_dtype)


@runs("_log_softmax_backward_data")
def _log_softmax_backward_data(grad_output, output, dim, input_dtype):
    return ops.log_softmax_backward(grad_output, output, dim).to(input_dtype)


# --- layers

def _asked(values, mask):
    """Return the gradients that are asked for, None in place of others."""
    return tuple(value if wanted else None for value, wanted in zip(values, mask))


@runs("convolution_backward")
def _convolution_backward(grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed,
                          output_padding, groups, output_mask):
    stride, padding, dilation = map(tuple, (stride, padding, dilation))
    given, window = tuple(input.shape[2:]), tuple(weight.shape[2:])
    if transposed:
        makers = (lambda: ops.conv_forward(grad_output, weight, None, given, stride, padding, dilation, groups),
                  lambda: ops.conv_backward_weights(input, grad_output, window, stride, padding, dilation, groups))
    else:
        makers = (lambda: ops.conv_backward_data(grad_output, weight, None, given, stride, padding, dilation, groups),
                  lambda: ops.conv_backward_weights(grad_output, input, window, stride, padding, dilation, groups))
    axes = [axis for axis in range(grad_output.ndim) if axis != 1]
    makers = (*makers, lambda: grad_output.sum(axes))
    return tuple(make() if wanted else None for make, wanted in zip(makers, output_mask))


@runs("native_batch_norm_backward")
def _native_batch_norm_backward(grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps,
                                output_mask):
    if not train:
        save_mean, save_invstd = running_mean, (running_var + eps).rsqrt()
    return _asked(ops.batch_norm_backward(grad_out, input, save_mean, save_invstd, weight, train, *output_mask),
                  output_mask)


@runs("native_layer_norm_backward")
def _native_layer_norm_backward(grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask):
    made = ops.layer_norm_backward(grad_out, input, mean, rstd, weight, tuple(normalized_shape), *output_mask)
    return _asked(made, output_mask)


@runs("native_group_norm_backward")
def _native_group_norm_backward(grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask):
    return _asked(ops.group_norm_backward(grad_out, input, mean, rstd, weight, *output_mask), output_mask)


@runs("embedding_dense_backward")
def _embedding_dense_backward(grad_output, indices, num_weights, padding_idx, scale_grad_by_freq):
    return ops.embedding_backward(grad_output, indices, num_weights, padding_idx, scale_grad_by_freq)


def _averaged_backward(name, rank):
    @runs(name)
    def run(grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
        window = tuple(kernel_size) * (rank // len(kernel_size))
        stride = tuple(stride) * (rank // len(stride)) if stride else window
        return ops.average_pool_backward(grad_output, tuple(self.shape[-rank:]), window, stride,
                                         tuple(padding) * (rank // len(padding)), (1,) * rank, False,
                                         count_include_pad, divisor_override or 0)


_averaged_backward("avg_pool2d_backward", 2)
_averaged_backward("avg_pool3d_backward", 3)


@runs("max_pool2d_with_indices_backward")
def _max_pool2d_with_indices_backward(grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices):
    return ops.max_pool_backward(grad_output, indices, tuple(self.shape[-2:]))


# --- losses

@runs("nll_loss_backward", "nll_loss2d_backward")
def _nll_loss_backward(grad_output, self, target, weight, reduction, ignore_index, total_weight):
    if REDUCTIONS[reduction] == "mean":
        grad_output = grad_output / total_weight
    classes = 1 if self.ndim > 1 else 0
    wide = self.unsqueeze(0) if self.ndim == 1 else self
    target = target.unsqueeze(0) if self.ndim == 1 else target
    flat = target.reshape(target.shape[0], -1)
    terms = grad_output.expand(target.shape).reshape(flat.shape) if grad_output.ndim == 0 else grad_output.reshape(
        flat.shape)
    made = ops.nll_loss_terms_backward(terms, flat, weight, self.shape[classes], ignore_index)
    return made.reshape(wide.shape).reshape(self.shape)


# --- shapes

@runs("select_backward")
def _select_backward(grad_output, input_sizes, dim, index):
    return api().select_scatter(grad_output.new_zeros(tuple(input_sizes)), grad_output, dim, index)


@runs("slice_backward")
def _slice_backward(grad_output, input_sizes, dim, start, end, step):
    return api().slice_scatter(grad_output.new_zeros(tuple(input_sizes)), grad_output, dim, start, end, step)


@runs("diagonal_backward")
def _diagonal_backward(grad_output, input_sizes, offset, dim1, dim2):
    return api().diagonal_scatter(grad_output.new_zeros(tuple(input_sizes)), grad_output, offset, dim1, dim2)
