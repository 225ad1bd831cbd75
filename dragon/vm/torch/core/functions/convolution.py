"""Convolutions of `torch.nn.functional`: the operators, and PyTorch's paddings by name."""
from dragon.core.capture.sizes import as_whole
from dragon.vm.torch.core.register import function, overridable
from dragon.vm.torch.core.tensor import ops

_conv1d, _conv2d, _conv3d = ops.conv1d, ops.conv2d, ops.conv3d


def each_axis(value, count):
    """Return one number per axis from a number or a sequence."""
    if hasattr(value, "__index__"):
        return [as_whole(value)] * count
    value = list(value)
    return value * count if len(value) == 1 else value


def conv_by_name(who, input, weight, bias, stride, padding, dilation, groups):
    """Convolve with padding='same' or 'valid'."""
    count = weight.ndim - 2
    if padding == "valid":
        return getattr(ops, who)(input, weight, bias, stride, 0, dilation, groups)
    if padding != "same":
        raise RuntimeError(f"{who}: got padding {padding!r}, expected 'same', 'valid' or numbers")
    if any(step != 1 for step in each_axis(stride, count)):
        raise RuntimeError(f"{who}: got stride {stride} with padding='same', expected 1")
    whole = [step * (size - 1) for step, size in zip(each_axis(dilation, count), tuple(weight.shape)[2:])]
    before, after = [pad // 2 for pad in whole], [pad - pad // 2 for pad in whole]
    if input.ndim == count + 1:
        made = ops.conv(ops.unsqueeze(input, 0), weight, bias, 1, before, dilation, groups, after)
        return ops.squeeze(made, 0)
    return ops.conv(input, weight, bias, 1, before, dilation, groups, after)


@function
def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Convolve along one axis."""
    if isinstance(padding, str):
        return conv_by_name("conv1d", input, weight, bias, stride, padding, dilation, groups)
    return _conv1d(input, weight, bias, stride, padding, dilation, groups)


@function
def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Convolve along two axes."""
    if isinstance(padding, str):
        return conv_by_name("conv2d", input, weight, bias, stride, padding, dilation, groups)
    return _conv2d(input, weight, bias, stride, padding, dilation, groups)


@function
def conv3d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Convolve along three axes."""
    if isinstance(padding, str):
        return conv_by_name("conv3d", input, weight, bias, stride, padding, dilation, groups)
    return _conv3d(input, weight, bias, stride, padding, dilation, groups)


@function
def conv_tbc(input, weight, bias, pad=0):
    """Convolve along the first axis of (time, batch, channel)."""
    made = ops.conv1d(ops.permute(input, (1, 2, 0)), ops.permute(weight, (2, 1, 0)), bias, 1, pad)
    return ops.permute(made, (2, 0, 1))


@overridable
def grouped_mm(mat_a, mat_b, *, offs=None, bias=None, out_dtype=None):
    """Multiply groups of matrices: stacked ones one by one, and pieces of flat ones that end at `offs`.

    Parameters
    ----------
    mat_a, mat_b : Tensor
        With three axes a stack of matrices; with two, matrices side by side along the rows of `mat_a`, the columns of
        `mat_b`, or, if both are so, along what is summed over.
    offs : Tensor, optional
        Where each group of a flat operand ends.
    bias : Tensor, optional
        What is added.
    out_dtype : dtype, optional
        The dtype of the result.

    Returns
    -------
    Tensor
        The products.

    """
    if mat_a.ndim == mat_b.ndim == 3:
        made = ops.bmm(mat_a, mat_b)
    elif offs is None:
        raise RuntimeError(f"grouped_mm: got no offs for {mat_a.shape} and {mat_b.shape}, expected where groups end")
    else:
        ends = offs.tolist()
        parts = [slice(start, end) for start, end in zip([0, *ends], ends)]
        if mat_a.ndim == 3:
            made = ops.cat([ops.mm(matrix, mat_b[:, part]) for matrix, part in zip(mat_a, parts)], 1)
        elif mat_b.ndim == 3:
            made = ops.cat([ops.mm(mat_a[part], matrix) for matrix, part in zip(mat_b, parts)], 0)
        else:
            made = ops.stack([ops.mm(mat_a[:, part], mat_b[part]) for part in parts])
    made = made if bias is None else made + bias
    return made if out_dtype is None or out_dtype == made.dtype else ops.cast(made, out_dtype)
