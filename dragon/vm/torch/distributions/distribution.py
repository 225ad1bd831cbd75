"""The base of all distributions: batch and event shapes, validation, and the questions it answers."""
from operator import attrgetter

from dragon.core import warnings
from dragon.vm import torch
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions.utils import lazy_property


class Distribution:
    """A probability distribution over tensors.

    Parameters
    ----------
    batch_shape : Size, optional
        The shape of independent distributions side by side.
    event_shape : Size, optional
        The shape of one draw of one of them.
    validate_args : bool, optional
        Whether to check parameters and values; by default as `set_default_validate_args` says.

    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__
    # What a class adds to an object: `_expands` names the parameters, and the distributions, that `expand` gives the
    # new batch shape (a class without it has to define `expand`), `_keeps` the tensors that stay as they are.
    _keeps = ()

    @staticmethod
    def set_default_validate_args(value):
        """Say whether distributions check their arguments unless told otherwise."""
        if value not in (True, False):
            raise ValueError(f"set_default_validate_args: got {value!r}, expected a bool")
        Distribution._validate_args = value

    def __init__(self, batch_shape=Size(), event_shape=Size(), validate_args=None):
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self):
        try:
            arg_constraints = self.arg_constraints
        except NotImplementedError:
            arg_constraints = {}
            warnings.warn(f"{type(self)} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or "
                          "initialize the distribution with `validate_args=False` to turn off validation.")
        for param, constraint in arg_constraints.items():
            if constraints.is_dependent(constraint):
                continue
            if param not in self.__dict__ and isinstance(getattr(type(self), param), lazy_property):
                continue
            value = getattr(self, param)
            if not torch.all(constraint.check(value)):
                raise ValueError(f"Expected parameter {param} ({type(value).__name__} of shape {tuple(value.shape)}) "
                                 f"of distribution {self!r} to satisfy the constraint {constraint!r}, but found "
                                 f"invalid values:\n{value}")

    def expand(self, batch_shape, _instance=None):
        """Return the distribution with a larger batch shape, over the same memory."""
        cls = next((cls for cls in type(self).__mro__ if "_expands" in vars(cls)), None)
        if cls is None:
            raise NotImplementedError(f"{type(self).__name__}: has no expand")
        new = self._get_checked_instance(cls, _instance)
        batch_shape, old = Size(batch_shape), len(self._batch_shape)
        expanded = {}  # a tensor that has two names stays one
        for name in (name for base in cls.__mro__ for name in vars(base).get("_expands", ()) if name in self.__dict__):
            value = self.__dict__[name]
            if isinstance(value, (torch.Tensor, Distribution)):
                shape = value.shape if isinstance(value, torch.Tensor) else value.batch_shape
                value = expanded.setdefault(id(value), value.expand(batch_shape + shape[old:]))
            setattr(new, name, value)
        for name in self._keeps:
            setattr(new, name, getattr(self, name))
        Distribution.__init__(new, batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    batch_shape = property(attrgetter("_batch_shape"), doc="The shape of independent distributions side by side.")
    event_shape = property(attrgetter("_event_shape"), doc="The shape of one draw.")

    @property
    def arg_constraints(self):
        """Constraints by parameter."""
        raise NotImplementedError

    @property
    def support(self):
        """The constraint that values satisfy."""
        raise NotImplementedError

    @property
    def mean(self):
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self):
        """The mode."""
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self):
        """The variance."""
        raise NotImplementedError

    stddev = property(lambda self: self.variance.sqrt(), doc="The standard deviation.")

    def sample(self, sample_shape=Size()):
        """Draw, without gradients."""
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=Size()):
        """Draw as a differentiable function of the parameters."""
        raise NotImplementedError

    def sample_n(self, n):
        """Draw n times; an old name."""
        warnings.warn("sample_n(n) will be deprecated. Use .sample((n,)) instead.", UserWarning)
        return self.sample(Size((n,)))

    def log_prob(self, value):
        """Return the logarithm of the density or probability at a value."""
        raise NotImplementedError

    def cdf(self, value):
        """Return the cumulative distribution at a value."""
        raise NotImplementedError

    def icdf(self, value):
        """Return the quantile: where the cumulative distribution has a value."""
        raise NotImplementedError

    def enumerate_support(self, expand=True):
        """Return all values of a discrete distribution along the first axis."""
        raise NotImplementedError

    def entropy(self):
        """Return the entropy."""
        raise NotImplementedError

    def perplexity(self):
        """Return the exponential of the entropy."""
        return torch.exp(self.entropy())

    def _extended_shape(self, sample_shape=Size()):
        """Return the shape of draws."""
        return Size(sample_shape) + self._batch_shape + self._event_shape

    def _validate_sample(self, value):
        """Raise ValueError unless a value could have been drawn."""
        if not isinstance(value, torch.Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        start = len(value.shape) - len(self._event_shape)
        if value.shape[start:] != self._event_shape:
            raise ValueError(f"The right-most size of value must match event_shape: {value.shape} vs "
                             f"{self._event_shape}.")
        expected = self._batch_shape + self._event_shape
        for mine, theirs in zip(reversed(value.shape), reversed(expected)):
            if mine != 1 and theirs != 1 and mine != theirs:
                raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {value.shape} vs "
                                 f"{expected}.")
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(f"{type(self)} does not define `support` to enable sample validation. Please initialize the "
                          "distribution with `validate_args=False` to turn off validation.")
            return
        if not torch.all(support.check(value)):
            raise ValueError(f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be "
                             f"within the support ({support!r}) of the distribution {self!r}, but found invalid values:"
                             f"\n{value}")

    def _check_value(self, value):
        """Validate a value, if the distribution validates."""
        if self._validate_args:
            self._validate_sample(value)

    def _get_checked_instance(self, cls, _instance=None):
        """Return an empty object of this class for `expand` to fill."""
        if _instance is None and type(self).__init__ != cls.__init__:
            raise NotImplementedError(f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom "
                                      "__init__ method must also define a custom .expand() method.")
        return self.__new__(type(self)) if _instance is None else _instance

    def __repr__(self):
        names = [name for name in self.arg_constraints if name in self.__dict__]
        shown = (f"{name}: {self.__dict__[name] if self.__dict__[name].numel() == 1 else self.__dict__[name].size()}"
                 for name in names)
        return f"{self.__class__.__name__}({', '.join(shown)})"
