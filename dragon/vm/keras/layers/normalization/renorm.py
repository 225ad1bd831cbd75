"""Batch renormalization: in training too, channels are brought near the averages that inference will use."""
from dragon.core.modes import no_grad
from dragon.vm.keras.layers.normalization.scaled import like
from dragon.vm.shared.tensors.tensor import ops


def require_clipping(clipping):
    """Raise for limits that are unknown or contradict each other."""
    known = ("rmax", "rmin", "dmax")
    if set(clipping) - set(known):
        raise ValueError("Received invalid keys for `renorm_clipping` argument. Supported values: "
                         f"{list(known)}. Received: {clipping}")
    rmax, rmin, dmax = (clipping.get(key) for key in known)
    if rmax is not None and rmin is not None and rmax < rmin:
        raise ValueError("rmax should be greater than rmin in the `renorm_clipping` argument. Received: "
                         f"rmax={rmax}, rmin={rmin}.")
    if dmax is not None and dmax < 0:
        raise ValueError("dmax should be non-negative in the `renorm_clipping` argument. Received: "
                         f"dmax={dmax}.")


class Renorm:
    """What a batch normalization does with `renorm=True`."""

    def add_renorm(self, shape):
        """Make the averages of the correction."""
        from dragon.vm.keras.initializers import Initializer

        def fresh(initializer):
            return initializer.from_config(initializer.get_config()) if isinstance(initializer, Initializer) else (
                initializer)

        def deviation(shape, dtype=None):
            return ops.sqrt(fresh(self.moving_variance_initializer)(shape, dtype=dtype))

        for name, initializer in (("moving_stddev", deviation), ("renorm_mean", fresh(self.moving_mean_initializer)),
                                  ("renorm_stddev", deviation)):
            setattr(self, name, self.add_weight(name=name, shape=shape, initializer=initializer, trainable=False,
                                                autocast=False))

    def renormed(self, x, mean, variance):
        """Return mean, variance, scale and shift that correct the batch's towards the averages; these move on."""
        deviation = ops.sqrt(ops.add(variance, self.epsilon))
        average = ops.clamp(like(self.renorm_stddev, x), self.epsilon ** 0.5)
        factor = ops.div(deviation, average).detach()
        shift = ops.div(ops.sub(mean, like(self.renorm_mean, x)), average).detach()
        limits = self.renorm_clipping
        if limits.get("rmin") is not None or limits.get("rmax") is not None:
            factor = ops.clamp(factor, limits.get("rmin"), limits.get("rmax"))
        if limits.get("dmax") is not None:
            shift = ops.clamp(shift, -limits["dmax"], limits["dmax"])
        gamma, beta = like(self.gamma, x), like(self.beta, x)
        if gamma is not None:
            factor, shift = ops.mul(factor, gamma), ops.mul(shift, gamma)
        self.follow_renorm(mean, deviation)
        return mean, variance, factor, shift if beta is None else ops.add(shift, beta)

    def follow_renorm(self, mean, deviation):
        """Move the averages."""
        with no_grad():
            self.follow(self.renorm_mean, mean, self.renorm_momentum)
            self.follow(self.renorm_stddev, deviation, self.renorm_momentum)
            self.follow(self.moving_mean, mean, self.momentum)
            self.follow(self.moving_stddev, deviation, self.momentum)
            self.moving_variance.assign(ops.relu(ops.sub(ops.square(self.moving_stddev.value), self.epsilon)))
