"""Products summed along an axis of each of two tensors."""
from dragon.vm.keras.core.convert import dense_of, is_parted
from dragon.vm.keras.layers.merging.merge import Merge, require_list
from dragon.vm.keras.layers.normalization.unit_normalization import unit
from dragon.vm.keras.ops.common import canonical_axis
from dragon.vm.shared.tensors.tensor import ops


def require_pair(name, values):
    """Raise unless there are two of something."""
    if not isinstance(values, (tuple, list)) or len(values) != 2:
        raise ValueError(f"A `Dot` layer should be called on a list of 2 inputs. Received: {name}={values}")


def batch_dot(x, y, axes):
    """Sum products along one axis of each, sample by sample; a result without axes keeps one of size 1.

    Parameters
    ----------
    x, y : Tensor
        With equal batches.
    axes : Sequence[int]
        An axis of each, not the batch.

    """
    if x.ndim < 2 or y.ndim < 2:
        raise ValueError("Cannot do batch_dot on inputs with rank < 2. Received inputs with shapes "
                         f"{x.shape} and {y.shape}.")
    if 0 in axes:
        raise ValueError("Cannot perform batch_dot over axis 0. If your inputs are not batched, add a dummy batch "
                         f"dimension to your inputs using keras.ops.expand_dims(x, 0). Received: axes={axes}")
    first, second = axes
    if x.shape[first] != y.shape[second]:
        raise ValueError(f"Cannot do batch_dot on inputs with shapes {x.shape} and {y.shape} with axes={axes}. "
                         f"x.shape[{first}] != y.shape[{second}] ({x.shape[first]} != {y.shape[second]}).")
    shape = (x.shape[0], *x.shape[1:first], *x.shape[first + 1:], *y.shape[1:second], *y.shape[second + 1:])
    left = flat(ops.movedim(x, first, -1), x.shape[first], last=True)
    right = flat(ops.movedim(y, second, 1), y.shape[second], last=False)
    return ops.reshape(ops.matmul(left, right), shape if len(shape) > 1 else (*shape, 1))


def flat(x, size, last):
    """Return a tensor as a stack of matrices whose columns, or rows, number `size`."""
    if x.ndim == 3:
        return x
    rest = 1
    for number in x.shape[1:]:
        rest *= number
    rest //= size
    return ops.reshape(x, (x.shape[0], rest, size) if last else (x.shape[0], size, rest))


class Dot(Merge):
    """Sum the products of two tensors along an axis of each.

    Parameters
    ----------
    axes : Union[int, Sequence[int]]
        The axis of both, or one for each.
    normalize : bool, optional, default=False
        Whether vectors are brought to length 1 first: the result is then their cosine.

    """

    def __init__(self, axes, normalize=False, **kwargs):
        super().__init__(**kwargs)
        if not isinstance(axes, int):
            if not isinstance(axes, (list, tuple)):
                raise TypeError("Invalid type for argument `axes`: it should be a list or an int. Received: "
                                f"axes={axes}")
            if len(axes) != 2 or not all(isinstance(axis, int) for axis in axes):
                raise ValueError("Invalid format for argument `axes`: it should contain two integers. Received: "
                                 f"axes={axes}")
        self.axes = axes
        self.normalize = normalize

    def own_axes(self, *counts):
        """Return the axes, counted from the first, of tensors with so many."""
        axes = (self.axes,) * 2 if isinstance(self.axes, int) else self.axes
        return [canonical_axis(axis, count) for axis, count in zip(axes, counts)]

    def build(self, input_shape):
        """Check that the axes match."""
        require_pair("input_shape", input_shape)
        first, second = input_shape
        axes = self.own_axes(len(first), len(second))
        sizes = first[axes[0]], second[axes[1]]
        if sizes[0] != sizes[1]:
            raise ValueError(f"Incompatible input shapes: axis values {sizes[0]} (at axis {axes[0]}) != {sizes[1]} (at "
                             f"axis {axes[1]}). Full input shapes: {first}, {second}")
        self.built = True

    def call(self, inputs):
        require_list("Dot", inputs)
        if not any(map(is_parted, inputs)):
            return self.merge(inputs)
        from dragon.vm.shared.sparse.math import from_dense
        made = self.merge([dense_of(x) for x in inputs])
        return from_dense(made) if all(hasattr(x, "dense_shape") for x in inputs) else made

    def merge(self, inputs):
        """Return the sums of products."""
        require_pair("inputs", inputs)
        x, y = inputs
        axes = self.own_axes(x.ndim, y.ndim)
        if self.normalize:
            x, y = unit(x, axes[0]), unit(y, axes[1])
        return batch_dot(x, y, axes)

    def compute_output_shape(self, input_shape):
        require_pair("input_shape", input_shape)
        first, second = (list(shape) for shape in input_shape)
        axes = self.own_axes(len(first), len(second))
        del first[axes[0]], second[axes[1]]
        made = first + second[1:]
        return tuple(made) if len(made) > 1 else (*made, 1)

    def compute_mask(self, inputs, mask=None):
        """Return None: a sum has no steps."""
        return None
