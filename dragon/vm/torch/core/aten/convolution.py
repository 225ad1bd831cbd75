"""Gradients of convolutions in any number of axes."""
from dragon.vm.torch.core.tensor import ops


def convolution_backward(grad_output, input, weight, stride, padding, dilation, transposed, groups, output_mask):
    """Return the gradients of input, weight and bias that a mask asks for, None in place of others."""
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
