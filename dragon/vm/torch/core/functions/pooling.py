"""Pools of `torch.nn.functional`: the operators, `return_indices=`, sizes left open and windows at random."""
from dragon.vm.torch.core.functions.convolution import each_axis
from dragon.vm.torch.core.register import overridable
from dragon.vm.torch.core.tensor import ops


def step_of(stride):
    """Return the steps of windows, None where PyTorch's empty list asks for that too."""
    return None if stride == [] or stride == () else stride


def _max_pool(axes):
    plain, both = getattr(ops, f"max_pool{axes}d"), getattr(ops, f"max_pool{axes}d_with_indices")

    def max_pool_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
                              return_indices=False):
        return both(input, kernel_size, step_of(stride), padding, dilation, ceil_mode)

    def max_pool(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        if input.numel() == 0 and 0 in tuple(input.shape)[-axes - 1:]:
            raise RuntimeError(f"max_pool{axes}d: got input of {input.shape}, expected no empty dim but the batch")
        operator = both if return_indices else plain
        return operator(input, kernel_size, step_of(stride), padding, dilation, ceil_mode)
    return named(max_pool, f"max_pool{axes}d", "Return the maxima of windows, and where they are if wanted."), named(
        max_pool_with_indices, f"max_pool{axes}d_with_indices", "Return the maxima of windows and where they are.")


def _adaptive_max_pool(axes):
    plain, both = getattr(ops, f"adaptive_max_pool{axes}d"), getattr(ops, f"adaptive_max_pool{axes}d_with_indices")

    def adaptive_with_indices(input, output_size, return_indices=False):
        return both(input, whole_size(input, output_size, axes))

    def adaptive(input, output_size, return_indices=False):
        return (both if return_indices else plain)(input, whole_size(input, output_size, axes))
    return named(adaptive, f"adaptive_max_pool{axes}d",
                 "Return the maxima of as many windows as asked for, and where they are if wanted."), named(
        adaptive_with_indices, f"adaptive_max_pool{axes}d_with_indices",
        "Return the maxima of as many windows as asked for, and where they are.")


def _max_unpool(axes):
    operator = getattr(ops, f"max_unpool{axes}d")

    def max_unpool(input, indices, kernel_size, stride=None, padding=0, output_size=None):
        kernel = each_axis(kernel_size, axes)
        step = each_axis(stride, axes) if stride is not None else kernel
        size = unpooled_size(input, kernel, step, each_axis(padding, axes), output_size)
        return operator(input, indices, kernel, step, padding, size)
    return named(max_unpool, f"max_unpool{axes}d", "Put maxima back where they were among zeros.")


def _lp_pool(axes):
    pool, max_pool = getattr(ops, f"lp_pool{axes}d"), getattr(ops, f"max_pool{axes}d")

    def lp_pool(input, norm_type, kernel_size, stride=None, ceil_mode=False):
        if norm_type == float("inf"):
            return max_pool(ops.abs(input), kernel_size, stride, 0, 1, ceil_mode)
        if norm_type == -float("inf"):
            return -max_pool(-ops.abs(input), kernel_size, stride, 0, 1, ceil_mode)
        return pool(input, norm_type, kernel_size, stride, ceil_mode)
    return named(lp_pool, f"lp_pool{axes}d", "Return the norms of windows.")


def named(python_function, name, doc):
    """Return a function of the API under its name."""
    python_function.__name__ = python_function.__qualname__ = name
    python_function.__doc__ = doc
    return overridable(python_function)


def whole_size(input, output_size, axes):
    """Return an output size in which None stands for the input's."""
    if not isinstance(output_size, (list, tuple)):
        return output_size if output_size is not None else tuple(input.shape)[-axes:]
    if len(output_size) > input.ndim:
        raise ValueError(f"adaptive_pool: got output_size {tuple(output_size)} for input of {input.shape}, expected at "
                         f"most {input.ndim} numbers")
    return [size if size is not None else own
            for size, own in zip(output_size, tuple(input.shape)[-len(output_size):])]


def unpooled_size(input, kernel, stride, padding, wanted):
    """Return the size before pooling: the smallest one, or the one wanted if it could have been."""
    own = tuple(input.shape)[-len(kernel):]
    least = [(size - 1) * step + window - 2 * pad for size, step, window, pad in zip(own, stride, kernel, padding)]
    if wanted is None:
        return least
    wanted = list(wanted)
    if len(wanted) == len(kernel) + 2:
        wanted = wanted[2:]
    if len(wanted) != len(kernel):
        raise ValueError(f"max_unpool: got output_size {wanted}, expected {len(kernel)} or {len(kernel) + 2} numbers")
    for axis, (size, usual, step) in enumerate(zip(wanted, least, stride)):
        if not usual - step < size < usual + step:
            raise ValueError(f"max_unpool: got output_size {wanted}, expected more than {usual - step} and less than "
                             f"{usual + step} in axis {axis}")
    return wanted


max_pool1d, max_pool1d_with_indices = _max_pool(1)
max_pool2d, max_pool2d_with_indices = _max_pool(2)
max_pool3d, max_pool3d_with_indices = _max_pool(3)
adaptive_max_pool1d, adaptive_max_pool1d_with_indices = _adaptive_max_pool(1)
adaptive_max_pool2d, adaptive_max_pool2d_with_indices = _adaptive_max_pool(2)
adaptive_max_pool3d, adaptive_max_pool3d_with_indices = _adaptive_max_pool(3)
max_unpool1d, max_unpool2d, max_unpool3d = _max_unpool(1), _max_unpool(2), _max_unpool(3)
lp_pool1d, lp_pool2d, lp_pool3d = _lp_pool(1), _lp_pool(2), _lp_pool(3)


@overridable
def adaptive_avg_pool2d(input, output_size):
    """Return the means of as many windows as asked for, along two axes."""
    return ops.adaptive_avg_pool2d(input, whole_size(input, output_size, 2))


@overridable
def adaptive_avg_pool3d(input, output_size):
    """Return the means of as many windows as asked for, along three axes."""
    return ops.adaptive_avg_pool3d(input, whole_size(input, output_size, 3))


def fractional_size(who, input, axes, kernel_size, output_size, output_ratio):
    """Return how many windows there are, given so or as a ratio of the size."""
    sizes = tuple(input.shape)[-axes:]
    if output_size is None and output_ratio is None:
        raise ValueError(f"{who}: got neither output_size nor output_ratio, expected one of them")
    if output_size is None:
        ratios = list(output_ratio) if isinstance(output_ratio, (list, tuple)) else [output_ratio] * axes
        output_size = [int(size * ratio) for size, ratio in zip(sizes, ratios)]
    # PyTorch wants one place to spare in volumes.
    for size, count, window in zip(sizes, each_axis(output_size, axes), each_axis(kernel_size, axes)):
        if count + window - 1 + (axes == 3) > size:
            raise RuntimeError(f"{who}: got {count} windows of {window}, expected them to fit into {size}")
    return output_size


def _fractional_max_pool(axes):
    name = f"fractional_max_pool{axes}d"
    plain, both = getattr(ops, name), getattr(ops, name + "_with_indices")

    def with_indices(input, kernel_size, output_size=None, output_ratio=None, return_indices=False,
                     _random_samples=None):
        size = fractional_size(name, input, axes, kernel_size, output_size, output_ratio)
        return both(input, kernel_size, size, _random_samples)

    def pool(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        size = fractional_size(name, input, axes, kernel_size, output_size, output_ratio)
        return (both if return_indices else plain)(input, kernel_size, size, _random_samples)
    return (named(pool, name, "Return the maxima of windows at random places, and where they are if wanted."),
            named(with_indices, name + "_with_indices", "Return the maxima of windows at random places, and where "
                                                        "they are."))


fractional_max_pool2d, fractional_max_pool2d_with_indices = _fractional_max_pool(2)
fractional_max_pool3d, fractional_max_pool3d_with_indices = _fractional_max_pool(3)
