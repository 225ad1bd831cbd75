"""The base of distributions with probabilities: they are given as such or as logits, and the others follow."""
from operator import attrgetter

from dragon.vm.torch.distributions.utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits


class ByParameter:
    """A distribution of one tensor of parameters, `_param`."""

    param_shape = property(lambda self: self._param.size(), doc="The shape of the parameter.")

    def _new(self, *args, **kwargs):
        return self._param.new(*args, **kwargs)

    def _list(self, values, expand):
        """Return a vector of values along the first axis, the batch behind it."""
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + self._batch_shape) if expand else values


class ByOdds:
    """A distribution whose parameter is a probability or its log-odds."""

    def _take(self, probs, logits, *others):
        """Keep the one of the two that is given, broadcast with other parameters; return those."""
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        *others, self._param = broadcast_all(*others, logits if probs is None else probs)
        setattr(self, "logits" if probs is None else "probs", self._param)
        return others

    @lazy_property
    def logits(self):
        """The log-odds."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self):
        """The probabilities."""
        return logits_to_probs(self.logits, is_binary=True)


class ByClasses(ByParameter):
    """A distribution made of a categorical one, `_categorical`."""

    _param = property(attrgetter("_categorical._param"))
    probs = property(attrgetter("_categorical.probs"), doc="The probabilities.")
    logits = property(attrgetter("_categorical.logits"), doc="Logarithms of the probabilities.")
