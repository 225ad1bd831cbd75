"""Shapes of results from shapes of arguments: what layers outside of Keras ask `keras.src.ops.operation_utils`."""
import math
import operator

from dragon.vm.keras.core.convert import is_tensor
from dragon.vm.keras.core.keras_tensor import KerasTensor
from dragon.vm.shared.windows.geometry import sliding_shape, transposed_shape, transposed_size


def canonicalize_axis(axis, num_dims):
    """Return an axis counted from the front; what is no axis of so many is refused."""
    axis = operator.index(axis)
    if not -num_dims <= axis < num_dims:
        raise ValueError(f"axis {axis} is out of bounds for an array with dimension {num_dims}.")
    return axis % num_dims


def canonicalize_axes(axis, num_dims):
    """Return one axis or several, counted from the front, as a tuple."""
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    return tuple(canonicalize_axis(one, num_dims) for one in axes)


def reduce_shape(shape, axis=None, keepdims=False):
    """Return the shape of a sum along axes, all of them by default."""
    axes = range(len(shape)) if axis is None else canonicalize_axes(axis, len(shape))
    sizes = enumerate(shape)
    return tuple(1 if place in axes else size for place, size in sizes if keepdims or place not in axes)


def broadcast_shapes(shape1, shape2):
    """Return the sizes, as a list, of what two shapes stretch to; a size that is not known gives way to one above 1."""
    longer = max(len(shape1), len(shape2))
    pairs = [[1] * (longer - len(shape)) + list(shape) for shape in (shape1, shape2)]
    return [_broadcast_size(first, second, shape1, shape2) for first, second in zip(*pairs)]


def _broadcast_size(first, second, shape1, shape2):
    if first == 1 or second == 1:
        return second if first == 1 else first
    if first is None or second is None:
        return second if first is None else first
    if first != second:
        raise ValueError("Cannot broadcast shape, the failure dim has value "
                         f"{first}, which cannot be broadcasted to {second}. Input shapes are: {shape1} and {shape2}.")
    return first


def compute_expand_dims_output_shape(input_shape, axis):
    """Return a shape with new axes of size 1; the places are those in the result."""
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    rank = len(input_shape) + len(axes)
    new, old = canonicalize_axes(tuple(axes), rank), iter(input_shape)
    if len(set(new)) != len(new):
        raise ValueError(f"expand_dims: got axis={axis} for shape {tuple(input_shape)}, expected each axis once")
    return tuple(1 if place in new else next(old) for place in range(rank))


def compute_pooling_output_shape(input_shape, pool_size, strides, padding="valid", data_format="channels_last"):
    """Return the shape that a pool gives."""
    channels = input_shape[-1 if data_format == "channels_last" else 1]
    return sliding_shape(input_shape, channels, pool_size, strides, padding, data_format)


def compute_conv_output_shape(input_shape, filters, kernel_size, strides=1, padding="valid",
                              data_format="channels_last", dilation_rate=1):
    """Return the shape that a convolution gives."""
    return sliding_shape(input_shape, filters, kernel_size, strides, padding, data_format, dilation_rate)


def compute_conv_transpose_output_shape(input_shape, kernel_size, filters, strides, padding, output_padding=None,
                                        data_format="channels_last", dilation_rate=1):
    """Return the sizes, as a list, that the adjoint of a convolution gives."""
    return list(transposed_shape(input_shape, filters, kernel_size, strides, padding.lower(), output_padding,
                                 data_format, dilation_rate))


def output_size_given_padding(input_size, kernel_size, strides, padding, output_padding, dilation_rate):
    """Return the size that the adjoint of a convolution gives along one axis."""
    return transposed_size(input_size, kernel_size, strides, dilation_rate, padding.lower(), output_padding)


def compute_matmul_output_shape(shape1, shape2):
    """Return the shape of a product of matrices; a vector is a row before it and a column behind it."""
    rows = (1, *shape1) if len(shape1) == 1 else tuple(shape1)
    columns = (*shape2, 1) if len(shape2) == 1 else tuple(shape2)
    if None not in (rows[-1], columns[-2]) and rows[-1] != columns[-2]:
        raise ValueError("Inner dimensions (`x1.shape[-1]` and `x2.shape[-2]`) must be equal, but received "
                         f"`x1.shape={rows}` and `x2.shape={columns}`.")
    made = broadcast_shapes(rows[:-2], columns[:-2])
    made += [rows[-2]] if len(shape1) > 1 else []
    return (*made, columns[-1]) if len(shape2) > 1 else tuple(made)


def validate_reshape_shape(newshape, newshape_arg_name="newshape"):
    """Refuse negative sizes other than one -1; sizes that are no plain numbers are known later."""
    if is_tensor(newshape) or isinstance(newshape, KerasTensor):
        return
    sizes = [size for size in newshape if _is_known(size)]
    if any(size < -1 for size in sizes):
        raise ValueError(f"Each dimension in `{newshape_arg_name}` must be a non-negative integer, or `-1` for a "
                         f"single unknown dimension. Received: {newshape_arg_name}={newshape}.")
    if sizes.count(-1) > 1:
        raise ValueError(f"There must be at most one unknown dimension (-1) in `{newshape_arg_name}`. "
                         f"Received: {newshape_arg_name}={newshape}.")


def _is_known(size):
    return isinstance(size, int) or hasattr(size, "__index__") and not hasattr(size, "shape") or (
        type(size).__module__ == "numpy" and hasattr(size, "__index__"))


def compute_reshape_output_shape(input_shape, newshape, newshape_arg_name):
    """Return a new shape whose -1 is computed, or None where that is not known."""
    validate_reshape_shape(newshape, newshape_arg_name)
    if is_tensor(newshape) or isinstance(newshape, KerasTensor):
        rank = newshape.shape[0] if len(newshape.shape) == 1 else None
        return (None,) * (1 if rank is None else rank)
    return resolved_shape(input_shape, [size if _is_known(size) else None for size in newshape], newshape_arg_name)


def resolved_shape(shape, target, what="target_shape"):
    """Return a target shape whose -1 is computed, or None where it cannot be.

    Parameters
    ----------
    shape : Sequence[Optional[int]]
        What is reshaped.
    target : Sequence[Optional[int]]
        What it becomes; one size may be -1.
    what : str, optional, default="target_shape"
        How errors call the target.

    """
    if None in shape or None in target:
        return tuple(None if size == -1 else size for size in target)
    whole = math.prod(shape)
    known = math.prod(size for size in target if size != -1)
    wrong = f"Received: input_shape={tuple(shape)}, {what}={tuple(target)}"
    if -1 not in target:
        if whole != known:
            raise ValueError(f"The total size of the tensor must be unchanged. {wrong}")
        return tuple(target)
    if known == 0 or whole % known:
        raise ValueError("The total size of the tensor must be unchanged, however, the input size cannot by divided "
                         f"by the specified dimensions in {what}. {wrong}")
    return tuple(whole // known if size == -1 else size for size in target)


def compute_transpose_output_shape(input_shape, axes):
    """Return a shape whose axes are in another order, reversed for None."""
    rank = len(input_shape)
    if axes is None:
        return tuple(input_shape[::-1])
    if len(axes) != rank:
        raise ValueError("axis must be a list of the same length as the input shape, "
                         f"expected {rank}, but received {len(axes)}.")
    if any(not isinstance(axis, int) or not -rank <= axis < rank for axis in axes):
        raise ValueError(f"Each axis in `axes` must be an integer in [-{rank}, {rank}). Received: axes={list(axes)}.")
    order = [axis % rank for axis in axes]
    if len(set(order)) != rank:
        raise ValueError("`axes` must be a valid permutation of the input dimensions (no duplicates). "
                         f"Received: axes={list(axes)} for input of rank {rank}.")
    return tuple(input_shape[axis] for axis in order)


def compute_take_along_axis_output_shape(input_shape, indices_shape, axis):
    """Return the sizes, as a list, of what is taken along an axis, or of the flat numbers for None."""
    sizes, indices_shape = list(input_shape), list(indices_shape)
    if axis is None:
        sizes = [None] if None in sizes else [math.prod(sizes)]
    if len(sizes) != len(indices_shape):
        raise ValueError("`x` and `indices` must have the same number of dimensions, "
                         f"but receive shape {sizes} and {indices_shape}.")
    axis = 0 if axis is None else canonicalize_axis(axis, len(sizes))
    sizes[axis] = indices_shape[axis]
    return broadcast_shapes(sizes, indices_shape)
