"""How JAX and PyTorch call the paddings that Keras's transposed convolutions have: libraries and tests compare them."""
from dragon.core import warnings
from dragon.vm.shared.windows.geometry import each_axis, spread


def _parts(kernel_size, stride, dilation_rate, padding, output_padding):
    """Return how many places the kernel covers, the padding's name, and the output's padding or None."""
    kind = padding.lower()
    if kind not in ("valid", "same"):
        raise ValueError(f"The `padding` argument must be one of 'valid', 'same'. Received: padding={padding}")
    window = spread(kernel_size, dilation_rate)
    if kind == "valid" and output_padding is None:
        output_padding = max(window, stride) - window
    return window, kind, output_padding


def _convert_conv_transpose_padding_args_from_keras_to_jax(kernel_size, stride, dilation_rate, padding,
                                                           output_padding):
    """Return what JAX adds on the left and on the right of an axis that is spread by the stride."""
    window, kind, output_padding = _parts(kernel_size, stride, dilation_rate, padding, output_padding)
    if kind == "valid":
        return window - 1, window - 1 + output_padding
    both = stride + window - 2 if output_padding is None else window + window % 2 - 2 + output_padding
    left = min(both - both // 2, window - 1)
    return left, both - left


def _convert_conv_transpose_padding_args_from_keras_to_torch(kernel_size, stride, dilation_rate, padding,
                                                             output_padding):
    """Return what PyTorch takes off both sides of an axis, and what it adds on the right."""
    window, kind, output_padding = _parts(kernel_size, stride, dilation_rate, padding, output_padding)
    taken = 0
    if kind == "same":
        more = window % 2 - window + (stride - window % 2 if output_padding is None else output_padding)
        taken = max(-(more // 2), 0)
        output_padding = 2 * taken + more
    if taken > 0 and output_padding > 0:
        warnings.warn("You might experience inconsistencies across backends when calling conv transpose with "
                      f"kernel_size={kernel_size}, stride={stride}, dilation_rate={dilation_rate}, "
                      f"padding={padding}, output_padding={output_padding}.")
    if output_padding >= stride:
        warnings.warn("Torch backend requires output_padding < stride. Clamping output_padding "
                      f"{output_padding} -> {stride - 1} for stride {stride}.")
    return taken, min(output_padding, stride - 1)


def _each(convert, input_shape, kernel_shape, strides, padding, output_padding, dilation_rate):
    count = len(input_shape) - 2
    more = (None,) * count if output_padding is None else each_axis(output_padding, count)
    return [convert(*numbers, padding, extra) for *numbers, extra in zip(
        kernel_shape[:count], each_axis(strides, count), each_axis(dilation_rate, count), more)]


def compute_conv_transpose_padding_args_for_jax(input_shape, kernel_shape, strides, padding, output_padding,
                                                dilation_rate):
    """Return JAX's paddings of each axis."""
    return _each(_convert_conv_transpose_padding_args_from_keras_to_jax, input_shape, kernel_shape, strides, padding,
                 output_padding, dilation_rate)


def compute_conv_transpose_padding_args_for_torch(input_shape, kernel_shape, strides, padding, output_padding,
                                                  dilation_rate):
    """Return PyTorch's paddings, and its output's paddings, of each axis."""
    pairs = _each(_convert_conv_transpose_padding_args_from_keras_to_torch, input_shape, kernel_shape, strides,
                  padding, output_padding, dilation_rate)
    return [taken for taken, _ in pairs], [added for _, added in pairs]
