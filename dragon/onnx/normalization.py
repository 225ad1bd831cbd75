"""Normalisations and the softmax."""
import numpy

from dragon.onnx.size import Size, product
from dragon.onnx.table import maps, row_function


def parameter(w, value, count, number, dtype):
    """Return a weight or bias; what is missing scales by 1 or shifts by 0."""
    shape = count if isinstance(count, list) else [count]
    return value if value is not None else w.full(shape, number, dtype)


def along_channels(w, x, ndim):
    """Return a vector that broadcasts along axis 1."""
    return w.reshape(x, [-1] + [1] * (ndim - 2))


@maps("native_batch_norm")
def native_batch_norm(w, x, weight, bias, running_mean, running_var, training, momentum, eps):
    channels = x.shape[1]
    scale, shift = parameter(w, weight, channels, 1, x.dtype), parameter(w, bias, channels, 0, x.dtype)
    if not training:
        mean, variance = w.cast(running_mean, x.dtype), w.cast(running_var, x.dtype)
        y = w.BatchNormalization(x, scale, shift, mean, variance, epsilon=eps)
        rstd = w.Reciprocal(w.Sqrt(w.Add(w.cast(running_var, w.call.outputs[2].dtype), eps)))
        return y, running_mean, rstd, running_mean, running_var
    axes = [axis for axis in range(x.ndim) if axis != 1]
    wide = w.cast(x, w.call.outputs[1].dtype)
    mean = w.ReduceMean(wide, axes, keepdims=1)
    apart = w.Sub(wide, mean)
    variance = w.ReduceMean(w.Mul(apart, apart), axes, keepdims=1)
    rstd = w.Reciprocal(w.Sqrt(w.Add(variance, eps)))
    normal = w.cast(w.Mul(apart, rstd), x.dtype)
    y = w.Add(w.Mul(normal, along_channels(w, scale, x.ndim)), along_channels(w, shift, x.ndim))
    mean, variance, rstd = (w.Reshape(value, [-1]) for value in (mean, variance, rstd))
    count = product(x.shape[axis] for axis in axes)
    followed = [followed_by(w, running_mean, mean, momentum)] if running_mean is not None else []
    if running_var is not None and not isinstance(count, Size):
        followed.append(followed_by(w, running_var, w.Mul(variance, count / max(count - 1, 1)), momentum))
    return y, mean, rstd, *followed


def followed_by(w, running, now, momentum):
    """Return running statistics after a batch."""
    now = w.cast(now, running.dtype)
    return w.Add(w.Mul(running, 1 - momentum), w.Mul(now, momentum))


@maps("native_layer_norm")
def native_layer_norm(w, x, normalized_shape, weight, bias, eps):
    scale = parameter(w, weight, normalized_shape, 1, x.dtype)
    outputs = 3 if w.wants(1) or w.wants(2) else 1
    return w.LayerNormalization(x, scale, bias, axis=-len(normalized_shape), epsilon=eps, outputs=outputs)


@maps("native_group_norm")
def native_group_norm(w, x, num_groups, weight, bias, eps):
    groups = w.reshape(x, [x.shape[0], num_groups, product(x.shape[1:]) // num_groups])
    ones, zeros = (w.constant(numpy.full(num_groups, number), x.dtype) for number in (1, 0))
    y = w.InstanceNormalization(groups, ones, zeros, epsilon=eps)
    y = w.Reshape(y, w.Shape(x))
    if weight is not None:
        y = w.Mul(y, along_channels(w, weight, x.ndim))
    y = y if bias is None else w.Add(y, along_channels(w, bias, x.ndim))
    if not (w.wants(1) or w.wants(2)):
        return y
    wide = w.cast(groups, w.call.outputs[1].dtype)
    mean = w.ReduceMean(wide, [2], keepdims=1)
    apart = w.Sub(wide, mean)
    rstd = w.Reciprocal(w.Sqrt(w.Add(w.ReduceMean(w.Mul(apart, apart), [2], keepdims=1), eps)))
    return y, *(w.reshape(value, w.call.outputs[1].shape) for value in (mean, rstd))


@maps("native_rms_norm")
def native_rms_norm(w, x, normalized_shape, weight, eps):
    wide = w.cast(x, w.call.outputs[1].dtype)
    axes = [-1 - n for n in range(len(normalized_shape))]
    rstd = w.Reciprocal(w.Sqrt(w.Add(w.ReduceMean(w.Mul(wide, wide), axes, keepdims=1), eps)))
    y = w.Mul(wide, rstd)
    return w.cast(y if weight is None else w.Mul(y, w.cast(weight, wide.dtype)), x.dtype), rstd


@row_function
def along(w, op, x, axis):
    """Write an operator along an axis, which a tensor without axes has not got."""
    x_cast = w.cast(x, w.out.dtype)
    if x.ndim:
        return w.add(op, x_cast, axis=axis)
    return w.reshape(w.add(op, w.reshape(x_cast, [1]), axis=0), [])
