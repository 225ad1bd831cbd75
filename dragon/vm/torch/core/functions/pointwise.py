"""Pointwise maths and sums along axes that are made of several operators, or said in several ways."""
import math

from dragon import _C
from dragon.core import modes
from dragon.core.scopes import ExitStack
from dragon.vm.torch._api.tensors_only import ONE, refuse_numbers
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.functions.destination import deliver, replace, write
from dragon.vm.torch.core.register import both, function, method, overload
from dragon.vm.torch.core.sentences import named
from dragon.vm.torch.core.tensor import Tensor, ops


def _bound(name, word):
    plain, in_place = ops.clamp, ops.clamp_

    def take(bound, named):
        if (bound is None) is not (word in named):
            raise TypeError(f"{name}: got {'no bound' if bound is None else 'two bounds'}, expected one, `{word}`")
        return named.pop(word) if bound is None else bound

    def clamp(input, bound=None, *, out=None, **named):
        return plain(input, **{word: take(bound, named)}, out=out, **named)

    def clamp_(input, bound=None, **named):
        return in_place(input, **{word: take(bound, named)}, **named)
    both(named(clamp, name, f"Return the elements, those beyond `{word}` set to it."))
    both(named(clamp_, name + "_", f"Set the elements beyond `{word}` to it."))


_bound("clamp_min", "min")
_bound("clamp_max", "max")


@both
def float_power(input, exponent, *, out=None):
    """Return powers computed in double precision, from all the digits of a number that is no tensor."""
    refuse_numbers("float_power", ONE, ("input", "exponent"), (input, exponent))
    sides = [side if isinstance(side, Tensor) else
             ops.full((), side, dtype=OBJECTS["complex128" if isinstance(side, complex) else "float64"])
             for side in (input, exponent)]
    return ops.float_power(*sides, out=out)


Tensor.float_power_ = ops.float_power_


FEW_TERMS, MOST_TERMS = 1 << 10, 1 << 24  # of a sum: those for one number, and those that are in memory at a time


@both
def mvlgamma(input, p, *, out=None):
    """Return the logarithm of the multivariate gamma function of `p` dimensions."""
    if p < 1:
        raise RuntimeError(f"mvlgamma: got p={p}, expected at least 1")
    if not input.dtype.is_floating_point:
        input = input.to(OBJECTS["float32"])
    wide, found = ops.unsqueeze(input, -1), None
    step = p if p <= FEW_TERMS else max(MOST_TERMS // max(input.numel(), 1), 1)
    for start in range(0, p, step):  # in parts, so that any p can be interrupted and fits into memory
        numbers = ops.arange(start, min(start + step, p), dtype=input.dtype, device=input.device)
        terms = ops.sum(ops.lgamma(ops.add(wide, ops.mul(numbers, -0.5))), -1)
        found = terms if found is None else ops.add(found, terms)
    return deliver(ops.add(found, 0.25 * p * (p - 1) * math.log(math.pi)), out)


@method
def mvlgamma_(self, p):
    """Take the logarithm of the multivariate gamma function in place."""
    return replace(self, mvlgamma(self, p))


@method
def polygamma(self, n):
    """Return the n-th derivative of the digamma function."""
    return ops.polygamma(n, self)


@method
def polygamma_(self, n):
    """Take the n-th derivative of the digamma function in place."""
    return replace(self, ops.polygamma(n, ops.clone(self)))


def _over_a_copy(name):
    """Make `Tensor.<name>_` of an operator whose gradient looks at the old elements."""
    operator = getattr(ops, name)

    def in_place(self, *args, **kwargs):
        return replace(self, operator(ops.clone(self), *args, **kwargs))
    method(named(in_place, name + "_", f"Do what `{name}` does in place."))


_over_a_copy("ldexp")
_over_a_copy("renorm")


@both
def diff(input, n=1, dim=-1, prepend=None, append=None, *, out=None):
    """Return the n-th differences of neighbours along an axis."""
    if input.ndim == 0:
        raise RuntimeError("diff: got a 0-d tensor, expected at least one dim")
    if n == 0:
        return deliver(ops.clone(input), out)
    parts = [part if part.ndim else ops.expand(part, [1 if axis == dim % input.ndim else size
                                                      for axis, size in enumerate(input.shape)])
             for part in (prepend, input, append) if part is not None]
    x = ops.cat(parts, dim) if len(parts) > 1 else input
    if n < 0:
        raise RuntimeError(f"diff: got order {n}, expected none below 0")
    step = ops.bitwise_xor if x.dtype.name == "bool" else ops.sub
    for _ in range(min(n, max(x.shape[dim], 0))):
        size = x.shape[dim]
        x = step(ops.narrow(x, dim, 1, size - 1), ops.narrow(x, dim, 0, size - 1)) if size else x
    return deliver(x, out)


def _spacings(who, y, x, dx, dim):
    """Return the spacing between neighbours: one number, or a tensor that broadcasts against the gaps of `y`."""
    if x is None:
        return dx
    if x.ndim == 0:
        raise RuntimeError(f"{who}: got input of 0 dims, expected at least one")
    gaps = diff(x, dim=dim if x.ndim > 1 or y.ndim == 1 else -1)
    if x.ndim == 1 and y.ndim > 1:
        gaps = ops.reshape(gaps, [-1 if axis == dim % y.ndim else 1 for axis in range(y.ndim)])
    return gaps


def _sums(y, dim):
    """Return the sums of neighbours."""
    size = y.shape[dim]
    return ops.add(ops.narrow(y, dim, 1, size - 1), ops.narrow(y, dim, 0, size - 1))


def _even(who, dx):
    """Return the spacing of even points: a real number."""
    if isinstance(dx, (bool, complex)):
        raise RuntimeError(f"{who}: got dx={dx!r}, expected a real number")
    return 1 if dx is None else dx


@function
def trapezoid(y, x=None, *, dx=None, dim=-1):
    """Return the integral along an axis by the trapezoidal rule."""
    dx = _even("trapezoid", dx)
    if y.shape[dim] == 0:
        return ops.zeros([size for axis, size in enumerate(y.shape) if axis != dim % y.ndim], dtype=y.dtype,
                         device=y.device)
    gaps = _spacings("trapezoid", y, x, dx, dim)
    if isinstance(gaps, Tensor):
        return ops.div(ops.sum(ops.mul(_sums(y, dim), gaps), dim), 2.0)
    ends = ops.mul(ops.add(ops.select(y, dim, 0), ops.select(y, dim, -1)), 0.5)
    return ops.mul(ops.sub(ops.sum(y, dim), ends), gaps)


@function
def trapz(y, x=None, *, dx=1, dim=-1):
    """Return the integral along an axis by the trapezoidal rule."""
    return trapezoid(y, x, dx=dx, dim=dim)


@function
def cumulative_trapezoid(y, x=None, *, dx=None, dim=-1):
    """Return the running integral along an axis by the trapezoidal rule."""
    dx = _even("cumulative_trapezoid", dx)
    if y.shape[dim] == 0:
        return ops.clone(y)
    gaps = _spacings("cumulative_trapezoid", y, x, dx, dim)
    if isinstance(gaps, Tensor):
        return ops.div(ops.cumsum(ops.mul(_sums(y, dim), gaps), dim), 2.0)
    return ops.cumsum(ops.mul(_sums(y, dim), gaps / 2), dim)


@function
def gradient(input, *, spacing=1, dim=None, edge_order=1):
    """Return estimates of the derivative along axes, by differences of second order inside."""
    if edge_order not in (1, 2):
        raise RuntimeError(f"gradient: got edge_order={edge_order}, expected 1 or 2")
    dims = (tuple(range(input.ndim)) if dim is None and not _is_sequence(spacing)
            else tuple(range(len(spacing))) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim))
    spacing = 1 if spacing is None else spacing
    if len({axis % max(input.ndim, 1) for axis in dims}) < len(dims):
        raise RuntimeError(f"gradient: got dims {dims}, expected each at most once")
    spacing = list(spacing) if _is_sequence(spacing) else [spacing] * len(dims)
    if len(spacing) != len(dims):
        raise RuntimeError(f"gradient: got {len(spacing)} spacings for {len(dims)} dims, expected one for each")
    return tuple(_derivative(input, step, axis, edge_order) for step, axis in zip(spacing, dims))


def _is_sequence(value):
    return isinstance(value, (list, tuple))


def _derivative(x, step, dim, edge_order):
    """Return the derivative along one axis; `step` is a number or the coordinates."""
    size = x.shape[dim]
    if size < edge_order + 1:
        raise RuntimeError(f"gradient: got size {size} along dim {dim}, expected at least {edge_order + 1}")
    if not isinstance(step, Tensor) or step.ndim == 0:
        return _even_derivative(x, step, dim, size, edge_order)
    gaps = ops.reshape(diff(step), [-1 if axis == dim % x.ndim else 1 for axis in range(x.ndim)])
    before, after = ops.narrow(gaps, dim, 0, size - 2), ops.narrow(gaps, dim, 1, size - 2)
    slopes = ops.div(diff(x, dim=dim), gaps)
    left, right = ops.narrow(slopes, dim, 0, size - 2), ops.narrow(slopes, dim, 1, size - 2)
    inside = ops.div(ops.add(ops.mul(left, after), ops.mul(right, before)), ops.add(before, after))
    first, last = ops.narrow(slopes, dim, 0, 1), ops.narrow(slopes, dim, size - 2, 1)
    if edge_order == 2:
        first = _edge(first, ops.narrow(slopes, dim, 1, 1), ops.narrow(gaps, dim, 0, 1), ops.narrow(gaps, dim, 1, 1))
        last = _edge(last, ops.narrow(slopes, dim, size - 3, 1), ops.narrow(gaps, dim, size - 2, 1),
                     ops.narrow(gaps, dim, size - 3, 1))
    return ops.cat([first, inside, last], dim)


def _even_derivative(x, step, dim, size, edge_order):
    """Return the derivative along one axis whose coordinates are evenly spaced."""
    def part(start, length):
        return ops.narrow(x, dim, start, length)
    inside = ops.div(ops.sub(part(2, size - 2), part(0, size - 2)), 2 * step)
    if edge_order == 1:
        first = ops.div(ops.sub(part(1, 1), part(0, 1)), step)
        last = ops.div(ops.sub(part(size - 1, 1), part(size - 2, 1)), step)
    else:
        first = ops.div(ops.sub(ops.sub(ops.mul(part(1, 1), 4), ops.mul(part(0, 1), 3)), part(2, 1)), 2 * step)
        last = ops.div(ops.add(ops.sub(ops.mul(part(size - 1, 1), 3), ops.mul(part(size - 2, 1), 4)),
                               part(size - 3, 1)), 2 * step)
    return ops.cat([first, inside, last], dim)


def _edge(near, far, near_gap, far_gap):
    """Return the slope at an end, extrapolated from the two slopes next to it."""
    return ops.add(near, ops.div(ops.mul(ops.sub(near, far), near_gap), ops.add(near_gap, far_gap)))


@overload("softmax", of="both")
def softmax(input, dim, dtype=None, *, out=None):
    """Return exponentials that add up to 1 along an axis."""
    return ops.softmax(input, dim, dtype=dtype, out=out)


@overload("log_softmax", of="both")
def log_softmax(input, dim, dtype=None, *, out=None):
    """Return the logarithms of exponentials that add up to 1 along an axis."""
    return ops.log_softmax(input, dim, dtype=dtype, out=out)


@function
def _safe_softmax(self, dim, dtype=None):
    """Return softmax, with zeros where a row is -inf throughout."""
    hidden = ops.all(ops.eq(self, -float("inf")), dim, True)
    return ops.masked_fill(ops.softmax(ops.masked_fill(self, hidden, 0), dim, dtype=dtype), hidden, 0)


@function
def _softmax_backward_data(grad_output, output, dim, input_dtype):
    """Return the gradient of softmax from its result."""
    return ops.softmax_backward(grad_output, output, dim).to(input_dtype)


@function
def _log_softmax_backward_data(grad_output, output, dim, input_dtype):
    """Return the gradient of log_softmax from its result."""
    return ops.log_softmax_backward(grad_output, output, dim).to(input_dtype)


@both
def equal(input, other):
    """Return whether two tensors have the same shape and elements."""
    if not isinstance(other, Tensor):
        raise TypeError(f"equal: got {type(other).__name__} for argument 'other', expected a tensor")
    return input.shape == other.shape and bool(ops.all(ops.eq(input, other)))


@both
def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Return whether all elements are close."""
    return bool(ops.allclose(input, other, rtol, atol, equal_nan))


@both
def is_same_size(input, other):
    """Return whether two tensors have the same shape."""
    return input.shape == other.shape


for _name, _what in (("conj", "conjugates"), ("neg", "negatives")):
    for _made in (named(lambda input: input, "resolve_" + _name, f"Return the tensor: {_what} are never lazy here."),
                  named(lambda input: False, "is_" + _name, f"Return False: {_what} are never lazy here.")):
        globals()[_made.__name__] = both(_made)  # pickles find functions by name


@method
def apply_(self, callable):
    """Put every element through a Python function of one number."""
    values = [callable(value) for value in ops.reshape(self.detach(), (-1,)).tolist()]
    return _written(self, values)


@method
def map_(self, tensor, callable):
    """Combine every element with another tensor's by a Python function of two numbers."""
    other = ops.expand(tensor.detach(), self.shape)
    values = map(callable, ops.reshape(self.detach(), (-1,)).tolist(), ops.reshape(other, (-1,)).tolist())
    return _written(self, list(values))


@method
def map2_(self, x, y, callable):
    """Combine every element with those of two tensors by a Python function of three numbers."""
    lists = [ops.reshape(ops.expand(each.detach(), self.shape), (-1,)).tolist() for each in (self, x, y)]
    return _written(self, list(map(callable, *lists)))


def _written(x, values):
    from dragon.vm.torch.core.functions.creation import tensor
    if x.requires_grad:
        raise RuntimeError("apply_: got a tensor that requires grad, expected one without")
    return write(x, ops.reshape(tensor(values, dtype=x.dtype), x.shape))


def _logical_in_place(name):
    operator = getattr(ops, name)

    def logical(input, *args, **kwargs):
        with ExitStack() as exits:  # not differentiable: neither leaves nor histories are in the way
            exits.switch(modes.set_recording, False)
            return operator(input, *args, **kwargs)
    method(named(logical, name, f"Write what `{name[:-1]}` gives into this tensor, whose history stays as it is."))


for _name in _C.op_names():
    if _name.startswith("logical_"):
        _logical_in_place(_name + "_")
