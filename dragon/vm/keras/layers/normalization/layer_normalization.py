"""Normalization of every sample, or of every step, by itself."""

from dragon.core import warnings
from dragon.vm.keras.core.promotion import cast_to, dtype_of
from dragon.vm.keras.layers.normalization.scaled import Scaled, like, wide
from dragon.vm.shared.tensors.tensor import ops


def axis_list(axis):
    """Return axes as Keras keeps them: a list for a sequence, a number for a number."""
    if isinstance(axis, (list, tuple)):
        return list(axis)
    if not isinstance(axis, int):
        raise TypeError("Expected an int or a list/tuple of ints for the argument 'axis'. Received: "
                        f"axis={axis!r}")
    return axis


def over_axes(x, axes, normalize):
    """Return what a function of a tensor and the sizes of its last axes gives for other axes, which stay in place."""
    axes = sorted(axis % x.ndim for axis in axes)
    last = list(range(x.ndim - len(axes), x.ndim))
    if axes == last:
        return normalize(x, list(x.shape[last[0]:]))
    moved = ops.movedim(x, axes, last)
    return ops.movedim(normalize(moved, list(moved.shape[last[0]:])), last, axes)


def shaped(weight, shape):
    """Return a weight, or None, in a shape: that of axes from both ends has its sizes in another order."""
    return weight if weight is None or list(weight.shape) == shape else ops.reshape(weight, shape)


class LayerNormalization(Scaled):
    """Bring the last axes, or others, of every sample to mean 0 and variance 1, then scale and shift.

    Parameters
    ----------
    axis : Union[int, Sequence[int]], optional, default=-1
        The axes that are normalized together.

    Examples
    --------
    >>> layer = keras.layers.LayerNormalization()
    >>> np.round(layer(np.array([[1.0, 3.0], [10.0, 30.0]], "float32")), 2)
    array([[-1.,  1.],
           [-1.,  1.]], dtype=float32)

    """

    _arguments = "axis epsilon center scale rms_scaling ..."

    def __init__(self, axis=-1, epsilon=0.001, center=True, scale=True, beta_initializer="zeros",
                 gamma_initializer="ones", beta_regularizer=None, gamma_regularizer=None, beta_constraint=None,
                 gamma_constraint=None, **kwargs):
        rms_scaling = kwargs.pop("rms_scaling", False)
        if rms_scaling:
            warnings.warn("`rms_scaling=True` is deprecated: it scales by the variance, not by the root mean square. "
                          "Please use `keras.layers.RMSNormalization` instead.")
        super().__init__(**kwargs)
        self.prepare(axis_list(axis), epsilon, center, scale, beta_initializer, gamma_initializer, beta_regularizer,
                     gamma_regularizer, beta_constraint, gamma_constraint)
        self.rms_scaling = rms_scaling
        self.autocast = False

    def build(self, input_shape):
        """Make the weights."""
        self.axis = sorted(self.axis) if isinstance(self.axis, list) else [self.axis]
        self.add_scale(tuple(input_shape[axis] for axis in self.axis), self.center and not self.rms_scaling)
        self.built = True

    def call(self, inputs):
        x = wide(inputs)
        gamma, beta = like(self.gamma, x), like(self.beta, x)
        if self.rms_scaling:
            made = self.scaled_only(x, gamma)
        else:
            made = over_axes(x, self.axis, lambda x, shape: ops.layer_norm(
                x, shape, shaped(gamma, shape), shaped(beta, shape), self.epsilon))
        return cast_to(cast_to(made, dtype_of(inputs)), self.compute_dtype)

    def scaled_only(self, x, gamma):
        """Divide by the deviation without taking the mean away, as an old argument asks."""
        shape = [1] * x.ndim
        for axis in self.axis:
            shape[axis] = x.shape[axis]
        made = ops.mul(x, ops.rsqrt(ops.add(ops.var(x, list(self.axis), correction=0, keepdims=True), self.epsilon)))
        return made if gamma is None else ops.mul(made, ops.reshape(gamma, shape))
