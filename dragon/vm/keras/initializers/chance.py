"""Initializers that draw; the same seed draws the same numbers each time."""
import math

from dragon.vm.keras.core.promotion import dtype_of
from dragon.vm.keras.core.registry import deserialize, serialize
from dragon.vm.keras.initializers.initializer import Initializer
from dragon.vm.shared.letters import expect
from dragon.vm.shared.tensors.tensor import ops

# The deviation of a standard normal distribution cut off at two.
TRUNCATED_DEVIATION = 0.8796256610342398


def draw(distribution, shape, **arguments):
    """Return numbers of a distribution that `keras.random` has by name."""
    from dragon.vm.keras import random  # late: its generators are variables, and those want initializers

    return getattr(random, distribution)(shape, **arguments)


class RandomInitializer(Initializer):
    """Base of initializers that draw.

    Parameters
    ----------
    seed : Optional[Union[int, SeedGenerator]], optional
        An integer or none: each call returns the same numbers; a generator: new ones.

    """

    def __init__(self, seed=None):
        self._init_seed = seed
        if seed is None:
            from dragon.vm.keras.random.seed_generator import make_default_seed

            seed = make_default_seed()
        elif isinstance(seed, dict):
            seed = deserialize(seed)
        elif not isinstance(seed, int) and not hasattr(seed, "next"):
            raise ValueError("`seed` argument should be an instance of `keras.random.SeedGenerator()` or an integer. "
                             f"Received: seed={seed}")
        self.seed = seed

    def get_config(self):
        """Return the seed."""
        return {"seed": serialize(self._init_seed)}


class RandomNormal(RandomInitializer, distribution="normal"):
    """Normally distributed numbers.

    Parameters
    ----------
    mean : float, optional, default=0.0
        Their mean.
    stddev : float, optional, default=0.05
        Their standard deviation.

    """

    def __init__(self, mean=0.0, stddev=0.05, seed=None):
        self.mean, self.stddev = mean, stddev
        super().__init__(seed=seed)

    def __call__(self, shape, dtype=None):
        return draw(self.distribution, shape, mean=self.mean, stddev=self.stddev, seed=self.seed, dtype=dtype)


class TruncatedNormal(RandomNormal, distribution="truncated_normal"):
    """Normally distributed numbers, drawn anew where they are further than two deviations from the mean."""


class RandomUniform(RandomInitializer):
    """Evenly distributed numbers.

    Parameters
    ----------
    minval : float, optional, default=-0.05
        The least.
    maxval : float, optional, default=0.05
        Where they end.

    """

    def __init__(self, minval=-0.05, maxval=0.05, seed=None):
        self.minval, self.maxval = minval, maxval
        super().__init__(seed=seed)

    def __call__(self, shape, dtype=None):
        return draw("uniform", shape, minval=self.minval, maxval=self.maxval, seed=self.seed, dtype=dtype)


class VarianceScaling(RandomInitializer):
    """Numbers whose variance is `scale` over the count of inputs, of outputs, or their mean.

    Parameters
    ----------
    scale : float, optional, default=1.0
        The variance times that count.
    mode : str, optional, default="fan_in"
        What is counted: "fan_in", "fan_out" or "fan_avg".
    distribution : str, optional, default="truncated_normal"
        "truncated_normal" (also "normal"), "untruncated_normal" or "uniform".
    input_axes : Optional[Sequence[int]], optional
        Axes of inputs, if they are not where dense layers and convolutions have them.
    output_axes : Optional[Sequence[int]], optional
        Axes of outputs.

    """

    def __init__(self, scale=1.0, mode="fan_in", distribution="truncated_normal", seed=None, input_axes=None,
                 output_axes=None):
        if scale <= 0.0:
            raise ValueError(f"Argument `scale` must be positive float. Received: scale={scale}")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(f"Invalid `mode` argument: expected 'fan_in', 'fan_out' or 'fan_avg'. Received: {mode}")
        expect(distribution, str, "VarianceScaling", "distribution")
        distribution = {"normal": "truncated_normal"}.get(distribution.lower(), distribution.lower())
        if distribution not in ("uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError("Invalid `distribution` argument: expected 'uniform', 'truncated_normal' or "
                             f"'untruncated_normal'. Received: {distribution}")
        self.scale, self.mode, self.distribution = scale, mode, distribution
        self.input_axes, self.output_axes = input_axes, output_axes
        super().__init__(seed=seed)

    def __call__(self, shape, dtype=None):
        inputs, outputs = compute_fans(shape, self.input_axes, self.output_axes)
        count = {"fan_in": inputs, "fan_out": outputs, "fan_avg": (inputs + outputs) / 2.0}[self.mode]
        scale = self.scale / max(1.0, count)
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * scale)
            return draw("uniform", shape, minval=-limit, maxval=limit, dtype=dtype, seed=self.seed)
        if self.distribution == "untruncated_normal":
            return draw("normal", shape, mean=0.0, stddev=math.sqrt(scale), dtype=dtype, seed=self.seed)
        deviation = math.sqrt(scale) / TRUNCATED_DEVIATION
        return draw("truncated_normal", shape, mean=0.0, stddev=deviation, dtype=dtype, seed=self.seed)


class NamedScaling(VarianceScaling, rule=(1.0, "fan_in", "truncated_normal")):
    """A `VarianceScaling` known by name: seed and axes are its only arguments."""

    def __init__(self, seed=None, input_axes=None, output_axes=None):
        super().__init__(*self.rule, seed=seed, input_axes=input_axes, output_axes=output_axes)


class GlorotUniform(NamedScaling, rule=(1.0, "fan_avg", "uniform")):
    """Evenly within sqrt(6 / (inputs + outputs)). ...

    Examples
    --------
    >>> weight = keras.initializers.GlorotUniform(seed=1)(shape=(3, 3))
    >>> bool((np.abs(weight) <= 1).all())
    True

    """


class GlorotNormal(NamedScaling, rule=(1.0, "fan_avg", "truncated_normal")):
    """Normal with variance 2 / (inputs + outputs); arguments as `VarianceScaling` has them."""


class LecunNormal(NamedScaling):
    """Normal with variance 1 / inputs; arguments as `VarianceScaling` has them."""


class LecunUniform(NamedScaling, rule=(1.0, "fan_in", "uniform")):
    """Evenly within sqrt(3 / inputs); arguments as `VarianceScaling` has them."""


class HeNormal(NamedScaling, rule=(2.0, "fan_in", "truncated_normal")):
    """Normal with variance 2 / inputs; arguments as `VarianceScaling` has them."""


class HeUniform(NamedScaling, rule=(2.0, "fan_in", "uniform")):
    """Evenly within sqrt(6 / inputs); arguments as `VarianceScaling` has them."""


class Orthogonal(RandomInitializer):
    """A matrix whose rows or columns are orthonormal, times `gain`; more axes are merged into rows.

    Parameters
    ----------
    gain : float, optional, default=1.0
        The length of rows or columns.

    """

    def __init__(self, gain=1.0, seed=None):
        self.gain = gain
        super().__init__(seed=seed)

    def __call__(self, shape, dtype=None):
        if len(shape) < 2:
            raise ValueError("The tensor to initialize must be at least two-dimensional. "
                             f"Received: shape={shape} of rank {len(shape)}.")
        rows, columns = math.prod(shape[:-1]), shape[-1]
        drawn = draw("normal", (max(rows, columns), min(rows, columns)), seed=self.seed, dtype=dtype)
        half = dtype_of(drawn) == "float16"
        q, r = ops.linalg_qr(ops.cast(drawn, "float32") if half else drawn)
        q = q * ops.sign(ops.diagonal(r))  # makes the decomposition unique, hence the matrix evenly distributed
        if rows < columns:
            q = ops.transpose(q, 0, 1)
        return self.gain * ops.reshape(ops.cast(q, "float16") if half else q, tuple(shape))


def compute_fans(shape, input_axes=None, output_axes=None):
    """Return how many inputs and outputs a weight of that shape has, the last axis being the outputs."""
    shape = tuple(shape)
    if input_axes is not None and output_axes is not None:
        return tuple(int(math.prod(shape[axis] for axis in axes)) for axes in (input_axes, output_axes))
    if len(shape) < 2:
        return int(math.prod(shape)), int(math.prod(shape))
    field = math.prod(shape[:-2])
    return int(shape[-2] * field), int(shape[-1] * field)
