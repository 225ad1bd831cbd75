"""Constraints on values and parameters of distributions."""
from operator import attrgetter

from dragon.vm import torch
from dragon.vm.guest import lookup


class Constraint:
    """A region of values; `check` says which are inside, `event_dim` how many axes make one value."""

    is_discrete = False
    event_dim = 0

    def check(self, value):
        """Return a tensor of bools: which values satisfy the constraint."""
        raise NotImplementedError

    def __repr__(self):
        return self.__class__.__name__[1:] + "()"


class _Dependent(Constraint):
    """A region that depends on other variables."""

    def __init__(self, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        self._is_discrete, self._event_dim = is_discrete, event_dim
        super().__init__()

    @property
    def is_discrete(self):
        """Whether values are discrete."""
        if self._is_discrete is NotImplemented:
            raise NotImplementedError(".is_discrete cannot be determined statically")
        return self._is_discrete

    @property
    def event_dim(self):
        """How many axes make one value."""
        if self._event_dim is NotImplemented:
            raise NotImplementedError(".event_dim cannot be determined statically")
        return self._event_dim

    def __call__(self, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        """Return the constraint with more of it known."""
        return _Dependent(is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
                          event_dim=self._event_dim if event_dim is NotImplemented else event_dim)

    def check(self, x):
        """Raise: who depends cannot check alone."""
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint):
    """Return whether a constraint depends on other variables."""
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property of a class that is a dependent constraint when asked of the class."""

    def __init__(self, fn=None, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        super().__init__(fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __call__(self, fn):
        """Decorate a function."""
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


class _IndependentConstraint(Constraint):
    """A constraint of which several axes make one value."""

    def __init__(self, base_constraint, reinterpreted_batch_ndims):
        if not isinstance(base_constraint, Constraint):
            raise AssertionError(f"base_constraint must be a Constraint, got {type(base_constraint)}")
        if not isinstance(reinterpreted_batch_ndims, int) or reinterpreted_batch_ndims < 0:
            raise AssertionError(f"reinterpreted_batch_ndims must be an int >= 0, got {reinterpreted_batch_ndims!r}")
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, reinterpreted_batch_ndims
        super().__init__()

    is_discrete = property(attrgetter("base_constraint.is_discrete"), doc="Whether values are discrete.")

    event_dim = property(lambda self: self.base_constraint.event_dim + self.reinterpreted_batch_ndims,
                         doc="How many axes make one value.")

    def check(self, value):
        result = self.base_constraint.check(value)
        if result.dim() < self.reinterpreted_batch_ndims:
            expected = self.base_constraint.event_dim + self.reinterpreted_batch_ndims
            raise ValueError(f"Expected value.dim() >= {expected} but got {value.dim()}")
        result = result.reshape(result.shape[:result.dim() - self.reinterpreted_batch_ndims] + (-1,))
        return result.all(-1)

    def __repr__(self):
        return f"{self.__class__.__name__[1:]}({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """The support of a mixture: that of its components, without their axis."""

    def __init__(self, base_constraint):
        if not isinstance(base_constraint, Constraint):
            raise AssertionError(f"base_constraint must be a Constraint, got {type(base_constraint)}")
        self.base_constraint = base_constraint
        super().__init__()

    is_discrete = property(attrgetter("base_constraint.is_discrete"), doc="Whether values are discrete.")
    event_dim = property(attrgetter("base_constraint.event_dim"), doc="How many axes make one value.")

    def check(self, value):
        axes = self.event_dim
        inner = self.base_constraint.check(value.unsqueeze(-1 - axes))
        if value.dim() < axes:
            raise ValueError(f"Expected value.dim() >= {axes} but got {value.dim()}")
        return inner.reshape(value.shape[:value.dim() - axes] + (-1,)).all(-1)

    def __repr__(self):
        return f"{self.__class__.__name__}({self.base_constraint!r})"


class _Boolean(Constraint):
    """0 or 1."""

    is_discrete = True

    def check(self, value):
        return (value == 0) | (value == 1)


class _OneHot(Constraint):
    """A single 1 among zeros."""

    is_discrete = True
    event_dim = 1

    def check(self, value):
        return ((value == 0) | (value == 1)).all(-1) & value.sum(-1).eq(1)


class _Bounded(Constraint):
    """Between bounds; which of them belong to the region is the subclass' word."""

    def __init__(self, **bounds):
        vars(self).update(bounds)
        super().__init__()

    def __repr__(self):
        bounds = ", ".join(f"{name}={getattr(self, name)}" for name in ("lower_bound", "upper_bound")
                           if name in self.__dict__)
        return f"{self.__class__.__name__[1:]}({bounds})"


class _From(_Bounded):
    """From a bound on."""

    def __init__(self, lower_bound):
        super().__init__(lower_bound=lower_bound)


class _UpTo(_Bounded):
    """Up to a bound."""

    def __init__(self, upper_bound):
        super().__init__(upper_bound=upper_bound)


class _Between(_Bounded):
    """Between two bounds."""

    def __init__(self, lower_bound, upper_bound):
        super().__init__(lower_bound=lower_bound, upper_bound=upper_bound)


class _IntegerInterval(_Between):
    """Integers between two bounds, both included."""

    is_discrete = True

    def check(self, value):
        return (value % 1 == 0) & (self.lower_bound <= value) & (value <= self.upper_bound)


class _IntegerLessThan(_UpTo):
    """Integers up to a bound."""

    is_discrete = True

    def check(self, value):
        return (value % 1 == 0) & (value <= self.upper_bound)


class _IntegerGreaterThan(_From):
    """Integers from a bound on."""

    is_discrete = True

    def check(self, value):
        return (value % 1 == 0) & (value >= self.lower_bound)


class _Real(Constraint):
    """Any number but NaN."""

    def check(self, value):
        return value == value


class _GreaterThan(_From):
    """Above a bound."""

    def check(self, value):
        return self.lower_bound < value


class _GreaterThanEq(_GreaterThan):
    """A bound and above."""

    def check(self, value):
        return self.lower_bound <= value


class _LessThan(_UpTo):
    """Below a bound."""

    def check(self, value):
        return value < self.upper_bound


class _Interval(_Between):
    """Between two bounds, both included."""

    def check(self, value):
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Between):
    """Between two bounds without the upper one."""

    def check(self, value):
        return (self.lower_bound <= value) & (value < self.upper_bound)


class _Simplex(Constraint):
    """Vectors of non-negative numbers that sum to 1."""

    event_dim = 1

    def check(self, value):
        return torch.all(value >= 0, dim=-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(_UpTo):
    """Vectors of counts that sum to a number."""

    is_discrete = True
    event_dim = 1

    def check(self, x):
        return (x >= 0).all(dim=-1) & (x.sum(dim=-1) <= self.upper_bound)

    def __repr__(self):
        return "Multinomial()"


class _LowerTriangular(Constraint):
    """Lower triangular matrices."""

    event_dim = 2

    def check(self, value):
        return (value.tril() == value).view(value.shape[:-2] + (-1,)).min(-1)[0]


class _LowerCholesky(_LowerTriangular):
    """Lower triangular matrices with a positive diagonal."""

    def check(self, value):
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).min(-1)[0]


class _CorrCholesky(_LowerCholesky):
    """Cholesky factors of correlation matrices: their rows have length 1."""

    def check(self, value):
        tolerance = torch.finfo(value.dtype).eps * value.size(-1) * 10
        lengths = torch.linalg.norm(value.detach(), dim=-1)
        return super().check(value) & (lengths - 1).abs().le(tolerance).all(dim=-1)


class _Square(Constraint):
    """Square matrices."""

    event_dim = 2

    def check(self, value):
        return torch.full(value.shape[:-2], fill_value=value.shape[-2] == value.shape[-1], dtype=torch.bool,
                          device=value.device)


class _Symmetric(_Square):
    """Symmetric matrices."""

    def check(self, value):
        square = super().check(value)
        if not square.all():
            return square
        return torch.isclose(value, value.mT, atol=1e-6).all(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    """Symmetric matrices without negative eigenvalues."""

    def check(self, value):
        symmetric = super().check(value)
        if not symmetric.all():
            return symmetric
        return torch.linalg.eigvalsh(value).ge(0).all(-1)


class _PositiveDefinite(_Symmetric):
    """Symmetric matrices with positive eigenvalues."""

    def check(self, value):
        symmetric = super().check(value)
        if not symmetric.all():
            return symmetric
        return torch.linalg.cholesky_ex(value).info.eq(0)


class _Joined(Constraint):
    """Constraints side by side along an axis."""

    def __init__(self, cseq, dim=0):
        if not all(isinstance(constraint, Constraint) for constraint in cseq):
            raise AssertionError("All elements of cseq must be Constraint instances")
        self.cseq, self.dim = list(cseq), dim
        super().__init__()

    is_discrete = property(lambda self: any(constraint.is_discrete for constraint in self.cseq),
                           doc="Whether any part is discrete.")
    event_dim = property(lambda self: max(constraint.event_dim for constraint in self.cseq),
                         doc="The most axes that make one value of a part.")


class _Cat(_Joined):
    """Constraints on consecutive pieces of an axis."""

    def __init__(self, cseq, dim=0, lengths=None):
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise AssertionError(f"lengths must match cseq: got {len(self.lengths)} and {len(self.cseq)}")

    def check(self, value):
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"dim {self.dim} out of range for value with {value.dim()} dimensions")
        checks, start = [], 0
        for constraint, length in zip(self.cseq, self.lengths):
            checks.append(constraint.check(value.narrow(self.dim, start, length)))
            start += length
        return torch.cat(checks, self.dim)


class _Stack(_Joined):
    """Constraints on the entries of an axis."""

    @property
    def event_dim(self):
        """The most axes that make one value of a part, and one more if it is cut by the stacking axis."""
        dim = super().event_dim
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value):
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"dim {self.dim} out of range for value with {value.dim()} dimensions")
        return torch.stack([constraint.check(value.select(self.dim, index))
                            for index, constraint in enumerate(self.cseq)], self.dim)


dependent, dependent_property = _Dependent(), _DependentProperty
independent, boolean, one_hot = _IndependentConstraint, _Boolean(), _OneHot()
nonnegative_integer, positive_integer = _IntegerGreaterThan(0), _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real, positive, nonnegative = _Real(), _GreaterThan(0.0), _GreaterThanEq(0.0)
real_vector = independent(real, 1)
greater_than, greater_than_eq, less_than, multinomial = _GreaterThan, _GreaterThanEq, _LessThan, _Multinomial
unit_interval, interval, half_open_interval = _Interval(0.0, 1.0), _Interval, _HalfOpenInterval
simplex, lower_triangular = _Simplex(), _LowerTriangular()
lower_cholesky, corr_cholesky = _LowerCholesky(), _CorrCholesky()
square, symmetric = _Square(), _Symmetric()
positive_semidefinite, positive_definite = _PositiveSemidefinite(), _PositiveDefinite()
cat, stack = _Cat, _Stack

_find, __dir__ = lookup(globals())


def __getattr__(name):
    if name == "__all__":  # libraries that add to these show all of them as their own
        return [known for known in globals() if not known.startswith("_")
                and known not in ("attrgetter", "lookup", "torch")]
    return _find(name)
