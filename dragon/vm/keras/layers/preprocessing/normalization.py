"""Numbers with their mean taken away, over their deviation."""

import itertools
import math

from dragon.vm.keras.core.config import epsilon
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.layers.preprocessing.data_layer import DataLayer, as_host
from dragon.vm.shared.tensors.tensor import ops


def _features(batch):
    return batch[0] if isinstance(batch, tuple) else batch


class Normalization(DataLayer):
    """Shift and scale to mean 0 and variance 1, by moments that are given or learnt by `adapt`.

    Parameters
    ----------
    axis : Optional[Union[int, Sequence[int]]], optional, default=-1
        Axes along which every place has moments of its own; None for one of each in all.
    mean, variance : Optional[Union[float, Sequence[float]]], optional
        The moments; both or none.
    invert : bool, optional, default=False
        Undo what the layer would do.

    Examples
    --------
    >>> layer = keras.layers.Normalization(axis=None)
    >>> layer.adapt(np.array([1.0, 3.0]))
    >>> np.asarray(layer(np.array([1.0, 2.0, 3.0])))
    array([-1.,  0.,  1.], dtype=float32)

    """

    def __init__(self, axis=-1, mean=None, variance=None, invert=False, **kwargs):
        import numpy as np
        super().__init__(**kwargs)
        self.axis = () if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
        self.input_mean = mean
        self.input_variance = variance
        self.invert = invert
        self.supports_masking = True
        self._build_input_shape = None
        self.mean = None
        if (mean is None) != (variance is None):
            raise ValueError("When setting values directly, both `mean` and `variance` must be set. "
                             f"Received: mean={mean} and variance={variance}")
        if mean is None:
            return
        shapes = np.shape(mean), np.shape(variance)
        if shapes[0] != shapes[1]:
            raise ValueError("When setting values directly, `mean` and `variance` must have the same shape. Received: "
                             f"mean shape {shapes[0]} and variance shape {shapes[1]}")
        if len(shapes[0]) > len(self.axis):
            raise ValueError(f"The rank of `mean` must be less than or equal to the number of axes ({len(self.axis)}). "
                             f"Received: mean shape {shapes[0]} for axis {self.axis}")

    def build(self, input_shape):
        """Find the axes of an input's shape, and make the moments."""
        if input_shape is None:
            return
        rank = len(input_shape)
        self._build_input_shape = input_shape
        if any(not -rank <= axis < rank for axis in self.axis):
            raise ValueError("All `axis` values must be in the range [-ndim, ndim). Received inputs with "
                             f"ndim={rank}, while axis={self.axis}")
        self._keep_axis = tuple(sorted(axis % rank for axis in self.axis))
        for axis in self._keep_axis:
            if input_shape[axis] is None:
                raise ValueError("All `axis` values to be kept must have a known shape. Received axis="
                                 f"{self.axis}, inputs.shape={input_shape}, with unknown axis at index {axis}")
        self._reduce_axis = tuple(axis for axis in range(rank) if axis not in self._keep_axis)
        self._broadcast_shape = [size if axis in self._keep_axis else 1 for axis, size in enumerate(input_shape)]
        self._moments_shape = tuple(input_shape[axis] for axis in self._keep_axis)
        if self.input_mean is not None:
            self.mean, self.variance = (self._spread(value) for value in (self.input_mean, self.input_variance))
            self.built = True
            return
        self.adapt_mean = self.add_weight(name="mean", shape=self._moments_shape, initializer="zeros",
                                          trainable=False)
        self.adapt_variance = self.add_weight(name="variance", shape=self._moments_shape, initializer="ones",
                                              trainable=False)
        self.count = self.add_weight(name="count", shape=(), dtype="int", initializer="zeros", trainable=False)
        self.built = True
        self.finalize_state()

    def _spread(self, value):
        """Return given moments in a shape that broadcasts with inputs."""
        value = convert_to_tensor(value, dtype=self.compute_dtype)
        shape = [1] * len(self._broadcast_shape)
        for i in range(1, len(value.shape) + 1):
            shape[self._keep_axis[-i]] = value.shape[-i]
        return ops.broadcast_to(ops.reshape(value, shape), self._broadcast_shape)

    def adapt(self, data):
        """Learn mean and variance from data.

        Parameters
        ----------
        data : Union[numpy.ndarray, Tensor, Dataset, PyDataset, Iterable]
            The numbers, or batches of them.

        """
        batches, shape = _batches(data)
        if not self.built:
            self.build(shape)
        else:
            self._check_sizes(shape)
        mean, variance, count = 0.0, 0.0, 0
        for batch in batches:
            batch = as_host(_features(batch))
            self._check_sizes(batch.shape)
            here = math.prod(batch.shape[axis] for axis in self._reduce_axis) if self._reduce_axis else 1
            count += here
            weight = here / count
            their_mean, their_variance = (getattr(batch, name)(axis=self._reduce_axis, dtype="float64")
                                          for name in ("mean", "var"))
            fresh = mean * (1 - weight) + their_mean * weight
            variance = ((variance + (mean - fresh) ** 2) * (1 - weight) +
                        (their_variance + (their_mean - fresh) ** 2) * weight)
            mean = fresh
        self.adapt_mean.assign(convert_to_tensor(mean, dtype=self.adapt_mean.dtype))
        self.adapt_variance.assign(convert_to_tensor(variance, dtype=self.adapt_variance.dtype))
        self.finalize_state()

    def _check_sizes(self, shape):
        for axis in self._keep_axis:
            if shape[axis] is not None and shape[axis] != self._build_input_shape[axis]:
                raise ValueError(f"The layer was built with input_shape={self._build_input_shape}, but adapt() is "
                                 f"being called with data with an incompatible shape, data.shape={tuple(shape)}")

    def finalize_state(self):
        """Bring the learnt moments into the shape in which calls want them."""
        if self.input_mean is not None or not self.built:
            return
        # Copies: what is saved stays as it is if the variables change later.
        self.mean, self.variance = (
            ops.cast(ops.clone(ops.reshape(weight.value, self._broadcast_shape)), self.compute_dtype)
            for weight in (self.adapt_mean, self.adapt_variance))

    def call(self, inputs):
        """Normalize the inputs."""
        if self.mean is None:
            raise ValueError("You must call `.build(input_shape)` on the layer before using it. "
                             f"Received: inputs of shape {getattr(inputs, 'shape', None)}")
        inputs = convert_to_tensor(inputs, dtype=self.compute_dtype)
        deviation = ops.clamp(ops.sqrt(self.variance), epsilon())
        if self.invert:
            return ops.add(self.mean, ops.mul(inputs, deviation))
        return ops.div(ops.sub(inputs, self.mean), deviation)

    def compute_output_shape(self, input_shape):
        """Return the shape of the input."""
        return input_shape

    def get_config(self):
        import numpy as np
        return {**super().get_config(), "axis": self.axis, "invert": self.invert,
                "mean": np.array(self.input_mean).tolist(), "variance": np.array(self.input_variance).tolist()}

    def load_own_variables(self, store):
        """Take the moments from a file."""
        super().load_own_variables(store)
        self.finalize_state()

    def get_build_config(self):
        """Return the shape that the layer was built with."""
        return {"input_shape": self._build_input_shape} if self._build_input_shape else None

    def build_from_config(self, config):
        """Build the layer for the shape in its configuration."""
        if config:
            self.build(config["input_shape"])


def _batches(data):
    """Return data as an iterable of batches, and the shape of one."""
    import numpy as np
    if isinstance(data, np.ndarray) or hasattr(data, "is_contiguous"):
        return [data], tuple(data.shape)
    if hasattr(data, "element_spec"):
        spec = _features(data.element_spec)
        if len(spec.shape) == 1:
            data = data.batch(128)
            spec = _features(data.element_spec)
        return data, tuple(spec.shape)
    if hasattr(data, "__getitem__") and hasattr(data, "num_batches"):
        return (data[i] for i in range(data.num_batches)), tuple(_features(data[0]).shape)
    if not hasattr(data, "__iter__"):
        raise TypeError("`adapt` supports `np.ndarray`, tensors, `tf.data.Dataset`, `keras.utils.PyDataset`, and "
                        f"iterables of batches. Received: data of type {type(data)}")
    batches = iter(data)
    first = next(batches, None)
    if first is None:
        raise ValueError("adapt() received an empty iterable (no batches). Expected at least one batch. "
                         f"Received: data={data}")
    shape = getattr(_features(first), "shape", None)
    if shape is None:
        raise TypeError("adapt() expects an iterable that yields arrays or tensors with a `.shape` attribute. Received "
                        f"an element of type {type(_features(first)).__name__}.")
    return itertools.chain([first], batches), tuple(shape)
