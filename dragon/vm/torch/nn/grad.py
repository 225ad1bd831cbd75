"""Gradients of convolutions with respect to their inputs and weights."""
from dragon.vm.torch.core.functions.convolution import each_axis
from dragon.vm.torch.core.tensor import ops


def _input_gradient(axes):
    def gradient(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
        return ops.conv_backward_data(grad_output, weight, None, tuple(input_size)[2:],
                                      *(each_axis(value, axes) for value in (stride, padding, dilation)), groups)
    return _named(gradient, f"conv{axes}d_input", "Return the gradient of a convolution's input.")


def _weight_gradient(axes):
    def gradient(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
        return ops.conv_backward_weights(grad_output, input, tuple(weight_size)[2:],
                                         *(each_axis(value, axes) for value in (stride, padding, dilation)), groups)
    return _named(gradient, f"conv{axes}d_weight", "Return the gradient of a convolution's weight.")


def _named(gradient, name, doc):
    gradient.__name__ = gradient.__qualname__ = name
    gradient.__doc__ = doc
    return gradient


conv1d_input, conv2d_input, conv3d_input = (_input_gradient(axes) for axes in (1, 2, 3))
conv1d_weight, conv2d_weight, conv3d_weight = (_weight_gradient(axes) for axes in (1, 2, 3))
