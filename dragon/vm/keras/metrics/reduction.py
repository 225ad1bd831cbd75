"""Sums and means over batches, and metrics that are the mean of a function."""
from dragon.vm.keras.core.batch_size import count_samples
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.masking import get_keras_mask
from dragon.vm.keras.core.registry import deserialize, serialize
from dragon.vm.keras.losses.loss import apply_mask, divide_no_nan, squeeze_or_expand_to_same_rank
from dragon.vm.keras.losses.registry import REGISTRY as LOSSES
from dragon.vm.keras.losses.wrapper import initializer_of, options_of
from dragon.vm.keras.metrics.metric import Metric
from dragon.vm.shared.tensors.tensor import ops


def reduce_to_samplewise_values(values, sample_weight, reduce, dtype):
    """Return one weighted value per sample, and the weights, or None.

    Parameters
    ----------
    values : Any
        The values, samples first.
    sample_weight : Any, optional
        Weights of the first axes.
    reduce : Callable
        `ops.sum` or `ops.mean`: what becomes of further axes.
    dtype : str
        What to compute in.

    """
    mask = get_keras_mask(values)
    values = convert_to_tensor(values, dtype=dtype)
    if sample_weight is not None:
        weight = convert_to_tensor(sample_weight, dtype=dtype)
        if mask is not None:
            weight = apply_mask(weight, mask, values.dtype, "sum")
        values, weight = squeeze_or_expand_to_same_rank(values, weight)
        rank = len(weight.shape)
        if len(values.shape) > rank:
            values = reduce(values, axis=tuple(range(rank, len(values.shape))))
        weight = ops.broadcast_to(weight, tuple(values.shape))
        values = values * weight
        sample_weight = reduce(weight, axis=tuple(range(1, rank))) if rank > 1 else weight
    if len(values.shape) > 1:
        values = reduce(values, axis=tuple(range(1, len(values.shape))))
    return values, sample_weight


class Sum(Metric):
    """The weighted sum of values. ..."""

    def __init__(self, name="sum", dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.total = self.add_variable(shape=(), initializer="zeros", dtype=self.dtype, name="total")

    def update_state(self, values, sample_weight=None):
        """Add values, weighted."""
        values, _ = reduce_to_samplewise_values(values, sample_weight, ops.sum, self.dtype)
        self.total.assign_add(ops.sum(values))

    def result(self):
        """Return the sum."""
        return self.total.snapshot()


class Mean(Metric):
    """The weighted mean of values. ...

    Examples
    --------
    >>> mean = keras.metrics.Mean()
    >>> mean.update_state([1.0, 3.0])
    >>> mean.update_state(8.0)
    >>> float(mean.result())
    4.0

    """

    def __init__(self, name="mean", dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.total = self.add_variable(shape=(), initializer="zeros", dtype=self.dtype, name="total")
        self.count = self.add_variable(shape=(), initializer="zeros", dtype=self.dtype, name="count")

    def update_state(self, values, sample_weight=None):
        """Add values, weighted; each sample counts as much as its weight."""
        values, weight = reduce_to_samplewise_values(values, sample_weight, ops.mean, self.dtype)
        self.total.assign_add(ops.sum(values))
        if weight is None:
            count = count_samples(values, self.dtype) if len(values.shape) else 1
        else:
            count = ops.sum(weight)
        self.count.assign_add(count)

    def result(self):
        """Return the mean, zero of nothing."""
        return divide_no_nan(convert_to_tensor(self.total), convert_to_tensor(self.count))


class MeanMetricWrapper(Mean):
    """The weighted mean of a function of targets and predictions.

    Parameters
    ----------
    fn : Callable
        Called with targets and predictions; returns values, samples first.
    **kwargs
        More arguments of the function.

    """

    def __init__(self, fn, name=None, dtype=None, **kwargs):
        super().__init__(name=name, dtype=dtype)
        self._fn = fn
        self._fn_kwargs = kwargs
        if fn in LOSSES.things or type(fn) in LOSSES.things:
            self._direction = "down"  # the better, the less

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Add the function's values of a batch; what the predictions' mask leaves out does not count."""
        mask = get_keras_mask(y_pred)
        values = self._fn(y_true, y_pred, **self._fn_kwargs)
        if sample_weight is not None and mask is not None:
            sample_weight = convert_to_tensor(sample_weight, dtype=self.dtype)
        return super().update_state(values, apply_mask(sample_weight, mask, self.dtype, "sum"))

    def get_config(self):
        """Return the arguments that make the same metric again, the function among them."""
        return {**super().get_config(), "fn": serialize(self._fn), **serialize(self._fn_kwargs)}

    @classmethod
    def from_config(cls, config):
        """Return the metric that `get_config` described."""
        return cls(**(deserialize(config) if "fn" in config else config))


class NamedMetric(MeanMetricWrapper):
    """A mean whose function is its own: the options are attributes, and are what a file keeps.

    `class Accuracy(NamedMetric, function=accuracy)` takes a name and a dtype, and then the function's options.
    """

    direction = None  # "up" where more is better; of losses, less is

    def __init__(self, fn, name, dtype, **options):
        super().__init__(fn, name=name, dtype=dtype, **options)
        if self.direction is not None:
            self._direction = self.direction
        for option, value in options.items():
            setattr(self, option, value)

    def __init_subclass__(cls, function=None, name=None, **kwargs):
        if function is not None:
            defaults = {"name": name or function.__name__, "dtype": None, **options_of(function)}
            cls.__init__ = initializer_of(cls, NamedMetric, function, defaults)
        super().__init_subclass__(**kwargs)
