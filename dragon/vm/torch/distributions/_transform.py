"""The base of transforms: a map, its inverse, compositions of both; `transforms` shows them all."""
import operator
import weakref
from functools import reduce

from dragon.vm import torch
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions.utils import _sum_rightmost, lazy_property


class Transform:
    """A map with an inverse.

    Parameters
    ----------
    cache_size : int, optional, default=0
        1 to remember the last pair, so that its inverse is exact.

    """

    # A class with parameters has `_made_of`: the names of the constructor's arguments, for `with_cache`.
    bijective = False

    def __init__(self, cache_size=0):
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size, self._inv = cache_size, None
        if cache_size:
            self._cached_x_y = None, None
        super().__init__()

    def __getstate__(self):
        return {**self.__dict__, "_inv": None}

    @property
    def event_dim(self):
        """How many axes make one value, if the same on both sides."""
        if self.domain.event_dim == self.codomain.event_dim:
            return self.domain.event_dim
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self):
        """The inverse as a transform."""
        inverse = self._inv() if self._inv is not None else None
        if inverse is None:
            inverse = _InverseTransform(self)
            self._inv = weakref.ref(inverse)
        return inverse

    @property
    def sign(self):
        """The sign of the derivative, where there is one."""
        raise NotImplementedError

    def with_cache(self, cache_size=1):
        """Return the transform with another cache."""
        if self._cache_size == cache_size:
            return self
        if type(self).__init__ is Transform.__init__:
            return type(self)(cache_size=cache_size)
        for cls in type(self).__mro__:
            if "_made_of" in vars(cls):
                return cls(*(getattr(self, name) for name in cls._made_of), cache_size=cache_size)
        raise NotImplementedError(f"{type(self)}.with_cache is not implemented")

    def __eq__(self, other):
        return self._equals(other)

    __hash__ = object.__hash__

    def _equals(self, other):
        """Return whether another transform does the same, where a class can tell."""
        return self is other

    def __ne__(self, other):
        return not self.__eq__(other)

    def __call__(self, x):
        """Return y for x."""
        if self._cache_size == 0:
            return self._call(x)
        x_old, y_old = self._cached_x_y
        if x is x_old:
            return y_old
        y = self._call(x)
        self._cached_x_y = x, y
        return y

    def _inv_call(self, y):
        if self._cache_size == 0:
            return self._inverse(y)
        x_old, y_old = self._cached_x_y
        if y is y_old:
            return x_old
        x = self._inverse(y)
        self._cached_x_y = x, y
        return x

    def _call(self, x):
        raise NotImplementedError

    def _inverse(self, y):
        raise NotImplementedError

    def log_abs_det_jacobian(self, x, y):
        """Return log |dy / dx|."""
        raise NotImplementedError

    def __repr__(self):
        return self.__class__.__name__ + "()"

    def forward_shape(self, shape):
        """Return the shape of y for that of x."""
        return shape

    def inverse_shape(self, shape):
        """Return the shape of x for that of y."""
        return shape


class _OneOfAKind(Transform):
    """A transform without parameters: it is equal to others of its kind."""

    def _equals(self, other):
        return isinstance(other, type(self))


class _InverseTransform(Transform):
    """A transform the other way round."""

    def __init__(self, transform):
        super().__init__(cache_size=transform._cache_size)
        self._inv = transform

    inv = property(operator.attrgetter("_inv"), doc="The transform itself.")

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        """The values of the transform."""
        return self._inv.codomain

    @constraints.dependent_property(is_discrete=False)
    def codomain(self):
        """The arguments of the transform."""
        return self._inv.domain

    bijective = property(operator.attrgetter("_inv.bijective"), doc="Whether the transform is one to one.")
    sign = property(operator.attrgetter("_inv.sign"), doc="The sign of the derivative.")

    def with_cache(self, cache_size=1):
        return self.inv.with_cache(cache_size).inv

    def _equals(self, other):
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    def __repr__(self):
        return f"{self.__class__.__name__}({self._inv!r})"

    def __call__(self, x):
        return self._inv._inv_call(x)

    def log_abs_det_jacobian(self, x, y):
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape):
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape):
        return self._inv.forward_shape(shape)


def product_of_signs(parts):
    """Return the product of the parts' signs."""
    return reduce(operator.mul, (part.sign for part in parts), 1)


class ComposeTransform(Transform):
    """Transforms one after another."""

    _made_of = ("parts",)

    def __init__(self, parts, cache_size=0):
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else parts
        super().__init__(cache_size=cache_size)

    def _equals(self, other):
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        """The arguments, with the axes that later parts treat as one value."""
        return self._edge(list(reversed(self.parts)), "domain", "codomain")

    @constraints.dependent_property(is_discrete=False)
    def codomain(self):
        """The values, with the axes that earlier parts treat as one value."""
        return self._edge(self.parts, "codomain", "domain")

    @staticmethod
    def _edge(parts, mine, theirs):
        if not parts:
            return constraints.real
        edge = getattr(parts[-1], mine)
        dim = getattr(parts[0], theirs).event_dim
        for part in parts:
            dim = max(dim + getattr(part, mine).event_dim - getattr(part, theirs).event_dim,
                      getattr(part, mine).event_dim)
        return constraints.independent(edge, dim - edge.event_dim) if dim > edge.event_dim else edge

    @lazy_property
    def bijective(self):
        """Whether all parts are one to one."""
        return all(part.bijective for part in self.parts)

    @lazy_property
    def sign(self):
        """The sign of the derivative."""
        return product_of_signs(self.parts)

    @property
    def inv(self):
        """The inverses in reverse order."""
        inverse = self._inv() if self._inv is not None else None
        if inverse is None:
            inverse = ComposeTransform([part.inv for part in reversed(self.parts)])
            self._inv, inverse._inv = weakref.ref(inverse), weakref.ref(self)
        return inverse

    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x, y):
        """Return log |dy / dx|, summed over the parts."""
        if not self.parts:
            return torch.zeros_like(x)
        values = [x]
        for part in self.parts[:-1]:
            values.append(part(values[-1]))
        values.append(y)
        terms, event_dim = [], self.domain.event_dim
        for part, before, after in zip(self.parts, values, values[1:]):
            terms.append(_sum_rightmost(part.log_abs_det_jacobian(before, after), event_dim - part.domain.event_dim))
            event_dim += part.codomain.event_dim - part.domain.event_dim
        return reduce(operator.add, terms)

    def forward_shape(self, shape):
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape):
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self):
        return self.__class__.__name__ + "(\n    " + ",\n    ".join(repr(part) for part in self.parts) + "\n)"


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """A transform of which several axes make one value."""

    _made_of = ("base_transform", "reinterpreted_batch_ndims")

    def __init__(self, base_transform, reinterpreted_batch_ndims, cache_size=0):
        super().__init__(cache_size=cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        """The arguments."""
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self):
        """The values."""
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    bijective = property(operator.attrgetter("base_transform.bijective"), doc="Whether the base is one to one.")
    sign = property(operator.attrgetter("base_transform.sign"), doc="The sign of the base's derivative.")

    def _call(self, x):
        if x.dim() < self.domain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform(x)

    def _inverse(self, y):
        if y.dim() < self.codomain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x, y):
        """Return log |dy / dx|, summed over the axes of one value."""
        return _sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def __repr__(self):
        return f"{self.__class__.__name__}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"

    def forward_shape(self, shape):
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape):
        return self.base_transform.inverse_shape(shape)
