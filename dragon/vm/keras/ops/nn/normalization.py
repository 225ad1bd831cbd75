"""Means, variances, and numbers brought to a common scale by them."""
from dragon.core import warnings
from dragon.vm.keras.core.config import epsilon as default_epsilon
from dragon.vm.keras.ops.common import along, canonical_axis, cast_to, dtype_of, operation, ops, tensor
from dragon.vm.shared import strategies


@operation
def moments(x, axes, keepdims=False, synchronized=False):
    """Return mean and variance along axes.

    Parameters
    ----------
    axes : Union[int, Sequence[int]]
        The axes.
    keepdims : bool, optional, default=False
        Whether they stay, with size 1.
    synchronized : bool, optional, default=False
        Over all replicas.

    Returns
    -------
    Tuple[Tensor, Tensor]
        Mean and variance.

    """
    x = tensor(x)
    dtype = dtype_of(x)
    x, *how = along(cast_to(x, "float32") if dtype in ("float16", "bfloat16") else x, axes, keepdims)
    if synchronized and strategies.local.replica is not None:
        mean, var = _of_all_replicas(x, *how)
    else:
        var, mean = ops.var_mean(x, how[0], correction=0, keepdims=how[1])
    if dtype in ("float16", "bfloat16"):
        # The bounds are those of float16 for both, as elsewhere.
        mean, var = (cast_to(ops.clamp(item, -65504.0, 65504.0), dtype) for item in (mean, var))
    return mean, var


def _of_all_replicas(x, axes, keepdims):
    """Return mean and variance over the samples of all replicas, however many each of them has."""
    from dragon.vm.shared.replicas.meetings import all_reduce
    total, squares = ops.sum(x, axes, keepdims), ops.sum(ops.square(x), axes, keepdims)
    count = ops.sum(ops.ones_like(x), axes, keepdims)
    total, squares, count = all_reduce("sum", [total, squares, count])
    mean = total / count
    return mean, squares / count - ops.square(mean)


@operation
def batch_normalization(x, mean, variance, axis, offset=None, scale=None, epsilon=1e-3):
    """Subtract a mean, divide by the root of a variance, then scale and move.

    Parameters
    ----------
    mean, variance : Tensor
        One for each place along the axis.
    axis : int
        The axis of features.
    offset, scale : Tensor, optional
        One for each place along the axis.
    epsilon : float, optional, default=0.001
        Added to the variance.

    """
    x = tensor(x)
    shape = [1] * x.ndim
    shape[axis] = -1
    mean, variance, offset, scale = (None if item is None else ops.reshape(tensor(item), shape)
                                     for item in (mean, variance, offset, scale))
    factor = ops.rsqrt(ops.add(variance, epsilon))
    factor = factor if scale is None else ops.mul(factor, scale)
    shift = ops.neg(ops.mul(mean, factor)) if offset is None else ops.sub(offset, ops.mul(mean, factor))
    return ops.add(ops.mul(x, cast_to(factor, dtype_of(x))), cast_to(shift, dtype_of(x)))


@operation
def normalize(x, axis=-1, order=2, epsilon=None):
    """Divide by the norm along axes.

    Parameters
    ----------
    order : number, optional, default=2
        Which norm.
    epsilon : float, optional
        What smaller norms count as; the configured one by default.

    """
    if not isinstance(order, int) or not order >= 1:
        raise ValueError(f"Argument `order` must be an int >= 1. Received: order={order}")
    x = tensor(x)
    x = x if "float" in dtype_of(x) else cast_to(x, "float32")
    x = ops.unsqueeze(x, 0) if not x.ndim else x
    epsilon = default_epsilon() if epsilon is None else epsilon
    if order == 2:
        squares = ops.sum(*along(ops.square(x), axis, True))
        return ops.mul(x, ops.rsqrt(ops.maximum(squares, epsilon ** 2)))
    rows, *how = along(x, axis, True)
    norm = ops.linalg_vector_norm(rows, order, *how)
    return ops.div(x, ops.maximum(norm, epsilon))


def _wide(x):
    """Return numbers in at least float32, in which means are taken; complex ones stay so."""
    return x if dtype_of(x) in ("float64", "complex64", "complex128") else cast_to(x, "float32")


def _scaled(y, parameters, axes, rank):
    """Reshape parameters of the normalized axes so that they are broadcast."""
    made = []
    for parameter in parameters:
        parameter = tensor(parameter)
        if parameter.ndim == len(axes):
            shape = [1] * rank
            for axis, size in zip(axes, parameter.shape):
                shape[axis] = size
            parameter = ops.reshape(parameter, shape)
        made.append(parameter)
    return made


def _axes_of(axis, rank):
    return sorted(canonical_axis(item, rank) for item in (axis if isinstance(axis, (list, tuple)) else [axis]))


def _trailing(axes, rank, shape, *parameters):
    """Return whether axes are the last ones, and parameters have just their sizes."""
    sizes = tuple(shape[axis] for axis in axes)
    return axes == list(range(rank - len(axes), rank)) and all(
        parameter is None or tuple(parameter.shape) == sizes for parameter in parameters)


def _scaled_by_variance(x, gamma, axis, epsilon):
    """Return what `rms_scaling=True` has long meant: numbers divided by their deviation, and not moved."""
    axes, dtype = _axes_of(axis, x.ndim), dtype_of(x)
    wide = _wide(x)
    var, _ = ops.var_mean(wide, axes, correction=0, keepdims=True)
    y = ops.mul(wide, ops.rsqrt(ops.add(var, default_epsilon() if epsilon is None else epsilon)))
    return cast_to(y if gamma is None else ops.mul(y, *_scaled(y, [gamma], axes, x.ndim)), dtype)


@operation
def layer_normalization(x, gamma=None, beta=None, axis=-1, epsilon=None, **kwargs):
    """Bring numbers along axes to mean 0 and variance 1, then scale and move.

    Parameters
    ----------
    gamma, beta : Tensor, optional
        Scale and offset of each place along the axes.
    epsilon : float, optional
        Added to the variance; the configured one by default.

    """
    if kwargs.pop("rms_scaling", False):
        warnings.warn("You passed `rms_scaling=True`, which is deprecated. This argument incorrectly scales the input "
                      "by the variance, not the root mean square. To correctly use RMS Normalization, please use "
                      "`keras.ops.rms_normalization` / `keras.ops.nn.rms_normalization` instead.")
        return _scaled_by_variance(tensor(x), gamma, axis, epsilon)
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments. Received: {kwargs}")
    x, gamma, beta = tensor(x), *(item if item is None else tensor(item) for item in (gamma, beta))
    epsilon = default_epsilon() if epsilon is None else epsilon
    axes, dtype = _axes_of(axis, x.ndim), dtype_of(x)
    wide = _wide(x)
    if _trailing(axes, x.ndim, x.shape, gamma, beta):
        gamma, beta = (item if item is None else cast_to(tensor(item), dtype_of(wide)) for item in (gamma, beta))
        return cast_to(ops.layer_norm(wide, [x.shape[item] for item in axes], gamma, beta, epsilon), dtype)
    var, mean = ops.var_mean(wide, axes, correction=0, keepdims=True)
    y = ops.mul(ops.sub(wide, mean), ops.rsqrt(ops.add(var, epsilon)))
    if gamma is not None:
        y = ops.mul(y, *_scaled(y, [gamma], axes, x.ndim))
    if beta is not None:
        y = ops.add(y, *_scaled(y, [beta], axes, x.ndim))
    return cast_to(y, dtype)


@operation
def rms_normalization(x, scale=None, axis=-1, epsilon=None):
    """Divide numbers by the root of the mean of their squares along axes, then scale; as `layer_normalization`."""
    x = tensor(x)
    epsilon = default_epsilon() if epsilon is None else epsilon
    axes, dtype = _axes_of(axis, x.ndim), dtype_of(x)
    wide = _wide(x)
    y = ops.mul(wide, ops.rsqrt(ops.add(ops.mean(ops.square(wide), axes, True), epsilon)))
    if scale is not None:
        # Wherever the axes are, the scale lies along the last ones.
        y = ops.mul(y, cast_to(tensor(scale), dtype_of(wide)))
    return cast_to(y, dtype)
