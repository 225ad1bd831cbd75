"""Normalization of channels by the batch in training, by what was seen in training afterwards."""
import math

from dragon.core.modes import no_grad
from dragon.vm.keras.core.promotion import cast_to
from dragon.vm.keras.core.settings import store
from dragon.vm.keras.layers.input_spec import InputSpec
from dragon.vm.keras.layers.normalization.renorm import Renorm, require_clipping
from dragon.vm.keras.layers.normalization.scaled import Scaled, like, moved, wide
from dragon.vm.keras.ops.nn.normalization import moments
from dragon.vm.shared import strategies
from dragon.vm.shared.tensors.tensor import ops

_train, _infer = ops.native_batch_norm, ops.batch_norm


class BatchNormalization(Renorm, Scaled):
    """Bring every channel to mean 0 and variance 1 over the batch, then scale and shift it.

    In training the statistics are the batch's, and moving averages of them are kept; these serve in inference, and
    whenever `trainable` is False.

    Parameters
    ----------
    momentum : float, optional, default=0.99
        How much of the moving averages stays in each step.
    beta_initializer, gamma_initializer, moving_mean_initializer, moving_variance_initializer : optional
        What the weights start from.
    renorm : bool, optional, default=False
        Whether training too is brought near the moving averages (batch renormalization).
    renorm_clipping : Dict[str, float], optional
        The limits "rmin", "rmax" and "dmax" of that correction.
    renorm_momentum : float, optional, default=0.99
        The momentum of the averages that the correction uses.
    synchronized : bool, optional, default=False
        Whether statistics are those of the samples of all replicas.

    Examples
    --------
    >>> layer = keras.layers.BatchNormalization()
    >>> x = np.array([[1.0, 10.0], [3.0, 30.0]], "float32")
    >>> np.round(layer(x, training=True))
    array([[-1., -1.],
           [ 1.,  1.]], dtype=float32)

    """

    _arguments = "... renorm renorm_clipping renorm_momentum"

    def __init__(self, axis=-1, momentum=0.99, epsilon=0.001, center=True, scale=True, beta_initializer="zeros",
                 gamma_initializer="ones", moving_mean_initializer="zeros", moving_variance_initializer="ones",
                 beta_regularizer=None, gamma_regularizer=None, beta_constraint=None, gamma_constraint=None,
                 renorm=False, renorm_clipping=None, renorm_momentum=0.99, synchronized=False, **kwargs):
        super().__init__(**kwargs)
        self.prepare(int(axis), float(epsilon), center, scale, beta_initializer, gamma_initializer, beta_regularizer,
                     gamma_regularizer, beta_constraint, gamma_constraint)
        if renorm:
            renorm_clipping = renorm_clipping or {}
            require_clipping(renorm_clipping)
        store(self, locals(), "moving_mean_initializer moving_variance_initializer renorm renorm_clipping "
                              "renorm_momentum synchronized")
        self.momentum = float(momentum)
        self.moving_mean = self.moving_variance = None

    def build(self, input_shape):
        """Make the weights."""
        shape = (input_shape[self.axis],)
        self.add_scale(shape)
        for name in ("moving_mean", "moving_variance"):
            setattr(self, name, self.add_weight(
                name=name, shape=shape, initializer=getattr(self, f"{name}_initializer"), trainable=False,
                autocast=False))
        if self.renorm:
            self.add_renorm(shape)
        self.input_spec = InputSpec(ndim=len(input_shape), axes={self.axis: shape[0]})
        self.built = True

    def call(self, inputs, training=None, mask=None):
        if mask is not None and mask.ndim != inputs.ndim - 1:
            raise ValueError("The mask provided should be one dimension less than the inputs. Received: "
                             f"mask.shape={mask.shape}, inputs.shape={inputs.shape}")
        x = wide(inputs)
        if not (training and self.trainable):
            made = self.apply(x, like(self.moving_mean, x), like(self.moving_variance, x), like(self.gamma, x),
                              like(self.beta, x))
        elif self.renorm:
            made = self.apply(x, *self.renormed(x, *self.moments(x, mask)))
        elif mask is None and math.prod(x.shape) != x.shape[self.axis] and not self.meets():
            made = self.trained(x)
        else:
            mean, variance = self.moments(x, mask)
            made = self.composed(x, mean, variance, like(self.gamma, x), like(self.beta, x))
            with no_grad():
                self.follow(self.moving_mean, mean, self.momentum)
                self.follow(self.moving_variance, variance, self.momentum)
        return cast_to(made, self.compute_dtype)

    def apply(self, x, mean, variance, gamma, beta):
        """Normalize by statistics that are given, the engine's way where no gradient goes into them."""
        if mean.requires_grad or variance.requires_grad or x.ndim < 2:
            return self.composed(x, mean, variance, gamma, beta)
        axis = self.axis % x.ndim
        if axis == 1:
            return _infer(x, mean, variance, gamma, beta, False, 0.0, self.epsilon)
        return moved(_infer(moved(x, axis, 1), mean, variance, gamma, beta, False, 0.0, self.epsilon), 1, axis)

    def trained(self, x):
        """Normalize by the batch's statistics, and keep averages of them."""
        gamma, beta, axis = like(self.gamma, x), like(self.beta, x), self.axis % x.ndim
        image = x if axis == 1 else moved(x, axis, 1)
        made, mean, reciprocal = _train(image, gamma, beta, None, None, True, 0.0, self.epsilon)
        with no_grad():
            # The engine hands out 1 / sqrt(variance + epsilon).
            variance = ops.sub(ops.pow(reciprocal, -2.0), self.epsilon)
            self.follow(self.moving_mean, mean, self.momentum)
            self.follow(self.moving_variance, variance, self.momentum)
        return made if axis == 1 else moved(made, 1, axis)

    def follow(self, moving, now, momentum):
        """Move an average towards what is now; nobody records it."""
        moving.assign(ops.lerp(cast_to(now, moving.dtype), moving.value, momentum))

    def composed(self, x, mean, variance, gamma, beta):
        """Normalize with the operators that any batch and any gradient takes."""
        shape = [1] * x.ndim
        shape[self.axis] = -1
        factor = ops.rsqrt(ops.add(variance, self.epsilon))
        factor = factor if gamma is None else ops.mul(factor, gamma)
        shift = ops.neg(ops.mul(mean, factor))
        shift = shift if beta is None else ops.add(shift, beta)
        return ops.add(ops.mul(x, ops.reshape(factor, shape)), ops.reshape(shift, shape))

    def meets(self):
        """Return whether statistics are those of several replicas."""
        return self.synchronized and strategies.local.replica is not None or strategies.as_one()

    def moments(self, x, mask):
        """Return mean and variance of each channel, over what a mask leaves."""
        axes = [axis for axis in range(x.ndim) if axis != self.axis % x.ndim]
        if mask is None and self.meets():
            return moments(x, axes, synchronized=True)
        if mask is None and not axes:
            return x, ops.zeros_like(x)
        if mask is None:
            variance, mean = ops.var_mean(x, axes, correction=0)
            return mean, variance
        from dragon.vm.keras.core.config import epsilon
        mask = ops.expand(ops.unsqueeze(ops.cast(mask, "bool"), -1), x.shape)
        zeros = ops.zeros_like(x)
        count = ops.add(ops.sum(ops.cast(mask, x.dtype), axes, True), epsilon())
        mean = ops.div(ops.sum(ops.where(mask, x, zeros), axes, True), count)
        distance = ops.where(mask, ops.sub(x, mean), zeros)
        variance = ops.div(ops.sum(ops.square(distance), axes, True), count)
        return ops.squeeze(mean, axes), ops.squeeze(variance, axes)
